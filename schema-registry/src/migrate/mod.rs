//! Moves schemas from one store to another: with the rights on them and what is bound, of all applications.
//!
//! A migration runs in phases, which a [`MigrationRecord`] in the destination keeps:
//!
//! 1. *Cleaning*: the destination is emptied, if that is asked for.
//! 2. *Copying*: the rights, then the schemas, then the bindings, so that no one serves a store that is moved in part.
//! 3. *Emptying*: what the destination has is removed from the origin, if that is asked for: the bindings, then the schemas,
//!    then the rights. Each is read back from the destination just before.
//!
//! The record is removed at the end. A process that is stopped at any moment leaves either an origin that is whole, or a record
//! that says that the destination has everything: the next migration goes on there, and does not clean the destination.
//! Whatever the options say, a migration that has begun to empty the origin is completed.
//!
//! # Several processes
//!
//! One process migrates at a time, by a [`Lease`](crate::Lease) in the destination, or in the origin if only that is shared. A
//! process that has lost the lease may still act on it. So each attempt has a record with a name of its own, and changes follow
//! from what was read: a store is cleared of what it had while the record was there, and a schema is replaced or removed in the
//! revision that was read. Whatever another attempt has copied meanwhile has other revisions. Another lease counts the
//! migrations that were completed, and says by whom, so that a process that has waited knows that nothing is left to do.
//!
//! `plan` says what is moved, `run` does it, `report` is what both return.

mod error;
mod plan;
mod report;
mod run;
mod turn;

use std::sync::Arc;
use std::time::Duration;

pub use error::{MigrationError, MigrationSide};
pub use report::{Fate, MigrationReport, Moved, Skipped};

use crate::store::SchemaStore;

/// What is moved, and what happens to existing schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationOptions {
    /// The kind of store of the origin, such as `rdf4j`, by which an interrupted migration is recognised.
    pub source: String,
    /// How other processes name this one while they wait for it, such as its address.
    pub holder: String,
    /// Whether schemas are moved to a destination that has some, and overwrite those of the same name.
    pub force: bool,
    /// Whether all schemas are moved, not only those that are bound. Without [`force`](Self::force) all are.
    pub all: bool,
    /// Whether the destination is emptied first.
    pub clean_before: bool,
    /// Whether the origin is emptied afterwards.
    pub clean_after: bool,
    /// How often a migration that fails is tried again.
    pub retries: u32,
    /// How long to wait before that.
    pub delay: Duration,
    /// Time after which another process takes over from one that has stopped.
    pub lease_time: Duration,
}

impl MigrationOptions {
    /// Returns the default options, for an origin of this kind: everything is copied to a destination without schemas.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        MigrationOptions {
            source: source.into(),
            holder: "migration".to_owned(),
            force: false,
            all: false,
            clean_before: false,
            clean_after: false,
            retries: 3,
            delay: Duration::from_secs(10),
            lease_time: Duration::from_secs(15),
        }
    }
}

/// A migration from one store to another.
///
/// ```
/// use std::sync::Arc;
///
/// use schema_registry::{
///     InMemorySchemaStore, Migration, MigrationOptions, SchemaStore, ServiceKind,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let origin = Arc::new(InMemorySchemaStore::default());
/// origin.create("films", "id: /soml/films".into()).await?;
/// origin.set_binding(ServiceKind::Objects, Some("films")).await?;
/// let destination = Arc::new(InMemorySchemaStore::default());
/// let options = MigrationOptions::new("memory");
/// let migration = Migration::new(origin, destination.clone(), options);
/// let report = migration.run().await?;
/// assert_eq!(report.schemas[0].item.id, "films");
/// assert!(destination.get("films").await?.is_some());
/// # Ok(())
/// # }
/// ```
pub struct Migration {
    source: Arc<dyn SchemaStore>,
    destination: Arc<dyn SchemaStore>,
    options: MigrationOptions,
}

impl Migration {
    /// Prepares a migration from one store to another, which must not be the same.
    #[must_use]
    pub fn new(
        source: Arc<dyn SchemaStore>,
        destination: Arc<dyn SchemaStore>,
        options: MigrationOptions,
    ) -> Self {
        Migration {
            source,
            destination,
            options,
        }
    }

    /// Returns what [`run`](Migration::run) would do now. Nothing is changed.
    ///
    /// # Errors
    ///
    /// As [`Migration::run`]. Nothing is tried again.
    pub async fn plan(&self) -> Result<MigrationReport, MigrationError> {
        self.foreseen().await
    }

    /// Moves the schemas. While another process migrates to the same store, it is waited for.
    ///
    /// # Errors
    ///
    /// When a store fails, again after it was tried again as the options say. What was done until then is left, and the next
    /// migration goes on.
    pub async fn run(&self) -> Result<MigrationReport, MigrationError> {
        let mut tries = 0;
        let mut completed = None;
        loop {
            let error = match self.attempt(&mut completed).await {
                Ok(report) => return Ok(report),
                Err(error) => error,
            };
            if error.is_final() || tries >= self.options.retries {
                return Err(error);
            }
            tries += 1;
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                tries,
                "the migration of schemas has failed and is retried"
            );
            pause(self.options.delay).await;
        }
    }
}

/// Waits for a time, if there is any; a timer would take a millisecond for none.
async fn pause(time: Duration) {
    if time.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(time).await;
    }
}
