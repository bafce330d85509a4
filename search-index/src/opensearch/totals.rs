//! Searches of which the engine looks at every hit.
//!
//! OpenSearch 3.7 does not look at the hits of an `exists` on a text to count them, and leaves out those whose text has
//! no terms, such as `...`. To sort by an `unsignedLong`, by what several numbers come to, or by numbers of nested
//! objects, it tries to skip hits that come too late, and fails. Where all hits are counted behind a filter, it does
//! neither.

use super::fields::{Kind, may_be_text};
use crate::dsl::{Query, Search, Sort, SortMode, TotalHits};
use crate::mapping::IndexDefinition;

/// Changes a search so that it is answered rightly; its answer may have a total that no one asked for.
pub(super) fn counted(search: &mut Search, index: &IndexDefinition) {
    let is_guessed = |query: &Query| has_exists_on_text(query, index);
    let is_counted = search.total_hits != TotalHits::Off;
    let counts_wrongly = is_counted && search.query.as_ref().is_some_and(is_guessed);
    if counts_wrongly || search.sort.iter().any(|sort| is_worked_out(sort, index)) {
        search.total_hits = TotalHits::Exact;
        search
            .post_filter
            .get_or_insert(Query::MatchAll { boost: None });
    }
}

/// Returns whether the engine works a sort key out, rather than taking it as it is.
fn is_worked_out(sort: &Sort, index: &IndexDefinition) -> bool {
    let Sort::Field(by) = sort else {
        return false;
    };
    match Kind::of(index, &by.field) {
        Kind::Keyword | Kind::Score => false,
        Kind::Unsigned => true,
        Kind::Short | Kind::Long | Kind::Double | Kind::Boolean => {
            by.nested.is_some() || !matches!(by.mode, None | Some(SortMode::Min | SortMode::Max))
        }
    }
}

fn has_exists_on_text(query: &Query, index: &IndexDefinition) -> bool {
    if let Query::Exists(exists) = query {
        return may_be_text(index, &exists.field);
    }
    let mut found = false;
    query.for_each_inner(|inner| found = found || has_exists_on_text(inner, index));
    found
}
