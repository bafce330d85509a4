//! The migration of schemas that the settings describe.

use std::path::PathBuf;
use std::sync::Arc;

use object_service::folder::{DataFolder, FolderError};
use schema_registry::{
    InMemorySchemaStore, Migration, MigrationError, MigrationOptions, MigrationReport, SchemaStore,
    SchemaStoreError,
};

use crate::config::{LastingStore, Settings, StorageProvider};
use crate::schemas::{OpenSchemasError, open_mongodb, open_rdf4j};

const SOURCE: &str = "soml.storage.migration.source";
const DESTINATION: &str = "soml.storage.migration.destination";

/// Why schemas cannot be moved as the settings say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationSetupError {
    /// No one has said where the schemas are.
    #[error(
        "a migration of schemas needs `soml.storage.migration.source`, the store that they are moved from: `mongodb`, `rdf4j` or \
         `file`"
    )]
    NoSource,
    /// The destination forgets schemas.
    #[error(
        "schemas cannot be moved to the memory of the process: set `soml.storage.provider` or \
         `soml.storage.migration.destination` to `rdf4j`, `mongodb` or `file`"
    )]
    InMemory,
    /// Both stores are the same.
    #[error(
        "schemas cannot be moved from `{store}` to `{store}`: `soml.storage.migration.source` is the store that they are moved from, \
         and `soml.storage.migration.destination` the one they are moved to, by default that of `soml.storage.provider`"
    )]
    Same {
        /// The store.
        store: &'static str,
    },
    /// The folder that would be changed cannot be written to.
    #[error("{} cannot be written to, and schemas would be moved to it or removed from it", folder.display())]
    ReadOnly {
        /// The folder.
        folder: PathBuf,
    },
    /// A store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenSchemasError),
    /// The folder cannot be opened.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A store does not say whether it is there.
    #[error("failed to look for the destination of the schemas")]
    Look(#[source] SchemaStoreError),
}

/// What a process has opened already.
#[derive(Clone, Default)]
pub struct Opened {
    /// The store of schemas that is in use, if instances share it.
    pub shared: Option<Arc<dyn SchemaStore>>,
    /// The folder of the data.
    pub folder: Option<DataFolder>,
}

/// A migration with its stores.
pub struct PreparedMigration {
    migration: Migration,
    /// The store that schemas are moved from.
    pub from: LastingStore,
    /// The store that schemas are moved to.
    pub to: LastingStore,
    /// What the destination lacks that a run would make.
    pub lacks: Option<String>,
    /// Its lock is held as long as the migration runs.
    _folder: Option<DataFolder>,
}

impl PreparedMigration {
    /// Moves the schemas.
    ///
    /// # Errors
    ///
    /// As [`Migration::run`].
    pub async fn run(&self) -> Result<MigrationReport, MigrationError> {
        self.migration.run().await
    }

    /// Returns what [`run`](PreparedMigration::run) would do.
    ///
    /// # Errors
    ///
    /// As [`Migration::plan`].
    pub async fn plan(&self) -> Result<MigrationReport, MigrationError> {
        self.migration.plan().await
    }
}

impl Settings {
    /// Returns the store that schemas are kept in, if it keeps them over a restart.
    fn lasting_provider(&self) -> Option<LastingStore> {
        match self.schema_provider() {
            StorageProvider::File => Some(LastingStore::File),
            StorageProvider::Rdf4j => Some(LastingStore::Rdf4j),
            StorageProvider::MongoDb => Some(LastingStore::MongoDb),
            StorageProvider::InMemory | StorageProvider::Automatic => None,
        }
    }

    /// Returns the stores that schemas are moved from and to.
    ///
    /// # Errors
    ///
    /// When one of them is missing, or both are the same.
    pub fn migration_stores(&self) -> Result<(LastingStore, LastingStore), MigrationSetupError> {
        let migration = &self.storage.migration;
        let from = migration.source.ok_or(MigrationSetupError::NoSource)?;
        let to = migration
            .destination
            .0
            .or_else(|| self.lasting_provider())
            .ok_or(MigrationSetupError::InMemory)?;
        if from == to {
            return Err(MigrationSetupError::Same { store: from.name() });
        }
        Ok((from, to))
    }

    /// Opens the folder of the data if it takes part in a migration at the start.
    ///
    /// # Errors
    ///
    /// When the settings contradict each other, or the folder cannot be opened.
    pub fn migrated_folder(&self) -> Result<Option<DataFolder>, MigrationSetupError> {
        if self.storage.migration.enabled {
            open_folder(self, self.migration_stores()?)
        } else {
            Ok(None)
        }
    }

    fn migration_options(&self, from: LastingStore) -> MigrationOptions {
        let settings = &self.storage.migration;
        MigrationOptions {
            source: from.name().to_owned(),
            holder: self.search_options().instance,
            force: settings.force,
            all: settings.all,
            clean_before: settings.clean_before,
            clean_after: settings.clean_after,
            retries: settings.retries,
            delay: settings.delay,
            lease_time: self.storage.lease_time,
        }
    }
}

