//! What it costs to verify a token, by algorithm.

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use servers::config::{Names, SecuritySettings};
use service_auth::{Key, Verifier};

/// A token with what verifies it.
pub struct SignedToken {
    /// The algorithm and the size of the key.
    pub name: String,
    /// The token.
    pub token: String,
    /// A verifier with its key.
    pub verifier: Verifier,
}

/// Makes a token of each algorithm, with keys of the usual sizes.
///
/// # Errors
///
/// Fails when a key cannot be made.
pub fn tokens() -> Result<Vec<SignedToken>, Box<dyn Error>> {
    let mut tokens = Vec::new();
    let secret = b"a secret of at least thirty-two bytes";
    for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
        let (key, signing) = (Key::hmac(secret), EncodingKey::from_secret(secret));
        tokens.push(signed(String::new(), algorithm, &signing, vec![key])?);
    }
    for (bits, size) in [(2_048, KeySize::Rsa2048), (4_096, KeySize::Rsa4096)] {
        let pair = RsaKeyPair::generate(size)?;
        let private: Pkcs8V1Der<'_> = pair.as_der()?;
        let signing = EncodingKey::from_rsa_pem(pem("PRIVATE KEY", private.as_ref()).as_bytes())?;
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der()?;
        for algorithm in [Algorithm::RS256, Algorithm::RS512, Algorithm::PS256] {
            let key = Key::from_pem(&pem("PUBLIC KEY", public.as_ref()))?;
            tokens.push(signed(format!(" ({bits} bits)"), algorithm, &signing, key)?);
        }
    }
    let curves: [(_, &'static EcdsaSigningAlgorithm); 2] = [
        (Algorithm::ES256, &ECDSA_P256_SHA256_FIXED_SIGNING),
        (Algorithm::ES384, &ECDSA_P384_SHA384_FIXED_SIGNING),
    ];
    for (algorithm, curve) in curves {
        let pair = EcdsaKeyPair::generate(curve)?;
        let signing = EncodingKey::from_ec_der(pair.to_pkcs8v1()?.as_ref());
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der()?;
        let key = Key::from_pem(&pem("PUBLIC KEY", public.as_ref()))?;
        tokens.push(signed(String::new(), algorithm, &signing, key)?);
    }
    let pair = Ed25519KeyPair::generate()?;
    let signing = EncodingKey::from_ed_der(pair.to_pkcs8v1()?.as_ref());
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der()?;
    let key = Key::from_pem(&pem("PUBLIC KEY", public.as_ref()))?;
    tokens.push(signed(String::new(), Algorithm::EdDSA, &signing, key)?);
    Ok(tokens)
}

/// Signs claims such as identity providers make.
fn signed(
    size: String,
    algorithm: Algorithm,
    signing: &EncodingKey,
    keys: Vec<Key>,
) -> Result<SignedToken, Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let claims = json!({
        "iss": "https://idp.example.org",
        "aud": "85a03867-dccf-4882-adde-1a79aeec50df",
        "applicationId": "85a03867-dccf-4882-adde-1a79aeec50df",
        "sub": "00000000-0000-0000-0000-000000000001",
        "authenticationType": "PASSWORD",
        "email": "anna@example.org",
        "email_verified": true,
        "preferred_username": "anna",
        "iat": now,
        "exp": now + 86_400,
        "roles": ["Reader", "Editor"],
    });
    let settings = SecuritySettings {
        issuers: Names(vec!["https://idp.example.org".to_owned()]),
        audiences: Names(vec!["85a03867-dccf-4882-adde-1a79aeec50df".to_owned()]),
        ..SecuritySettings::default()
    };
    let mut header = Header::new(algorithm);
    header.kid = Some("a1b2c3".to_owned());
    Ok(SignedToken {
        name: format!("{algorithm:?}{size}"),
        token: encode(&header, &claims, signing)?,
        verifier: Verifier::without_keys(&settings.verifier_options()).with_keys(keys),
    })
}

fn pem(label: &str, der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{encoded}\n-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_accepted() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let tokens = tokens().unwrap();
        assert_eq!(tokens.len(), 12);
        for token in tokens {
            let caller = runtime.block_on(token.verifier.verify(&token.token));
            assert_eq!(
                caller.unwrap().roles,
                ["Reader", "Editor"],
                "{}",
                token.name
            );
        }
    }
}
