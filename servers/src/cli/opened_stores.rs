//! Where `soml serve` has data and schemas: in memory, in a folder, or behind a server; and what it binds of them.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use object_service::App;
use object_service::folder::{Backups, DataFolder};
use schema_registry::{InMemorySchemaStore, SchemaStore, SchemaStoreError, ServiceKind};
use service_auth::Verifier;
use service_runtime::schemas::ManagesSchemas;

use super::input::usable_with;
use super::{CliError, Console};
use crate::config::{Settings, StorageProvider, SyncWhen};
use crate::migration::Opened;
use crate::schemas::{self, OpenSchemasError, place};
use crate::store::{DataStore, OpenError};

/// Time for the store of schemas to say what it has before the start goes on.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The stores of data and schemas.
pub(super) struct Stores {
    pub(super) data: DataStore,
    pub(super) schemas: Arc<dyn SchemaStore>,
    /// The folder that keeps both.
    folder: Option<DataFolder>,
}

impl Stores {
    /// Opens the stores that the settings describe; a folder is made where there is none.
    pub(super) async fn open(settings: &Settings) -> Result<Self, CliError> {
        let shared = schemas::open_shared(settings).await?;
        let provider = settings.schema_provider();
        let Some(path) = &settings.store.data_dir else {
            if provider == StorageProvider::File {
                let asked = schemas::PROVIDER;
                return Err(OpenSchemasError::NoFolder { asked }.into());
            }
            let stores = Stores::with_data(DataStore::open(settings)?);
            return Ok(match shared {
                Some(schemas) => Stores { schemas, ..stores },
                None => stores,
            });
        };
        if !settings.sparql.addresses.is_empty() {
            return Err(OpenError::TwoStores.into());
        }
        let folder = DataFolder::open_or_create(path, &settings.folder_options())?;
        let schemas = match shared {
            Some(schemas) => schemas,
            None if provider == StorageProvider::InMemory => {
                Arc::new(InMemorySchemaStore::default())
            }
            None => Arc::new(folder.schemas.clone()),
        };
        Ok(Stores {
            data: DataStore::Embedded(Arc::clone(&folder.image)),
            schemas,
            folder: Some(folder),
        })
    }

    /// Has data elsewhere, and schemas in memory.
    pub(super) fn with_data(data: DataStore) -> Self {
        Stores {
            data,
            schemas: Arc::new(InMemorySchemaStore::default()),
            folder: None,
        }
    }

    /// Returns what a migration of schemas need not open again.
    pub(super) fn opened(&self) -> Opened {
        Opened {
            shared: Some(&self.schemas)
                .filter(|schemas| schemas.is_shared())
                .cloned(),
            folder: self.folder.clone(),
        }
    }

    /// Makes a service over the stores; every request needs a token where there is a verifier.
    pub(super) fn app(&self, settings: &Settings, verifier: Option<Verifier>) -> App {
        let backups = self
            .folder
            .clone()
            .map(|folder| Backups::new(folder, settings.store.backup_dir.clone()));
        let host = settings.host().with_verifier(verifier.map(Arc::new));
        let (store, schemas) = (self.data.graph_store(), Arc::clone(&self.schemas));
        let app = App::new(host, settings.object_options(), store, schemas);
        match backups {
            Some(backups) => app.with_backups(backups),
            None => app,
        }
    }
}

/// Describes what happens to writes; `None` if a server decides that.
pub(super) fn writing(settings: &Settings, app: &App) -> Option<String> {
    let folder = settings.store.data_dir.as_ref();
    if let Some(folder) = folder.filter(|_| app.store().writer().is_none()) {
        let folder = folder.display();
        return Some(format!("refused, since {folder} is not writable"));
    }
    if !app.writes() {
        return None;
    }
    let store = &settings.store;
    match (&store.data_dir, store.sync) {
        (Some(folder), SyncWhen::Commit) => Some(format!(
            "kept in {}, synced before each answer",
            folder.display()
        )),
        (Some(folder), SyncWhen::Interval) => Some(format!(
            "kept in {}, synced every {} ms",
            folder.display(),
            store.sync_interval.as_millis()
        )),
        (None, _) if app.keeps_writes() => None,
        (None, _) => {
            let text = "kept in memory only; changes are lost when the process ends";
            Some(text.to_owned())
        }
    }
}

