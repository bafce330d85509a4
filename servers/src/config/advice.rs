//! What an operator should know about settings that work and are weaker than they could be.

use outbound::address::is_loopback;
use service_auth::Key;

use super::security::SecuritySettings;

/// Length that a secret for HMAC should have (RFC 7518, section 3.2).
const SECRET_BYTES: usize = 32;

/// Returns warnings about the settings of a service that requires tokens.
#[must_use]
pub fn token_warnings(settings: &SecuritySettings) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    let secret = settings.secret.as_ref().map(|secret| secret.reveal());
    if secret.is_some_and(|text| !Key::is_public(text) && text.len() < SECRET_BYTES) {
        warnings.push(
            "`security.secret` has fewer than 32 bytes, so it can be guessed from a token; use a \
             longer one",
        );
    }
    if settings.audiences.0.is_empty() {
        warnings.push(
            "`security.audience` is not set, so tokens that were issued for other services are \
             accepted too",
        );
    }
    let address = settings.jwks_url.as_ref().map(|address| address.url());
    if address.is_some_and(|url| url.scheme() == "http" && !is_loopback(url)) {
        warnings.push(
            "`security.jwks.url` is not encrypted, so the keys of tokens can be replaced in transit",
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use outbound::Secret;
    use service_auth::KeysAddress;

    use super::*;
    use crate::config::Names;

    #[test]
    fn weak_settings_are_warned_of_and_strong_ones_are_not() {
        let strong = SecuritySettings {
            secret: Some(Secret::new("0123456789abcdef0123456789abcdef")),
            audiences: Names(vec!["a".to_owned()]),
            jwks_url: KeysAddress::parse("http://[::1]:1/keys").ok(),
            ..SecuritySettings::default()
        };
        assert!(token_warnings(&strong).is_empty());
        let weak = SecuritySettings {
            secret: Some(Secret::new("0123456789abcdef0123456789abcde")),
            jwks_url: KeysAddress::parse("http://idp.example/keys").ok(),
            ..SecuritySettings::default()
        };
        assert_eq!(token_warnings(&weak).len(), 3);
    }
}
