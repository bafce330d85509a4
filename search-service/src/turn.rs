//! Instances that share indexes take turns in building them: whoever holds a lease builds. The others wait, and search
//! what was built as soon as it is complete.
//!
//! The lease is held during a run of the indexer only. Its number is part of the names of indexes, by which an
//! instance that has lost it without noticing does no harm (`search_index::indexer`).

use std::time::Duration;

use graph_store::CallContext;
use schema_registry::{HeldLease, Lease};
use tokio::time::{Instant, timeout, timeout_at};

use super::app::{SearchApp, lease_name};
use super::job::Waiting;

/// Time for the store of schemas to answer.
pub(super) const STORE_TIME: Duration = Duration::from_secs(5);

/// How often a lease is renewed in the time that it lasts.
pub(super) const RENEWALS: u32 = 3;

/// What a run may do.
pub(super) enum Turn {
    /// It builds, under a lease where there are others.
    Build(Option<HeldLease>),
    /// All indexes are there.
    Serve,
    /// It was cancelled.
    Cancelled,
}

impl SearchApp {
    /// Takes the lease on building indexes if it is free. Its number is above that of all indexes of the application.
    pub(super) async fn take(&self, lease: &Lease) -> Option<HeldLease> {
        let held = match timeout(STORE_TIME, lease.hold()).await {
            Ok(Ok(held)) => held?,
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "the lease on the indexes cannot be taken");
                return None;
            }
            Err(_) => return None,
        };
        let context = CallContext::new().with_timeout(STORE_TIME);
        // A run asks the engine again, for as long as it takes.
        let states = self
            .engines
            .written
            .indexes(&context)
            .await
            .unwrap_or_default();
        let ours = states.iter().filter(|state| {
            let mark = state.mark.as_ref();
            mark.is_some_and(|mark| mark.application == self.host.options.name)
        });
        let last = ours.filter_map(|state| state.name.number()).max();
        match last.filter(|last| last.lease > held.number) {
            None => Some(held),
            // They were built while leases were kept elsewhere. No one has taken this one since it was looked at if it
            // can be changed.
            Some(last) => {
                let raised = timeout(STORE_TIME, lease.raise(last.lease + 1)).await;
                raised.ok()?.ok()?
            }
        }
    }

    /// Returns whom runs wait for that may not build.
    pub(super) async fn waiting(&self) -> Waiting {
        self.waiting_for(&lease_name(&self.host.options.name)).await
    }

    /// Returns who holds the lease of a name, as far as that is known.
    pub(super) async fn waiting_for(&self, name: &str) -> Waiting {
        let stored = timeout(STORE_TIME, self.schemas.lease(name)).await;
        let record = stored.ok().and_then(Result::ok).flatten();
        let instance = record.and_then(|record| {
            let (instance, _) = record.holder.rsplit_once('#')?;
            Some(instance.to_owned())
        });
        Waiting { instance }
    }

    /// Gives the lease back, if there is one and it is held here.
    pub(super) async fn release(&self) {
        let Some(lease) = &self.lease else { return };
        if !matches!(timeout(STORE_TIME, lease.release()).await, Ok(Ok(()))) {
            tracing::warn!("the lease on the indexes could not be released; it will expire");
        }
    }
}

/// Renews a lease until it is lost, or it is unknown whether it is.
pub(super) async fn keep(lease: &Lease, held: HeldLease) {
    let mut until = Instant::from_std(held.until);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        tokio::time::sleep((lease.lasts() / RENEWALS).min(left)).await;
        match timeout_at(until, lease.hold()).await {
            Ok(Ok(Some(held))) => until = Instant::from_std(held.until),
            Ok(Err(error)) if Instant::now() < until => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the lease on the indexes cannot be renewed");
            }
            Ok(Ok(None) | Err(_)) | Err(_) => return,
        }
    }
}
