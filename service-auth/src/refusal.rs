//! Why a request is not authenticated.

use call_context::ErrorCode;

use super::code;

/// Why a request is not authenticated. The texts are fixed, so that no part of a token gets into
/// answers and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no token.
    #[error("the request needs the header `Authorization: Bearer` with a token")]
    Missing,
    /// There are several `Authorization` headers.
    #[error("the request has several `Authorization` headers")]
    Several,
    /// The token is too long.
    #[error("the token is longer than the service allows")]
    TooLong,
    /// It is not a token.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// The algorithm is unknown, `none`, or not allowed.
    #[error("the token is signed with an algorithm that is not accepted")]
    Algorithm,
    /// The header demands an extension.
    #[error("the token requires an extension (`crit`)")]
    Critical,
    /// The token is of another kind, such as one for logging out.
    #[error("the type of the token is neither `JWT` nor `at+jwt`")]
    Type,
    /// No known key is called what the token says, or is for its algorithm.
    #[error("the token is signed with an unknown key")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the signature of the token is wrong")]
    Signature,
    /// The time is over.
    #[error("the token has expired")]
    Expired,
    /// The time has not come.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// A claim is missing or of the wrong type.
    #[error("the claim `{0}` is missing or has a wrong type")]
    Claim(&'static str),
    /// Someone else issued it.
    #[error("the token has an issuer that is not accepted")]
    Issuer,
    /// It is for someone else.
    #[error("the token is meant for a different audience")]
    Audience,
    /// There are no keys yet.
    #[error("the keys to verify tokens cannot be fetched at the moment")]
    KeysUnavailable,
}

impl Refusal {
    /// Returns the code that clients see.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self {
            Refusal::Missing => code::AUTHENTICATION_REQUIRED,
            Refusal::Expired => code::TOKEN_EXPIRED,
            Refusal::KeysUnavailable => code::KEYS_UNAVAILABLE,
            _ => code::TOKEN_INVALID,
        }
    }
}
