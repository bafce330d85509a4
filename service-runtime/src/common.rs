//! The routes that every service has.

use std::sync::Arc;

use graphql_http::{GraphqlEndpoint, RequestBounds};

use super::login::{keys_route, login_route};
use super::routes::Routes;
use super::service::Host;
use super::table::{Access, Route};
use super::{docs, operations, page, schema_route};

/// Begins the routes of a service with those that every service has beside its endpoint: pages, probes, health records and
/// the printed schema.
#[must_use]
pub fn common_routes<H: Host>(app: Arc<H>) -> Routes<H> {
    // GraphiQL shows nothing of a schema until it has a token, and the documentation is the same for everybody.
    // Health says nothing of data. Live and ready are for orchestrators, and say yes or no.
    let state = |path| Route::get(path).for_callers(Access::PublicIfCached);
    Routes::new(app)
        .with(Route::get("/").public(), page::index::<H>)
        .with(
            Route::get("/graphiql/{version}/{name}").public(),
            page::file::<H>,
        )
        .with(Route::get("/docs").public(), docs::index::<H>)
        .with(Route::get("/docs/{page}").public(), docs::page::<H>)
        .with(Route::get("/examples"), page::examples::<H>)
        .with(Route::get("/schema.graphql"), schema_route::schema::<H>)
        .with(state("/__health"), operations::health::<H>)
        .with(state("/__gtg"), operations::good_to_go::<H>)
        .with(state("/__trouble"), operations::trouble::<H>)
        .with(state("/__about"), operations::about::<H>)
        .with(Route::get("/__live").public(), operations::live)
        .with(Route::get("/__ready").public(), operations::ready::<H>)
        // Whoever has no token yet learns where there is none to get.
        .absent(login_route())
        .absent(keys_route())
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
    let app = Arc::clone(app);
    GraphqlEndpoint::new(move || app.service(), bounds, resources)
}
