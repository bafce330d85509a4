#![doc = include_str!("../../../../docs/embedding.md")]

use async_graphql_axum::{GraphQL, GraphQLSubscription};
use axum::Router;
use axum::routing::{get_service, post_service};
use graphql_service::executor::ServiceExecutor;

/// Returns the routes of a service behind the handlers of `async-graphql-axum`: GET, POST, batches and
/// multipart requests on `/graphql`, WebSockets (`graphql-transport-ws` and `graphql-ws`) on
/// `/graphql/ws`.
pub fn routes(executor: ServiceExecutor) -> Router {
    let requests = GraphQL::new(executor.clone());
    let sockets = GraphQLSubscription::new(executor);
    Router::new()
        .route(
            "/graphql",
            post_service(requests.clone()).get_service(requests),
        )
        .route("/graphql/ws", get_service(sockets))
}
