//! Follows what is bound in a store of schemas that other instances share: what one of them binds, replaces or unbinds is
//! served, or not served any more, by all.
//!
//! What is served stays while the store is unavailable, while the engine is, and when a document cannot be used here.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use schema_registry::{Binding, BindingState, Expected, SchemaStoreError, ServiceKind, within};
use service_runtime::with_causes;

use super::app::{Following, SearchApp};
use super::binding::accepted_of;
use super::error::SearchChangeError;
use super::job::{Job, Origin};
use super::turn::STORE_TIME;

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(5);

/// Marks a start with a named schema as undecided: it is not known yet whether the schema is bound.
pub(super) struct Naming(Arc<SearchApp>);

impl Naming {
    pub(super) fn new(app: &Arc<SearchApp>) -> Self {
        app.is_naming.store(true, Ordering::Release);
        Naming(Arc::clone(app))
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        self.0.is_naming.store(false, Ordering::Release);
    }
}

/// Looks again and again what is bound, until the service ends.
pub(super) async fn follow_binding(app: Arc<SearchApp>) {
    while !app.host.is_draining() {
        app.follow_binding_once().await;
        tokio::time::sleep(app.options.follow_interval.max(SHORTEST)).await;
    }
}

impl SearchApp {
    /// Serves what is bound in the store, if that is not what is served or about to be.
    pub(super) async fn follow_binding_once(self: &Arc<Self>) {
        let mut following = self.following.lock().await;
        let failure = match self.look_at_binding(&mut following).await {
            Ok(()) => {
                if following.failure.take().is_some() {
                    tracing::info!("the binding of the search service can be followed again");
                    self.forget_health();
                }
                return;
            }
            Err(error) => error,
        };
        let code = failure.code();
        if following.failure.replace(code) != Some(code) {
            let error = with_causes(&failure);
            tracing::warn!(
                error,
                "the binding cannot be followed; the current schema is still served"
            );
            self.forget_health();
        }
    }

    async fn look_at_binding(
        self: &Arc<Self>,
        following: &mut Following,
    ) -> Result<(), SearchChangeError> {
        let state = self.binding_state().await?;
        let first = following.first.get_or_insert_with(|| state.clone());
        if self.is_current(&state) {
            following.refused = None;
            if std::mem::take(&mut following.is_told) {
                self.not_restored.store(None);
                self.forget_health();
            }
            return Ok(());
        }
        if following.refused.as_ref() == Some(&state) {
            return Ok(());
        }
        if self.is_naming.load(Ordering::Acquire) {
            // What a service is started with comes before what was bound until then.
            if *first == state {
                return Ok(());
            }
            self.starting.cancel();
        }
        let why = match (&state.binding, &state.revision) {
            (Binding::Nothing, _) => return self.follow_unbinding().await,
            (Binding::Unknown, _) => "the store of schemas no longer has the binding".to_owned(),
            (Binding::Schema(id), None) => format!("`{id}`, which is bound, is not stored"),
            (Binding::Schema(id), Some(_)) => match self.adopt(id).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_transient() => {
                    let code = error.code();
                    let why = format!("`{id}` cannot be bound yet ({code}), and is tried again");
                    following.is_told = true;
                    self.not_restored.store(Some(Arc::new(why)));
                    return Err(error);
                }
                Err(error) => {
                    let code = error.code();
                    format!("`{id}`, which is bound, cannot be used here ({code})")
                }
            },
        };
        tracing::error!("{why}");
        self.not_restored.store(Some(Arc::new(why)));
        self.forget_health();
        following.is_told = true;
        following.refused = Some(state);
        Ok(())
    }

    async fn binding_state(&self) -> Result<BindingState, SchemaStoreError> {
        within(STORE_TIME, self.schemas.binding_state(ServiceKind::Search)).await
    }

    /// Returns whether what is bound in the store is what is served here, or about to be.
    fn is_current(&self, state: &BindingState) -> bool {
        let Some(job) = self.job.load_full() else {
            return is_of(state, self.bound().as_deref());
        };
        let accepted = accepted_of(Arc::clone(&job));
        is_of(state, accepted.as_deref().map(|job| &*job.candidate))
            || is_of(state, Some(&job.candidate))
    }

    /// Serves a stored document as soon as its indexes are there, or at once where nothing answers.
    async fn adopt(self: &Arc<Self>, id: &str) -> Result<(), SearchChangeError> {
        let any = Expected::default();
        let stored = within(STORE_TIME, self.stored(id, &any)).await?;
        let (candidate, _) = self.prepare(&stored, None).await?;
        // Whoever changes something here knows what is bound before the store is asked again.
        let _change = self.changes.lock().await;
        {
            let _decision = self.deciding.lock().await;
            let state = self.binding_state().await?;
            if self.is_current(&state) || !is_of(&state, Some(&candidate)) {
                return Ok(());
            }
        }
        tracing::info!(schema = id, "following a binding made by another instance");
        self.not_restored.store(None);
        let replaced = self.end_job(None).await.and_then(accepted_of);
        self.run(Job::new(candidate, Origin::Followed, replaced), None);
        Ok(())
    }

    /// Serves nothing any more. A schema that is only being checked here is not bound yet, and goes on.
    async fn follow_unbinding(self: &Arc<Self>) -> Result<(), SearchChangeError> {
        let _change = self.changes.lock().await;
        let decision = self.deciding.lock().await;
        let state = self.binding_state().await?;
        if state.binding != Binding::Nothing || self.is_current(&state) {
            return Ok(());
        }
        let job = self.job.load_full();
        let accepted = job.clone().filter(|job| job.is_accepted());
        match (&accepted, &job) {
            (Some(job), _) => {
                job.unbind();
                self.job.store(None);
            }
            (None, Some(job)) => drop(job.take_replaced()),
            (None, None) => {}
        }
        if let Some(bound) = self.bound.swap(None) {
            tracing::info!(schema = bound.id, "another instance has unbound the schema");
            self.host.schema_changed();
        }
        self.not_restored.store(None);
        drop(decision);
        if let Some(job) = accepted {
            job.ended().await;
        }
        self.forget_health();
        Ok(())
    }
}

/// Returns whether a schema is the one that is bound, in the same revision; none is where none is bound.
fn is_of(state: &BindingState, bound: Option<&super::bound::Bound>) -> bool {
    state.is_of(bound.map(|bound| (&*bound.id, &*bound.revision)))
}
