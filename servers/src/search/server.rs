//! The routes of a search service, and the server that runs them.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{get, post, put};

use super::app::SearchApp;
use super::routes;
use crate::host::authentication::Tokens;
use crate::host::front::Front;
use crate::host::gate::Gate;
use crate::host::listener::{Listener, ServeError};
use crate::host::managing;
use crate::host::routes::{common, endpoint};

/// Returns all routes of a search service.
pub fn router(app: Arc<SearchApp>) -> Router {
    front(app).into_router()
}

fn front(app: Arc<SearchApp>) -> Front {
    let management = Router::new()
        .route("/soml/validate", post(routes::validate))
        .route("/soml/info", get(routes::info))
        .route(
            "/soml/{id}/search",
            put(routes::bind).delete(routes::unbind),
        )
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            managing::guard::<SearchApp>,
        ));
    let endpoint = endpoint(&app);
    let routes = common().merge(management);
    let routes = routes.with_state(Arc::clone(&app));
    let tokens = Tokens::demanded(app.host.verifier.clone());
    Front::new((routes, endpoint), &app.host, tokens, Some(Gate::of(&app)))
}

/// A search service that listens but does not answer yet.
pub struct Server {
    app: Arc<SearchApp>,
    listener: Listener,
}

impl Server {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<SearchApp>) -> Result<Self, ServeError> {
        let listener = Listener::bind(&app.host.options).await?;
        Ok(Server { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then ends the run that builds indexes, and gives open
    /// requests `http.shutdownTimeout` to complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener } = self;
        if let Some(verifier) = &app.host.verifier {
            verifier.prepare();
        }
        let front = front(Arc::clone(&app));
        let answer = move |request, connected| front.clone().receive(request, Some(connected));
        listener.serve(answer, stop, || app.drain()).await;
        app.ended().await;
    }
}
