//! Why an authorization server issues no token.

use std::fmt;

use reqwest::StatusCode;
use serde_json::Value;

use crate::exchange::{Answer, ExchangeError};

/// Characters of a text of the server that are shown.
const MAX_SHOWN: usize = 200;

/// Why an authorization server issues no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OauthError {
    /// The issuer is no address to begin with.
    #[error(
        "the issuer must be an https address without user, query and fragment; http is for loopback addresses only"
    )]
    Issuer,
    /// The client cannot be set up.
    #[error("failed to set up the client of the identity provider: {0}")]
    Setup(String),
    /// There was no answer.
    #[error("the identity provider does not answer: {0}")]
    Unreachable(String),
    /// The issuer publishes no metadata.
    #[error(
        "{issuer} publishes no metadata: /.well-known/openid-configuration answered {status}; is it the issuer?"
    )]
    NoMetadata {
        /// The address that was asked.
        issuer: String,
        /// What it answered.
        status: StatusCode,
    },
    /// The metadata are those of someone else.
    #[error("the metadata belong to a different issuer, {found}; name that one if you trust it")]
    OtherIssuer {
        /// The issuer of the metadata.
        found: String,
    },
    /// An address of the metadata would send secrets unencrypted.
    #[error("the metadata have no https address as `{0}`")]
    Insecure(&'static str),
    /// The server does not offer the device authorization grant.
    #[error(
        "the identity provider offers no log-in by device code: its metadata have no `device_authorization_endpoint`"
    )]
    NoDeviceFlow,
    /// The server refuses the request.
    #[error("the identity provider refuses the request: {0}")]
    Denied(Denial),
    /// The user has refused the log-in.
    #[error("the log-in was refused in the browser")]
    AccessDenied,
    /// No one has confirmed the log-in in time.
    #[error("the code expired before the log-in was confirmed")]
    Expired,
    /// The answer is a failure without an error code.
    #[error("the identity provider answered {0}")]
    Status(StatusCode),
    /// The answer is not one of the documented ones.
    #[error("the answer of the identity provider is malformed: {0}")]
    Malformed(&'static str),
}

impl OauthError {
    /// Returns the error that an answer without success is.
    pub(crate) fn of(answer: &Answer) -> Self {
        match Denial::of(&answer.body) {
            Some(denial) => OauthError::Denied(denial),
            None => OauthError::Status(answer.status),
        }
    }

    /// Returns whether another attempt may succeed without anyone doing something.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            OauthError::Unreachable(_) => true,
            OauthError::Status(status) => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            _ => false,
        }
    }
}

impl From<ExchangeError> for OauthError {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Setup(cause) => OauthError::Setup(cause),
            ExchangeError::Unreachable(cause) => OauthError::Unreachable(cause),
            ExchangeError::TooLarge => OauthError::Malformed("it is too large"),
        }
    }
}

/// An error response of a token endpoint (RFC 6749 section 5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The error code, such as `invalid_grant`.
    pub error: String,
    /// The description by the server.
    pub description: Option<String>,
}

impl Denial {
    pub(crate) fn of(body: &Value) -> Option<Denial> {
        Some(Denial {
            error: printable(body["error"].as_str()?),
            description: body["error_description"].as_str().map(printable),
        })
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)?;
        match &self.description {
            Some(description) => write!(f, " ({description})"),
            None => Ok(()),
        }
    }
}

/// Returns a text of a server as a terminal can show it: short, and without control characters.
pub(crate) fn printable(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN);
    shown.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_denial_cannot_control_a_terminal() {
        let body = json!({"error": "invalid_grant", "error_description": "a\u{1b}[31mb\nc"});
        let denial = Denial::of(&body).unwrap();
        assert_eq!(denial.to_string(), "invalid_grant (a[31mbc)");
        assert_eq!(Denial::of(&json!({"error": 1})), None);
    }
}
