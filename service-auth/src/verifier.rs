//! Verifies tokens.

use std::sync::Arc;
use std::time::SystemTime;

use call_context::Caller;
use jsonwebtoken::Algorithm;
use serde_json::{Map, Value};

use super::claims::ClaimRules;
use super::compact::Compact;
use super::fetch::ClientError;
use super::jwks::{Jwks, Times};
use super::key::{Key, KeyError, Match, find};
use super::options::VerifierOptions;
use super::refusal::Refusal;

/// Verifies tokens by the keys and the rules of a service.
///
/// ```
/// use service_auth::{Key, Refusal, Verifier, VerifierOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let key = Key::hmac(b"a secret of at least thirty-two bytes");
/// let verifier = Verifier::without_keys(&VerifierOptions::default()).with_keys([key]);
/// let refusal = verifier.verify("a.b.c").await.unwrap_err();
/// assert_eq!(refusal.code().as_str(), "TOKEN_INVALID");
/// # }
/// ```
#[derive(Debug)]
pub struct Verifier {
    keys: Vec<Key>,
    jwks: Option<Arc<Jwks>>,
    algorithms: Option<Vec<Algorithm>>,
    rules: ClaimRules,
    max_bytes: usize,
}

/// Why there is nothing to verify tokens with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifierError {
    /// The configured key is none.
    #[error("the key of tokens cannot be used")]
    Key(#[from] KeyError),
    /// The set of keys cannot be fetched ever.
    #[error("the set of keys of tokens cannot be fetched")]
    Client(#[from] ClientError),
}

impl Verifier {
    /// Creates a verifier with the keys of the options.
    ///
    /// # Errors
    ///
    /// Fails when [`VerifierOptions::secret`] holds no key for an accepted algorithm, and when TLS cannot be set up for
    /// [`VerifierOptions::keys_address`].
    pub fn of(options: &VerifierOptions) -> Result<Self, VerifierError> {
        let mut verifier = Verifier::without_keys(options);
        if let Some(secret) = &options.secret {
            let keys = Key::from_setting(secret.reveal())?;
            verifier = verifier.with_keys(keys);
            if verifier.keys.is_empty() {
                return Err(KeyError::Algorithms.into());
            }
        }
        if let Some(address) = &options.keys_address {
            verifier = verifier.with_jwks(Jwks::new(address, Times::default())?);
        }
        Ok(verifier)
    }

    /// Creates a verifier that refuses all tokens, until it is given keys.
    #[must_use]
    pub fn without_keys(options: &VerifierOptions) -> Self {
        Verifier {
            keys: Vec::new(),
            jwks: None,
            algorithms: options.algorithms.clone(),
            rules: ClaimRules::new(options),
            max_bytes: options.max_token_bytes,
        }
    }

    /// Adds keys, as far as they are for accepted algorithms.
    #[must_use]
    pub fn with_keys(mut self, keys: impl IntoIterator<Item = Key>) -> Self {
        let accepted = self.algorithms.as_deref();
        let keys = keys.into_iter().filter_map(|key| key.limited_to(accepted));
        self.keys.extend(keys);
        self
    }

    /// Sets a set of keys that a server publishes.
    #[must_use]
    pub fn with_jwks(mut self, jwks: Jwks) -> Self {
        self.jwks = Some(Arc::new(jwks));
        self
    }

    /// Starts to fetch the published keys, where there are some. Needs the runtime of tokio.
    pub fn prepare(&self) {
        if let Some(jwks) = &self.jwks {
            jwks.refresh();
        }
    }

    /// Verifies a token and returns who sent it.
    ///
    /// Waits for published keys only when the token is signed with one that is not known yet. Needs
    /// the runtime of tokio, where keys are published.
    ///
    /// # Errors
    ///
    /// Fails when the token is not to be believed, and when keys are not there yet.
    pub async fn verify(&self, token: &str) -> Result<Caller, Refusal> {
        let claims = self.claims(token).await?;
        self.rules.check(&claims, SystemTime::now())?;
        Ok(self.rules.caller(claims))
    }

    /// Returns the claims of a token whose signature is verified.
    async fn claims(&self, token: &str) -> Result<Map<String, Value>, Refusal> {
        if token.len() > self.max_bytes {
            return Err(Refusal::TooLong);
        }
        let token = Compact::parse(token)?;
        let accepted = self.algorithms.as_ref();
        if accepted.is_some_and(|accepted| !accepted.contains(&token.algorithm)) {
            return Err(Refusal::Algorithm);
        }
        let mut found = find(&self.keys, &token);
        if let (true, Some(jwks)) = (found != Match::Verified, &self.jwks) {
            found = found.max(jwks.find(&token).await?);
        }
        match found {
            Match::Verified => token.claims(),
            Match::Wrong => Err(Refusal::Signature),
            Match::NoKey => Err(Refusal::UnknownKey),
        }
    }
}
