//! Follows the changes of the data into the indexes that are searched, for as long as the service runs.
//!
//! Of several instances that share indexes, the one that holds a lease does so; the others see from the notes at the indexes
//! how far they are. What is left undone when an instance ends is done by the next, since positions are kept with
//! the indexes (`search_index::indexer`). An instance that has lost the lease without noticing does no harm:
//! its documents have a lower version than those that are newer.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use graph_store::CallContext;
use schema_registry::Lease;
use search_index::engine::PhysicalName;
use search_index::indexer::{Following, Indexer, IndexerError, Standing};
use search_index::service::SearchTarget;
use service_runtime::with_causes;
use tokio::time::timeout;

use super::app::SearchApp;
use super::bound::Bound;
use super::followed::FollowState;
use super::job::{Failure, Job, Origin, sleep};
use super::turn::{RENEWALS, STORE_TIME};

/// How often is looked which indexes are searched.
const LOOK: Duration = Duration::from_millis(100);

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(5);

/// Time to note positions when the service ends.
const LAST_NOTE: Duration = Duration::from_secs(3);

/// Follows the changes of the data until the service ends.
pub(super) async fn follow_data(app: Arc<SearchApp>) {
    app.follower.runs.send_replace(true);
    let _end = EndOnDrop(Arc::clone(&app));
    let lease = app.lease.as_ref().map(|_| {
        let (schemas, options) = (Arc::clone(&app.schemas), &app.options);
        let name = following_lease(&app.host.options.name);
        Lease::new(schemas, name, &options.instance, options.lease_time)
    });
    let token = app.follower.token.clone();
    while !token.is_cancelled() {
        let pause = match app.ready() {
            Some((bound, ready)) => match &lease {
                None => app.follow_bound(&bound, &ready).await,
                Some(lease) => app.follow_in_turn(lease, &bound, &ready).await,
            },
            None => {
                app.follower.show(FollowState::Idle, None);
                LOOK
            }
        };
        if !sleep(pause, &token).await {
            break;
        }
    }
    if let Some(lease) = &lease
        && !matches!(timeout(STORE_TIME, lease.release()).await, Ok(Ok(())))
    {
        tracing::warn!("the lease on following the data could not be released; it will expire");
    }
}

/// Marks the end of following, however it ends.
struct EndOnDrop(Arc<SearchApp>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.follower.runs.send_replace(false);
    }
}

/// Returns the name of the lease on following the data of an application.
fn following_lease(application: &str) -> String {
    format!("search-following/{application}")
}

/// Renews a lease until another instance has it.
async fn until_taken(lease: &Lease) {
    loop {
        tokio::time::sleep(lease.lasts() / RENEWALS).await;
        if let Ok(Ok(None)) = timeout(STORE_TIME, lease.hold()).await {
            return;
        }
    }
}

/// The indexes of a schema that are searched, by the GraphQL names of their objects.
pub(super) type Ready = Vec<(String, PhysicalName)>;

impl SearchApp {
    /// Returns what is bound, and its indexes that are searched, if there are any.
    pub(super) fn ready(&self) -> Option<(Arc<Bound>, Ready)> {
        let bound = self.bound()?;
        let targets = bound.service.targets();
        let definitions = bound.indexes.indexes.iter().zip(targets.iter());
        let ready = definitions.filter_map(|(definition, target)| match target {
            SearchTarget::Ready(name) => Some((definition.name.clone(), name.clone())),
            SearchTarget::Building { .. } | SearchTarget::Missing => None,
        });
        let ready: Ready = ready.collect();
        (!ready.is_empty()).then_some((bound, ready))
    }

    fn refresh_interval(&self) -> Duration {
        self.options.refresh_interval.max(SHORTEST)
    }

    /// Returns whether some indexes are still those that are searched.
    fn are_searched(&self, bound: &Arc<Bound>, ready: &Ready) -> bool {
        let now = self.ready();
        now.is_some_and(|(now, indexes)| Arc::ptr_eq(&now, bound) && indexes == *ready)
    }

    /// Follows the data while a lease is held; returns after which time to look again.
    async fn follow_in_turn(
        self: &Arc<Self>,
        lease: &Lease,
        bound: &Arc<Bound>,
        ready: &Ready,
    ) -> Duration {
        // Where it cannot be known who holds it, several may follow: a document is the same whoever writes it.
        if let Ok(Ok(None)) = timeout(STORE_TIME, lease.hold()).await {
            let name = following_lease(&self.host.options.name);
            let waiting = self.waiting_for(&name).await;
            self.follower.show(FollowState::Elsewhere(waiting), None);
            return self.options.follow_interval;
        }
        tokio::select! {
            pause = self.follow_bound(bound, ready) => pause,
            () = until_taken(lease) => {
                tracing::warn!("another instance now follows the data");
                self.options.follow_interval
            }
        }
    }

