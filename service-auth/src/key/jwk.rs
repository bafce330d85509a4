//! Public keys as JSON (JSON Web Key Sets, RFC 7517).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

use super::{Key, check_modulus};

/// Keys that are read of one set.
const MAX_KEYS: usize = 256;

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

/// One key; what belongs to private and secret keys is not read.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Reads a set as [`Key::from_json`] says.
pub(super) fn keys(text: &[u8]) -> Option<Vec<Key>> {
    let set: Set = serde_json::from_slice(text).ok()?;
    let keys = set.keys.into_iter().take(MAX_KEYS);
    let keys = keys.filter_map(|key| serde_json::from_value::<Jwk>(key).ok()?.key());
    Some(keys.collect())
}

impl Jwk {
    fn key(self) -> Option<Key> {
        let is_for_signatures = self.usage.as_deref().is_none_or(|usage| usage == "sig");
        let mut operations = self.key_ops.iter().flatten();
        let is_verifying = self.key_ops.is_none() || operations.any(|name| name == "verify");
        if !is_for_signatures || !is_verifying {
            return None;
        }
        let key = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => self.rsa()?,
            ("EC", Some("P-256")) => self.on_curve(Algorithm::ES256, 32)?,
            ("EC", Some("P-384")) => self.on_curve(Algorithm::ES384, 48)?,
            ("OKP", Some("Ed25519")) => {
                let point = coordinate(self.x.as_deref(), 32)?;
                Key::new(&[Algorithm::EdDSA], DecodingKey::from_ed_der(&point))
            }
            _ => return None,
        };
        let key = match &self.alg {
            None => key,
            // An algorithm that is unknown here leaves none.
            Some(name) => key.limited_to(Some(&[name.parse().ok()?]))?,
        };
        Some(match self.kid {
            Some(id) => key.with_id(id),
            None => key,
        })
    }

    fn rsa(&self) -> Option<Key> {
        let (modulus, exponent) = (decoded(self.n.as_deref()?)?, decoded(self.e.as_deref()?)?);
        let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
        let modulus = &modulus[zeros..];
        check_modulus(modulus).ok()?;
        let key = DecodingKey::from_rsa_raw_components(modulus, &exponent);
        Some(Key::new(AlgorithmFamily::Rsa.algorithms(), key))
    }

    fn on_curve(&self, algorithm: Algorithm, length: usize) -> Option<Key> {
        let mut point = vec![4];
        point.extend(coordinate(self.x.as_deref(), length)?);
        point.extend(coordinate(self.y.as_deref(), length)?);
        Some(Key::new(&[algorithm], DecodingKey::from_ec_der(&point)))
    }
}

fn coordinate(text: Option<&str>, length: usize) -> Option<Vec<u8>> {
    decoded(text?).filter(|bytes| bytes.len() == length)
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
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
}
