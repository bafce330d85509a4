//! Follows what is bound in a store of schemas that other processes share: what one of them binds, replaces or unbinds is
//! served, or not served any more, by all.
//!
//! What is served stays while the store is unavailable, and when it has lost what was bound.

use std::sync::Arc;
use std::time::Duration;

use schema_registry::{Binding, BindingState, SchemaStoreError, ServiceKind, within};
use service_runtime::with_causes;

use super::app::{App, SchemaChangeError};

/// Time for the store of schemas to say what is bound, or to return a document.
const PATIENCE: Duration = Duration::from_secs(10);

/// What has been logged, so that it is logged once.
#[derive(Default)]
struct Logged {
    /// The store cannot be asked.
    is_unavailable: bool,
    /// What is bound and cannot be served.
    refused: Option<BindingState>,
}

/// Looks again and again what is bound, until the service ends.
pub(super) async fn follow(app: Arc<App>) {
    let mut logged = Logged::default();
    loop {
        match app.follow_once(&mut logged).await {
            Ok(()) => {
                if std::mem::take(&mut logged.is_unavailable) {
                    tracing::info!("the store of schemas responds again");
                    app.health.forget();
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut logged.is_unavailable, true) {
                    tracing::warn!(
                        error = with_causes(&error),
                        "it is not known which schema is bound; the current schema is still served"
                    );
                    app.health.forget();
                }
            }
        }
        tokio::time::sleep(app.options.follow_interval).await;
        if app.host.is_draining() {
            return;
        }
    }
}

impl App {
    /// Serves what is bound in a store of schemas that other processes share, before it is looked at again and again.
    pub async fn follow_now(&self) {
        if let Err(error) = self.follow_once(&mut Logged::default()).await {
            tracing::warn!(
                error = with_causes(&error),
                "it is not known yet which schema is bound; it is served as soon as it is known"
            );
        }
    }

    /// Serves what is bound in the store, if that is not what is served.
    async fn follow_once(&self, logged: &mut Logged) -> Result<(), SchemaChangeError> {
        let state = self.binding_state().await?;
        if self.is_served(&state) || logged.refused.as_ref() == Some(&state) {
            return Ok(());
        }
        // Whoever changes something here knows what is bound before the store is asked again.
        let _change = self.changes.lock().await;
        let state = self.binding_state().await?;
        if self.is_served(&state) {
            return Ok(());
        }
        let (id, why) = match (&state.binding, &state.revision) {
            (Binding::Nothing, _) => {
                if let Some(bound) = self.bound() {
                    tracing::info!(schema = bound.id, "another instance has unbound the schema");
                }
                self.swap(None);
                return Ok(());
            }
            (Binding::Unknown, _) => match self.bound() {
                Some(bound) => (
                    bound.id.clone(),
                    "the store of schemas no longer has the binding".to_owned(),
                ),
                None => return Ok(()),
            },
            (Binding::Schema(id), None) => {
                let why = format!("`{id}`, which is bound, is no longer stored");
                (id.clone(), why)
            }
            (Binding::Schema(id), Some(_)) => match self.adopt(id).await {
                Ok(()) => return Ok(()),
                Err(error @ (SchemaChangeError::Store(_) | SchemaChangeError::Busy(_))) => {
                    return Err(error);
                }
                Err(error) => {
                    let why = format!("`{id}`, which is bound, cannot be served here: {error}");
                    (id.clone(), why)
                }
            },
        };
        tracing::error!(schema = id, "{why}");
        self.not_followed.store(Some(Arc::new(why)));
        self.health.forget();
        logged.refused = Some(state);
        Ok(())
    }

    async fn binding_state(&self) -> Result<BindingState, SchemaStoreError> {
        within(PATIENCE, self.schemas.binding_state(ServiceKind::Objects)).await
    }

    fn is_served(&self, state: &BindingState) -> bool {
        let bound = self.bound();
        let served = bound.as_ref().map(|bound| (&*bound.id, &*bound.revision));
        state.is_of(served)
    }

