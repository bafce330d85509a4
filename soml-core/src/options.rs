//! Bounds of what reading a document may cost.

/// Limits on the size of a document. The defaults are far above any real document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Length of the text in bytes.
    pub max_bytes: usize,
    /// Nesting levels of lists and mappings.
    pub max_depth: usize,
    /// Keys, values, lists and mappings, each repeated by an alias counted again.
    pub max_nodes: usize,
    /// Objects, and as many types.
    pub max_objects: usize,
    /// Effective properties, inherited ones counted for each object.
    pub max_properties: usize,
    /// Bytes of text in the schema, inherited text counted for each object that inherits it.
    pub max_text: usize,
    /// Levels of superclasses above an object.
    pub max_inheritance: usize,
    /// Errors that are kept, and as many warnings; further ones are only counted.
    pub max_findings: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            max_bytes: 16 << 20,
            max_depth: 64,
            max_nodes: 2_000_000,
            max_objects: 20_000,
            max_properties: 200_000,
            max_text: 128 << 20,
            max_inheritance: 100,
            max_findings: 1_000,
        }
    }
}
