//! Bounds of the gateway, beside those that every service has.

use crate::code;

graphql_service::limits! {
    /// Limits on plans and on what subgraphs answer.
    pub struct GatewayLimits {
        plan: usize = 100_000, "gateway.limits.plan", code::LIMIT_GATEWAY_PLAN,
            "Maximum number of objects and fields, by type, that are examined to plan an operation.";
        candidates: usize = 10_000, "gateway.limits.candidates", code::LIMIT_GATEWAY_PLAN,
            "Maximum number of plans that are compared; fewer for large operations. If there are more, the best plan \
             found so far is used.";
        context_values: usize = 10_000, "gateway.limits.contextValues", code::LIMIT_GATEWAY_CONTEXTS,
            "Maximum number of distinct context values that one request of a plan is sent with.";
        subgraph_bytes: usize = 64 << 20, "gateway.limits.subgraphBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum size of a subgraph response after decompression, in bytes.";
        all_subgraph_bytes: usize = 128 << 20, "gateway.limits.allSubgraphBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum total size of all subgraph responses for one request, in bytes.";
        subscriptions: usize = 1_000, "gateway.limits.subscriptions", code::SUBSCRIPTION_LIMIT,
            "Maximum number of open subscriptions.";
        events: usize = 100, "gateway.limits.events", code::SUBSCRIPTION_OVERFLOW,
            "Maximum number of events of one subscription that are queued for its client.";
        event_bytes: usize = 1 << 20, "gateway.limits.eventBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum size of a subscription event from a subgraph, in bytes.";
    }
}
