//! Effective search settings: schema, object and property, nearer wins.

use super::hierarchy::Hierarchy;
use crate::raw::{RawSchema, RawSearch};
use crate::search::SearchSettings;

/// Returns for each object what holds for it, superclasses and `config` included.
pub(super) fn collect<'d>(raw: &RawSchema<'d>, hierarchy: &Hierarchy) -> Vec<RawSearch<'d>> {
    let mut all = vec![RawSearch::default(); raw.objects.len()];
    for id in &hierarchy.order {
        // What a superclass says includes `config.search`, and is nearer than it (docs/schema.md,
        // "Merging and inheritance").
        let base = match hierarchy.parents[id.index()] {
            Some(parent) => &all[parent.index()],
            None => &raw.config_search,
        };
        let mut search = base.clone();
        search.merge(&raw.objects[id.index()].body.search);
        all[id.index()] = search;
    }
    all
}

/// Returns what holds for a property of an object. That the object itself is nested says nothing
/// about its properties.
pub(super) fn of_property(object: &RawSearch<'_>, own: &RawSearch<'_>) -> Option<SearchSettings> {
    if object.is_empty() && own.is_empty() {
        return None;
    }
    let mut search = RawSearch {
        nested: None,
        ..object.clone()
    };
    search.merge(own);
    settings(&search)
}

/// Applies the defaults; `None` when no level gives anything.
pub(super) fn settings(search: &RawSearch<'_>) -> Option<SearchSettings> {
    if search.is_empty() {
        return None;
    }
    let analyzers = search.lang_analyzers.iter().flat_map(|list| &list.value);
    Some(SearchSettings {
        index: search.index.is_some_and(|b| b.value),
        analyzer: search.analyzer.map(|t| t.value.to_owned()),
        lang_analyzers: analyzers
            .map(|(tag, analyzer)| (tag.value.to_owned(), analyzer.value.to_owned()))
            .collect(),
        nested: search.nested.is_some_and(|b| b.value),
        nesting_level: search.nesting_level.map(|n| n.value),
        field_type: search.field_type.map(|t| t.value.to_owned()),
    })
}
