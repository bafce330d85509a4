//! Compares the indexes that are searched with the data, on demand and from time to time, for what has changed past the
//! mutations. It goes on beside everything else, page by page.

use std::sync::Arc;
use std::time::Duration;

use graph_store::CallContext;
use search_index::indexer::IndexerError;
use service_runtime::with_causes;
use tokio_util::sync::CancellationToken;

use super::app::SearchApp;
use super::followed::FollowState;
use super::job::{Failure, sleep};
use super::refreshed::{Refresh, RefreshError, RefreshState};

/// Shortest time between two comparisons.
const SHORTEST: Duration = Duration::from_secs(1);

/// Compares the indexes from time to time, until the service ends.
pub(super) async fn refresh_regularly(app: Arc<SearchApp>, interval: Duration) {
    let token = app.follower.token.clone();
    let interval = interval.max(SHORTEST);
    while sleep(interval, &token).await {
        // Of several instances, the one that follows the data does this too.
        if matches!(app.follower.shown().state, FollowState::Elsewhere(_)) {
            continue;
        }
        if let Some(bound) = app.bound() {
            // Why it cannot is said where the schema is bound.
            let _ = app.refresh(&bound.id);
        }
    }
}

impl SearchApp {
    /// Begins to compare the indexes of a bound schema with the data, unless that goes on already.
    ///
    /// # Errors
    /// When another schema is bound, its indexes are not complete, or no indexes are built here.
    pub(crate) fn refresh(self: &Arc<Self>, id: &str) -> Result<(), RefreshError> {
        let ready = self.ready().filter(|(bound, _)| bound.id == id);
        let Some((bound, ready)) = ready else {
            return Err(RefreshError::NotSearched);
        };
        let options = self.options.indexer(&self.host.options.name);
        let indexer = self
            .indexer(&bound, options)
            .ok_or(RefreshError::NotIndexing)?;
        let begun = Arc::new(Refresh::of(&bound.id));
        let mut goes_on = false;
        self.refreshed.rcu(|last| {
            goes_on = last.as_ref().is_some_and(|last| {
                last.schema == bound.id && last.state() == RefreshState::Running
            });
            if goes_on {
                last.clone()
            } else {
                Some(Arc::clone(&begun))
            }
        });
        if goes_on {
            return Ok(());
        }
        let app = Arc::clone(self);
        let token: CancellationToken = self.follower.token.child_token();
        drop(tokio::spawn(async move {
            let context = CallContext::new().with_cancellation(token.clone());
            let _ends = token.drop_guard();
            let compare = async {
                for (object, index) in &ready {
                    let (turn, progress) = (&app.applying, &begun.progress);
                    let reconciled = indexer.reconcile(object, index, turn, progress, &context);
                    let lacks = reconciled.await?;
                    if let Err(lacks) = app.follower.correct(index, lacks) {
                        indexer.note_lacks(index, &lacks, &context).await?;
                    }
                }
                Ok::<_, IndexerError>(())
            };
            let state = tokio::select! {
                compared = compare => match compared {
                    Ok(()) => RefreshState::Done,
                    Err(error) if error.is_cancelled() => RefreshState::Ended,
                    Err(error) => {
                        tracing::error!(
                            error = with_causes(&error),
                            "the indexes cannot be compared with the data"
                        );
                        RefreshState::Failed(Failure::from(&error))
                    }
                },
                () = app.stay(&bound, &ready) => RefreshState::Ended,
            };
            let repaired = begun.progress.repaired();
            tracing::info!(
                schema = bound.id,
                repaired,
                ?state,
                "the indexes were compared with the data"
            );
            begun.set(state);
            app.forget_health();
        }));
        Ok(())
    }
}
