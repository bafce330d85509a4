//! The error codes of GraphQL over HTTP.

call_context::error_codes! {
    REQUEST_MALFORMED 400 public "The request is not valid HTTP, the body is not JSON or not a GraphQL request, or the path, a parameter or a header is malformed.";
    IDEMPOTENCY_KEY_INVALID 400 public "`Idempotency-Key` does not consist of 1 to 255 visible ASCII characters, or is sent more than once.";
    UNSUPPORTED_MEDIA_TYPE 415 public "The path does not accept the media type, character set or encoding of the body.";
    NOT_ACCEPTABLE 406 public "`Accept` allows no media type that the service can return.";
    BODY_TOO_LARGE 413 public "The body is larger than `http.maxBodyBytes`, or than `http.maxSchemaBytes` for a schema.";
    BODY_TIMEOUT 408 public "The body did not arrive within `graphql.requestTimeout`.";
    WEBSOCKET_HANDSHAKE 400 public "The request for a WebSocket does not follow the protocol `graphql-transport-ws`.";
    TOO_MANY_STREAMS 503 public "The maximum number of WebSockets and event streams is reached (`gateway.subscriptions.maxConnections`).";
    TOO_MANY_OPERATIONS 429 public "More operations than `gateway.subscriptions.maxOperations` would run on one WebSocket at the same time.";
    MUTATION_BY_GET 405 public "A mutation was sent by GET; use POST.";
    METHOD_NOT_ALLOWED 405 public "The path does not support this method.";
    PERSISTED_QUERY_NOT_FOUND 200 public "The hash in `extensions.persistedQuery` is not known; send it with the query.";
    PERSISTED_QUERY_NOT_SUPPORTED 200 public "The service does not support persisted queries; send the query.";
    PERSISTED_QUERY_MISMATCH 400 public "The hash in `extensions.persistedQuery` does not match the query.";
    OPERATION_NOT_TRUSTED 403 public "The gateway only executes the operations of `gateway.trustedDocuments.file`.";
    BATCH_TOO_LONG 400 public "A batch has more requests than `gateway.batching.maxOperations`, or none.";
}
