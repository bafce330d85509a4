//! The error codes of the gateway, beside those that every service shares.

graphql_service::error_codes! {
    INVALID_FEDERATION_SUPERGRAPH 500 public "The supergraph is not valid GraphQL, or its join directives contradict it.";
    UNSUPPORTED_FEATURE 500 public "The supergraph uses a feature that the gateway does not support; ignoring it would give wrong or forbidden answers.";
    LIMIT_GATEWAY_PLAN 400 public "The plan of the operation would have more objects and fields than `gateway.limits.plan`.";
    LIMIT_GATEWAY_CONTEXTS 200 public "Fields would be asked for with more different values from contexts than `gateway.limits.contextValues`.";
    CONTEXT_VALUE_MISSING 200 public "A field takes an argument from a context, the argument must have a value, and there is none.";
    AUTHORIZER_MISSING 500 public "Fields of the supergraph require authentication, scopes or policies, and the gateway has no authorizer that could check them.";
    PLAN_IMPOSSIBLE 500 public "No sequence of subgraph requests answers the operation: the supergraph is not satisfiable.";
    UNAUTHORIZED_FIELD_OR_TYPE 200 public "The request does not have what `@authenticated`, `@requiresScopes` or `@policy` asks for; the field was not fetched.";
    SUBSCRIPTION_NEEDS_STREAM 400 public "The operation is a subscription, and the request can be answered once only: subscriptions are sent over WebSocket, or as server-sent events.";
    SUBSCRIPTION_UNSUPPORTED 400 public "The subgraph of a subscription has none, or no way to them is configured.";
    SUBSCRIPTION_LIMIT 503 public "As many subscriptions are open as `gateway.limits.subscriptions` allows.";
    SUBSCRIPTION_OVERFLOW 200 public "A subscription has ended, since more than `gateway.limits.events` events waited for its client.";
    SUBSCRIPTION_SCHEMA_RELOAD 200 public "A subscription has ended, since another composite schema took the place of its own; subscribing again goes on by the new one.";
    SUBSCRIPTION_SHUTDOWN 200 public "A subscription has ended, since the service is being shut down.";
    DOWNSTREAM_SERVICE_ERROR 200 public "A subgraph did not answer, answered what is no GraphQL response, or answered with an error.";
    SUBGRAPH_ERROR_MALFORMED 200 public "A subgraph answered with an error that is not one of GraphQL; the data beside it are kept.";
    SUBGRAPH_VALUE_INVALID 200 public "A subgraph answered a value that does not fit its type.";
}
