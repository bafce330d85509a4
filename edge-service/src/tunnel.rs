//! Connections that have become WebSockets on both sides.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use graphql_http::ConnectionPermit;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// The client's side of a WebSocket that is being opened.
pub(crate) struct Opening {
    client: OnUpgrade,
    /// The place of the connection in the bound on them.
    held: Option<ConnectionPermit>,
    /// The place of the stream in the bound on those.
    permit: OwnedSemaphorePermit,
    ending: CancellationToken,
}

impl Opening {
    pub(crate) fn of(
        request: &mut Request,
        permit: OwnedSemaphorePermit,
        ending: CancellationToken,
    ) -> Self {
        Opening {
            held: request.extensions().get::<ConnectionPermit>().cloned(),
            client: hyper::upgrade::on(request),
            permit,
            ending,
        }
    }

    /// Joins both sides, and returns the answer for the client. Where the service has refused, its answer is `None` here.
    pub(crate) fn join(self, upstream: reqwest::Response) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        *response.headers_mut() = upstream.headers().clone();
        let Opening {
            client,
            held,
            permit,
            ending,
        } = self;
        tokio::spawn(async move {
            let _held = (held, permit);
            let both = async { tokio::join!(client, upstream.upgrade()) };
            let Some((Ok(client), Ok(mut upstream))) = ending.run_until_cancelled(both).await
            else {
                return;
            };
            let mut client = TokioIo::new(client);
            let copied = copy_bidirectional(&mut client, &mut upstream);
            // Either side may go away at any time.
            if let Some(Err(error)) = ending.run_until_cancelled(copied).await {
                tracing::debug!(%error, "a WebSocket ended");
            }
        });
        response
    }
}

/// Returns whether a request asks for a WebSocket.
pub(crate) fn is_asked_for(method: &Method, headers: &HeaderMap) -> bool {
    graphql_http::asks_for_websocket(method, headers)
}

/// Asks for a WebSocket, after the headers of the connection were removed.
pub(crate) fn ask_for(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}
