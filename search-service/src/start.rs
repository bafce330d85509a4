//! What is bound when the service starts: a schema that is named, or what was bound before.

use std::sync::Arc;
use std::time::Duration;

use schema_registry::{Binding, Expected, SchemaStoreError, ServiceKind, put};
use schema_registry::{SchemaIdError, check_id, path_name};
use service_runtime::with_causes;
use soml_core::Severity;

use super::app::SearchApp;
use super::binding::Begun;
use super::error::SearchChangeError;
use super::job::sleep;
use super::shared_binding::Naming;

/// What to bind at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
struct First {
    id: String,
    query: Option<String>,
}

/// Why a document cannot be stored that the service is started with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FirstSchemaError {
    /// It has errors.
    #[error("the schema has errors; `soml validate` prints them")]
    Invalid,
    /// Its identifier cannot name a schema.
    #[error("{0}; {help}", help = .0.help)]
    Id(#[from] SchemaIdError),
    /// It cannot be stored.
    #[error(transparent)]
    Store(#[from] SchemaStoreError),
}

impl SearchApp {
    /// Stores the document that the service is started with, in place of the one with its name; returns its name in
    /// paths.
    ///
    /// # Errors
    ///
    /// Fails when the document has no valid `id`, or cannot be stored.
    pub async fn add_schema(&self, text: &str) -> Result<String, FirstSchemaError> {
        let loaded = soml_core::load(text);
        let soml = loaded.schema.ok_or(FirstSchemaError::Invalid)?;
        let id = path_name(&soml.id);
        check_id(&id)?;
        put(self.schemas.as_ref(), &id, text.into()).await?;
        Ok(id)
    }

    /// Binds a stored schema, which the service was started with.
    ///
    /// Where the search engine or the store of schemas cannot be reached this is tried again in the
    /// background, as `task.default.retry.*` says.
    ///
    /// Where values are malformed and must not be, the service starts without the schema, and health says why: the data
    /// may have changed since it was bound.
    ///
    /// # Errors
    ///
    /// Fails as [`SearchApp::bind`] does, except when that may succeed later.
    pub async fn start_with(
        self: &Arc<Self>,
        id: &str,
        query: Option<&str>,
    ) -> Result<(), SearchChangeError> {
        let first = First {
            id: id.to_owned(),
            query: query.map(str::to_owned),
        };
        let naming = Naming::new(self);
        match self.start(first, Some(naming)).await {
            Err(error @ SearchChangeError::Malformed(_)) => {
                self.is_not_restored(id, &error);
                Ok(())
            }
            started => started,
        }
    }

    /// Binds what was bound when the service ended; returns whether anything was that can be bound. What cannot be is
    /// reported in the log and by the check of searches, and stays kept: the service starts without a schema.
    ///
    /// Where other instances share the stored schemas, what is bound is followed from now on, also if it is not known yet.
    ///
    /// # Errors
    ///
    /// Fails when it is not known what was bound, or the file of its document was lost.
    pub async fn start_with_kept(self: &Arc<Self>) -> Result<bool, SearchChangeError> {
        if self.schemas.is_shared() {
            self.follow_binding_once().await;
            return Ok(self.job.load().is_some());
        }
        let Binding::Schema(id) = self.schemas.binding(ServiceKind::Search).await? else {
            return Ok(false);
        };
        tracing::info!(schema = id, "restoring the previous binding");
        let first = First { id, query: None };
        match self.start(first.clone(), None).await {
            Ok(()) => Ok(true),
            Err(SearchChangeError::Superseded) => Ok(false),
            Err(error) => {
                self.is_not_restored(&first.id, &error);
                Ok(false)
            }
        }
    }

    /// Returns whether what was bound was unbound, and nothing was bound since.
    pub async fn was_unbound(&self) -> bool {
        matches!(
            self.schemas.binding(ServiceKind::Search).await,
            Ok(Binding::Nothing)
        )
    }

    /// Logs why a stored binding is not restored.
    fn is_not_restored(&self, id: &str, error: &SearchChangeError) {
        let code = error.code();
        let findings = match error {
            SearchChangeError::Invalid(checked) => {
                let mut errors = checked.notes.iter();
                let first = errors.find(|note| note.severity == Severity::Error);
                first.map(|note| format!("{}: {}", note.code, note.message))
            }
            _ => None,
        };
        tracing::error!(
            schema = id,
            code,
            error = with_causes(error),
            finding = findings,
            "the schema cannot be bound to the search service, which starts without it"
        );
        let text = format!("`{id}`, which should be bound, cannot be bound ({code})");
        self.not_restored.store(Some(Arc::new(text)));
        self.forget_health();
    }

    /// Logs why a schema is not bound yet.
    fn is_tried_again(&self, id: &str, error: &SearchChangeError) {
        let code = error.code();
        let text = format!("`{id}` cannot be bound yet ({code}), and is tried again");
        self.not_restored.store(Some(Arc::new(text)));
        if self.starting.is_cancelled() {
            // Someone has decided meanwhile what is bound.
            self.not_restored.store(None);
        }
        self.forget_health();
    }

    /// Logs why a schema is not bound after the configured number of attempts.
    fn is_given_up(&self, id: &str, error: &SearchChangeError) {
        let code = error.code();
        tracing::error!(
            schema = id,
            code,
            error = with_causes(error),
            "the schema was not bound to the search service: `task.default.retry.maxRetries` is reached"
        );
        let text = format!(
            "`{id}` cannot be bound ({code}), and is not tried again: `task.default.retry.maxRetries` is reached"
        );
        self.not_restored.store(Some(Arc::new(text)));
        self.forget_health();
    }

    /// Waits until the indexes of what is bound are complete, or it is known that they are not to be
    /// soon; at most for `time`.
    pub async fn settled(&self, time: Duration) {
        if let Some(job) = self.job.load_full() {
            // Whoever waits goes on in either case.
            let _ = tokio::time::timeout(time, job.settled()).await;
        }
    }

    async fn start(
        self: &Arc<Self>,
        first: First,
        naming: Option<Naming>,
    ) -> Result<(), SearchChangeError> {
        let (error, begun) = match self.begin_first(&first).await {
            Ok(mut begun) => match begun.accepted_soon().await {
                Ok(()) => return Ok(()),
                // The run goes on.
                Err(error @ SearchChangeError::NotChecked(_)) => (error, Some(begun)),
                Err(error) if self.is_superseded(&error) => (error, None),
                Err(error) if error.is_transient() => {
                    self.is_given_up(&first.id, &error);
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
            Err(error) if error.is_transient() || self.is_superseded(&error) => (error, None),
            Err(error) => return Err(error),
        };
        tracing::warn!(
            error = with_causes(&error),
            schema = first.id,
            "the schema cannot be bound to the search service yet; it is tried again"
        );
        self.is_tried_again(&first.id, &error);
        let later = Arc::clone(self).start_later(first, error, begun);
        drop(tokio::spawn(async move {
            later.await;
            drop(naming);
        }));
        Ok(())
    }

    async fn begin_first(self: &Arc<Self>, first: &First) -> Result<Begun, SearchChangeError> {
        let (expected, query) = (Expected::default(), first.query.as_deref());
        self.begin_to_bind(&first.id, &expected, query, true).await
    }

    /// Returns whether someone else tried to bind a schema, and it is not known yet that this was accepted.
    fn is_superseded(&self, error: &SearchChangeError) -> bool {
        matches!(error, SearchChangeError::Superseded) && !self.starting.is_cancelled()
    }

    /// Waits for a run that has begun, and begins others, until the schema is bound or is not to be.
    async fn start_later(
        self: Arc<Self>,
        first: First,
        error: SearchChangeError,
        begun: Option<Begun>,
    ) {
        let retry = self.options.retry.clone();
        let mut last = error;
        if let Some(begun) = begun {
            match self.is_to_be_tried_again(&first, Ok(begun)).await {
                Some(error) => last = error,
                None => return,
            }
        }
        let mut tries = 0;
        loop {
            if self.starting.is_cancelled() {
                return;
            }
            // Waiting for what someone else binds is no failure.
            if !matches!(last, SearchChangeError::Superseded) {
                if tries >= retry.max_retries {
                    break;
                }
                tries += 1;
            }
            if !sleep(retry.delay, &self.starting).await {
                return;
            }
            let begun = self.begin_first(&first).await;
            match self.is_to_be_tried_again(&first, begun).await {
                Some(error) => last = error,
                None => return,
            }
            let text = with_causes(&last);
            tracing::warn!(error = text, tries, "the schema cannot be bound yet");
        }
        self.is_given_up(&first.id, &last);
    }

    /// Waits until a schema is bound, or says why it is not. Returns why it is to be tried again, if it is.
    async fn is_to_be_tried_again(
        &self,
        first: &First,
        begun: Result<Begun, SearchChangeError>,
    ) -> Option<SearchChangeError> {
        let has_begun = begun.is_ok();
        let bound = match begun {
            Ok(mut begun) => begun.accepted().await,
            Err(error) => Err(error),
        };
        let error = bound.err()?;
        let is_superseded = self.is_superseded(&error);
        if self.starting.is_cancelled() {
            return None;
        }
        // A run has tried again by itself what has failed.
        if is_superseded || (error.is_transient() && !has_begun) {
            self.is_tried_again(&first.id, &error);
            return Some(error);
        }
        if error.is_transient() {
            self.is_given_up(&first.id, &error)
        } else {
            self.is_not_restored(&first.id, &error)
        }
        None
    }
}
