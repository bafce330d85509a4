//! What an engine says of its indexes, and is asked to do with them.

use std::fmt;

use graph_store::DataVersion;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::EngineError;
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
    /// Number of documents that the engine did not take because of a value.
    pub rejected: u64,
    /// The data that were read; `None` if their store did not say, or if they changed meanwhile.
    #[serde(default, deserialize_with = "lenient")]
    pub data: Option<BuiltFrom>,
}

/// A [version of data](DataVersion), as it is kept with an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltFrom {
    /// What the changes were made to.
    pub source: String,
    /// The sequence of the last change.
    pub sequence: u64,
}

/// How old an index is, compared with the data that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Age {
    /// It was built from the data as they are.
    Current,
    /// The data are others, or nobody noted what it was built from.
    Older,
    /// The store does not say which data it has.
    Unknown,
}

impl Mark {
    /// Returns how old the index is.
    #[must_use]
    pub fn age(&self, data: Option<&DataVersion>) -> Age {
        let Some(data) = data else {
            return Age::Unknown;
        };
        let from = self.built.as_ref().and_then(|built| built.data.as_ref());
        match from.is_some_and(|from| *from == BuiltFrom::from(data)) {
            true => Age::Current,
            false => Age::Older,
        }
    }
}

impl From<&DataVersion> for BuiltFrom {
    fn from(version: &DataVersion) -> Self {
        BuiltFrom {
            source: version.source.clone(),
            sequence: version.sequence,
        }
    }
}

/// Reads what may have been written by anybody: a note in another form is none, and the rest counts.
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
    /// Its mark; `None` if it is somebody else's.
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

    #[test]
    fn an_index_is_current_only_if_it_was_built_from_the_same_data() {
        let version = |source: &str, sequence| DataVersion {
            source: source.to_owned(),
            sequence,
        };
        let mut mark = Mark {
            application: "a".to_owned(),
            schema: "s".to_owned(),
            object: "O".to_owned(),
            fingerprint: "f".to_owned(),
            built: None,
        };
        assert_eq!(mark.age(Some(&version("x", 1))), Age::Older);
        mark.built = Some(Built {
            data: Some((&version("x", 1)).into()),
            ..Built::default()
        });
        let text = serde_json::to_string(&mark).expect("a mark is JSON");
        assert_eq!(serde_json::from_str::<Mark>(&text).expect("a mark"), mark);
        for (data, age) in [
            (Some(version("x", 1)), Age::Current),
            (Some(version("x", 2)), Age::Older),
            (Some(version("x", 0)), Age::Older),
            (Some(version("y", 1)), Age::Older),
            (None, Age::Unknown),
        ] {
            assert_eq!(mark.age(data.as_ref()), age, "{data:?}");
        }
    }
}
