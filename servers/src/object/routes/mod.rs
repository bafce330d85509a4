//! The routes of an object service, and the server that runs them.

mod backups;
mod change_records;
mod dump;
mod soml;
mod soml_rbac;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::{get, put};
use tokio::task::JoinSet;

use super::app::{App, Mutations};
use super::change_records::Records;
use crate::host::authentication::Tokens;
use crate::host::front::Front;
use crate::host::gate::Gate;
use crate::host::listener::{Listener, ServeError};
use crate::host::routes::{common, endpoint};
use crate::host::{login, managing};

/// Returns all routes of the service.
pub fn router(app: Arc<App>) -> Router {
    front(app).into_router()
}

fn front(app: Arc<App>) -> Front {
    let endpoint = endpoint(&app);
    let routes = common()
        .route("/changes", get(change_records::read))
        .route("/backups/{name}", put(backups::make))
        .route("/dump", get(dump::read))
        .merge(management(&app))
        .with_state(Arc::clone(&app));
    let routes = match &app.provider {
        Some(provider) => routes.merge(login::routes(provider, &app.host)),
        None => routes,
    };
    let tokens = Tokens::demanded(app.host.verifier.clone());
    Front::new((routes, endpoint), &app.host, tokens, Some(Gate::of(&app)))
}

/// The routes of those who manage schemas.
fn management(app: &Arc<App>) -> Router<Arc<App>> {
    let binding = axum::routing::put(soml::bind).delete(soml::unbind);
    Router::new()
        .route("/soml", get(soml::list).post(soml::create))
        .route(
            "/soml/{id}",
            get(soml::read)
                .put(soml::replace)
                .delete(soml::remove)
                .post(soml::validate),
        )
        .route("/soml/{id}/objects", binding.clone())
        .route("/soml/{id}/soaas", binding)
        .route("/soml-rbac", get(soml_rbac::read).put(soml_rbac::replace))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            managing::guard::<App>,
        ))
}

/// A service that listens but does not answer yet.
pub struct Server {
    app: Arc<App>,
    listener: Listener,
}

impl Server {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<App>) -> Result<Self, ServeError> {
        let listener = Listener::bind(&app.host.options).await?;
        Ok(Server { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to
    /// complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener } = self;
        if let Some(verifier) = &app.host.verifier {
            verifier.prepare();
        }
        let records = Records::of(&app.store, &app.host.resources.slots);
        let loaded = Arc::clone(&app);
        let is_ready = move || loaded.host.load_state().is_none();
        // Ends with this future.
        let mut upkeep = JoinSet::new();
        if let Some(retention) = app
            .options
            .retention
            .filter(|_| app.options.mutations != Mutations::Never)
        {
            upkeep.spawn(records.keep_recent(retention, is_ready));
        }
        let front = front(Arc::clone(&app));
        let answer = move |request, connected| front.clone().receive(request, Some(connected));
        let drain = || {
            drop(upkeep);
            app.drain();
        };
        listener.serve(answer, stop, drain).await;
    }
}