/// Logs where data and schemas are.
pub(super) fn log(settings: &Settings, app: &App) {
    let (provider, schemas) = (settings.schema_provider(), place(settings));
    match &settings.store.data_dir {
        Some(folder) if app.store().writer().is_none() => {
            let folder = folder.display();
            match provider {
                StorageProvider::File => tracing::info!(
                    %folder,
                    "data are read from disk, and changes of schemas are kept in memory"
                ),
                _ => {
                    tracing::info!(%folder, "data are read from disk, and schemas are kept {schemas}")
                }
            }
        }
        Some(folder) => {
            let folder = folder.display();
            match provider {
                StorageProvider::File => {
                    tracing::info!(%folder, "data and schemas are kept on disk")
                }
                _ => tracing::info!(%folder, "data are kept on disk, and schemas {schemas}"),
            }
        }
        None if provider == StorageProvider::InMemory => tracing::info!(
            "schemas and data are kept in memory; neither `store.dataDir` nor \
             `sparql.endpoint.address` is set"
        ),
        None => tracing::info!("data are kept in memory, and schemas {schemas}"),
    }
}

/// Binds the schema that was bound when the service ended, where that is kept.
pub(super) async fn bind_kept(app: &App, console: &mut Console<'_>) -> Result<(), CliError> {
    let failed = |error: SchemaStoreError| CliError::Schemas(error);
    let Some(id) = app
        .schemas()
        .binding(ServiceKind::Objects)
        .await
        .map_err(failed)?
        .into_id()
    else {
        return Ok(());
    };
    let stored = app
        .schemas()
        .get(&id)
        .await
        .map_err(failed)?
        .ok_or(SchemaStoreError::NotFound)
        .map_err(failed)?;
    tracing::info!(schema = id, "restoring the previous binding");
    let usable = usable_with(&id, &stored.text, &app.api_options(), console)?;
    let bound = app.bind_again(&stored, &usable).await;
    bound.map_err(|error| CliError::Input(format!("{id}: {error}")))
}

/// Prints how to bind a schema while none is bound.
pub(super) async fn announce_unbound(
    settings: &Settings,
    app: &App,
    base: &str,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let listed = tokio::time::timeout(ANSWER_TIME, app.schemas().list()).await;
    let stored = match listed {
        Err(_) => None,
        Ok(Err(_)) if app.schemas().is_shared() => None,
        Ok(listed) => Some(listed.map_err(CliError::Schemas)?.len()),
    };
    let text = match stored {
        None => "the store of schemas does not answer yet".to_owned(),
        Some(0) if settings.store.data_dir.is_some() => {
            format!("POST one to {base}/soml, or start with --schema FILE or --infer-schema")
        }
        Some(0) => format!("POST one to {base}/soml"),
        Some(_) => format!("PUT {base}/soml/ID/objects binds one of those that {base}/soml lists"),
    };
    writeln!(console.out, "No schema is bound: {text}")?;
    Ok(())
}

/// Asks a store of schemas, again while it cannot be reached, as `task.default.retry.*` says.
pub(super) async fn patiently<T, E: Display>(
    settings: &Settings,
    is_transient: impl Fn(&E) -> bool,
    ask: impl AsyncFn() -> Result<T, E>,
) -> Result<T, E> {
    let retry = &settings.search.retry;
    let mut tries = 0;
    loop {
        let error = match ask().await {
            Err(error) if is_transient(&error) && tries < retry.max_retries => error,
            result => return result,
        };
        tries += 1;
        tracing::warn!(%error, tries, "retrying the store of schemas");
        tokio::time::sleep(retry.delay.0).await;
    }
}
