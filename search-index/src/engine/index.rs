//! What an engine says of its indexes, and is asked to do with them.

use std::fmt;
use std::time::SystemTime;

use graph_store::write::ChangePosition;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::EngineError;
use crate::document::{Document, Malformed};
use crate::mapping::{IndexDefinition, IndexNumber, PREFIX};

/// The name of an index that holds documents, which searches find by its alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalName(String);

impl PhysicalName {
    /// Returns the name of the index of a number, of a definition.
    #[must_use]
    pub fn new(index: &IndexDefinition, number: impl Into<IndexNumber>) -> Self {
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

    /// Returns the number of the index, if its name is one of [`PhysicalName::new`].
    #[must_use]
    pub fn number(&self) -> Option<IndexNumber> {
        // No name of an object has a hyphen.
        let (_, number) = self.0.strip_prefix(PREFIX)?.split_once('-')?;
        number.parse().ok()
    }

    /// Returns the number of the index, if its name is one of those behind an alias.
    pub(crate) fn number_behind(&self, alias: &str) -> Option<IndexNumber> {
        let number = self.0.strip_prefix(alias)?.strip_prefix('-')?;
        number.parse().ok()
    }
}

impl fmt::Display for PhysicalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The mark of an index: whose it is, and of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Name of the application.
    pub application: String,
    /// The id of the schema.
    pub schema: String,
    /// The GraphQL name of the object.
    pub object: String,
    /// That of the [definition](IndexDefinition::fingerprint).
    pub fingerprint: String,
    /// What was noted when all of it was there; `None` while it is being built, and of an index that an earlier
    /// version has built.
    #[serde(
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub built: Option<Built>,
}

/// What an index was built from, and what it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// Number of its documents.
    pub documents: u64,
    /// Number of values that are in no document.
    pub malformed: u64,
    /// Number of objects without a document because of a value.
    pub rejected: u64,
    /// The first of these, in ascending order of their IRIs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// The data that it has; `None` if their store does not say.
    #[serde(default, deserialize_with = "lenient")]
    pub data: Option<DataPosition>,
}

/// Why an object has no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The object.
    pub iri: String,
    /// The full name of the field that does not fit, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The problem.
    pub reason: String,
}

/// Characters of a reason that are kept.
const REASON: usize = 300;

impl Refusal {
    /// Describes a value that cannot be indexed.
    pub(crate) fn of_value(value: &Malformed) -> Self {
        Refusal {
            iri: value.iri.clone(),
            field: Some(value.path.clone()),
            reason: format!("{}: {}", value.value, value.reason),
        }
    }

    /// Describes a value by the message of an engine, which names a field in brackets or backticks.
    pub(crate) fn of_engine(iri: &str, said: &str) -> Self {
        let after = ["field [", "field `"].iter().find_map(|name| {
            let (_, rest) = said.split_once(name)?;
            let (field, _) = rest.split_once([']', '`'])?;
            Some(field.to_owned())
        });
        let reason = said.trim_start_matches([':', ' ']);
        Refusal {
            iri: iri.to_owned(),
            field: after,
            reason: reason.chars().take(REASON).collect(),
        }
    }
}

/// A [position](ChangePosition) in the changes of data, as it is kept with an index that has all changes before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataPosition {
    /// What the changes were made to, where the store knows it; else empty.
    pub origin: String,
    /// The sequence of the last change.
    pub sequence: u64,
    /// What this change is recognised by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// How old an index is, compared with the data that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Age {
    /// It has the data as they are.
    Current,
    /// It lacks changes that are known; the first of them is of this time.
    Behind(SystemTime),
    /// The data are others, or it is not known what has changed since.
    Older,
    /// The store does not say which data it has.
    Unknown,
}

impl From<ChangePosition> for DataPosition {
    fn from(position: ChangePosition) -> Self {
        DataPosition {
            origin: position.origin,
            sequence: position.sequence,
            request: position.request,
        }
    }
}

impl From<&DataPosition> for ChangePosition {
    fn from(position: &DataPosition) -> Self {
        ChangePosition {
            origin: position.origin.clone(),
            sequence: position.sequence,
            request: position.request.clone(),
        }
    }
}

impl Mark {
    /// Returns the data that the index has, if that was noted.
    #[must_use]
    pub fn data(&self) -> Option<&DataPosition> {
        self.built.as_ref()?.data.as_ref()
    }
}

/// Reads what may have been written by anyone: a note in another form is none, and the rest counts.
pub(crate) fn lenient<'de, T: for<'a> Deserialize<'a>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).ok())
}

/// An index that an engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// Its name.
    pub name: PhysicalName,
    /// The aliases that lead to it.
    pub aliases: Vec<String>,
    /// Its mark; `None` if it is someone else's.
    pub mark: Option<Mark>,
}

/// Returns the index that the alias of a definition leads to, if it is of this definition and of the application. While an
/// alias leads to several, it is the last of them.
#[must_use]
pub fn index_behind<'s>(
    definition: &IndexDefinition,
    states: &'s [IndexState],
    application: &str,
) -> Option<&'s PhysicalName> {
    let alias = definition.alias();
    let of_alias = states.iter().filter(|state| state.aliases.contains(&alias));
    let last = of_alias.max_by_key(|state| state.name.number_behind(&alias))?;
    let mark = last.mark.as_ref()?;
    let is_ours = mark.application == application && mark.fingerprint == definition.fingerprint;
    is_ours.then_some(&last.name)
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
    /// The number of the lease under which the alias is moved. One that leads to an index of a later lease is not;
    /// 0 without a lease, which moves any.
    pub lease: u64,
}

impl Switch {
    /// Fails if the alias leads to an index of a later lease than the one under which it is to be moved.
    pub fn check_lease(&self, from: &PhysicalName) -> Result<(), EngineError> {
        let lease = from.number_behind(&self.alias).unwrap_or_default().lease;
        if self.lease > 0 && lease > self.lease {
            Err(EngineError::Outdated {
                name: from.to_string(),
            })
        } else {
            Ok(())
        }
    }
}

/// An operation on one document of an index, as part of a bulk.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkOperation {
    /// A document, in place of that of the same id.
    Index(Document),
    /// The id of a document that is deleted; there may be none.
    Delete(String),
}

impl BulkOperation {
    /// Indexes documents.
    #[must_use]
    pub fn all(documents: impl IntoIterator<Item = Document>) -> Vec<BulkOperation> {
        documents.into_iter().map(BulkOperation::Index).collect()
    }

    /// Returns the id of the document.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            BulkOperation::Index(document) => &document.id,
            BulkOperation::Delete(id) => id,
        }
    }
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
    /// Returns whether the document may be taken later.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(built: &str) -> Option<Built> {
        let text =
            format!(r#"{{"application":"a","schema":"s","object":"O","fingerprint":"f"{built}}}"#);
        let mark: Mark = serde_json::from_str(&text).expect("whose it is can be read");
        mark.built
    }

    #[test]
    fn a_mark_says_whose_an_index_is_whatever_else_stands_there() {
        assert_eq!(read(""), None);
        assert_eq!(read(r#","built":"yesterday""#), None);
        let built = read(r#","built":{"documents":3,"malformed":0,"rejected":1,"data":7}"#);
        assert_eq!(
            built.map(|built| (built.documents, built.data)),
            Some((3, None))
        );
    }
}
