//! Bounds on what a client may send, each with its default.

/// Bounds on one request.
///
/// The defaults never refuse an introspection query of a usual client or a list without `limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Greatest nesting of selection sets (`graphql.limits.depth`).
    pub depth: usize,
    /// Greatest number of fields, fragments counted where they are used (`graphql.limits.fields`).
    pub fields: usize,
    /// Greatest number of aliases (`graphql.limits.aliases`).
    pub aliases: usize,
    /// Greatest number of tokens (`graphql.limits.tokens`).
    pub tokens: usize,
    /// Greatest number of elements of a list; what would exceed it is refused, never cut
    /// (`graphql.limits.page`).
    pub page: Option<u64>,
    /// Greatest nesting of a filter (`graphql.limits.whereDepth`).
    pub where_depth: usize,
    /// Greatest number of conditions of one filter (`graphql.limits.whereConditions`).
    pub where_conditions: usize,
    /// Greatest length of a list in a filter (`graphql.limits.listLength`).
    pub list_length: usize,
    /// Greatest number of graphs that `from` names (`graphql.limits.graphs`).
    pub graphs: usize,
    /// How many times the values of a usual introspection query a document may ask for
    /// (`graphql.limits.introspection`).
    pub introspection: usize,
    /// Greatest number of keys of `orderBy`, at all levels (`graphql.limits.orderKeys`).
    pub order_keys: usize,
    /// Greatest number of items of a language specification (`graphql.limits.langItems`).
    pub lang_items: usize,
    /// Greatest length of a regular expression in characters (`graphql.limits.regexLength`).
    pub regex_length: usize,
    /// Greatest number of steps of a plan (`graphql.limits.planLevels`).
    pub plan_levels: usize,
    /// Greatest size of an answer in bytes (`graphql.limits.responseBytes`).
    pub response_bytes: usize,
    /// Greatest number of groups of one aggregate (`graphql.limits.groups`).
    pub groups: usize,
    /// Greatest size of what a cursor holds, in bytes (`graphql.limits.cursorBytes`).
    pub cursor_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 40,
            fields: 20_000,
            aliases: 1_000,
            tokens: 100_000,
            page: None,
            where_depth: 20,
            where_conditions: 2_000,
            list_length: 10_000,
            graphs: 1_000,
            introspection: 3,
            order_keys: 100,
            lang_items: 100,
            regex_length: 1_000,
            plan_levels: 1_000,
            response_bytes: 128 << 20,
            groups: 10_000,
            cursor_bytes: 8 << 10,
        }
    }
}
