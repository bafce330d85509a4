//! Checks a document for what the search service needs of it: a valid schema, and indexes for it.

use std::sync::Arc;

use schema_registry::{Checked, path_name};
use search_index::mapping::{Indexes, MappingError, MappingOptions};
use search_index::sdl::SearchApi;
use soml_core::span::LineIndex;
use soml_core::{Code, Finding, Valid};

use super::rules::Roles;

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
    /// The roles that searches obey, if they do.
    pub(super) roles: Option<Roles>,
}

/// How documents are checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckOptions {
    pub(super) mapping: MappingOptions,
    /// The API is a subgraph for a federation gateway.
    pub(super) federation: bool,
    /// Searches obey roles.
    pub(super) obeys_roles: bool,
}

/// Checks a document, and generates the search API.
pub(crate) fn check(text: &str, options: &CheckOptions) -> SearchChecked {
    let loaded = soml_core::load(text);
    let mut notes = loaded.diagnostics;
    let declares_id = notes
        .iter()
        .all(|note| note.code != Code::MissingId.as_str());
    let id = loaded.schema.as_ref().filter(|_| declares_id);
    let id = id.map(|soml| path_name(&soml.id));
    let searchable = loaded.schema.and_then(|soml| {
        let (findings, searchable) = match searchable(Arc::new(soml), options) {
            Ok(made) => (made.indexes.findings.clone(), Some(made)),
            Err(findings) => (findings, None),
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
    options: &CheckOptions,
) -> Result<Searchable, Vec<Finding>> {
    let roles = options
        .obeys_roles
        .then(|| Roles::of(&soml))
        .transpose()
        .map_err(|error| error.problems)?;
    let mapping = roles
        .as_ref()
        .map(|roles| roles.mapping(&soml, &options.mapping));
    let mapping = mapping.as_ref().unwrap_or(&options.mapping);
    let mut indexes = Indexes::new(&soml, mapping).map_err(|error| error.findings)?;
    if let Some(roles) = &roles {
        let findings = roles.findings(&soml, &indexes);
        indexes.findings.extend(findings);
    }
    let api = api(&soml, &indexes, options.federation, roles.is_some())
        .map_err(|error| error.findings)?;
    Ok(Searchable {
        soml,
        indexes: Arc::new(indexes),
        api,
        roles,
    })
}

/// Generates the search API, as a subgraph for a federation gateway if asked to.
pub(super) fn api(
    soml: &Arc<Valid<soml_core::Schema>>,
    indexes: &Indexes,
    federation: bool,
    obeys_roles: bool,
) -> Result<SearchApi, MappingError> {
    let (soml, indexes) = (Arc::clone(soml), indexes.clone());
    Ok(match (federation, obeys_roles) {
        (false, _) => SearchApi::new(soml, indexes)?,
        (true, false) => SearchApi::subgraph(soml, indexes)?,
        (true, true) => SearchApi::subgraph(soml, indexes)?.nullable_where_denied(),
    })
}
