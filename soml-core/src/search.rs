//! The `search` settings of a schema, an object or a property.

/// Effective search settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchSettings {
    /// Searchable; `false` switches every other key off.
    pub index: bool,
    /// Default analyzer.
    pub analyzer: Option<String>,
    /// Analyzer per language tag, in document order.
    pub lang_analyzers: Vec<(String, String)>,
    /// Objects of this type are embedded as nested documents.
    pub nested: bool,
    /// How many levels of referred objects are embedded (`type.nestingLevel`).
    pub nesting_level: Option<u32>,
    /// Name of the engine's field type (`type.name` or a bare `type`).
    pub field_type: Option<String>,
}
