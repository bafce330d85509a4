//! Bounds of the gateway, beside those that every service has.

use crate::code;

graphql_service::limits! {
    /// Limits on plans and on what subgraphs answer.
    pub struct GatewayLimits {
        plan: usize = 100_000, "gateway.limits.plan", code::LIMIT_GATEWAY_PLAN,
            "Maximum number of objects and fields that planning an operation looks at, by type.";
        candidates: usize = 10_000, "gateway.limits.candidates", code::LIMIT_GATEWAY_PLAN,
            "Maximum number of plans that are compared; fewer for large operations. With more of them the best one found is taken.";
        context_values: usize = 10_000, "gateway.limits.contextValues", code::LIMIT_GATEWAY_CONTEXTS,
            "Maximum number of different values from contexts that one request of a plan is sent with.";
        subgraph_bytes: usize = 64 << 20, "gateway.limits.subgraphBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum size of an answer of a subgraph, in bytes, after decompression.";
        all_subgraph_bytes: usize = 128 << 20, "gateway.limits.allSubgraphBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum size of all answers of subgraphs for one request together, in bytes.";
        subscriptions: usize = 1_000, "gateway.limits.subscriptions", code::SUBSCRIPTION_LIMIT,
            "Maximum number of subscriptions that are open at a time.";
        events: usize = 100, "gateway.limits.events", code::SUBSCRIPTION_OVERFLOW,
            "Maximum number of events of one subscription that wait for its client.";
        event_bytes: usize = 1 << 20, "gateway.limits.eventBytes", code::DOWNSTREAM_SERVICE_ERROR,
            "Maximum size of an event of a subgraph, in bytes.";
    }
}
