//! The error codes of the paths of a search service.

graphql_service::error_codes! {
    SCHEMAS_UNAVAILABLE 503 public "The object service at `search.soml.address`, which has the schemas, cannot be reached.";
    SCHEMAS_TIMEOUT 504 public "The object service at `search.soml.address`, which has the schemas, did not respond in time.";
    SCHEMAS_FAILED 502 public "The server at `search.soml.address` is not an object service, or refuses access.";
    BINDING_SUPERSEDED 409 public "Before this binding was complete, a different schema was bound, or the schema was unbound.";
    SEARCH_IGNORES_ROLES 409 public "With security on and `search.rbac.enabled` off, searches would show all callers what the schema's roles hide from some of them; `search.enabled=true` allows that.";
    VALUES_MALFORMED 422 public "The data have values that cannot be indexed, and `indexer.ignoreMalformed` is `false`; the binding has not changed.";
    SCHEMA_NOT_SEARCHED 409 public "The indexes of a schema cannot be compared with the data: the schema is not bound to searches, or its indexes are incomplete.";
    INDEXING_DISABLED 409 public "A service that builds no indexes (`indexer.indexingEnabled`) cannot compare them with the data.";
    INDEXING_FAILED 502 public "The indexes could not be built; see the log for details.";
}
