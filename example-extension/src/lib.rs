#![doc = include_str!("../README.md")]

mod planet;
mod record;
mod schema;

pub use schema::{ExtensionSchema, Fleet, Integer, Planet, Query, schema};

use async_graphql_axum::GraphQL;
use axum::Router;
use axum::routing::{get, post_service};

/// Returns the routes of the service: `/graphql`, and the checks that a gateway asks for.
pub fn router() -> Router {
    Router::new()
        .route("/graphql", post_service(GraphQL::new(schema())))
        .route("/__gtg", get(record::good_to_go))
        .route("/__health", get(record::health))
}
