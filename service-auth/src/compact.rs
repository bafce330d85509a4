//! The compact form of a token (RFC 7515, section 7.1): three parts in base64url.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// A token whose signature is not verified yet.
pub(super) struct Compact<'t> {
    pub(super) algorithm: Algorithm,
    /// The name of the key.
    pub(super) key: Option<String>,
    /// What is signed.
    pub(super) message: &'t [u8],
    pub(super) signature: &'t str,
    payload: &'t str,
}

/// What is read of the first part. Nothing else in it has an effect; above all, nothing that names
/// or holds a key.
#[derive(Deserialize)]
struct Header<'h> {
    #[serde(borrow)]
    alg: Cow<'h, str>,
    kid: Option<String>,
    #[serde(borrow)]
    typ: Option<Cow<'h, str>>,
    crit: Option<IgnoredAny>,
}

impl<'t> Compact<'t> {
    /// Takes a token apart.
    pub(super) fn parse(token: &'t str) -> Result<Self, Refusal> {
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Refusal::Malformed("it does not have three parts"));
        };
        let decoded = decoded(header)?;
        let header: Header<'_> = serde_json::from_slice(&decoded)
            .map_err(|_| Refusal::Malformed("its header is not as required"))?;
        if header.crit.is_some() {
            return Err(Refusal::Critical);
        }
        if !header.typ.as_deref().is_none_or(is_access_token) {
            return Err(Refusal::Type);
        }
        let algorithm = header.alg.parse().map_err(|_| Refusal::Algorithm)?;
        Ok(Compact {
            algorithm,
            key: header.kid,
            message: &token.as_bytes()[..token.len() - signature.len() - 1],
            signature,
            payload,
        })
    }

    /// Returns the claims, for whoever has verified the signature.
    pub(super) fn claims(&self) -> Result<Map<String, Value>, Refusal> {
        let decoded = decoded(self.payload)?;
        serde_json::from_slice(&decoded)
            .map_err(|_| Refusal::Malformed("its claims are not a JSON object"))
    }
}

/// Returns what a token claims, whoever made it: for messages to the one who has it, and for
/// nothing else.
#[must_use]
pub fn unverified_claims(token: &str) -> Option<Map<String, Value>> {
    Compact::parse(token).ok()?.claims().ok()
}

/// Returns whether a type is that of tokens for access (RFC 7519, section 5.1; RFC 9068, section
/// 2.1).
fn is_access_token(typ: &str) -> bool {
    let prefix = typ.get(.."application/".len());
    let has_prefix = prefix.is_some_and(|p| p.eq_ignore_ascii_case("application/"));
    let short = if has_prefix {
        &typ["application/".len()..]
    } else {
        typ
    };
    ["JWT", "at+jwt"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(short))
}

fn decoded(part: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| Refusal::Malformed("a part is not base64url"))
}
