//! Tokens as a token endpoint issues them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::dangerous::insecure_decode;
use outbound::Secret;
use serde::Deserialize;
use serde_json::Value;

use super::OauthError;
use crate::exchange::Answer;

/// Tokens that a token endpoint has issued (RFC 6749 section 5.1).
#[derive(Clone, Debug)]
pub struct Tokens {
    /// What requests are sent with.
    pub access_token: Secret,
    /// What a new access token is had for.
    pub refresh_token: Option<Secret>,
    /// When the access token ends, where that is known.
    pub expires_at: Option<SystemTime>,
}

impl Tokens {
    /// Reads the answer of a token endpoint to a request that was sent at `asked`.
    pub(crate) fn of(answer: &Answer, asked: SystemTime) -> Result<Self, OauthError> {
        if !answer.status.is_success() {
            return Err(OauthError::of(answer));
        }
        let body = &answer.body;
        let kind = body["token_type"].as_str().unwrap_or_default();
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(OauthError::Malformed("the token is not a bearer token"));
        }
        let token = |name: &str| body[name].as_str().map(Secret::new);
        let missing = OauthError::Malformed("it has no access token");
        let access_token = token("access_token").ok_or(missing)?;
        Ok(Tokens {
            expires_at: lifetime(body)
                .and_then(|lifetime| asked.checked_add(lifetime))
                .or_else(|| claimed_end(&access_token)),
            refresh_token: token("refresh_token"),
            access_token,
        })
    }
}

/// Returns `expires_in`, which some servers write as a string.
fn lifetime(body: &Value) -> Option<Duration> {
    let seconds = match &body["expires_in"] {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    seconds.map(Duration::from_secs)
}

/// Returns the end that a token claims. It is only read: the service that takes the token verifies it.
pub(crate) fn claimed_end(token: &Secret) -> Option<SystemTime> {
    #[derive(Deserialize)]
    struct End {
        exp: u64,
    }
    let end = insecure_decode::<End>(token.reveal()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(end.claims.exp))
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use serde_json::json;

    use super::*;

    fn read(status: u16, body: Value) -> Result<Tokens, OauthError> {
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: None,
            body,
        };
        Tokens::of(&answer, UNIX_EPOCH)
    }

    #[test]
    fn the_end_is_that_of_the_answer_or_of_the_token() {
        for expires in [json!(60), json!("60")] {
            let body = json!({"access_token": "a", "token_type": "bearer", "expires_in": expires});
            let tokens = read(200, body).unwrap();
            assert_eq!(
                tokens.expires_at,
                Some(UNIX_EPOCH + Duration::from_secs(60))
            );
        }
        // {"alg":"none"} and {"exp":7}
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjd9.AA";
        let tokens = read(200, json!({"access_token": token, "token_type": "Bearer"})).unwrap();
        assert_eq!(tokens.expires_at, Some(UNIX_EPOCH + Duration::from_secs(7)));
        let opaque = read(200, json!({"access_token": "a", "token_type": "Bearer"})).unwrap();
        assert_eq!(opaque.expires_at, None);
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        let refused = read(400, json!({"error": "invalid_grant"}));
        assert!(matches!(refused, Err(OauthError::Denied(_))), "{refused:?}");
        let failed = read(502, Value::Null);
        assert!(matches!(failed, Err(OauthError::Status(_))), "{failed:?}");
        for body in [
            json!({}),
            json!({"access_token": "a"}),
            json!({"access_token": "a", "token_type": "DPoP"}),
            json!({"token_type": "Bearer"}),
        ] {
            let malformed = read(200, body);
            assert!(
                matches!(malformed, Err(OauthError::Malformed(_))),
                "{malformed:?}"
            );
        }
    }
}
