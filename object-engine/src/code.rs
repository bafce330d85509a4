//! The error codes of the object service, beside those that every service shares.

graphql_service::error_codes! {
    SCALAR_INVALID 400 public "A value is not valid for its scalar type.";
    NULL_OPERAND 400 public "An operand in `where` is null; omit the key instead.";
    ARGUMENT_INVALID 400 public "An argument has an invalid value.";
    CURSOR_INVALID 400 public "A cursor is malformed, or belongs to another field or another `orderBy`.";
    LANG_SPEC_INVALID 400 public "A language specification is malformed.";
    REGEX_INVALID 400 public "A regular expression is malformed.";
    REGEX_UNSUPPORTED 400 public "A regular expression uses a feature outside the subset that all stores support.";
    STORE_UNSUPPORTED 400 public "The store does not support an argument or its value.";
    LIMIT_PAGE 400 public "A list is larger than `graphql.limits.page`.";
    LIMIT_WHERE_DEPTH 400 public "A filter is nested more deeply than `graphql.limits.whereDepth`.";
    LIMIT_WHERE_CONDITIONS 400 public "A filter has more conditions than `graphql.limits.whereConditions`.";
    LIMIT_LIST_LENGTH 400 public "A list in a filter is longer than `graphql.limits.listLength`.";
    LIMIT_REGEX 400 public "A regular expression is longer or more complex than `graphql.limits.regexLength` allows.";
    LIMIT_STORE_RESULT 200 public "A result from the store is larger than `sparql.endpoint.maxResultBytes`.";
    LIMIT_PLAN 400 public "The plan of the document has more steps than `graphql.limits.planLevels`.";
    LIMIT_GRAPHS 400 public "The argument `from` names more graphs than `graphql.limits.graphs`.";
    LIMIT_ORDER 400 public "The argument `orderBy` has more keys, at all levels, than `graphql.limits.orderKeys`.";
    LIMIT_LANG 400 public "A language specification has more items than `graphql.limits.langItems`.";
    LIMIT_GROUPS 200 public "An aggregate has more groups than `graphql.limits.groups`.";
    LIMIT_CURSOR 400 public "The sort keys of an object do not fit into `graphql.limits.cursorBytes`.";
    VALUE_ILL_TYPED 200 public "A stored value is not in the declared range; the field is null.";
    MULTIPLE_VALUES 200 public "A single-valued field has several stored values; one of them is returned.";
    VALUES_LEFT_OUT 200 public "An aggregate skips stored values that are not in the declared range.";
    AGGREGATE_RANGE 200 public "An aggregate needs more than 38 digits before or 18 digits after the decimal point, or is not finite; it is null.";
    TYPE_UNKNOWN 200 public "A stored object has no type of the schema; the field is null.";
    STORE_UNAVAILABLE 200 internal "The store cannot be reached.";
    STORE_FAILED 200 internal "The store failed to answer a query.";
    ACCESS_DENIED 400 public "An argument uses what the roles of the caller may not read.";
    ACCESS_FIELD_REMOVED 200 public "The roles of the caller may not read a field; it is left out.";
    EXPLAIN_DISABLED 400 public "The request asks for `extensions.explain`, but the service or the schema does not allow it.";
}
