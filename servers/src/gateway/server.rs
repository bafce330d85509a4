//! The routes of a gateway, and the server that runs them.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use graphql_http::{Forwarding, StreamBounds, Streams};
use tokio::task::JoinSet;
use tower_service::Service;

use super::app::GatewayApp;
use super::routes;
use crate::host::authentication::Tokens;
use crate::host::front::{Front, of};
use crate::host::listener::{Connected, Listener, ServeError};
use crate::host::routes::{common, endpoint};

/// Returns all routes of a gateway.
pub fn router(app: Arc<GatewayApp>) -> Router {
    let tokens = match (&app.host.verifier, app.requires_tokens) {
        (None, _) => Tokens::Unread,
        (Some(verifier), true) => Tokens::DemandedInTime(Arc::clone(verifier)),
        (Some(verifier), false) => Tokens::Read(Arc::clone(verifier)),
    };
    let absent = Arc::clone(&app);
    let bounds = StreamBounds {
        connections: app.host.options.listener.max_connections,
        subscriptions: app.options.limits.subscriptions,
        verifier: app.host.verifier.clone(),
        requires_tokens: app.requires_tokens,
        leeway: app.options.leeway,
    };
    let streams = Streams::new(&app.options.subscriptions, bounds, app.ending().clone());
    let endpoint = endpoint(&app)
        .absent(move || routes::starting(&absent))
        .forwarding(Forwarding::new(
            app.options.forward_headers.clone(),
            app.options.cache_max_age,
        ))
        .persisted(Arc::clone(&app.persisted))
        .batches(app.options.batch)
        .streaming(streams);
    let routes = common();
    let routes = if app.options.metrics {
        routes.route("/metrics", get(routes::metrics))
    } else {
        routes
    };
    let traces = app.traces.clone();
    let routes = routes.with_state(Arc::clone(&app));
    let front = Front::new((routes, endpoint), &app.host, tokens, None);
    traces.routes(front.into_router())
}

/// A gateway that listens, and has composed nothing yet.
pub struct Server {
    app: Arc<GatewayApp>,
    listener: Listener,
}

impl Server {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<GatewayApp>) -> Result<Self, ServeError> {
        let listener = Listener::bind(&app.host.options).await?;
        Ok(Server { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to complete. Looks at
    /// the subgraphs meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener } = self;
        if let Some(verifier) = &app.host.verifier {
            verifier.prepare();
        }
        // Ends with this future.
        let mut upkeep = JoinSet::new();
        upkeep.spawn(Arc::clone(&app).watch());
        upkeep.spawn(Arc::clone(&app).poll());
        upkeep.spawn(app.traces.clone().watch());
        let traces = app.traces.clone();
        let routes = router(Arc::clone(&app));
        let answer = move |mut request: Request, connected: Connected| {
            connected.note(request.extensions_mut());
            let mut routes = routes.clone();
            async move { of(routes.call(request).await) }
        };
        let drain = || {
            drop(upkeep);
            app.drain();
        };
        listener.serve(answer, stop, drain).await;
        traces.end().await;
    }
}
