//! Bounds of searches, beside those that every service has.

use crate::code;

graphql_service::limits! {
    /// Limits on what a search may ask of an engine.
    pub struct SearchLimits {
        searches: usize = 20, "search.limits.searches", code::LIMIT_SEARCHES,
            "Maximum number of searches in a request.";
        clause_depth: usize = 20, "search.limits.clauseDepth", code::LIMIT_CLAUSE_DEPTH,
            "Maximum nesting of the clauses of a search.";
        clauses: usize = 1_000, "search.limits.clauses", code::LIMIT_CLAUSES,
            "Maximum number of clauses in a search.";
        window: usize = 10_000, "search.limits.window", code::LIMIT_WINDOW,
            "Maximum of `from` plus `size`. Use `search_after` to get further hits.";
        terms: usize = 10_000, "search.limits.terms", code::LIMIT_TERMS,
            "Maximum number of values in a clause.";
        text_length: usize = 10_000, "search.limits.textLength", code::LIMIT_TEXT,
            "Maximum length of a string in a search, in bytes.";
        fuzzy_text_length: usize = 500, "search.limits.fuzzyTextLength", code::LIMIT_FUZZY_TEXT,
            "Maximum length of a string in a fuzzy search, in bytes.";
        expansions: usize = 1_000, "search.limits.expansions", code::LIMIT_EXPANSIONS,
            "Maximum number of similar terms that a term of a clause may expand to.";
        expanded_terms: usize = 20_000, "search.limits.expandedTerms", code::LIMIT_EXPANDED_TERMS,
            "Maximum number of terms that all clauses of a search together may expand to.";
        sort_keys: usize = 20, "search.limits.sortKeys", code::LIMIT_SORT_KEYS,
            "Maximum number of sort keys of a search.";
        aggregations: usize = 50, "search.limits.aggregations", code::LIMIT_AGGREGATIONS,
            "Maximum number of aggregations of a search.";
        representations: usize = 10_000, "search.limits.representations", code::LIMIT_REPRESENTATIONS,
            "Maximum number of representations in a request of a federation gateway.";
        buckets: usize = 10_000, "search.limits.buckets", code::LIMIT_BUCKETS,
            "Maximum total number of buckets in the aggregations of a search.";
    }
}
