//! The error codes of a gateway, beside those of `federation`.

graphql_service::error_codes! {
    GATEWAY_STARTING 503 public "The gateway has no composite schema yet; the message names the subgraphs it is waiting for.";
}