    /// Follows the data as long as the same indexes are searched; returns after which time to look again.
    async fn follow_bound(self: &Arc<Self>, bound: &Arc<Bound>, ready: &Ready) -> Duration {
        let options = self.options.indexer(&self.host.options.name);
        let Some(indexer) = self.indexer(bound, options) else {
            return self.options.follow_interval;
        };
        let token = self.follower.token.child_token();
        let context = CallContext::new().with_cancellation(token.clone());
        let _ends = token.drop_guard();
        let indexes = ready.iter().map(|(object, name)| (object.as_str(), name));
        let mut following = match indexer.following(indexes, &context).await {
            Ok(Some(following)) => following,
            Ok(None) => {
                self.follower.show(FollowState::Unrecorded, None);
                self.stay(bound, ready).await;
                return Duration::ZERO;
            }
            Err(error) => return self.has_failed(&error, None),
        };
        let followed = self.follow_all(&indexer, &mut following, bound, ready, &context);
        let pause = followed.await;
        // What is not noted is read again by whoever follows next.
        let last = CallContext::new().with_timeout(LAST_NOTE);
        let noted = indexer.note(&mut following, true, &last);
        if !matches!(timeout(LAST_NOTE, noted).await, Ok(Ok(()))) {
            tracing::debug!("only earlier positions of the indexes could be saved");
        }
        pause
    }

    async fn follow_all(
        self: &Arc<Self>,
        indexer: &Indexer,
        following: &mut Following,
        bound: &Arc<Bound>,
        ready: &Ready,
        context: &CallContext,
    ) -> Duration {
        let interval = self.refresh_interval();
        let (progress, token) = (indexer.progress(), &self.follower.token);
        while !token.is_cancelled() && self.are_searched(bound, ready) {
            let standing = {
                let mut step = pin!(async {
                    let _turn = self.applying.lock().await;
                    indexer.follow(following, context).await
                });
                let mut replaced = pin!(self.stay(bound, ready));
                let mut is_told = false;
                loop {
                    tokio::select! {
                        standing = &mut step => break standing,
                        // What is not done yet is done again by whoever needs it.
                        () = &mut replaced => return Duration::ZERO,
                        setback = progress.until_setback(), if !is_told => {
                            is_told = true;
                            self.follower.show_state(FollowState::Failing(setback.into()));
                            self.forget_health();
                        }
                    }
                }
            };
            self.follower.take_corrections(following);
            if let Ok(Standing::Level | Standing::Behind) = standing {
                let is_level = matches!(standing, Ok(Standing::Level));
                self.follower.note_level(is_level);
            }
            match standing {
                Ok(Standing::Behind) => self.follower.show(FollowState::Here, Some(following)),
                Ok(Standing::Level) => {
                    self.follower.show(FollowState::Here, Some(following));
                    if let Err(error) = indexer.note(following, false, context).await {
                        return self.has_failed(&error, Some(following));
                    }
                    tokio::select! {
                        () = self.follower.nudge.notified() => {}
                        () = tokio::time::sleep(interval) => {}
                        () = token.cancelled() => {}
                    }
                }
                Ok(Standing::Lost) => {
                    tracing::warn!(
                        schema = bound.id,
                        "the data were replaced, or records of their changes were removed before \
                         they were followed; the indexes are rebuilt"
                    );
                    self.follower.show(FollowState::Lost, None);
                    self.forget_health();
                    self.rebuild(bound).await;
                    self.stay_for(self.options.retry.delay, bound, ready).await;
                    return Duration::ZERO;
                }
                Ok(_) => {
                    self.follower.show(FollowState::Unrecorded, None);
                    self.stay(bound, ready).await;
                    return Duration::ZERO;
                }
                Err(error) => return self.has_failed(&error, Some(following)),
            }
        }
        Duration::ZERO
    }

    /// Logs why the data are not followed; returns the time until the next attempt.
    fn has_failed(&self, error: &IndexerError, following: Option<&Following>) -> Duration {
        if self.follower.token.is_cancelled() {
            return Duration::ZERO;
        }
        tracing::warn!(
            error = with_causes(error),
            "the changes of the data cannot be followed"
        );
        let failure = Failure::from(error);
        self.follower.show(FollowState::Failing(failure), following);
        self.forget_health();
        self.options.retry.delay
    }

    /// Waits as long as the same indexes are searched.
    pub(super) async fn stay(&self, bound: &Arc<Bound>, ready: &Ready) {
        while self.are_searched(bound, ready) {
            if !sleep(LOOK, &self.follower.token).await {
                return;
            }
        }
    }

    async fn stay_for(&self, time: Duration, bound: &Arc<Bound>, ready: &Ready) {
        // Whoever waits looks again in either case.
        let _ = timeout(time, self.stay(bound, ready)).await;
    }

    /// Builds the indexes of what is bound again. They are searched as they are meanwhile.
    async fn rebuild(self: &Arc<Self>, bound: &Arc<Bound>) {
        let _change = self.changes.lock().await;
        let is_bound = self.bound().is_some_and(|now| Arc::ptr_eq(&now, bound));
        if !is_bound || self.is_building() || self.host.is_draining() {
            return;
        }
        let job = Job::new(Arc::clone(bound), Origin::Followed, None);
        job.accept();
        self.run(job, None);
    }
}
