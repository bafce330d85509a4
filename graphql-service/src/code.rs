//! The error codes that every service shares.

call_context::error_codes! {
    GRAPHQL_PARSE_FAILED 400 public "The document is not valid GraphQL syntax.";
    GRAPHQL_VALIDATION_FAILED 400 public "The document is not valid against the schema.";
    OPERATION_NOT_FOUND 400 public "The document has several operations and `operationName` is missing, or it names an unknown operation.";
    VARIABLE_INVALID 400 public "A required variable is missing, or a value does not match the type of its variable.";
    LIMIT_DEPTH 400 public "The document is nested more deeply than `graphql.limits.depth`.";
    LIMIT_FIELDS 400 public "The document selects more fields than `graphql.limits.fields`, with fragments counted at each use.";
    LIMIT_ALIASES 400 public "The document has more aliases than `graphql.limits.aliases`.";
    LIMIT_TOKENS 400 public "The document has more tokens than `graphql.limits.tokens`.";
    LIMIT_VARIABLES 400 public "The variables and extensions have more values than `graphql.limits.variableValues`.";
    LIMIT_RESPONSE 200 public "The response would be larger than `graphql.limits.responseBytes`.";
    LIMIT_INTROSPECTION 400 public "The introspection in the document is larger than `graphql.limits.introspection` typical introspection queries.";
    NON_NULL_VIOLATED 200 public "A non-null field has no value; the null propagates to the nearest nullable parent.";
    ERRORS_OMITTED 200 public "There are more errors than a response lists; the last entry has the number of omitted errors.";
    DEADLINE_EXCEEDED 200 public "The deadline of the request passed.";
    CANCELLED 200 public "The request was cancelled.";
    REQUEST_UNSUPPORTED 400 public "The request uses a transport feature that the service does not support, such as file uploads; this happens in embedding programs only.";
    INTROSPECTION_MODE 400 public "The embedding program has disabled introspection for this request, or allows only introspection.";
    SCHEMA_NOT_BOUND 503 public "No schema is bound to the service.";
    UNAUTHENTICATED 401 public "The credentials of the request are missing, or an upstream service rejects them.";
    FORBIDDEN 403 public "The credentials are valid but do not permit the request.";
    ACCESS_DENIED 400 public "An argument uses something that the caller's roles may not read, or a mutation needs a right that they do not grant.";
    ACCESS_FIELD_REMOVED 200 public "The caller's roles may not read a field; it is left out.";
    OVERLOADED 503 public "The service has no memory or processor free for the request at the moment; `Retry-After` says when to try again.";
    INTERNAL 200 internal "An internal error of the service.";
}
