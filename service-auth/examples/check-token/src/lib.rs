//! Checks a bearer token with the verifier alone: no provider, no GraphQL, no store.

use service_auth::{Key, Refusal, Verifier, VerifierOptions};

/// Says who sent a token that is signed with a shared secret for an audience.
///
/// # Errors
/// When the token is not to be believed.
pub async fn sender(secret: &str, audience: &str, token: &str) -> Result<String, Refusal> {
    let mut options = VerifierOptions::default();
    options.audiences = vec![audience.to_owned()];
    let key = Key::hmac(secret.as_bytes());
    let verifier = Verifier::without_keys(&options).with_keys([key]);
    let caller = verifier.verify(token).await?;
    let name = caller.name.as_deref().unwrap_or("somebody");
    Ok(format!("{name} ({})", caller.roles.join(", ")))
}
