//! A comparison of the indexes with the data, as others see it.

use std::sync::{Arc, Mutex, PoisonError};

use search_index::indexer::Reconciliation;

use super::job::Failure;

/// A comparison of the indexes with the data.
pub(super) struct Refresh {
    /// The schema.
    pub(super) schema: String,
    pub(super) progress: Arc<Reconciliation>,
    state: Mutex<RefreshState>,
}

/// How a comparison is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefreshState {
    Running,
    Done,
    /// Other indexes are searched by now, or the service ends.
    Ended,
    Failed(Failure),
}

/// Why the indexes of a schema are not compared with the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefreshError {
    #[error("the schema is not searched: it is not bound, or its indexes are not complete")]
    NotSearched,
    #[error("this service builds no indexes (`indexer.indexingEnabled`)")]
    NotIndexing,
}

impl Refresh {
    pub(super) fn of(schema: &str) -> Self {
        Refresh {
            schema: schema.to_owned(),
            progress: Arc::default(),
            state: Mutex::new(RefreshState::Running),
        }
    }

    pub(super) fn state(&self) -> RefreshState {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clone()
    }

    pub(super) fn set(&self, state: RefreshState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
