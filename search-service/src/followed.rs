//! How far the indexes follow the changes of the data, as others see it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use search_index::engine::{Built, PhysicalName};
use search_index::indexer::{self, Following, Lacks};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::job::{Failure, Waiting};

/// How the follower is, as others see it.
#[derive(Default)]
pub(super) struct DataFollower {
    shown: ArcSwap<Followed>,
    /// What comparisons have found indexes to lack, until it is said of those that are followed.
    lacking: Mutex<Vec<(PhysicalName, Lacks)>>,
    /// Someone waits for changes.
    pub(super) nudge: Notify,
    /// Counts the changes of what is shown.
    pub(super) moved: watch::Sender<u64>,
    /// Cancelled when the service ends.
    pub(super) token: CancellationToken,
    /// Whether it runs.
    pub(super) runs: watch::Sender<bool>,
    /// When the indexes were last found to have all changes, or when they began to be followed.
    level: Mutex<Option<Instant>>,
}

/// What is followed, and how far.
#[derive(Clone, Default)]
pub(super) struct Followed {
    pub(super) state: FollowState,
    /// What the indexes have that are followed here.
    pub(super) indexes: HashMap<PhysicalName, Built>,
}

/// Whether the changes of the data are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum FollowState {
    /// There is nothing to follow.
    #[default]
    Idle,
    Here,
    /// Another instance does it.
    Elsewhere(Waiting),
    /// What has changed is unknown; the indexes are built again.
    Lost,
    /// The store has no records of changes, or it is not known of which data the indexes are.
    Unrecorded,
    /// It has failed, and is tried again.
    Failing(Failure),
}

impl DataFollower {
    pub(super) fn shown(&self) -> Arc<Followed> {
        self.shown.load_full()
    }

    /// Records what an index that is followed here lacks; returns it if the index is not followed.
    pub(super) fn correct(&self, index: &PhysicalName, lacks: Lacks) -> Result<(), Lacks> {
        let shown = self.shown();
        if !shown.indexes.contains_key(index) {
            return Err(lacks);
        }
        self.lacking().push((index.clone(), lacks));
        self.nudge.notify_one();
        Ok(())
    }

    /// Takes what was said of indexes into account.
    pub(super) fn take_corrections(&self, following: &mut Following) {
        for (index, lacks) in self.lacking().drain(..) {
            following.correct(&index, &lacks);
        }
    }

    fn lacking(&self) -> MutexGuard<'_, Vec<(PhysicalName, Lacks)>> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether the indexes have all changes now.
    pub(super) fn note_level(&self, is_level: bool) {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        if is_level || level.is_none() {
            *level = Some(Instant::now());
        }
    }

    /// Returns how long ago the indexes were found to have all changes; `None` where none are followed here.
    pub(super) fn lag(&self) -> Option<Duration> {
        let level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        level.map(|level| level.elapsed())
    }

    /// Shows another state; the indexes are as they were.
    pub(super) fn show_state(&self, state: FollowState) {
        let indexes = self.shown().indexes.clone();
        self.shown.store(Arc::new(Followed { state, indexes }));
    }

    pub(super) fn show(&self, state: FollowState, following: Option<&Following>) {
        if !matches!(state, FollowState::Here | FollowState::Failing(_)) {
            *self.level.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if self.is_shown(&state, following) {
            return;
        }
        let indexes = following
            .into_iter()
            .flat_map(Following::indexes)
            .map(|index| (index.index.clone(), index.built.clone()))
            .collect();
        self.shown.store(Arc::new(Followed { state, indexes }));
        self.moved.send_modify(|times| *times += 1);
    }

    /// Returns whether a state is shown already, and indexes with what they have and lack.
    fn is_shown(&self, state: &FollowState, following: Option<&Following>) -> bool {
        let (shown, indexes) = (
            self.shown.load(),
            following.map_or(&[][..], Following::indexes),
        );
        let is_there = |index: &indexer::Followed| {
            let known = shown.indexes.get(&index.index);
            known.is_some_and(|known| *known == index.built)
        };
        shown.state == *state
            && shown.indexes.len() == indexes.len()
            && indexes.iter().all(is_there)
    }
}
