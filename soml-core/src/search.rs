//! The `search` settings of a schema, an object or a property.

/// Effective search settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchSettings {
    /// Searchable; `false` disables all other keys.
    pub index: bool,
    /// Default analyzer.
    pub analyzer: Option<String>,
    /// Analyzer per language tag, in document order.
    pub lang_analyzers: Vec<(String, String)>,
    /// Objects of this type are indexed as nested documents.
    pub nested: bool,
    /// Number of levels of referenced objects to embed (`type.nestingLevel`).
    pub nesting_level: Option<u32>,
    /// Name of the search engine's field type (`type.name` or a bare `type`).
    pub field_type: Option<String>,
}
