//! Requests need a token: the layer that all services use, and what is public without one.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::Uri;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use graphql_http::{HttpError, Sender, asks_for_websocket, note, sender};
use service_auth::Verifier;

use super::front::GRAPHQL;

/// Paths that need no token, for their own sake.
const PUBLIC: &[&str] = &[
    // For a token one needs these.
    "/api/login",
    "/.well-known/jwks.json",
    // Probes of orchestrators; they say nothing but yes or no.
    "/__live",
    "/__ready",
    // GraphiQL, which shows nothing of a schema until it has a token.
    "/",
    "/docs",
];

/// Paths about the state of the service, which need no token unless they are asked with `cache=false`: that makes the
/// service work for whoever asks. Other parameters mean nothing to them.
const STATE: &[&str] = &["/__health", "/__gtg", "/__trouble", "/__about"];

/// Folders of files that are the same for everybody.
const FILES: &[&str] = &["/graphiql/", "/docs/"];

/// What is done with the tokens of requests.
pub(crate) enum Tokens {
    /// Every request needs one, except on public paths.
    Demanded(Arc<Verifier>),
    /// Every request needs one; clients of WebSockets may send it once they are connected, since browsers cannot
    /// send it earlier.
    DemandedInTime(Arc<Verifier>),
    /// One that is there must be valid. What requests without a token may is for those to say whom they are passed
    /// on to.
    Read(Arc<Verifier>),
    /// Nobody looks at them here.
    Unread,
}

impl Tokens {
    pub(crate) fn demanded(verifier: Option<Arc<Verifier>>) -> Self {
        verifier.map_or(Tokens::Unread, Tokens::Demanded)
    }

    /// Returns who sent a request, as far as that is looked at. Refuses it without the token that it needs.
    ///
    /// Takes the request for itself meanwhile, since threads cannot share its body.
    pub(crate) async fn admit(&self, request: &mut Request) -> Result<Sender, HttpError> {
        let has_token = request.headers().contains_key(AUTHORIZATION);
        match self {
            Tokens::Unread => Ok(Sender(None)),
            Tokens::Read(_) if !has_token => Ok(Sender(None)),
            Tokens::DemandedInTime(_) if !has_token && opens_stream(request) => Ok(Sender(None)),
            Tokens::Demanded(verifier)
            | Tokens::DemandedInTime(verifier)
            | Tokens::Read(verifier) => Box::pin(authenticate(verifier, request)).await,
        }
    }
}

/// Refuses requests without a valid token, except on public paths, and lets handlers know who sent
/// the others: as `Arc<Caller>` in the extensions of the request.
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

/// Tells whether a request is for a WebSocket.
fn opens_stream(request: &Request) -> bool {
    let is_path = request.uri().path() == GRAPHQL;
    is_path && asks_for_websocket(request.method(), request.headers())
}

async fn authenticate(verifier: &Verifier, request: &mut Request) -> Result<Sender, HttpError> {
    if is_public(request.uri()) {
        return Ok(Sender(None));
    }
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

fn is_public(uri: &Uri) -> bool {
    // The routes ignore a slash at the end, too.
    let path = match uri.path() {
        "/" => "/",
        path => path.strip_suffix('/').unwrap_or(path),
    };
    let is_state = STATE.contains(&path) && allows_cache(uri);
    is_state || PUBLIC.contains(&path) || FILES.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether parameters leave it to the service whether it answers from its cache.
fn allows_cache(uri: &Uri) -> bool {
    let parameters = Query::<Vec<(String, String)>>::try_from_uri(uri);
    parameters.is_ok_and(|Query(parameters)| {
        let mut parameters = parameters.iter();
        parameters.all(|(name, value)| name != "cache" || value == "true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_of_schemas_and_data_is_public() {
        for target in [
            "/__health",
            "/__health?cache=true",
            "/__gtg",
            "/__trouble",
            "/__about",
            "/__live",
            "/__live?x=1",
            "/__ready",
            "/__health?x",
            "/__health?x=1&cache=true",
            "/__health?cachE=false",
            "/__health?x=cache%3Dfalse",
            "/__gtg?x=1",
            "/__gtg?",
            "/__trouble?lang=en&x",
            "/__about?_=1700000000",
            "/__health/",
            "/api/login?x=1",
            "/api/login",
            "/.well-known/jwks.json",
            "/",
            "/graphiql/0/page.js",
            "/?query=x",
            "/docs",
            "/docs/",
            "/docs/queries",
            "/docs/queries?x=1",
        ] {
            assert!(is_public(&target.parse().unwrap()), "{target}");
        }
        for target in [
            "/graphql",
            "/graphql/",
            "//graphql",
            "/schema.graphql",
            "/examples",
            "/soml",
            "/soml/a",
            "/soml-rbac",
            "/metrics",
            "/__health?cache=false",
            "/__health?c%61che=false",
            "/__about?cache=false",
            "/__gtg?cache=false",
            "/__gtg?x&cache=false",
            "/__health?x=1&cache=false",
            "/__health?cache=true&cache=false",
            "/__health?cache=perhaps",
            "/__health?cache",
            "/__health/?cache=false",
            "//__health",
            "/__healthz",
            "/__HEALTH",
            "/api/login/x",
            "/api",
            "/graphiql",
            "/docsx",
            "/unknown",
        ] {
            assert!(!is_public(&target.parse().unwrap()), "{target}");
        }
    }
}
