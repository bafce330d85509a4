//! The error codes of the HTTP layer, outside GraphQL execution.

graphql_service::error_codes! {
    REQUEST_MALFORMED 400 public "The body is not JSON or not a GraphQL request, or a parameter is malformed.";
    UNSUPPORTED_MEDIA_TYPE 415 public "The path does not accept the media type, character set or encoding of the body.";
    NOT_ACCEPTABLE 406 public "`Accept` allows no media type that the service can return.";
    BODY_TOO_LARGE 413 public "The body is larger than `http.maxBodyBytes`.";
    BODY_TIMEOUT 408 public "The body did not arrive within `graphql.requestTimeout`.";
    METHOD_NOT_ALLOWED 405 public "The path does not support this method.";
    MUTATION_BY_GET 405 public "A mutation was sent by GET; use POST.";
    NOT_FOUND 404 public "The path does not exist.";
    SCHEMA_NOT_FOUND 404 public "There is no stored schema with this identifier.";
    SCHEMA_EXISTS 409 public "A schema with this identifier already exists; replace it with PUT.";
    SCHEMA_BOUND 409 public "The schema is bound and cannot be removed; unbind it first.";
    SCHEMA_INVALID 422 public "The SOML document has errors; nothing was stored or bound.";
    SCHEMA_ID_MISMATCH 422 public "The `id` in the document does not match the path.";
    PRECONDITION_FAILED 412 public "The revision of the stored schema does not match `If-Match`.";
}
