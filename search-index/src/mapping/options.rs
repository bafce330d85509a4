//! What beside the schema decides how indexes look.

use std::collections::HashMap;
use std::sync::Arc;

use graph_store::facts::Fact;
use soml_core::schema::ObjectId;

use super::analysis::Analyzers;
use super::settings::IndexSettings;

/// Settings of [`Indexes::new`](super::Indexes::new).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MappingOptions {
    /// Maximum of `nestingLevel` in the schema (`search.maxNestingLevel`, default 5).
    pub max_nesting_level: u32,
    /// Maximum number of fields of an index. A schema with objects that refer to each other has as
    /// many as there are ways through it, so the first index beyond this ends the work.
    pub max_fields: usize,
    /// The analyzers that the engine has. Those that [`MappingOptions::settings`] define are added.
    pub analyzers: Analyzers,
    /// Settings of every index (`indexer.indexCreateSettings`).
    pub settings: IndexSettings,
    /// What indexes hold of objects of each type, the searched ones and those that they embed, so that searches can obey
    /// roles. Types without facts may be left out.
    pub facts: HashMap<ObjectId, Arc<[Fact]>>,
}

impl Default for MappingOptions {
    fn default() -> Self {
        MappingOptions {
            max_nesting_level: 5,
            max_fields: 10_000,
            analyzers: Analyzers::distribution(),
            settings: IndexSettings::default(),
            facts: HashMap::new(),
        }
    }
}

impl MappingOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        MappingOptions::default()
    }

    /// Sets the maximum of `nestingLevel`.
    #[must_use]
    pub fn with_max_nesting_level(mut self, level: u32) -> Self {
        self.max_nesting_level = level;
        self
    }

    /// Sets the maximum number of fields of an index.
    #[must_use]
    pub fn with_max_fields(mut self, fields: usize) -> Self {
        self.max_fields = fields;
        self
    }

    /// Sets the analyzers that the engine has.
    #[must_use]
    pub fn with_analyzers(mut self, analyzers: Analyzers) -> Self {
        self.analyzers = analyzers;
        self
    }

    /// Sets what indexes hold of objects of each type, so that searches can obey roles.
    #[must_use]
    pub fn with_facts(mut self, facts: HashMap<ObjectId, Arc<[Fact]>>) -> Self {
        self.facts = facts;
        self
    }

    /// Sets the settings of every index.
    #[must_use]
    pub fn with_settings(mut self, settings: IndexSettings) -> Self {
        self.settings = settings;
        self
    }
}
