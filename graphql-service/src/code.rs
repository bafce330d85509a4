//! The error codes that every service shares.

crate::error_codes! {
    GRAPHQL_PARSE_FAILED 400 public "The document is not GraphQL.";
    GRAPHQL_VALIDATION_FAILED 400 public "The document does not fit the schema.";
    OPERATION_NOT_FOUND 400 public "`operationName` is missing although the document has several operations, or names none of them.";
    VARIABLE_INVALID 400 public "A variable has no value, or one that does not fit its type.";
    LIMIT_DEPTH 400 public "The document nests deeper than `graphql.limits.depth`.";
    LIMIT_FIELDS 400 public "The document selects more fields than `graphql.limits.fields`, fragments counted where they are used.";
    LIMIT_ALIASES 400 public "The document has more aliases than `graphql.limits.aliases`.";
    LIMIT_TOKENS 400 public "The document has more tokens than `graphql.limits.tokens`.";
    LIMIT_RESPONSE 200 public "The answer would be larger than `graphql.limits.responseBytes`.";
    LIMIT_INTROSPECTION 400 public "The document asks for more of the schema than `graphql.limits.introspection` usual introspection queries.";
    NON_NULL_VIOLATED 200 public "A field that may not be null has no value.";
    ERRORS_OMITTED 200 public "There are more errors than an answer lists; this last entry says how many.";
    DEADLINE_EXCEEDED 200 public "The deadline of the request passed.";
    CANCELLED 200 public "The request was cancelled.";
    REQUEST_UNSUPPORTED 400 public "The request carries something that the service cannot heed, such as uploaded files; only the transports of embedding programs can.";
    INTROSPECTION_MODE 400 public "The program around the service has switched introspection off for this request, or allows nothing else.";
    SCHEMA_NOT_BOUND 503 public "No schema is bound to the service.";
    INTERNAL 200 internal "A fault of the service.";
}
