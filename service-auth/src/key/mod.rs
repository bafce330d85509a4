//! Keys that tokens are verified with, each with the algorithms that it is for.

mod der;
mod jwk;
mod pem;

use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};

use self::der::KeyInfo;
use self::pem::Section;
use crate::compact::Compact;

/// Bits that an RSA key must have (RFC 7518, section 3.3).
const RSA_BITS: usize = 2_048;

/// Bits that an RSA key may have; verifying with a longer one takes too long.
const MAX_RSA_BITS: usize = 8_192;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];

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
    #[error("the PEM text holds something else than public keys and certificates")]
    NotPublic,
    /// The key is of another kind.
    #[error(
        "the key is of a kind that is not supported: it has to be RSA, ECDSA on P-256 or P-384, or \
         Ed25519"
    )]
    Unsupported,
    /// The RSA key is too short or too long.
    #[error("an RSA key has to have 2,048 to 8,192 bits")]
    Length,
    /// There is no key.
    #[error("there is no key")]
    Nothing,
    /// No algorithm is left.
    #[error("none of the accepted algorithms is one that the keys are for")]
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

    /// Reads all public keys and certificates of a PEM text, for algorithms with public keys alone.
    ///
    /// # Errors
    ///
    /// Fails when the text holds none, or anything else.
    pub fn from_pem(text: &str) -> Result<Vec<Self>, KeyError> {
        let sections = pem::sections(text)?;
        let keys: Vec<Key> = sections
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

    /// Tells whether a text is PEM, so that it cannot be a secret for HMAC.
    #[must_use]
    pub fn is_public(text: &str) -> bool {
        pem::is_pem(text)
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

    fn from_section(section: &Section) -> Result<Self, KeyError> {
        let info = match section.label.as_str() {
            "PUBLIC KEY" => der::key_info(&section.der),
            "CERTIFICATE" => der::certified_key(&section.der),
            "RSA PUBLIC KEY" => return Key::rsa(&section.der),
            _ => return Err(KeyError::NotPublic),
        };
        let KeyInfo {
            algorithm,
            curve,
            key,
        } = info.ok_or(KeyError::Pem)?;
        match (algorithm, curve) {
            (RSA, _) => Key::rsa(key),
            (EC, Some(P256)) => Ok(Key::on_curve(Algorithm::ES256, key)),
            (EC, Some(P384)) => Ok(Key::on_curve(Algorithm::ES384, key)),
            (ED25519, _) => Ok(Key::new(&[Algorithm::EdDSA], DecodingKey::from_ed_der(key))),
            _ => Err(KeyError::Unsupported),
        }
    }

    fn rsa(key: &[u8]) -> Result<Self, KeyError> {
        check_modulus(der::modulus(key).ok_or(KeyError::Pem)?)?;
        let algorithms = AlgorithmFamily::Rsa;
        Ok(Key::new(
            algorithms.algorithms(),
            DecodingKey::from_rsa_der(key),
        ))
    }

    fn on_curve(algorithm: Algorithm, point: &[u8]) -> Self {
        Key::new(&[algorithm], DecodingKey::from_ec_der(point))
    }

    /// Tells whether a token may be signed with this key.
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
