//! Who of several processes migrates.

use std::sync::Arc;
use std::time::Duration;

use super::error::{During, MigrationError, MigrationSide, failed};
use super::{Migration, MigrationOptions};
use crate::lease::Lease;
use crate::store::{LeaseRecord, SchemaStore};

/// The lease of whoever migrates.
const LEASE: &str = "migration";

/// A lease that nobody holds, whose number is that of the migrations that were completed.
const COMPLETED: &str = "migrations-completed";

/// The longest time between two looks at a lease that another process holds.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The turn of this process.
pub(super) struct Turn {
    /// The lease, unless nobody else can migrate, and the store that keeps it.
    lease: Option<(Lease, MigrationSide)>,
}

impl Turn {
    /// Makes sure that it still is the turn of this process.
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

    pub(super) async fn end(self) {
        let Some((lease, _)) = self.lease else {
            return;
        };
        if let Err(error) = lease.release().await {
            tracing::warn!(%error, "the lease on the migration ends by its time");
        }
    }
}

impl Migration {
    /// Waits for the turn of this process.
    pub(super) async fn turn(&self) -> Result<Turn, MigrationError> {
        let Some((store, side)) = self.leasing_store() else {
            return Ok(Turn { lease: None });
        };
        let MigrationOptions {
            holder, lease_time, ..
        } = &self.options;
        let lease = Lease::new(Arc::clone(store), LEASE, holder, *lease_time);
        let mut is_first = true;
        loop {
            let held = lease.hold().await;
            let held = held.map_err(|error| failed(side, "take the lease on the migration", error));
            if held?.is_some() {
                let lease = Some((lease, side));
                return Ok(Turn { lease });
            }
            if std::mem::take(&mut is_first) {
                tracing::info!("another process migrates schemas, and is waited for");
            }
            tokio::time::sleep((*lease_time / 4).min(LONGEST_PAUSE)).await;
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
    pub(super) async fn count(&self) -> Result<(), MigrationError> {
        if !self.destination.is_shared() {
            return Ok(());
        }
        let counted = self.completed().await?;
        let next = LeaseRecord {
            holder: String::new(),
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
