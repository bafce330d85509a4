//! The error codes of the paths of a search service.

graphql_service::error_codes! {
    SCHEMAS_UNAVAILABLE 503 public "The object service at `search.soml.address`, whose schemas these are, cannot be reached.";
    SCHEMAS_TIMEOUT 504 public "The object service at `search.soml.address`, whose schemas these are, does not answer in time.";
    SCHEMAS_FAILED 502 public "What answers at `search.soml.address` is no object service, or refuses access.";
    BINDING_SUPERSEDED 409 public "Another schema was bound, or the schema was unbound, before this one was.";
    SEARCH_IGNORES_ROLES 409 public "With security on and `search.rbac.enabled` off, searches would show every caller what the roles of the schema hide from some; `search.enabled=true` allows that.";
    VALUES_MALFORMED 422 public "The data have values that cannot be indexed, and `indexer.ignoreMalformed` is `false`; what is bound has not changed.";
    SCHEMA_NOT_SEARCHED 409 public "The indexes of a schema cannot be compared with the data: it is not bound to searches, or they are not complete.";
    INDEXING_DISABLED 409 public "The indexes cannot be compared with the data by a service that builds none (`indexer.indexingEnabled`).";
    INDEXING_FAILED 502 public "The indexes could not be built; details are in the log.";
}
