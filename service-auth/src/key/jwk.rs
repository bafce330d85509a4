//! Public keys as JSON (JSON Web Key Sets, RFC 7517).

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind};
use serde::Deserialize;
use serde_json::Value;

use super::{Key, check_modulus};

/// Keys that are read of one set.
const MAX_KEYS: usize = 256;

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

/// Reads a set as [`Key::from_json`] says.
pub(super) fn keys(text: &[u8]) -> Option<Vec<Key>> {
    let set: Set = serde_json::from_slice(text).ok()?;
    let keys = set
        .keys
        .into_iter()
        .take(MAX_KEYS)
        .filter_map(|key| verifying(&serde_json::from_value(key).ok()?));
    Some(keys.collect())
}

/// Returns the key if it is a public one for signatures.
fn verifying(jwk: &Jwk) -> Option<Key> {
    let common = &jwk.common;
    let usage = common.public_key_use.as_ref();
    let operations = common.key_operations.as_ref();
    if usage.is_some_and(|usage| *usage != PublicKeyUse::Signature)
        || operations.is_some_and(|operations| !operations.contains(&KeyOperations::Verify))
    {
        return None;
    }
    let key = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => rsa(jwk)?,
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => of_length(jwk, Algorithm::ES256, 1 + 2 * 32)?,
            EllipticCurve::P384 => of_length(jwk, Algorithm::ES384, 1 + 2 * 48)?,
            _ => return None,
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            of_length(jwk, Algorithm::EdDSA, 32)?
        }
        _ => return None,
    };
    let key = match common.key_algorithm {
        None => key,
        // An algorithm that is unknown here leaves none.
        Some(algorithm) => key.limited_to(Some(&[algorithm.try_into().ok()?]))?,
    };
    Some(match &common.key_id {
        Some(id) => key.with_id(id),
        None => key,
    })
}

fn rsa(jwk: &Jwk) -> Option<Key> {
    let key = DecodingKey::from_jwk(jwk).ok()?;
    let DecodingKeyKind::RsaModulusExponent { n, e } = key.kind() else {
        return None;
    };
    // With leading zeros the key would verify nothing.
    let zeros = n.iter().take_while(|byte| **byte == 0).count();
    let modulus = &n[zeros..];
    check_modulus(modulus).ok()?;
    let key = DecodingKey::from_rsa_raw_components(modulus, e);
    Some(Key::new(AlgorithmFamily::Rsa.algorithms(), key))
}

/// Returns a key for one algorithm, of which public keys have one length.
fn of_length(jwk: &Jwk, algorithm: Algorithm, length: usize) -> Option<Key> {
    let key = DecodingKey::from_jwk(jwk).ok()?;
    let bytes = key.try_get_as_bytes().ok()?;
    (bytes.len() == length).then(|| Key::new(&[algorithm], key.clone()))
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_are_not_for_signatures_are_left_out() {
        let x = URL_SAFE_NO_PAD.encode([7; 32]);
        let good = json!({"kty": "OKP", "crv": "Ed25519", "x": x});
        let with = |name: &str, value: Value| {
            let mut key = good.clone();
            key[name] = value;
            key
        };
        let count = |keys: &[Value]| {
            let set = json!({"keys": keys}).to_string();
            super::keys(set.as_bytes()).map(|keys| keys.len())
        };
        assert_eq!(count(&[good.clone(), with("alg", json!("EdDSA"))]), Some(2));
        let bad = [
            with("use", json!("enc")),
            with("key_ops", json!(["sign"])),
            with("alg", json!("RS256")),
            with("alg", json!("none")),
            with("crv", json!("Ed448")),
            with("x", json!("AAAA")),
            json!({"kty": "oct", "k": "c2VjcmV0"}),
            json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([255; 128]), "e": "AQAB"}),
            json!("x"),
        ];
        assert_eq!(count(&bad), Some(0));
        assert_eq!(count(&[bad[0].clone(), good.clone()]), Some(1));
        assert!(super::keys(b"[]").is_none() && super::keys(b"{}").is_none());
    }

    #[test]
    fn keys_have_the_length_of_their_kind() {
        let is_read = |key: Value| {
            let set = json!({"keys": [key]}).to_string();
            super::keys(set.as_bytes()).is_some_and(|keys| keys.len() == 1)
        };
        let bytes = |count: usize| URL_SAFE_NO_PAD.encode(vec![255; count]);
        let point = |curve: &str, x: usize| {
            is_read(json!({"kty": "EC", "crv": curve, "x": bytes(x), "y": bytes(32)}))
        };
        assert!(point("P-256", 32));
        assert!(!point("P-256", 31) && !point("P-256", 48) && !point("P-384", 32));
        assert!(!point("P-521", 32) && !point("Ed25519", 32) && !point("secp256k1", 32));
        let rsa = |modulus: Vec<u8>| {
            let n = URL_SAFE_NO_PAD.encode(modulus);
            is_read(json!({"kty": "RSA", "n": n, "e": "AQAB", "x5c": ["MIIB"], "alg": "RS256"}))
        };
        let after_zeros = |count: usize| [vec![0; 2], vec![255; count]].concat();
        assert!(rsa(after_zeros(256)) && !rsa(after_zeros(255)) && !rsa(after_zeros(1025)));
        assert!(!rsa(Vec::new()) && !is_read(json!({"kty": "RSA", "n": "*", "e": "AQAB"})));
    }
}
