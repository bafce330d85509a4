//! Follows indexes that another instance of the service has built anew: the aliases lead to them, and those that are
//! searched here are deleted after `indexer.dropDelay`.

use std::sync::Arc;
use std::time::Duration;

use search_index::service::Target;

use super::app::SearchApp;
use super::bound::Bound;

/// Looks so often in the time after which a replaced index is deleted.
const LOOKS: u32 = 4;
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// Follows the aliases of a bound schema as long as it is bound. Nobody else has the indexes of an embedded engine.
pub(super) fn follow(app: &Arc<SearchApp>, bound: &Arc<Bound>) {
    if !app.options.shares_indexes {
        return;
    }
    let interval = app.options.drop_delay / LOOKS;
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
                return;
            }
            // A run of our own serves what it has built.
            if !app.is_building() {
                app.follow_aliases(&bound).await;
            }
        }
    };
    drop(tokio::spawn(following));
}

impl SearchApp {
    /// Searches the indexes that the aliases lead to, where these are of the bound schema.
    async fn follow_aliases(&self, bound: &Bound) {
        // What cannot be asked now is asked again.
        let Ok(existing) = self.existing(bound).await else {
            return;
        };
        let targets = bound.service.targets();
        let followed = targets.iter().zip(existing).map(|(target, found)| {
            match (target, found) {
                (Target::Ready(name), Some(found)) if *name != found => {
                    tracing::info!(index = %found, replaced = %name, "another instance has built an index anew");
                    Target::Ready(found)
                }
                (Target::Missing, Some(found)) => {
                    tracing::info!(index = %found, "another instance has built an index");
                    Target::Ready(found)
                }
                (target, _) => target.clone(),
            }
        });
        let followed: Vec<Target> = followed.collect();
        if followed != **targets {
            bound.service.set_targets(followed);
            self.forget_health();
        }
    }
}
