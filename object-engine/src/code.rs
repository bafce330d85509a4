//! The error codes of the object service, beside those that every service shares.

graphql_service::error_codes! {
    SCALAR_INVALID 400 public "A value does not fit its scalar.";
    NULL_OPERAND 400 public "An operand inside `where` is null; leave the key out instead.";
    ARGUMENT_INVALID 400 public "An argument has a value that means nothing here.";
    CURSOR_INVALID 400 public "A cursor is malformed, or belongs to another field or another `orderBy`.";
    LANG_SPEC_INVALID 400 public "A language specification does not follow its grammar.";
    REGEX_INVALID 400 public "A regular expression is malformed.";
    REGEX_UNSUPPORTED 400 public "A regular expression uses something outside the subset that all stores share.";
    STORE_UNSUPPORTED 400 public "The store cannot do what an argument asks for.";
    LIMIT_PAGE 400 public "A page is larger than `graphql.limits.page`.";
    LIMIT_WHERE_DEPTH 400 public "A filter nests deeper than `graphql.limits.whereDepth`.";
    LIMIT_WHERE_CONDITIONS 400 public "A filter has more conditions than `graphql.limits.whereConditions`.";
    LIMIT_LIST_LENGTH 400 public "A list in a filter is longer than `graphql.limits.listLength`.";
    LIMIT_REGEX 400 public "A regular expression is longer or heavier than `graphql.limits.regexLength` allows.";
    LIMIT_STORE_RESULT 200 public "A result of the store is larger than `sparql.endpoint.maxResultBytes`.";
    LIMIT_PLAN 400 public "The document leads to more steps than `graphql.limits.planLevels`.";
    LIMIT_GRAPHS 400 public "The argument `from` names more graphs than `graphql.limits.graphs`.";
    LIMIT_ORDER 400 public "The argument `orderBy` has more keys, at all levels, than `graphql.limits.orderKeys`.";
    LIMIT_LANG 400 public "A language specification has more items than `graphql.limits.langItems`.";
    LIMIT_GROUPS 200 public "An aggregate has more groups than `graphql.limits.groups`.";
    LIMIT_CURSOR 400 public "The sort keys of an object do not fit into `graphql.limits.cursorBytes`.";
    VALUE_ILL_TYPED 200 public "A stored value does not fit the declared range; the field is null.";
    MULTIPLE_VALUES 200 public "A single-valued field has several stored values; one of them is returned.";
    VALUES_LEFT_OUT 200 public "An aggregate leaves out stored values that do not fit the declared range.";
    AGGREGATE_RANGE 200 public "An aggregate needs more digits than 38 in front of the point and 18 behind it, or is no finite number; it is null.";
    TYPE_UNKNOWN 200 public "A stored object has no type that the schema knows; the field is null.";
    STORE_UNAVAILABLE 200 internal "The store cannot be reached.";
    STORE_FAILED 200 internal "The store failed on a valid query.";
    EXPLAIN_DISABLED 400 public "`extensions.explain` is asked for, and the service or the schema does not allow it.";
}
