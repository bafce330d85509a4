//! Keys that tokens are verified with, each with the algorithms that it is for.

mod jwk;

use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use pem::Pem;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::UintRef;
use x509_cert::der::oid::db::rfc5912::{
    ID_EC_PUBLIC_KEY, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1,
};
use x509_cert::der::oid::db::rfc8410::ID_ED_25519;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use crate::compact::Compact;

/// Bits that an RSA key must have (RFC 7518, section 3.3).
const RSA_BITS: usize = 2_048;

/// Bits that an RSA key may have; verifying with a longer one takes too long.
const MAX_RSA_BITS: usize = 8_192;

/// What each section of a PEM text (RFC 7468) begins with.
const BEGIN: &str = "-----BEGIN ";

/// A key that tokens are verified with.
#[derive(Clone, Debug)]
pub struct Key {
    /// What tokens call it; one without a name is tried for any.
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// Why a text holds no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The PEM is malformed.
    #[error("the PEM text is malformed")]
    Pem,
    /// Something else is in the PEM text.
    #[error("the PEM text contains something other than public keys and certificates")]
    NotPublic,
    /// The key is of another kind.
    #[error(
        "the key is of a kind that is not supported: it must be RSA, ECDSA on P-256 or P-384, or \
         Ed25519"
    )]
    Unsupported,
    /// The RSA key is too short or too long.
    #[error("an RSA key must have 2,048 to 8,192 bits")]
    Length,
    /// There is no key.
    #[error("there is no key")]
    Nothing,
    /// No algorithm is left.
    #[error("the keys support none of the accepted algorithms")]
    Algorithms,
}

impl Key {
    /// Makes a key of a shared secret, for HMAC.
    #[must_use]
    pub fn hmac(secret: &[u8]) -> Self {
        Key::new(
            AlgorithmFamily::Hmac.algorithms(),
            DecodingKey::from_secret(secret),
        )
    }

    /// Reads all public keys and certificates of a PEM text, only for public-key algorithms.
    ///
    /// # Errors
    ///
    /// Fails when the text holds none, or anything else.
    pub fn from_pem(text: &str) -> Result<Vec<Self>, KeyError> {
        let keys: Vec<Key> = sections(text)?
            .iter()
            .map(Key::from_section)
            .collect::<Result<_, _>>()?;
        if keys.is_empty() {
            Err(KeyError::Nothing)
        } else {
            Ok(keys)
        }
    }

    /// Reads a JSON Web Key Set (RFC 7517); `None` when the text is none.
    ///
    /// Keys that are for something else or of other kinds are left out, and so are secret keys:
    /// whoever can read the set could sign with them.
    #[must_use]
    pub fn from_json(text: &[u8]) -> Option<Vec<Self>> {
        jwk::keys(text)
    }

    /// Returns the algorithms that the key is used for.
    #[must_use]
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Reads `security.secret`: PEM for algorithms with public keys, any other text for HMAC.
    pub(super) fn from_setting(text: &str) -> Result<Vec<Self>, KeyError> {
        if Key::is_public(text) {
            Key::from_pem(text)
        } else {
            Ok(vec![Key::hmac(text.as_bytes())])
        }
    }

    /// Returns whether a text is PEM, so that it cannot be a secret for HMAC.
    #[must_use]
    pub fn is_public(text: &str) -> bool {
        text.contains(BEGIN)
    }

    /// Sets what tokens call the key.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(super) fn new(algorithms: &[Algorithm], key: DecodingKey) -> Self {
        Key {
            id: None,
            algorithms: algorithms.to_vec(),
            key,
        }
    }

    /// Leaves only the algorithms that are listed; `None` when there are none.
    pub(super) fn limited_to(mut self, listed: Option<&[Algorithm]>) -> Option<Self> {
        if let Some(listed) = listed {
            self.algorithms
                .retain(|algorithm| listed.contains(algorithm));
        }
        (!self.algorithms.is_empty()).then_some(self)
    }

    fn from_section(section: &Pem) -> Result<Self, KeyError> {
        let der = section.contents();
        let info = match section.tag() {
            "PUBLIC KEY" => SubjectPublicKeyInfoOwned::from_der(der),
            "CERTIFICATE" => Certificate::from_der(der).map(|certificate| {
                let signed = certificate.tbs_certificate();
                signed.subject_public_key_info().clone()
            }),
            "RSA PUBLIC KEY" => return Key::rsa(der),
            _ => return Err(KeyError::NotPublic),
        };
        let info = info.map_err(|_| KeyError::Pem)?;
        let key = info.subject_public_key.as_bytes().ok_or(KeyError::Pem)?;
        let parameters = info.algorithm.parameters.as_ref();
        let curve = parameters.and_then(|parameters| parameters.decode_as().ok());
        match (info.algorithm.oid, curve) {
            (RSA_ENCRYPTION, _) => Key::rsa(key),
            (ID_EC_PUBLIC_KEY, Some(SECP_256_R_1)) => Ok(Key::on_curve(Algorithm::ES256, key)),
            (ID_EC_PUBLIC_KEY, Some(SECP_384_R_1)) => Ok(Key::on_curve(Algorithm::ES384, key)),
            (ID_ED_25519, _) => Ok(Key::new(&[Algorithm::EdDSA], DecodingKey::from_ed_der(key))),
            _ => Err(KeyError::Unsupported),
        }
    }

    /// Reads an RSA public key (RFC 8017, section A.1.1): its modulus and its exponent.
    fn rsa(key: &[u8]) -> Result<Self, KeyError> {
        let numbers = Vec::<UintRef<'_>>::from_der(key).map_err(|_| KeyError::Pem)?;
        let [modulus, _] = numbers.as_slice() else {
            return Err(KeyError::Pem);
        };
        check_modulus(modulus.as_bytes())?;
        let algorithms = AlgorithmFamily::Rsa;
        Ok(Key::new(
            algorithms.algorithms(),
            DecodingKey::from_rsa_der(key),
        ))
    }

    fn on_curve(algorithm: Algorithm, point: &[u8]) -> Self {
        Key::new(&[algorithm], DecodingKey::from_ec_der(point))
    }

    /// Returns whether a token may be signed with this key.
    fn is_meant_by(&self, token: &Compact<'_>) -> bool {
        let is_called = match (&self.id, &token.key) {
            (Some(own), Some(named)) => own == named,
            _ => true,
        };
        is_called && self.algorithms.contains(&token.algorithm)
    }

    fn verifies(&self, token: &Compact<'_>) -> bool {
        let verified = jsonwebtoken::crypto::verify(
            token.signature,
            token.message,
            &self.key,
            token.algorithm,
        );
        verified.unwrap_or(false)
    }
}

