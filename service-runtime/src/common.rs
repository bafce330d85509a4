//! The routes that every service has.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use graphql_http::{GraphqlEndpoint, OperationRecords, RequestBounds};
use service_metrics::OperationMetrics;

use super::login::{keys_route, login_route};
use super::routes::Routes;
use super::service::Host;
use super::table::{Access, Route};
use super::{docs, loggers_route, operations, page, schema_route};

/// Begins the routes of a service with those that every service has in addition to its endpoint: pages, probes,
/// health records and the printed schema.
#[must_use]
pub fn common_routes<H: Host>(app: Arc<H>) -> Routes<H> {
    let [index, file, docs, docs_page] = pages();
    state_routes(app)
        .with(index, page::index::<H>)
        .with(file, page::file::<H>)
        .with(docs, docs::index::<H>)
        .with(docs_page, docs::page::<H>)
        .with(Route::get("/examples"), page::examples::<H>)
        .with(Route::get("/schema.graphql"), schema_route::schema::<H>)
        // Whoever has no token yet learns where there is none to get.
        .absent(login_route())
        .absent(keys_route())
}

/// Returns the routes that say how a service is, which no token is needed for; and those of metrics and of the levels of the
/// log, where the service has such.
#[must_use]
pub fn state_routes<H: Host>(app: Arc<H>) -> Routes<H> {
    let [health, good_to_go, trouble, about, live, ready] = states();
    let has_metrics = app.state().metrics.are_shown();
    let has_loggers = app.state().loggers.is_some();
    let routes = Routes::new(app)
        .with(health, operations::health::<H>)
        .with(good_to_go, operations::good_to_go::<H>)
        .with(trouble, operations::trouble::<H>)
        .with(about, operations::about::<H>)
        .with(live, operations::live)
        .with(ready, operations::ready::<H>);
    let routes = if has_metrics {
        // They say who is asked how often, which is no business of strangers.
        routes.for_the_known(Route::get("/metrics"), metrics_text::<H>)
    } else {
        routes
    };
    if has_loggers {
        routes
            .administered(Route::get(LOGGERS), loggers_route::read::<H>)
            .administered(Route::put(LOGGERS), loggers_route::change::<H>)
    } else {
        routes
    }
}

/// Where the levels of the log are.
const LOGGERS: &str = "/__loggers";

async fn metrics_text<H: Host>(State(app): State<Arc<H>>) -> Response {
    app.state().metrics.response().await
}

/// Returns the rows of what every service shows to everyone: how it is, its pages, and what a provider of tokens needs.
#[must_use]
pub fn public_rows() -> Vec<Route> {
    let provider = [login_route(), keys_route()];
    states()
        .into_iter()
        .chain(pages())
        .chain(provider)
        .collect()
}

/// Returns the rows of the status routes of every service.
#[must_use]
pub fn state_rows() -> Vec<Route> {
    states().into()
}

/// GraphiQL shows nothing of a schema until it has a token, and the documentation is the same for everyone.
fn pages() -> [Route; 4] {
    ["/", "/graphiql/{version}/{name}", "/docs", "/docs/{page}"]
        .map(|path| Route::get(path).public())
}

/// Health says nothing of data. Live and ready are for orchestrators, and say yes or no.
fn states() -> [Route; 6] {
    let state = |path| Route::get(path).for_callers(Access::PublicIfCached);
    let probe = |path| Route::get(path).public();
    [
        state("/__health"),
        state("/__gtg"),
        state("/__trouble"),
        state("/__about"),
        probe("/__live"),
        probe("/__ready"),
    ]
}

/// Returns what a service has bound as what answers GraphQL requests, with its bounds.
pub fn endpoint<H: Host>(app: &Arc<H>) -> GraphqlEndpoint {
    let host = app.state();
    let bounds = RequestBounds {
        body_bytes: host.options.max_body_bytes,
        timeout: host.options.request_timeout,
        limits: host.options.limits.clone(),
    };
    let resources = host.resources.clone();
    let records = OperationRecords {
        metrics: host
            .metrics
            .are_recorded()
            .then(|| Arc::new(OperationMetrics::new(host.options.name.clone()))),
        slow: host.slow_operations,
    };
    let app = Arc::clone(app);
    GraphqlEndpoint::new(move || app.service(), bounds, resources).recording(records)
}
