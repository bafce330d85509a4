//! Passwords and tokens.

use std::fmt;

use reqwest::header::{HeaderValue, InvalidHeaderValue};

/// A password or token; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the secret, for what it is needed for; neither for logs nor for messages.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the value of `Authorization` that sends the secret as a bearer token, marked as sensitive.
    ///
    /// # Errors
    /// When a header cannot have the secret as its value.
    pub fn bearer(&self) -> Result<HeaderValue, InvalidHeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = Secret::new("hidden");
        let value = secret.bearer().expect("visible characters");
        assert_eq!(value, "Bearer hidden");
        for shown in [format!("{secret:?}"), format!("{value:?}")] {
            assert!(!shown.contains("hidden"), "{shown}");
        }
        assert!(Secret::new("two\nlines").bearer().is_err());
    }
}
