//! Every failure that a client can meet, with its stable code.

use apollo_compiler::response::{JsonMap, JsonValue};
use serde::Serialize;

/// A stable error code.
///
/// The text form is `SCREAMING_SNAKE`; the table behind [`ErrorCode::ALL`] gives each its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The document is not GraphQL.
    GraphqlParseFailed,
    /// The document does not fit the schema.
    GraphqlValidationFailed,
    /// The operation to run is not named or not there.
    OperationNotFound,
    /// A variable has no value, or one that does not fit its type.
    VariableInvalid,
    /// A value does not fit its scalar.
    ScalarInvalid,
    /// An operand inside `where` is null.
    NullOperand,
    /// An argument has a value that means nothing here.
    ArgumentInvalid,
    /// A cursor is malformed or of another order.
    CursorInvalid,
    /// A language specification does not follow its grammar.
    LangSpecInvalid,
    /// A regular expression is malformed.
    RegexInvalid,
    /// A regular expression is outside the common subset of all stores.
    RegexUnsupported,
    /// The store cannot do what the query asks for.
    StoreUnsupported,
    /// The document nests too deeply.
    LimitDepth,
    /// The document selects too many fields.
    LimitFields,
    /// The document has too many aliases.
    LimitAliases,
    /// The document has too many tokens.
    LimitTokens,
    /// A page is larger than allowed.
    LimitPage,
    /// A filter nests too deeply.
    LimitWhereDepth,
    /// A filter has too many conditions.
    LimitWhereConditions,
    /// A list in a filter is too long.
    LimitListLength,
    /// A regular expression is too long.
    LimitRegex,
    /// The answer would be larger than allowed.
    LimitResponse,
    /// A result of the store is larger than allowed.
    LimitStoreResult,
    /// The plan of the document is too large.
    LimitPlan,
    /// More graphs are named than allowed.
    LimitGraphs,
    /// More of the schema is asked for than allowed.
    LimitIntrospection,
    /// An order has too many keys.
    LimitOrder,
    /// A language specification has too many items.
    LimitLang,
    /// A cursor would be larger than allowed.
    LimitCursor,
    /// There would be more groups than allowed.
    LimitGroups,
    /// A stored value does not fit the declared range.
    ValueIllTyped,
    /// A single-valued field has several stored values.
    MultipleValues,
    /// An aggregate leaves out stored values that do not fit the declared range.
    ValuesLeftOut,
    /// An aggregate cannot be computed without rounding.
    AggregateRange,
    /// A stored object has no type that the schema knows.
    TypeUnknown,
    /// A field that may not be null has no value.
    NonNullViolated,
    /// There are more errors than an answer lists.
    ErrorsOmitted,
    /// The deadline of the request passed.
    DeadlineExceeded,
    /// The request was cancelled.
    Cancelled,
    /// The store cannot be reached.
    StoreUnavailable,
    /// The store failed on a valid query.
    StoreFailed,
    /// An explanation is asked for and not allowed.
    ExplainDisabled,
    /// The transport carries something that the service has no use for.
    RequestUnsupported,
    /// The program around the service allows introspection alone, or all but that.
    IntrospectionMode,
    /// No schema is bound to the service.
    SchemaNotBound,
    /// A fault of ours.
    Internal,
}

