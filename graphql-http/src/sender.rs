//! Who sent a request.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use graphql_service::Caller;
use service_auth::{Refusal, Verifier, bearer};

/// Characters of a name that are logged.
const LOGGED: usize = 128;

/// Who sent a request; no one where requests need no token.
pub struct Sender(pub Option<Arc<Caller>>);

impl Sender {
    /// Makes the sender of the request available to handlers, as `Arc<Caller>`.
    pub fn note(self, extensions: &mut Extensions) {
        if let Some(caller) = self.0 {
            extensions.insert(caller);
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Sender(parts.extensions.get().cloned()))
    }
}

/// Has the name of the caller in the lines that are logged of the request.
pub fn note(caller: &Caller) {
    if let Some(name) = &caller.name {
        let logged: String = name.chars().take(LOGGED).collect();
        tracing::Span::current().record("user", tracing::field::debug(logged));
    }
}

/// Verifies the token among some headers.
pub async fn sender(verifier: &Verifier, headers: &HeaderMap) -> Result<Caller, Refusal> {
    verifier.verify(bearer(headers)?).await
}
