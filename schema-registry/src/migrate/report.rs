//! What a migration has done, or would do.

use std::fmt;

use crate::store::{ApplicationBinding, SchemaEntry};

/// What a migration has done, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationReport {
    /// Why nothing is moved, if that is so.
    pub skipped: Option<Skipped>,
    /// Whether it continues an interrupted migration.
    pub is_resumed: bool,
    /// The schemas that are removed from the destination first.
    pub cleaned: Vec<SchemaEntry>,
    /// The rights on schemas, and their size in bytes, if the origin has any.
    pub rights: Option<Moved<usize>>,
    /// The schemas of the origin, ordered by name.
    pub schemas: Vec<Moved<SchemaEntry>>,
    /// What is bound in the origin, as the destination names its applications.
    pub bindings: Vec<Moved<ApplicationBinding>>,
}

/// Something of the origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved<T> {
    /// The item.
    pub item: T,
    /// What becomes of it in the destination.
    pub fate: Fate,
    /// Whether it is removed from the origin.
    pub is_removed: bool,
}

/// What becomes of something in the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is copied, and there was none before.
    Copied,
    /// It takes the place of another one.
    Overwritten,
    /// The destination has the same.
    Same,
    /// The destination keeps another one that it has. The origin keeps this one.
    Kept,
    /// It is not moved.
    Left,
}

/// Why nothing is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// The destination has schemas, and they must not be overwritten.
    DestinationHolds {
        /// How many it has.
        schemas: usize,
    },
    /// The origin has nothing. It was emptied by an earlier migration, or nothing was ever stored there.
    OriginEmpty,
    /// Only what is bound is moved, and nothing is.
    NothingBound {
        /// How many schemas the origin has.
        schemas: usize,
    },
    /// Another process has completed the migration meanwhile.
    Done,
}

impl MigrationReport {
    pub(super) fn skipped(reason: Skipped) -> Self {
        MigrationReport {
            skipped: Some(reason),
            ..MigrationReport::default()
        }
    }

    /// Returns how many schemas have a fate.
    #[must_use]
    pub fn with_fate(&self, fate: Fate) -> usize {
        let schemas = self.schemas.iter();
        schemas.filter(|moved| moved.fate == fate).count()
    }
}

impl Fate {
    /// Returns whether the destination has the same.
    pub(super) fn is_there(self) -> bool {
        matches!(self, Fate::Copied | Fate::Overwritten | Fate::Same)
    }

    /// Returns the fate in a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Copied => "copied",
            Fate::Overwritten => "overwritten",
            Fate::Same => "same",
            Fate::Kept => "kept",
            Fate::Left => "left",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skipped::DestinationHolds { schemas: 1 } => {
                f.write_str("the destination already has a schema")
            }
            Skipped::DestinationHolds { schemas } => {
                write!(f, "the destination already has {schemas} schemas")
            }
            Skipped::OriginEmpty => f.write_str(
                "the origin is empty: it was emptied by an earlier migration, or never had schemas",
            ),
            Skipped::NothingBound { schemas: 1 } => {
                f.write_str("nothing is bound in the origin, which has a schema")
            }
            Skipped::NothingBound { schemas } => {
                write!(
                    f,
                    "nothing is bound in the origin, which has {schemas} schemas"
                )
            }
            Skipped::Done => f.write_str("another process has completed the migration"),
        }
    }
}
