//! What a verifier needs to know.

use std::time::Duration;

use jsonwebtoken::Algorithm;
use outbound::Secret;
use reqwest::Url;

/// Options of a [`Verifier`](crate::Verifier).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifierOptions {
    /// The key that tokens are verified with: a text for HMAC, or public keys or certificates in PEM.
    pub secret: Option<Secret>,
    /// Address of a set of public keys (RFC 7517).
    pub keys_address: Option<KeysAddress>,
    /// Algorithms that tokens may be signed with; by default all that the keys are for.
    pub algorithms: Option<Vec<Algorithm>>,
    /// Accepted issuers (`iss`); none are checked where none are listed.
    pub issuers: Vec<String>,
    /// Accepted audiences (`aud`); none are checked where none are listed.
    pub audiences: Vec<String>,
    /// How far clocks may differ.
    pub leeway: Duration,
    /// The claim that holds the roles; dots lead into objects.
    pub roles_claim: String,
    /// Roles that may do everything.
    pub super_roles: Vec<String>,
    /// Maximum length of a token, in bytes.
    pub max_token_bytes: usize,
}

impl Default for VerifierOptions {
    fn default() -> Self {
        VerifierOptions {
            secret: None,
            keys_address: None,
            algorithms: None,
            issuers: Vec::new(),
            audiences: Vec::new(),
            leeway: Duration::from_secs(60),
            roles_claim: "roles".to_owned(),
            super_roles: Vec::new(),
            max_token_bytes: 16 << 10,
        }
    }
}

/// Address of a set of keys: HTTP or HTTPS, without a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysAddress(Url);

impl KeysAddress {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Fails with what is expected instead.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let expected = "an address of http or https without user and fragment";
        let url = Url::parse(text).map_err(|_| expected)?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_fit = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && is_plain
            && url.fragment().is_none();
        is_fit.then_some(KeysAddress(url)).ok_or(expected)
    }

    /// Returns the address.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_keys_has_no_user() {
        for text in ["https://idp.example/keys", "http://localhost:1/a?b=c"] {
            assert!(KeysAddress::parse(text).is_ok(), "{text}");
        }
        for text in [
            "idp.example",
            "file:///keys",
            "https://u:p@idp.example/",
            "https://u@idp.example/",
            "https://idp.example/#x",
        ] {
            assert!(KeysAddress::parse(text).is_err(), "{text}");
        }
    }
}
