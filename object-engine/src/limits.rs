//! Bounds of the object service, beside those that every service has.

use crate::code;

graphql_service::limits! {
    /// Limits on the arguments of an operation and on what it fetches.
    ///
    /// The defaults never refuse a list without `limit`.
    pub struct EngineLimits {
        page: Option<u64> = None, "graphql.limits.page", code::LIMIT_PAGE,
            "Maximum number of objects in a list. A list that would exceed it is an error; it is never truncated.";
        where_depth: usize = 20, "graphql.limits.whereDepth", code::LIMIT_WHERE_DEPTH,
            "Maximum nesting of a filter.";
        where_conditions: usize = 2_000, "graphql.limits.whereConditions",
            code::LIMIT_WHERE_CONDITIONS, "Maximum number of conditions in a filter.";
        list_length: usize = 10_000, "graphql.limits.listLength", code::LIMIT_LIST_LENGTH,
            "Maximum length of a list in a filter.";
        graphs: usize = 1_000, "graphql.limits.graphs", code::LIMIT_GRAPHS,
            "Maximum number of graphs in the argument `from`.";
        order_keys: usize = 100, "graphql.limits.orderKeys", code::LIMIT_ORDER,
            "Maximum number of keys in `orderBy`, at all levels.";
        lang_items: usize = 100, "graphql.limits.langItems", code::LIMIT_LANG,
            "Maximum number of items in a language specification.";
        regex_length: usize = 1_000, "graphql.limits.regexLength", code::LIMIT_REGEX,
            "Maximum length of a regular expression, in characters.";
        plan_levels: usize = 1_000, "graphql.limits.planLevels", code::LIMIT_PLAN,
            "Maximum number of steps in the plan of a document.";
        groups: usize = 10_000, "graphql.limits.groups", code::LIMIT_GROUPS,
            "Maximum number of groups in an aggregate, before paging.";
        affected: usize = 10_000, "mutation.maxAffected", code::LIMIT_AFFECTED,
            "Maximum number of objects that a mutation may create, change or delete.";
        cursor_bytes: usize = 8 << 10, "graphql.limits.cursorBytes", code::LIMIT_CURSOR,
            "Maximum size of the sort keys and the id in a cursor, in bytes.";
    }
}
