//! Who of several processes migrates.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::error::{During, MigrationError, MigrationSide, failed};
use super::{Migration, MigrationOptions, pause};
use crate::lease::Lease;
use crate::store::{LeaseRecord, SchemaStore};

/// The lease of whoever migrates.
const LEASE: &str = "migration";

/// A lease that no one takes, whose number is that of the migrations that were completed, and whose holder is the process that
/// completed the last one.
const COMPLETED: &str = "migrations-completed";

/// The longest time between two looks at a lease that another process holds.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The turn of this process.
pub(super) struct Turn {
    /// The lease, unless no one else can migrate, and the store that keeps it.
    lease: Option<(Lease, MigrationSide)>,
    /// The processes that were waited for.
    waited_for: BTreeSet<String>,
}

impl Turn {
    /// Makes sure that it still is the turn of this process. It is called after what a change follows from was read, and before the
    /// change, which compares: so what another process has done meanwhile is either noticed here, or conflicts.
    pub(super) async fn check(&self) -> Result<(), MigrationError> {
        match &self.lease {
            Some((lease, side)) => match lease.hold().await {
                Ok(Some(_)) => Ok(()),
                Ok(None) => Err(MigrationError::Overtaken),
                Err(error) => Err(failed(*side, "renew the lease on the migration", error)),
            },
            None => Ok(()),
        }
    }

    /// Returns whether another process has completed the migration since this one wanted to, by what was counted `before` and
    /// what is `now`.
    pub(super) fn is_done(&self, before: &Option<LeaseRecord>, now: &Option<LeaseRecord>) -> bool {
        let by_other = |last: &LeaseRecord| self.waited_for.contains(&last.holder);
        before != now || now.as_ref().is_some_and(by_other)
    }

    pub(super) async fn end(self) {
        let Some((lease, _)) = self.lease else {
            return;
        };
        if let Err(error) = lease.release().await {
            tracing::warn!(%error, "the lease on the migration was not released and will expire");
        }
    }
}

impl Migration {
    /// Waits for the turn of this process.
    pub(super) async fn turn(&self) -> Result<Turn, MigrationError> {
        let Some((store, side)) = self.leasing_store() else {
            return Ok(Turn {
                lease: None,
                waited_for: BTreeSet::new(),
            });
        };
        let MigrationOptions {
            holder, lease_time, ..
        } = &self.options;
        let lease = Lease::new(Arc::clone(store), LEASE, holder, *lease_time);
        let mut waited_for = BTreeSet::new();
        loop {
            let failed = |error| failed(side, "take the lease on the migration", error);
            if lease.hold().await.map_err(failed)?.is_some() {
                return Ok(Turn {
                    lease: Some((lease, side)),
                    waited_for,
                });
            }
            if waited_for.is_empty() {
                tracing::info!("waiting for another process that is migrating schemas");
            }
            let other = store.lease(LEASE).await.map_err(failed)?;
            waited_for.extend(other.map(|other| other.holder));
            pause((*lease_time / 4).min(LONGEST_PAUSE)).await;
        }
    }

    /// Returns the store in which processes take turns: the destination, or the origin if that is to be emptied.
    fn leasing_store(&self) -> Option<(&Arc<dyn SchemaStore>, MigrationSide)> {
        if self.destination.is_shared() {
            Some((&self.destination, MigrationSide::Destination))
        } else if self.source.is_shared() && self.options.clean_after {
            Some((&self.source, MigrationSide::Origin))
        } else {
            None
        }
    }

    /// Returns how many migrations to the destination were completed, as far as that is counted.
    pub(super) async fn completed(&self) -> Result<Option<LeaseRecord>, MigrationError> {
        if !self.destination.is_shared() {
            return Ok(None);
        }
        let counted = self.destination.lease(COMPLETED).await;
        counted.in_destination("read how many migrations were completed")
    }

    /// Counts a migration as completed.
    pub(super) async fn count(&self, turn: &Turn) -> Result<(), MigrationError> {
        let Some((lease, MigrationSide::Destination)) = &turn.lease else {
            return Ok(());
        };
        let counted = self.completed().await?;
        let next = LeaseRecord {
            holder: lease.holder().to_owned(),
            number: counted.as_ref().map_or(1, |counted| counted.number + 1),
            beat: 0,
        };
        let swapped = self
            .destination
            .swap_lease(COMPLETED, counted.as_ref(), &next);
        // If another process has counted meanwhile, those who wait see that as well.
        swapped
            .await
            .in_destination("count the migration")
            .map(drop)
    }
}
