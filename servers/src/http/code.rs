//! The error codes of the HTTP layer, outside GraphQL execution.

pub use graphql_service::code::FORBIDDEN;

pub use crate::data_folder::code::DISK_FULL;
pub use crate::gateway::code::GATEWAY_STARTING;

graphql_service::error_codes! {
    REQUEST_MALFORMED 400 public "The request is not valid HTTP, the body is not JSON or not a GraphQL request, or the path, a parameter or a header is malformed.";
    IDEMPOTENCY_KEY_INVALID 400 public "`Idempotency-Key` has not 1 to 255 visible ASCII characters, or is sent more than once.";
    HOST_MALFORMED 400 public "`Host` is missing, malformed or sent more than once.";
    HOST_NOT_ALLOWED 421 public "The service does not answer under the name in `Host`, which is in the log; allow it by `http.allowedHosts`.";
    CROSS_SITE 403 public "The request comes from a web page of another origin, which is in the log; allow it by `http.cors.allowedOrigins`.";
    URI_TOO_LONG 414 public "The path with its parameters is longer than 64 KiB; send the request by POST.";
    HEADERS_TOO_LARGE 431 public "The target and the headers of the request are larger than 64 KiB together, or there are more than 100 headers.";
    UNSUPPORTED_MEDIA_TYPE 415 public "The path does not accept the media type, character set or encoding of the body.";
    NOT_ACCEPTABLE 406 public "`Accept` allows no media type that the service can return.";
    BODY_TOO_LARGE 413 public "The body is larger than `http.maxBodyBytes`, or than `http.maxSchemaBytes` for a schema.";
    BODY_TIMEOUT 408 public "The body did not arrive within `graphql.requestTimeout`.";
    LOGIN_RATE_LIMITED 429 public "There were too many log-ins under this name or from this address; `Retry-After` says when to try again.";
    METHOD_NOT_ALLOWED 405 public "The path does not support this method.";
    WEBSOCKET_HANDSHAKE 400 public "The request asks for a WebSocket in a way that is not that of the protocol `graphql-transport-ws`.";
    TOO_MANY_STREAMS 503 public "As many connections are WebSockets or streams of events as `gateway.subscriptions.maxConnections` allows.";
    TOO_MANY_OPERATIONS 429 public "More operations than `gateway.subscriptions.maxOperations` would run on one WebSocket.";
    MUTATION_BY_GET 405 public "A mutation was sent by GET; use POST.";
    PATH_NOT_FOUND 404 public "The path does not exist.";
    DATA_LOADING 503 public "The data are still being loaded; `Retry-After` says when to try again.";
    SCHEMA_NOT_FOUND 404 public "There is no stored schema with this identifier.";
    SCHEMA_EXISTS 409 public "A schema with this identifier already exists; replace it with PUT.";
    SCHEMA_BOUND 409 public "The schema is bound and cannot be removed; unbind it first.";
    SCHEMA_INVALID 422 public "The SOML document has errors; nothing was stored or bound.";
    SCHEMA_ID_INVALID 422 public "The last segment of the `id` in the document cannot name a stored schema: it has other characters than ASCII letters, digits, `_`, `-` and `.`, begins with one of the last three, or is longer than 128.";
    SCHEMA_ID_MISMATCH 422 public "The `id` in the document does not match the path.";
    SCHEMAS_ELSEWHERE 409 public "The schemas of this service are those of the object service at `search.soml.address`, and changed there.";
    SCHEMAS_UNAVAILABLE 503 public "The object service at `search.soml.address`, whose schemas these are, cannot be reached.";
    SCHEMAS_TIMEOUT 504 public "The object service at `search.soml.address`, whose schemas these are, does not answer in time.";
    SCHEMAS_FAILED 502 public "What answers at `search.soml.address` is no object service, or refuses access.";
    BINDING_SUPERSEDED 409 public "Another schema was bound, or the schema was unbound, before this one was.";
    SEARCH_IGNORES_ROLES 409 public "With security on, searches would show every caller what the roles of the schema hide from some; `search.enabled=true` allows that.";
    VALUES_MALFORMED 422 public "The data have values that cannot be indexed, and `indexer.ignoreMalformed` is `false`; what is bound has not changed.";
    INDEXING_FAILED 502 public "The indexes could not be built; details are in the log.";
    PRECONDITION_FAILED 412 public "The revision of the stored schema does not match `If-Match`, or matches `If-None-Match`.";
    SCHEMA_RIGHTS_NOT_FOUND 404 public "No rights on schemas are stored; only the role of `security.schemaAdminRole` may manage schemas.";
    SCHEMA_RIGHTS_INVALID 422 public "The document of rights on schemas has another form; nothing was stored.";
    BACKUPS_NOT_CONFIGURED 409 public "The service makes no backups: it needs `store.dataDir` for the data and `store.backupDir` for the backups.";
    BACKUP_EXISTS 409 public "There is a backup with this name already.";
    BACKUP_RUNNING 409 public "Another backup is being made.";
    BACKUP_FAILED 500 public "The backup cannot be made; details are in the log.";
    DUMP_RUNNING 409 public "As many dumps of the data are being made as the service makes at once; try again when one has ended.";
    DUMP_UNSUPPORTED 409 public "The store of the service cannot list its data; dump it with its own tools.";
    DUMP_FAILED 500 public "The data cannot be read; details are in the log.";
    SCHEMA_STORE_FULL 507 public "The stored schemas would be more than `soml.storage.maxSchemas`, or larger than `soml.storage.maxBytes`.";
}
