//! The error codes of the gateway, beside those that every service shares.

graphql_service::error_codes! {
    INVALID_FEDERATION_SUPERGRAPH 500 public "The supergraph is not valid GraphQL, or its join directives contradict it.";
    UNSUPPORTED_FEATURE 500 public "The supergraph uses a feature that the gateway does not support; ignoring it would give wrong or forbidden answers.";
    LIMIT_GATEWAY_PLAN 400 public "The plan of the operation would have more objects and fields than `gateway.limits.plan`.";
    LIMIT_GATEWAY_CONTEXTS 200 public "Fields would be fetched with more distinct context values than `gateway.limits.contextValues`.";
    CONTEXT_VALUE_MISSING 200 public "A field takes a required argument from a context that has no value.";
    AUTHORIZER_MISSING 500 public "Fields of the supergraph require authentication, scopes or policies, but the gateway has no authorizer to check them.";
    PLAN_IMPOSSIBLE 500 public "No sequence of subgraph requests answers the operation: the supergraph is not satisfiable.";
    UNAUTHORIZED_FIELD_OR_TYPE 200 public "The request does not satisfy `@authenticated`, `@requiresScopes` or `@policy`; the field was not fetched.";
    SUBSCRIPTION_NEEDS_STREAM 400 public "The operation is a subscription, but the request allows only a single response; send subscriptions over WebSocket or as server-sent events.";
    SUBSCRIPTION_UNSUPPORTED 400 public "The subgraph does not support subscriptions, or no protocol for them is configured.";
    SUBSCRIPTION_LIMIT 503 public "The maximum number of open subscriptions is reached (`gateway.limits.subscriptions`).";
    SUBSCRIPTION_OVERFLOW 200 public "A subscription has ended because more than `gateway.limits.events` events were queued for its client.";
    SUBSCRIPTION_SCHEMA_RELOAD 200 public "A subscription has ended because the composite schema was replaced; subscribe again to continue with the new one.";
    SUBSCRIPTION_SHUTDOWN 200 public "A subscription has ended because the service is shutting down.";
    DOWNSTREAM_SERVICE_ERROR 200 public "A subgraph did not respond, its response is not a GraphQL response, or it returned an error.";
    SUBGRAPH_ERROR_MALFORMED 200 public "A subgraph returned a malformed GraphQL error; the data returned with it are kept.";
    SUBGRAPH_VALUE_INVALID 200 public "A subgraph returned a value that does not match its type.";
}
