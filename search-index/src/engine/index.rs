//! What an engine says of its indexes, and is asked to do with them.

use std::fmt;

use crate::mapping::IndexDefinition;

/// The name of an index that holds documents, which searches find by its alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalName(String);

impl PhysicalName {
    /// Returns the name of the `number`-th index of a definition.
    #[must_use]
    pub fn new(index: &IndexDefinition, number: u64) -> Self {
        PhysicalName(index.physical(number))
    }

    /// Takes the name of an index that an engine has.
    #[must_use]
    pub fn from_engine(name: impl Into<String>) -> Self {
        PhysicalName(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PhysicalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The mark of an index: whose it is, and of what.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Mark {
    /// Name of the application.
    pub application: String,
    /// The id of the schema.
    pub schema: String,
    /// The GraphQL name of the object.
    pub object: String,
    /// That of the [definition](IndexDefinition::fingerprint).
    pub fingerprint: String,
}

/// An index that an engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// Its name.
    pub name: PhysicalName,
    /// The aliases that lead to it.
    pub aliases: Vec<String>,
    /// Its mark; `None` if it is somebody else's.
    pub mark: Option<Mark>,
}

/// Whether an engine has all of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexCondition {
    /// All of it can be written to and searched.
    Available,
    /// A part cannot be used at the moment; the engine may bring it back. Why, for logs.
    Waiting(String),
    /// No copy of a part is left. Why, for logs.
    Lost(String),
}

/// An alias that is moved to another index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The alias.
    pub alias: String,
    /// The index that it leads to from now on, and to no other; `None` to remove the alias.
    pub to: Option<PhysicalName>,
    /// Deletes the index that has the name of the alias, if there is one.
    pub replaces_index: bool,
}

/// A document that an engine did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The position of the document in the bulk.
    pub position: usize,
    /// The status that the engine gave, as in HTTP.
    pub status: u16,
    /// Why, for logs.
    pub reason: String,
}

impl Rejected {
    /// Tells whether the document may be taken later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.status, 429 | 502 | 503 | 504)
    }
}

/// A definition, and the index that holds its documents.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'d> {
    /// The definition.
    pub definition: &'d IndexDefinition,
    /// The index.
    pub name: &'d PhysicalName,
}
