//! Pairs of keys, made for the tests, and tokens of any form signed with them.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

/// A key that signs, with its public half in all forms.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) algorithm: Algorithm,
    pub(crate) key: EncodingKey,
    /// The public key in PEM; empty for a secret.
    pub(crate) pem: String,
    /// The public key as JSON.
    pub(crate) jwk: Value,
}

impl Signer {
    pub(crate) fn hmac(secret: &[u8]) -> Signer {
        Signer {
            algorithm: Algorithm::HS256,
            key: EncodingKey::from_secret(secret),
            pem: String::new(),
            jwk: json!({"kty": "oct", "k": base64url(secret)}),
        }
    }

    pub(crate) fn rsa() -> Signer {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let private: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let public = pair.public_key();
        let modulus = public.modulus().big_endian_without_leading_zero().to_vec();
        let exponent = public.exponent().big_endian_without_leading_zero().to_vec();
        let info: PublicKeyX509Der<'_> = public.as_der().unwrap();
        let private = pem("PRIVATE KEY", private.as_ref());
        Signer {
            algorithm: Algorithm::RS256,
            key: EncodingKey::from_rsa_pem(private.as_bytes()).unwrap(),
            pem: pem("PUBLIC KEY", info.as_ref()),
            jwk: json!({"kty": "RSA", "n": base64url(&modulus), "e": base64url(&exponent)}),
        }
    }

    pub(crate) fn p256() -> Signer {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        Signer::on_curve(curve, Algorithm::ES256, "P-256")
    }

    pub(crate) fn p384() -> Signer {
        let curve = &ECDSA_P384_SHA384_FIXED_SIGNING;
        Signer::on_curve(curve, Algorithm::ES384, "P-384")
    }

    fn on_curve(curve: &'static EcdsaSigningAlgorithm, algorithm: Algorithm, name: &str) -> Signer {
        let pair = EcdsaKeyPair::generate(curve).unwrap();
        let public = pair.public_key();
        let point = &public.as_ref()[1..];
        let (x, y) = point.split_at(point.len() / 2);
        let info: PublicKeyX509Der<'_> = public.as_der().unwrap();
        Signer {
            algorithm,
            key: EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref()),
            pem: pem("PUBLIC KEY", info.as_ref()),
            jwk: json!({"kty": "EC", "crv": name, "x": base64url(x), "y": base64url(y)}),
        }
    }

    pub(crate) fn ed25519() -> Signer {
        let pair = Ed25519KeyPair::generate().unwrap();
        let public = pair.public_key();
        let info: PublicKeyX509Der<'_> = public.as_der().unwrap();
        Signer {
            algorithm: Algorithm::EdDSA,
            key: EncodingKey::from_ed_der(pair.to_pkcs8v1().unwrap().as_ref()),
            pem: pem("PUBLIC KEY", info.as_ref()),
            jwk: json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(public.as_ref())}),
        }
    }

    /// The same key for another of its algorithms.
    pub(crate) fn using(&self, algorithm: Algorithm) -> Signer {
        Signer {
            algorithm,
            ..self.clone()
        }
    }

    /// The same key under a name.
    pub(crate) fn named(&self, id: &str) -> Signer {
        let mut named = self.clone();
        named.jwk["kid"] = json!(id);
        named
    }

    /// A token as it has to be.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let mut header = json!({"alg": format!("{:?}", self.algorithm), "typ": "JWT"});
        if let Some(id) = self.jwk.get("kid") {
            header["kid"] = id.clone();
        }
        self.signed(&header.to_string(), &claims.to_string())
    }

    /// A token whose header has other members too.
    pub(crate) fn token_with(&self, members: Value, claims: &Value) -> String {
        let mut header = json!({"alg": format!("{:?}", self.algorithm)});
        for (name, value) in members.as_object().unwrap() {
            header[name] = value.clone();
        }
        self.signed(&header.to_string(), &claims.to_string())
    }

    /// A token of any texts, signed as they are.
    pub(crate) fn signed(&self, header: &str, claims: &str) -> String {
        let message = unsigned(header, claims);
        let signature = self.signature(&message);
        format!("{message}.{signature}")
    }

    pub(crate) fn signature(&self, message: &str) -> String {
        jsonwebtoken::crypto::sign(message.as_bytes(), &self.key, self.algorithm).unwrap()
    }
}

/// The first two parts of a token.
pub(crate) fn unsigned(header: &str, claims: &str) -> String {
    let (header, claims) = (base64url(header.as_bytes()), base64url(claims.as_bytes()));
    format!("{header}.{claims}")
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn pem(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    let encoded = STANDARD.encode(der);
    for line in encoded.as_bytes().chunks(64) {
        text.push_str(std::str::from_utf8(line).unwrap());
        text.push('\n');
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}
