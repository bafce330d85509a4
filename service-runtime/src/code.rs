//! The error codes of what services have around GraphQL.

pub use graphql_service::code::FORBIDDEN;

graphql_service::error_codes! {
    HOST_MALFORMED 400 public "`Host` is missing, malformed or sent more than once.";
    HOST_NOT_ALLOWED 421 public "The service does not accept requests for the host name in `Host`, which is in the log; allow it with `http.allowedHosts`.";
    CROSS_SITE 403 public "The request comes from a web page of a different origin, which is in the log; allow it with `http.cors.allowedOrigins`.";
    URI_TOO_LONG 414 public "The path with its parameters is longer than 64 KiB; send the request by POST.";
    HEADERS_TOO_LARGE 431 public "The target and the headers of the request together are larger than 64 KiB, or there are more than 100 headers.";
    LOGIN_RATE_LIMITED 429 public "There were too many log-ins with this user name or from this address; `Retry-After` says when to try again.";
    LOGGER_UNKNOWN 400 public "A change of log levels names a logger or level that does not exist; no level was changed.";
    PATH_NOT_FOUND 404 public "The path does not exist.";
    DATA_LOADING 503 public "The data are still being loaded; `Retry-After` says when to try again.";
    SCHEMA_NOT_FOUND 404 public "There is no stored schema with this identifier.";
    SCHEMA_EXISTS 409 public "A schema with this identifier already exists; replace it with PUT.";
    SCHEMA_INVALID 422 public "The SOML document has errors; nothing was stored or bound.";
    SCHEMAS_ELSEWHERE 409 public "This service uses the schemas of the object service at `search.soml.address`; change them there.";
    SCHEMA_BOUND 409 public "The schema is bound and cannot be removed; unbind it first.";
    SCHEMA_STORE_UNAVAILABLE 503 public "The server that stores the schemas (`soml.storage.*`) cannot be reached or did not respond in time; nothing was changed.";
    SCHEMA_STORE_DENIED 502 public "The server that stores the schemas (`soml.storage.*`) denies access; nothing was changed.";
    SCHEMA_STORE_OUTCOME_UNKNOWN 504 public "The response of the server that stores the schemas was lost, and it could not be determined whether the change was made.";
    PRECONDITION_FAILED 412 public "The revision of the stored schema does not match `If-Match`, or matches `If-None-Match`.";
    DISK_FULL 507 public "The disk of `store.dataDir` is full; nothing was changed. Existing data are still served.";
}