/// Reads all sections of a PEM text. What stands between them is for people.
///
/// Environment variables of some systems have no lines; there `\n` stands for the end of one.
fn sections(text: &str) -> Result<Vec<Pem>, KeyError> {
    // In one line nothing is taken for headers, which no section has here.
    let line = text.replace("\\n", " ").replace('\n', " ");
    let sections = pem::parse_many(&line).map_err(|_| KeyError::Pem)?;
    // A section without an end is left out.
    if sections.len() == line.matches(BEGIN).count() {
        Ok(sections)
    } else {
        Err(KeyError::Pem)
    }
}

/// Checks the length of an RSA key by its modulus, which has no leading zeros.
pub(super) fn check_modulus(modulus: &[u8]) -> Result<(), KeyError> {
    let unused = modulus
        .first()
        .map_or(0, |byte| byte.leading_zeros() as usize);
    let bits = modulus.len() * 8 - unused;
    if (RSA_BITS..=MAX_RSA_BITS).contains(&bits) {
        Ok(())
    } else {
        Err(KeyError::Length)
    }
}

/// What looking for the key of a token comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// No key is meant by the token.
    NoKey,
    /// Keys that are meant do not verify it.
    Wrong,
    /// A key verifies it.
    Verified,
}

/// Keys that are tried for one token; a set may have many without names.
const TRIED: usize = 16;

/// Looks for the key of a token.
pub(super) fn find(keys: &[Key], token: &Compact<'_>) -> Match {
    let meant = keys.iter().filter(|key| key.is_meant_by(token));
    let mut found = Match::NoKey;
    for key in meant.take(TRIED) {
        if key.verifies(token) {
            return Match::Verified;
        }
        found = Match::Wrong;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(label: &str, der: &[u8]) -> KeyError {
        let text = pem::encode(&Pem::new(label, der));
        Key::from_pem(&text).expect_err("malformed")
    }

    #[test]
    fn what_ends_too_early_is_malformed() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x05\x02",
            b"\x30\x82\x01",
            b"\x30\x80",
            b"\x30\x84\0\0\0\0",
        ] {
            for label in ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY"] {
                assert_eq!(refusal(label, der), KeyError::Pem, "{label} {der:?}");
            }
        }
    }

    #[test]
    fn an_rsa_key_is_two_numbers() {
        let der = b"\x30\x07\x02\x02\0\x80\x02\x01\x03";
        assert_eq!(refusal("RSA PUBLIC KEY", der), KeyError::Length);
        for der in [
            &b"\x30\x07\x02\x02\0\x80\x02\x01\x03\0"[..],
            b"\x30\x0a\x02\x02\0\x80\x02\x01\x03\x02\x01\x03",
            b"\x30\x06\x02\x01\x80\x02\x01\x03",
            b"\x30\x04\x02\x02\0\x80",
        ] {
            assert_eq!(refusal("RSA PUBLIC KEY", der), KeyError::Pem, "{der:?}");
        }
    }

    #[test]
    fn sections_have_an_end_and_no_headers_and_any_white_space() {
        let begin = "-----BEGIN PUBLIC KEY-----";
        let end = "-----END PUBLIC KEY-----";
        for body in [
            "\nAA\n\nAA\n\n",
            " AA AA ",
            "\\nAAAA\\n",
            "\r\nAAAA\r\n\r\n",
            "AAAA",
        ] {
            let read = sections(&format!("A key:\n\n{begin}{body}{end}")).unwrap();
            assert_eq!(read.len(), 1, "{body:?}");
            assert_eq!(read[0].contents(), [0; 3], "{body:?}");
        }
        let whole = format!("{begin}\nAAAA\n{end}\n");
        for malformed in [
            format!("{whole}{begin}\nAAAA\n"),
            format!("{whole}{begin}"),
            format!("{whole}-----BEGIN PUBLIC"),
            format!("{begin}\nProc-Type: 4,ENCRYPTED\n\nAAAA\n{end}"),
            format!("{begin}\nA=AA\n{end}"),
            format!("{begin}\n{whole}{end}"),
        ] {
            assert_eq!(sections(&malformed), Err(KeyError::Pem), "{malformed}");
        }
    }
}
