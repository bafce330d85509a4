//! Searches that wait for a change of the data: a client that has made it names its sequence.
//!
//! How far the indexes are is known at once where the data are followed here, and else seen from the notes at the
//! indexes, which the instance that follows the data makes every two seconds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use graph_store::{CallContext, GraphStore};
use graphql_service::{GraphqlError, Sequences};
use search_index::code;
use search_index::engine::{Built, Engine, PhysicalName};
use search_index::indexer::StoreData;
use search_index::service::ReachData;
use tokio::time::{Instant, timeout_at};

use super::app::SearchApp;
use super::followed::{DataFollower, FollowState};

/// How often is looked how far indexes are that are followed elsewhere.
const LOOK: Duration = Duration::from_millis(250);

/// Time before the deadline of a request in which it is said that the change was not found.
const RESERVE: Duration = Duration::from_millis(50);

/// Waits for changes of the data.
pub(super) struct Reach {
    follower: Arc<DataFollower>,
    data: Option<Arc<dyn GraphStore>>,
    engine: Engine,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").finish_non_exhaustive()
    }
}

impl Reach {
    pub(super) fn of(app: &SearchApp) -> Self {
        Reach {
            follower: Arc::clone(&app.follower),
            data: app.data.clone(),
            engine: Arc::clone(&app.engines.searched),
        }
    }

    /// Returns the last of some changes that are of these data: whoever asks has made one, so it is there already. Those
    /// of other data, which a client of a gateway may name too, are not waited for.
    async fn wanted(&self, sequences: &Sequences, context: &CallContext) -> Option<u64> {
        let last = match &self.data {
            Some(data) => StoreData::of(data).last_sequence(context).await,
            None => Ok(None),
        };
        match last {
            Ok(Some(last)) => sequences.iter().filter(|sequence| *sequence <= last).max(),
            // It is waited for until the deadline.
            Ok(None) | Err(_) => sequences.iter().max(),
        }
    }

    /// Returns whether all of some indexes have a change.
    async fn have(&self, wanted: u64, indexes: &[PhysicalName], context: &CallContext) -> bool {
        let has = |built: Option<&Built>| {
            let data = built.and_then(|built| built.data.as_ref());
            data.is_some_and(|data| data.sequence >= wanted)
        };
        let followed = self.follower.shown();
        if indexes.iter().all(|name| has(followed.indexes.get(name))) {
            return true;
        }
        let is_followed = |name: &PhysicalName| followed.indexes.contains_key(name);
        if followed.state == FollowState::Here && indexes.iter().all(is_followed) {
            return false;
        }
        let Ok(states) = self.engine.indexes(context).await else {
            return false;
        };
        indexes.iter().all(|name| {
            let state = states.iter().find(|state| state.name == *name);
            has(state.and_then(|state| state.mark.as_ref()?.built.as_ref()))
        })
    }

    async fn wait(
        &self,
        wanted: u64,
        indexes: &(dyn Fn() -> Vec<PhysicalName> + Send + Sync),
        context: &CallContext,
    ) {
        let mut moved = self.follower.moved.subscribe();
        loop {
            moved.borrow_and_update();
            if self.have(wanted, &indexes(), context).await {
                return;
            }
            self.follower.nudge.notify_one();
            tokio::select! {
                // The sender is there as long as the follower.
                _ = moved.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = context.cancellation.cancelled() => return,
            }
        }
    }
}

#[async_trait]
impl ReachData for Reach {
    async fn reach(
        &self,
        sequences: &Sequences,
        indexes: &(dyn Fn() -> Vec<PhysicalName> + Send + Sync),
        context: &CallContext,
    ) -> Result<(), GraphqlError> {
        let reached = async {
            let Some(wanted) = self.wanted(sequences, context).await else {
                return;
            };
            self.wait(wanted, indexes, context).await;
        };
        let end = context.deadline.map(|end| Instant::from_std(end) - RESERVE);
        let is_reached = match end {
            Some(end) => timeout_at(end, reached).await.is_ok(),
            None => {
                reached.await;
                true
            }
        };
        if is_reached {
            return Ok(());
        }
        let message = format!(
            "the indexes do not have the change {sequences} yet: {}",
            match &self.follower.shown().state {
                FollowState::Idle | FollowState::Here | FollowState::Elsewhere(_) => {
                    "they are behind the data"
                }
                FollowState::Lost => "they are being built again",
                FollowState::Unrecorded => "they do not follow changes of the data",
                FollowState::Failing(_) => "the store or the search engine fails at the moment",
            }
        );
        Err(GraphqlError::new(code::INDEX_BEHIND, message))
    }
}
