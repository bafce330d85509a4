//! The routes of the services, and the servers that run them.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware;
use axum::routing::{get, post, put};
use tokio::task::JoinSet;
use tower_service::Service;

use super::authentication::Tokens;
use super::front::{Front, of};
use super::gateway::{self, Forwarding};
use super::graphql::{GraphqlEndpoint, RequestBounds};
use super::listener::{Connected, Listener, ServeError};
use super::loading::Gate;
use super::login;
use super::streams::Streams;
use super::{
    backups, change_records, docs, dump, managing, operations, page, sdl, search, soml, soml_rbac,
};
use crate::gateway::GatewayApp;
use crate::host::Host;
use crate::object::change_records::Records;
use crate::object::{App, Mutations};
use crate::search::SearchApp;

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

/// Returns all routes of a search service.
pub fn search_router(app: Arc<SearchApp>) -> Router {
    search_front(app).into_router()
}

fn search_front(app: Arc<SearchApp>) -> Front {
    let management = Router::new()
        .route("/soml/validate", post(search::validate))
        .route("/soml/info", get(search::info))
        .route(
            "/soml/{id}/search",
            put(search::bind).delete(search::unbind),
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

/// Returns all routes of a gateway.
pub fn gateway_router(app: Arc<GatewayApp>) -> Router {
    let tokens = match (&app.host.verifier, app.requires_tokens) {
        (None, _) => Tokens::Unread,
        (Some(verifier), true) => Tokens::DemandedInTime(Arc::clone(verifier)),
        (Some(verifier), false) => Tokens::Read(Arc::clone(verifier)),
    };
    let absent = Arc::clone(&app);
    let streams = Streams::new(
        &app.host,
        &app.options,
        app.requires_tokens,
        app.ending().clone(),
    );
    let endpoint = endpoint(&app)
        .absent(move || gateway::starting(&absent))
        .forwarding(Forwarding::of(&app.options))
        .persisted(Arc::clone(&app.persisted))
        .batches(app.options.batch)
        .streaming(streams);
    let routes = common();
    let routes = match app.options.metrics {
        true => routes.route("/metrics", get(gateway::metrics)),
        false => routes,
    };
    let traces = app.traces.clone();
    let routes = routes.with_state(Arc::clone(&app));
    let front = Front::new((routes, endpoint), &app.host, tokens, None);
    traces.routes(front.into_router())
}

/// The routes that every service has beside its endpoint.
fn common<H: Host>() -> Router<Arc<H>> {
    Router::new()
        .route("/", get(page::index::<H>))
        .route("/graphiql/{version}/{name}", get(page::file::<H>))
        .route("/examples", get(page::examples::<H>))
        .route("/schema.graphql", get(sdl::schema::<H>))
        .route("/docs", get(docs::index::<H>))
        .route("/docs/{page}", get(docs::page::<H>))
        .route("/__health", get(operations::health::<H>))
        .route("/__gtg", get(operations::good_to_go::<H>))
        .route("/__trouble", get(operations::trouble::<H>))
        .route("/__about", get(operations::about::<H>))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready::<H>))
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

/// The bound schema as what `/graphql` serves.
fn endpoint<H: Host>(app: &Arc<H>) -> GraphqlEndpoint {
    let host = app.state();
    let bounds = RequestBounds {
        body_bytes: host.options.max_body_bytes,
        timeout: host.options.request_timeout,
        limits: host.options.limits.clone(),
    };
    let resources = host.resources.clone();
    let app = Arc::clone(app);
    GraphqlEndpoint::new(move || app.service(), bounds, resources)
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
        let options = &app.host.options;
        let listener = Listener::bind(options.address, options.listener.clone()).await?;
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

/// A search service that listens but does not answer yet.
pub struct SearchServer {
    app: Arc<SearchApp>,
    listener: Listener,
}

impl SearchServer {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<SearchApp>) -> Result<Self, ServeError> {
        let options = &app.host.options;
        let listener = Listener::bind(options.address, options.listener.clone()).await?;
        Ok(SearchServer { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then ends the run that builds indexes, and gives open
    /// requests `http.shutdownTimeout` to complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let SearchServer { app, listener } = self;
        if let Some(verifier) = &app.host.verifier {
            verifier.prepare();
        }
        let front = search_front(Arc::clone(&app));
        let answer = move |request, connected| front.clone().receive(request, Some(connected));
        listener.serve(answer, stop, || app.drain()).await;
        app.ended().await;
    }
}

/// A gateway that listens, and has composed nothing yet.
pub struct GatewayServer {
    app: Arc<GatewayApp>,
    listener: Listener,
}

impl GatewayServer {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<GatewayApp>) -> Result<Self, ServeError> {
        let options = &app.host.options;
        let listener = Listener::bind(options.address, options.listener.clone()).await?;
        Ok(GatewayServer { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones `http.shutdownTimeout` to complete. Looks at
    /// the subgraphs meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let GatewayServer { app, listener } = self;
        if let Some(verifier) = &app.host.verifier {
            verifier.prepare();
        }
        // Ends with this future.
        let mut upkeep = JoinSet::new();
        upkeep.spawn(Arc::clone(&app).watch());
        upkeep.spawn(Arc::clone(&app).poll());
        upkeep.spawn(app.traces.clone().watch());
        let traces = app.traces.clone();
        let routes = gateway_router(Arc::clone(&app));
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
