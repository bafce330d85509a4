//! Checks a document for what the search service needs of it: a valid schema, and indexes for it.

use std::sync::Arc;

use schema_registry::{Checked, path_name};
use search_index::mapping::{Indexes, MappingOptions};
use search_index::sdl::SearchApi;
use soml_core::span::LineIndex;
use soml_core::{Code, Valid};

/// A document that the search service has checked.
pub(crate) struct SearchChecked {
    /// What was found; the schema of the object service is not among it.
    pub(crate) checked: Checked,
    /// The name that the schema has in paths.
    pub(crate) id: Option<String>,
    /// The schema and its indexes, if there are no errors.
    pub(super) searchable: Option<Searchable>,
}

/// A schema that can be searched.
pub(super) struct Searchable {
    pub(super) soml: Arc<Valid<soml_core::Schema>>,
    pub(super) indexes: Arc<Indexes>,
    pub(super) api: SearchApi,
}

/// Checks a document, and generates the search API: as a subgraph for a federation gateway if asked to.
pub(crate) fn check(text: &str, options: &MappingOptions, federation: bool) -> SearchChecked {
    let loaded = soml_core::load(text);
    let mut notes = loaded.diagnostics;
    let declares_id = notes
        .iter()
        .all(|note| note.code != Code::MissingId.as_str());
    let id = loaded.schema.as_ref().filter(|_| declares_id);
    let id = id.map(|soml| path_name(&soml.id));
    let searchable = loaded.schema.and_then(|soml| {
        let made = searchable(Arc::new(soml), options, federation);
        let (findings, searchable) = match made {
            Ok(made) => (made.indexes.findings.clone(), Some(made)),
            Err(error) => (error.findings, None),
        };
        let lines = LineIndex::new(text);
        notes.extend(findings.into_iter().map(|finding| finding.locate(&lines)));
        notes.sort_by_key(|note| note.place.map(|place| place.span.start));
        searchable
    });
    SearchChecked {
        checked: Checked {
            schema: None,
            valid: searchable.is_some(),
            notes,
            suppressed: loaded.suppressed,
        },
        id,
        searchable,
    }
}

fn searchable(
    soml: Arc<Valid<soml_core::Schema>>,
    options: &MappingOptions,
    federation: bool,
) -> Result<Searchable, search_index::mapping::MappingError> {
    let indexes = Indexes::new(&soml, options)?;
    let api = match federation {
        true => SearchApi::subgraph(Arc::clone(&soml), indexes.clone())?,
        false => SearchApi::new(Arc::clone(&soml), indexes.clone())?,
    };
    Ok(Searchable {
        soml,
        indexes: Arc::new(indexes),
        api,
    })
}
