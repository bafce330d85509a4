//! What is done with the tokens of requests.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use graphql_http::{HttpError, Sender, asks_for_websocket, note, sender};
use service_auth::Verifier;

use super::table::{GRAPHQL, Table};

/// How tokens of requests are handled.
#[non_exhaustive]
pub enum Tokens {
    /// Every request needs one, except on public routes.
    Demanded(Arc<Verifier>),
    /// Every request needs one; clients of WebSockets may send it once they are connected, since browsers cannot
    /// send it earlier.
    DemandedInTime(Arc<Verifier>),
    /// One that is there must be valid. What requests without a token may is for those to say whom they are passed
    /// on to.
    Read(Arc<Verifier>),
    /// No one looks at them here.
    Unread,
}

impl Tokens {
    /// Has every request need a token, where there is something that verifies them.
    #[must_use]
    pub fn demanded(verifier: Option<Arc<Verifier>>) -> Self {
        verifier.map_or(Tokens::Unread, Tokens::Demanded)
    }

    /// Returns who sent a request, as far as that is looked at. Refuses it without the token that it needs.
    ///
    /// Takes the request for itself meanwhile, since threads cannot share its body.
    pub(crate) async fn admit(
        &self,
        request: &mut Request,
        table: &Table,
    ) -> Result<Sender, HttpError> {
        let has_token = request.headers().contains_key(AUTHORIZATION);
        match self {
            Tokens::Unread => Ok(Sender(None)),
            Tokens::Read(_) if !has_token => Ok(Sender(None)),
            Tokens::DemandedInTime(_) if !has_token && opens_stream(request) => Ok(Sender(None)),
            Tokens::Demanded(verifier)
            | Tokens::DemandedInTime(verifier)
            | Tokens::Read(verifier) => {
                if is_public(request, table) {
                    return Ok(Sender(None));
                }
                Box::pin(authenticate(verifier, request)).await
            }
        }
    }
}

/// Refuses requests without a valid token, whatever their path, and lets handlers know who sent the others: as
/// `Arc<Caller>` in the extensions of the request.
pub fn authenticated(routes: Router, verifier: Arc<Verifier>) -> Router {
    let admit = |State(verifier): State<Arc<Verifier>>, mut request: Request, next: Next| async move {
        match authenticate(&verifier, &mut request).await {
            Ok(sender) => {
                sender.note(request.extensions_mut());
                next.run(request).await
            }
            Err(error) => error.into_response(),
        }
    };
    routes.layer(middleware::from_fn_with_state(verifier, admit))
}

/// Returns whether a request is for a WebSocket.
fn opens_stream(request: &Request) -> bool {
    let is_path = request.uri().path() == GRAPHQL;
    is_path && asks_for_websocket(request.method(), request.headers())
}

async fn authenticate(verifier: &Verifier, request: &mut Request) -> Result<Sender, HttpError> {
    match sender(verifier, request.headers()).await {
        Ok(caller) => {
            note(&caller);
            Ok(Sender(Some(Arc::new(caller))))
        }
        Err(refusal) => {
            let code = refusal.code();
            tracing::debug!(%code, reason = %refusal, "refused a request");
            Err(HttpError::unauthenticated(refusal))
        }
    }
}

/// Returns whether a request needs no token. What nearly all requests are for needs one, and is not looked up.
fn is_public(request: &Request, table: &Table) -> bool {
    let uri = request.uri();
    uri.path() != GRAPHQL && table.is_public(request.method(), uri.path(), uri)
}
