//! The error codes of searches, beside those that every service shares.

graphql_service::error_codes! {
    CLAUSE_INVALID 400 public "A clause of a search is empty, or has several parts where only one is allowed.";
    OPERAND_INVALID 400 public "An operand is not valid for the field that it is compared with.";
    DATE_FORMAT 400 public "A date in a search is not written as `YYYY-MM-DDThh:mm:ssZ`.";
    OPTION_INVALID 400 public "An option of a search has an invalid value.";
    LANGUAGE_NOT_INDEXED 400 public "A search names a language that the schema does not list under `analysis.lang`.";
    REPRESENTATION_INVALID 400 public "A representation of an object names no type of the subgraph, or has no `id`.";
    HIT_TYPE_UNKNOWN 200 public "A found object has no concrete type of the schema; the field is null.";
    SEARCH_AFTER_INVALID 400 public "The values of `search_after` do not fit the sort keys.";
    ROW_RULE_NOT_INDEXED 403 public "A condition of one of the caller's roles cannot be evaluated by indexes, so what it protects cannot be searched with that role.";
    INDEX_BUILDING 503 public "The index of an object is being built for the first time.";
    INDEX_BEHIND 503 public "An index did not contain the change named by `Await-Data-Sequence` by the deadline of the request, or does not follow changes.";
    INDEX_MISSING 503 public "The index of an object is missing; bind the schema again.";
    INDEX_NOT_OURS 409 public "An index of that name exists already and is not owned by this application; nothing was written to it.";
    INDEX_BROKEN 500 public "An index contains a document that does not have the form defined by the schema; bind the schema again.";
    ENGINE_UNAVAILABLE 503 internal "The search engine cannot be reached.";
    ENGINE_TIMEOUT 504 internal "The search engine did not respond in time.";
    ENGINE_OVERLOADED 503 internal "The search engine is overloaded.";
    ENGINE_DENIED 502 internal "The search engine refuses access.";
    ENGINE_UNSUPPORTED 400 public "The search engine does not support something that a search asks for.";
    ENGINE_FAILED 502 internal "The search engine failed.";
    DATA_UNAVAILABLE 503 internal "The data cannot be indexed: their store cannot be reached.";
    DATA_TIMEOUT 504 internal "The data cannot be indexed: their store did not respond in time.";
    DATA_FAILED 502 internal "The data cannot be indexed: their store failed, or something else answers at its address.";
    LIMIT_ENGINE_ANSWER 502 public "A response of the search engine is larger than allowed.";
    LIMIT_SEARCHES 400 public "A request has more searches than `search.limits.searches`.";
    LIMIT_CLAUSE_DEPTH 400 public "A search nests its clauses more deeply than `search.limits.clauseDepth`.";
    LIMIT_CLAUSES 400 public "A search has more clauses than `search.limits.clauses`.";
    LIMIT_WINDOW 400 public "The sum of `from` and `size` is greater than `search.limits.window`.";
    LIMIT_TERMS 400 public "A clause has more terms than `search.limits.terms`.";
    LIMIT_TEXT 400 public "A text in a search is longer than `search.limits.textLength`.";
    LIMIT_FUZZY_TEXT 400 public "A text in a fuzzy search is longer than `search.limits.fuzzyTextLength`.";
    LIMIT_EXPANSIONS 400 public "A clause asks for more similar terms than `search.limits.expansions`.";
    LIMIT_EXPANDED_TERMS 400 public "The clauses of a search expand to more terms than `search.limits.expandedTerms`.";
    LIMIT_SORT_KEYS 400 public "A search has more sort keys than `search.limits.sortKeys`.";
    LIMIT_AGGREGATIONS 400 public "A search has more aggregations than `search.limits.aggregations`.";
    LIMIT_REPRESENTATIONS 400 public "A request has more representations of objects than `search.limits.representations`.";
    LIMIT_BUCKETS 400 public "The aggregations of a search ask for more buckets than `search.limits.buckets`.";
}
