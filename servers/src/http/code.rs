//! The error codes of the HTTP layer: failures that are decided before or beside GraphQL execution.

graphql_service::error_codes! {
    REQUEST_MALFORMED 400 public "The body is not JSON, or not a GraphQL request; or a parameter is malformed.";
    UNSUPPORTED_MEDIA_TYPE 415 public "The media type, character set or encoding of the body is not one that the path takes.";
    NOT_ACCEPTABLE 406 public "`Accept` names no media type that can be given.";
    BODY_TOO_LARGE 413 public "The body is larger than `http.maxBodyBytes`.";
    BODY_TIMEOUT 408 public "The body did not arrive within `graphql.requestTimeout`.";
    METHOD_NOT_ALLOWED 405 public "The path does not take this method.";
    MUTATION_BY_GET 405 public "A mutation was sent by GET; send it by POST.";
    NOT_FOUND 404 public "There is nothing under this path.";
    SCHEMA_NOT_FOUND 404 public "No stored schema has this identifier.";
    SCHEMA_EXISTS 409 public "A schema with this identifier is stored already; replace it with PUT.";
    SCHEMA_BOUND 409 public "The schema is bound and cannot be removed; unbind it first.";
    SCHEMA_INVALID 422 public "The SOML document has errors; nothing was stored or bound.";
    SCHEMA_ID_MISMATCH 422 public "The `id` in the document is not the one in the path.";
    PRECONDITION_FAILED 412 public "The stored schema is not in the revision that `If-Match` names.";
}
