//! Why schemas could not be moved.

use std::fmt;

use crate::store::{ApplicationBinding, SchemaStoreError};

/// One of the two stores of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationSide {
    /// The store that schemas are moved from.
    Origin,
    /// The store that schemas are moved to.
    Destination,
}

impl fmt::Display for MigrationSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MigrationSide::Origin => "origin",
            MigrationSide::Destination => "destination",
        })
    }
}

/// Why schemas could not be moved. No schema is lost, whatever it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A store has failed.
    #[error("failed to {doing} in the {side}")]
    Store {
        /// Which of the stores.
        side: MigrationSide,
        /// What it was asked.
        doing: String,
        /// What it says.
        #[source]
        source: SchemaStoreError,
    },
    /// Files of the origin are lost.
    #[error(
        "the origin has lost {}: restore what is missing, or remove the schema there; nothing was \
         moved",
        files.join(", ")
    )]
    Lost {
        /// The files.
        files: Vec<String>,
    },
    /// A schema is bound in the origin that is not there.
    #[error(
        "`{}` is bound to {} in the origin, which has no such schema: store it there, or bind a \
         different one",
        binding.binding.id().unwrap_or_default(),
        binding.service.title()
    )]
    Dangling {
        /// What is bound.
        binding: Box<ApplicationBinding>,
    },
    /// The destination cannot keep bindings that would be removed from the origin.
    #[error(
        "the destination keeps the bindings of only one application, but the origin, which is to be \
         emptied, has bindings of others ({}): unbind their schemas, or do not empty the origin",
        applications.join(", ")
    )]
    OtherApplications {
        /// The other applications.
        applications: Vec<String>,
    },
    /// A migration from another store was interrupted.
    #[error(
        "a migration from `{from}` to the destination was interrupted: complete it first, or \
         overwrite existing schemas without emptying the destination"
    )]
    Interrupted {
        /// The kind of store that it came from.
        from: String,
    },
    /// The origin has only some of the schemas that were to be moved to it.
    #[error(
        "a migration from `{from}` to the origin was interrupted, so it may not have all schemas: complete it first"
    )]
    OriginIncomplete {
        /// The kind of store that it came from.
        from: String,
    },
    /// Another process has taken over.
    #[error("another process has taken over the migration")]
    Overtaken,
    /// Other processes change the same again and again.
    #[error("other processes keep changing {what}")]
    Contended {
        /// What they change.
        what: String,
    },
}

impl MigrationError {
    /// Returns whether the same would happen again, unless someone changes something.
    pub(super) fn is_final(&self) -> bool {
        match self {
            MigrationError::Store { source, .. } => {
                matches!(source, SchemaStoreError::AccessDenied(_))
            }
            MigrationError::Lost { .. }
            | MigrationError::OtherApplications { .. }
            | MigrationError::Interrupted { .. }
            | MigrationError::OriginIncomplete { .. } => true,
            MigrationError::Dangling { .. }
            | MigrationError::Overtaken
            | MigrationError::Contended { .. } => false,
        }
    }
}

/// Adds to an error in which store it occurred, and during what.
pub(super) trait During<T> {
    /// Adds what the origin was asked.
    fn in_origin(self, doing: impl Into<String>) -> Result<T, MigrationError>;

    /// Adds what the destination was asked.
    fn in_destination(self, doing: impl Into<String>) -> Result<T, MigrationError>;
}

impl<T> During<T> for Result<T, SchemaStoreError> {
    fn in_origin(self, doing: impl Into<String>) -> Result<T, MigrationError> {
        self.map_err(|source| failed(MigrationSide::Origin, doing, source))
    }

    fn in_destination(self, doing: impl Into<String>) -> Result<T, MigrationError> {
        self.map_err(|source| failed(MigrationSide::Destination, doing, source))
    }
}

pub(super) fn failed(
    side: MigrationSide,
    doing: impl Into<String>,
    source: SchemaStoreError,
) -> MigrationError {
    MigrationError::Store {
        side,
        doing: doing.into(),
        source,
    }
}
