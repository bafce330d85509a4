//! The answer of a device authorization endpoint (RFC 8628 section 3.2).

use std::time::Duration;

use outbound::Secret;
use reqwest::Url;
use serde_json::Value;

use super::OauthError;
use super::error::printable;

/// Time between two questions where the server does not say (RFC 8628 section 3.2).
const INTERVAL: Duration = Duration::from_secs(5);
/// The shortest time between two questions, whatever a server says.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time for which a code is waited on.
const MAX_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// A log-in that waits for someone to confirm it in a browser.
#[derive(Clone, Debug)]
pub struct DeviceAuthorization {
    pub(super) device_code: Secret,
    /// What the user enters.
    pub user_code: String,
    /// Where the user enters it.
    pub verification_uri: Url,
    /// The same with the code in it.
    pub verification_uri_complete: Option<Url>,
    /// How long the code can be used.
    pub expires_in: Duration,
    /// Time between two questions whether the user has confirmed.
    pub interval: Duration,
}

impl DeviceAuthorization {
    pub(super) fn of(body: &Value) -> Result<Self, OauthError> {
        let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
        let missing = OauthError::Malformed;
        // What a user is told to open is an address of a web page and nothing else.
        let address = |name: &str| {
            let url = Url::parse(text(name)?).ok()?;
            matches!(url.scheme(), "https" | "http").then_some(url)
        };
        let seconds = |name: &str| body[name].as_u64().map(Duration::from_secs);
        Ok(DeviceAuthorization {
            device_code: text("device_code")
                .map(Secret::new)
                .ok_or(missing("it has no `device_code`"))?,
            user_code: text("user_code")
                .map(printable)
                .ok_or(missing("it has no `user_code`"))?,
            // Some servers keep the name of the first drafts.
            verification_uri: address("verification_uri")
                .or_else(|| address("verification_url"))
                .ok_or(missing("it has no `verification_uri`"))?,
            verification_uri_complete: address("verification_uri_complete"),
            expires_in: seconds("expires_in")
                .ok_or(missing("it has no `expires_in`"))?
                .min(MAX_LIFETIME),
            interval: seconds("interval").unwrap_or(INTERVAL).max(MIN_INTERVAL),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> Value {
        json!({
            "device_code": "secret", "user_code": "AB-\u{7}CD", "verification_uri": "https://idp.example/device",
            "verification_uri_complete": "javascript:alert(1)", "expires_in": 600,
        })
    }

    #[test]
    fn an_answer_has_a_code_an_address_and_an_end() {
        let read = DeviceAuthorization::of(&answer()).unwrap();
        assert_eq!(read.user_code, "AB-CD");
        assert_eq!(read.interval, INTERVAL);
        assert_eq!(read.verification_uri_complete, None);
        for name in ["device_code", "user_code", "verification_uri", "expires_in"] {
            let mut answer = answer();
            answer[name] = Value::Null;
            assert!(DeviceAuthorization::of(&answer).is_err(), "{name}");
        }
    }

    #[test]
    fn a_server_cannot_make_the_client_ask_without_pause() {
        let mut answer = answer();
        answer["interval"] = json!(0);
        assert_eq!(
            DeviceAuthorization::of(&answer).unwrap().interval,
            MIN_INTERVAL
        );
    }
}
