//! The routes that every service has.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use graphql_http::{GraphqlEndpoint, RequestBounds};

use super::served::Host;
use super::{docs, operations, page, schema_route};

/// The routes that every service has beside its endpoint.
pub(crate) fn common<H: Host>() -> Router<Arc<H>> {
    Router::new()
        .route("/", get(page::index::<H>))
        .route("/graphiql/{version}/{name}", get(page::file::<H>))
        .route("/examples", get(page::examples::<H>))
        .route("/schema.graphql", get(schema_route::schema::<H>))
        .route("/docs", get(docs::index::<H>))
        .route("/docs/{page}", get(docs::page::<H>))
        .route("/__health", get(operations::health::<H>))
        .route("/__gtg", get(operations::good_to_go::<H>))
        .route("/__trouble", get(operations::trouble::<H>))
        .route("/__about", get(operations::about::<H>))
        .route("/__live", get(operations::live))
        .route("/__ready", get(operations::ready::<H>))
}

/// The bound schema as what `/graphql` serves.
pub(crate) fn endpoint<H: Host>(app: &Arc<H>) -> GraphqlEndpoint {
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