macro_rules! codes {
    ($($variant:ident $text:literal $meaning:literal;)*) => {
        impl ErrorCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),*];

            /// Returns the text form, which never changes.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    GraphqlParseFailed "GRAPHQL_PARSE_FAILED" "The document is not GraphQL.";
    GraphqlValidationFailed "GRAPHQL_VALIDATION_FAILED" "The document does not fit the schema.";
    OperationNotFound "OPERATION_NOT_FOUND" "`operationName` is missing although the document has several operations, or names none of them.";
    VariableInvalid "VARIABLE_INVALID" "A variable has no value, or one that does not fit its type.";
    ScalarInvalid "SCALAR_INVALID" "A value does not fit its scalar.";
    NullOperand "NULL_OPERAND" "An operand inside `where` is null; leave the key out instead.";
    ArgumentInvalid "ARGUMENT_INVALID" "An argument has a value that means nothing here.";
    CursorInvalid "CURSOR_INVALID" "A cursor is malformed, or belongs to another field or another `orderBy`.";
    LangSpecInvalid "LANG_SPEC_INVALID" "A language specification does not follow its grammar.";
    RegexInvalid "REGEX_INVALID" "A regular expression is malformed.";
    RegexUnsupported "REGEX_UNSUPPORTED" "A regular expression uses something outside the subset that all stores share.";
    StoreUnsupported "STORE_UNSUPPORTED" "The store cannot do what an argument asks for.";
    LimitDepth "LIMIT_DEPTH" "The document nests deeper than `graphql.limits.depth`.";
    LimitFields "LIMIT_FIELDS" "The document selects more fields than `graphql.limits.fields`, fragments counted where they are used.";
    LimitAliases "LIMIT_ALIASES" "The document has more aliases than `graphql.limits.aliases`.";
    LimitTokens "LIMIT_TOKENS" "The document has more tokens than `graphql.limits.tokens`.";
    LimitPage "LIMIT_PAGE" "A page is larger than `graphql.limits.page`.";
    LimitWhereDepth "LIMIT_WHERE_DEPTH" "A filter nests deeper than `graphql.limits.whereDepth`.";
    LimitWhereConditions "LIMIT_WHERE_CONDITIONS" "A filter has more conditions than `graphql.limits.whereConditions`.";
    LimitListLength "LIMIT_LIST_LENGTH" "A list in a filter is longer than `graphql.limits.listLength`.";
    LimitRegex "LIMIT_REGEX" "A regular expression is longer or heavier than `graphql.limits.regexLength` allows.";
    LimitResponse "LIMIT_RESPONSE" "The answer would be larger than `graphql.limits.responseBytes`.";
    LimitStoreResult "LIMIT_STORE_RESULT" "A result of the store is larger than `sparql.endpoint.maxResultBytes`.";
    LimitPlan "LIMIT_PLAN" "The document leads to more steps than `graphql.limits.planLevels`.";
    LimitGraphs "LIMIT_GRAPHS" "The argument `from` names more graphs than `graphql.limits.graphs`.";
    LimitIntrospection "LIMIT_INTROSPECTION" "The document asks for more of the schema than `graphql.limits.introspection` usual introspection queries.";
    LimitOrder "LIMIT_ORDER" "The argument `orderBy` has more keys, at all levels, than `graphql.limits.orderKeys`.";
    LimitLang "LIMIT_LANG" "A language specification has more items than `graphql.limits.langItems`.";
    LimitGroups "LIMIT_GROUPS" "An aggregate has more groups than `graphql.limits.groups`.";
    LimitCursor "LIMIT_CURSOR" "The sort keys of an object do not fit into `graphql.limits.cursorBytes`.";
    ValueIllTyped "VALUE_ILL_TYPED" "A stored value does not fit the declared range; the field is null.";
    MultipleValues "MULTIPLE_VALUES" "A single-valued field has several stored values; one of them is returned.";
    ValuesLeftOut "VALUES_LEFT_OUT" "An aggregate leaves out stored values that do not fit the declared range.";
    AggregateRange "AGGREGATE_RANGE" "An aggregate needs more digits than 38 in front of the point and 18 behind it, or is no finite number; it is null.";
    TypeUnknown "TYPE_UNKNOWN" "A stored object has no type that the schema knows; the field is null.";
    NonNullViolated "NON_NULL_VIOLATED" "A field that may not be null has no value.";
    ErrorsOmitted "ERRORS_OMITTED" "There are more errors than an answer lists; this last entry says how many.";
    DeadlineExceeded "DEADLINE_EXCEEDED" "The deadline of the request passed.";
    Cancelled "CANCELLED" "The request was cancelled.";
    StoreUnavailable "STORE_UNAVAILABLE" "The store cannot be reached.";
    StoreFailed "STORE_FAILED" "The store failed on a valid query.";
    ExplainDisabled "EXPLAIN_DISABLED" "`extensions.explain` is asked for, and the service or the schema does not allow it.";
    RequestUnsupported "REQUEST_UNSUPPORTED" "The request carries something that the service cannot heed, such as uploaded files; only the transports of embedding programs can.";
    IntrospectionMode "INTROSPECTION_MODE" "The program around the service has switched introspection off for this request, or allows nothing else.";
    SchemaNotBound "SCHEMA_NOT_BOUND" "No schema is bound to the service.";
    Internal "INTERNAL" "A fault of the service.";
}

/// One entry of the `errors` list of a GraphQL response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphqlError {
    /// What happened, for people.
    pub message: String,
    /// Places in the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// Response keys and list indices that lead to the field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathSegment>,
    /// The code, under `code`, and further members.
    pub extensions: Box<JsonMap>,
}

/// A place in a GraphQL document; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// A step of the path to a field in the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PathSegment {
    /// A response key.
    Key(String),
    /// An index into a list.
    Index(usize),
}

/// Greatest length of a message in characters.
const MAX_MESSAGE: usize = 1_000;

/// Cuts a message that quotes something long.
fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    message
}

impl GraphqlError {
    /// Creates an error without place and path; a message beyond 1,000 characters is cut.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut extensions = JsonMap::new();
        extensions.insert("code", code.as_str().into());
        GraphqlError {
            message: shortened(message.into()),
            locations: Vec::new(),
            path: Vec::new(),
            extensions: Box::new(extensions),
        }
    }

    /// Adds a place in the document.
    #[must_use]
    pub fn at(mut self, location: Option<Location>) -> Self {
        self.locations.extend(location);
        self
    }

    /// Sets the path of the field.
    #[must_use]
    pub fn on(mut self, path: Vec<PathSegment>) -> Self {
        self.path = path;
        self
    }

    /// Adds a member to `extensions`.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<JsonValue>) -> Self {
        self.extensions.insert(key, value.into());
        self
    }

    /// Returns the code in its text form.
    #[must_use]
    pub fn code(&self) -> &str {
        self.extensions
            .get("code")
            .and_then(|c| c.as_str())
            .unwrap_or_default()
    }
}