/// Opens the stores of a migration, but for those that are opened already.
///
/// # Errors
///
/// When the settings contradict each other, or a store cannot be opened.
pub async fn prepare(
    settings: &Settings,
    opened: &Opened,
) -> Result<PreparedMigration, MigrationSetupError> {
    let (from, to) = settings.migration_stores()?;
    if settings.lasting_provider() != Some(to) {
        tracing::warn!(
            destination = to.name(),
            "schemas are moved to a store that this service does not use; `soml.storage.provider` \
             selects the store that it uses"
        );
    }
    let folder = match &opened.folder {
        Some(folder) => Some(folder.clone()),
        None => open_folder(settings, (from, to))?,
    };
    let is_changed = to == LastingStore::File
        || (from == LastingStore::File && settings.storage.migration.clean_after);
    if let Some(folder) = folder.as_ref().filter(|_| is_changed)
        && folder.schemas.is_read_only()
    {
        return Err(MigrationSetupError::ReadOnly {
            folder: settings.store.data_dir.clone().unwrap_or_default(),
        });
    }
    let shared = opened.shared.as_ref();
    let open =
        async |store: LastingStore, asked| -> Result<Arc<dyn SchemaStore>, MigrationSetupError> {
            let in_use = shared.filter(|_| settings.lasting_provider() == Some(store));
            Ok(match (store, in_use) {
                (LastingStore::File, _) => {
                    let folder = folder
                        .as_ref()
                        .ok_or(OpenSchemasError::NoFolder { asked })?;
                    Arc::new(folder.schemas.clone())
                }
                (_, Some(in_use)) => Arc::clone(in_use),
                // An origin that is not there is not made.
                (LastingStore::Rdf4j, None) => {
                    Arc::new(open_rdf4j(settings, asked, asked == DESTINATION)?)
                }
                (LastingStore::MongoDb, None) => Arc::new(open_mongodb(settings).await?),
            })
        };
    let (source, destination) = (open(from, SOURCE).await?, open(to, DESTINATION).await?);
    let options = settings.migration_options(from);
    Ok(PreparedMigration {
        migration: Migration::new(source, destination, options),
        from,
        to,
        lacks: None,
        _folder: folder,
    })
}

/// Opens the stores of a migration for a look at them: nothing is made that is not there, and no folder is locked.
///
/// # Errors
///
/// As [`prepare`].
pub async fn prepare_plan(settings: &Settings) -> Result<PreparedMigration, MigrationSetupError> {
    let (from, to) = settings.migration_stores()?;
    let source: Arc<dyn SchemaStore> = match from {
        LastingStore::File => Arc::new(DataFolder::read_schemas(&folder_of(settings, SOURCE)?)?),
        LastingStore::Rdf4j => Arc::new(open_rdf4j(settings, SOURCE, false)?),
        LastingStore::MongoDb => Arc::new(open_mongodb(settings).await?),
    };
    let mut lacks = None;
    let destination: Arc<dyn SchemaStore> = match to {
        LastingStore::File => {
            let path = folder_of(settings, DESTINATION)?;
            match DataFolder::read_schemas(&path) {
                Err(FolderError::NoData { .. }) => {
                    lacks = Some(format!("{} has no data yet", path.display()));
                    Arc::new(InMemorySchemaStore::default())
                }
                schemas => Arc::new(schemas?),
            }
        }
        LastingStore::Rdf4j => {
            let store = open_rdf4j(settings, DESTINATION, false)?;
            if store.exists().await.map_err(MigrationSetupError::Look)? {
                Arc::new(store)
            } else {
                let repository = &settings.storage.rdf4j.connection.repository;
                let repository = repository.as_deref().unwrap_or_default();
                lacks = Some(format!("there is no repository `{repository}` yet"));
                Arc::new(InMemorySchemaStore::shared().of_application(store.application()))
            }
        }
        LastingStore::MongoDb => Arc::new(open_mongodb(settings).await?),
    };
    let options = settings.migration_options(from);
    Ok(PreparedMigration {
        migration: Migration::new(source, destination, options),
        from,
        to,
        lacks,
        _folder: None,
    })
}

/// Opens the folder of the data if it is one of the stores; as the destination, it is made where there is none.
fn open_folder(
    settings: &Settings,
    stores: (LastingStore, LastingStore),
) -> Result<Option<DataFolder>, MigrationSetupError> {
    let options = settings.folder_options();
    let opened = match stores {
        (LastingStore::File, _) => DataFolder::open(&folder_of(settings, SOURCE)?, &options),
        (_, LastingStore::File) => {
            DataFolder::open_or_create(&folder_of(settings, DESTINATION)?, &options)
        }
        _ => return Ok(None),
    };
    Ok(Some(opened?))
}

fn folder_of(settings: &Settings, asked: &'static str) -> Result<PathBuf, OpenSchemasError> {
    let folder = settings.store.data_dir.clone();
    folder.ok_or(OpenSchemasError::NoFolder { asked })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use service_config::Sources;

    use super::*;
    use crate::config::read;

    fn options(pairs: &[&str]) -> MigrationOptions {
        let flags = pairs.iter();
        let flags: Vec<_> = flags
            .map(|pair| format!("soml.storage.migration.{pair}"))
            .collect();
        let sources = Sources {
            defaults: Settings::default(),
            file: None,
            environment: Vec::new(),
            flags: &flags,
        };
        let settings = read(&sources).expect("the values fit").0;
        settings.migration_options(LastingStore::Rdf4j)
    }

    #[test]
    fn each_property_of_a_migration_is_an_option_of_it() {
        let defaults = options(&[]);
        assert_eq!(
            (&*defaults.source, defaults.retries, defaults.delay),
            ("rdf4j", 3, Duration::from_secs(10))
        );
        assert!(!defaults.force && !defaults.all);
        assert!(!defaults.clean_before && !defaults.clean_after);
        assert!(options(&["forceStoreUpdate=true"]).force);
        assert!(options(&["somlMigration=true"]).all);
        assert!(options(&["cleanBeforeMigration=true"]).clean_before);
        assert!(options(&["cleanOnComplete=true"]).clean_after);
        assert_eq!(options(&["retries=0"]).retries, 0);
        assert_eq!(options(&["delay=7"]).delay, Duration::from_millis(7));
    }
}