    /// Serves a document as it is stored.
    async fn adopt(&self, id: &str) -> Result<(), SchemaChangeError> {
        let stored = within(PATIENCE, self.schemas.get(id)).await?;
        // It is looked at again if it was removed just now.
        let stored = stored.ok_or(SchemaStoreError::NotFound)?;
        let (usable, _) = self.usable(&stored.text).await?;
        let bound = self.prepare(id, &stored.revision, &usable, None).await?;
        tracing::info!(schema = id, "following a binding made by another instance");
        self.serve(bound, &usable);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use graph_store::image::{ImageBuilder, ImageStore};
    use schema_registry::{Expected, InMemorySchemaStore, SchemaStore};
    use service_runtime::HostState;

    use super::*;
    use crate::AppOptions;

    fn app(schemas: &Arc<InMemorySchemaStore>) -> App {
        let image = ImageBuilder::new().build().unwrap();
        let (host, options) = (HostState::default(), AppOptions::default());
        let schemas: Arc<dyn SchemaStore> = Arc::clone(schemas) as _;
        App::new(host, options, Arc::new(ImageStore::new(image)), schemas)
    }

    fn schema(id: &str, property: &str) -> String {
        format!("{{id: /soml/{id}, objects: {{Film: {{props: {{{property}: {{}}}}}}}}}}")
    }

    /// Returns what is served, with the properties of the objects.
    fn served(app: &App) -> Option<(String, bool)> {
        let bound = app.bound()?;
        let sdl = bound.service.api().sdl();
        Some((bound.id.clone(), sdl.contains("director")))
    }

    #[tokio::test]
    async fn what_one_instance_binds_replaces_and_unbinds_is_followed_by_the_other() {
        let schemas = Arc::new(InMemorySchemaStore::shared());
        let (one, two) = (app(&schemas), app(&schemas));
        let mut logged = Logged::default();
        let any = Expected::default();
        for id in ["films", "books"] {
            one.store_schema(&schema(id, "title")).await.unwrap();
        }
        two.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&two), None);
        one.bind("films", &any, None).await.unwrap();
        two.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&two), Some(("films".to_owned(), false)));
        let text = schema("films", "director");
        one.replace_schema("films", &text, &any).await.unwrap();
        two.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&two), Some(("films".to_owned(), true)));
        two.bind("books", &any, None).await.unwrap();
        let refused = two.remove_schema("books", &any).await;
        assert!(matches!(
            refused,
            Err(SchemaChangeError::Store(SchemaStoreError::Bound { .. }))
        ));
        // It is bound by the other one, which this one does not know yet.
        let refused = one.remove_schema("books", &any).await;
        assert!(matches!(
            refused,
            Err(SchemaChangeError::Store(SchemaStoreError::Bound { .. }))
        ));
        one.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&one), Some(("books".to_owned(), false)));
        one.unbind("books", &any).await.unwrap();
        two.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&two), None);
        two.bind("films", &any, None).await.unwrap();
        // It unbinds what it does not serve itself.
        one.unbind("films", &any).await.unwrap();
        two.follow_once(&mut logged).await.unwrap();
        assert_eq!((served(&one), served(&two)), (None, None));
    }

    #[tokio::test]
    async fn what_is_bound_and_cannot_be_served_leaves_what_is_served() {
        let schemas = Arc::new(InMemorySchemaStore::shared());
        let app = app(&schemas);
        let mut logged = Logged::default();
        let any = Expected::default();
        app.store_schema(&schema("films", "title")).await.unwrap();
        app.bind("films", &any, None).await.unwrap();
        // As a later version might, for which it is valid.
        let replaced = schemas.replace("films", "objects: 1".into(), &any).await;
        replaced.unwrap();
        for _ in 0..2 {
            app.follow_once(&mut logged).await.unwrap();
        }
        assert_eq!(served(&app), Some(("films".to_owned(), false)));
        let why = app.not_followed.load_full().unwrap();
        assert_eq!(
            *why,
            "`films`, which is bound, cannot be served here: the schema has errors"
        );
        let text = schema("films", "director").into();
        schemas.replace("films", text, &any).await.unwrap();
        app.follow_once(&mut logged).await.unwrap();
        assert_eq!(served(&app), Some(("films".to_owned(), true)));
        assert!(app.not_followed.load().is_none());
    }
}
