//! Follows indexes that another instance of the service has built again: the aliases lead to them, and those that are
//! searched here are deleted after `indexer.dropDelay`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_store::CallContext;
use search_index::engine::PhysicalName;
use search_index::service::SearchTarget;

use super::app::SearchApp;
use super::bound::Bound;

/// Looks so often in the time after which a replaced index is deleted.
const LOOKS: u32 = 4;
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(30);

/// Follows the aliases of a bound schema as long as it is bound. No one else has the indexes of an embedded engine.
pub(super) fn follow(app: &Arc<SearchApp>, bound: &Arc<Bound>) {
    if !app.options.shares_indexes || bound.is_followed.swap(true, Ordering::AcqRel) {
        return;
    }
    let interval = app.options.drop_delay / LOOKS;
    let interval = if app.schemas.is_shared() {
        interval.min(app.options.follow_interval)
    } else {
        interval
    };
    let interval = interval.clamp(SHORTEST, LONGEST);
    let (app, bound) = (Arc::downgrade(app), Arc::downgrade(bound));
    let following = async move {
        loop {
            tokio::time::sleep(interval).await;
            let (Some(app), Some(bound)) = (app.upgrade(), bound.upgrade()) else {
                return;
            };
            let is_bound = app.bound().is_some_and(|now| Arc::ptr_eq(&now, &bound));
            if !is_bound || app.host.is_draining() {
                bound.is_followed.store(false, Ordering::Release);
                return;
            }
            // A run of our own serves what it has built.
            if !app.is_writing() {
                app.follow_aliases(&bound).await;
            }
        }
    };
    drop(tokio::spawn(following));
}

impl SearchApp {
    /// Searches the indexes that the aliases lead to, where these are of the bound schema.
    /// Returns whether they lead to all of its indexes.
    pub(super) async fn follow_aliases(&self, bound: &Bound) -> bool {
        let context = CallContext::new().with_timeout(self.options.health_check_time);
        // What cannot be asked now is asked again.
        let Ok(states) = self.engines.searched.indexes(&context).await else {
            return false;
        };
        let existing = self.existing_of(bound, &states);
        // Where an alias leads to an index of another schema, all change at once, with the schema.
        let are_all_there = existing.iter().all(Option::is_some);
        let is_there = |name: &PhysicalName| states.iter().any(|state| state.name == *name);
        let targets = bound.service.targets();
        let followed = targets
            .iter()
            .zip(existing)
            .map(|(target, found)| match (target, found) {
                (SearchTarget::Ready(name), Some(found))
                    if *name != found && (are_all_there || !is_there(name)) =>
                {
                    tracing::info!(
                        index = %found,
                        replaced = %name,
                        "another instance has rebuilt an index"
                    );
                    SearchTarget::Ready(found)
                }
                (SearchTarget::Missing | SearchTarget::Building { .. }, Some(found)) => {
                    tracing::info!(index = %found, "another instance has built an index");
                    SearchTarget::Ready(found)
                }
                (target, _) => target.clone(),
            });
        let followed: Vec<SearchTarget> = followed.collect();
        if followed != **targets {
            bound.service.set_targets(followed);
            self.forget_health();
        }
        are_all_there
    }
}
