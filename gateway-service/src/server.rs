//! The routes of a gateway.

use std::sync::Arc;

use graphql_http::{Forwarding, StreamBounds, Streams};
use service_runtime::{ServiceRouter, Tokens, common_routes, endpoint};

use super::app::GatewayApp;
use super::routes;

/// Returns all routes of a gateway.
pub(crate) fn serve(app: Arc<GatewayApp>) -> ServiceRouter {
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
    common_routes(app).serve(endpoint, tokens)
}
