//! The store of schemas that the settings describe, where instances share one.

use std::sync::Arc;

use graph_store::remote::http::ConnectionOptions;
use schema_registry::{
    MongoOptionsError, MongoSchemaOptions, MongoSchemaStore, Rdf4jOptionsError, Rdf4jSchemaOptions,
    Rdf4jSchemaStore, SchemaStore,
};

use crate::config::{Settings, StorageProvider};

/// Why schemas cannot be stored where the settings say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenSchemasError {
    /// No server is named.
    #[error(
        "`soml.storage.provider` is `rdf4j`, and `soml.storage.rdf4j.address` names no server that stores the schemas"
    )]
    NoAddress,
    /// Instances have nothing that they share what is bound by.
    #[error(
        "`application.name` is required where `soml.storage.provider` is `rdf4j`: instances with the same name share \
         what is bound"
    )]
    NoName,
    /// There is no folder.
    #[error(
        "`soml.storage.provider` is `file`, which keeps schemas in the folder of the data: name it by `store.dataDir` \
         or --data-dir"
    )]
    NoFolder,
    /// The properties of the server are inconsistent.
    #[error("the properties `soml.storage.rdf4j.*` cannot be used")]
    Rdf4j(#[from] Rdf4jOptionsError),
    /// The properties of the server are inconsistent.
    #[error("the properties `soml.storage.mongodb.*` cannot be used")]
    MongoDb(#[from] MongoOptionsError),
}

impl Settings {
    /// Returns what stores schemas: never [`StorageProvider::Automatic`].
    #[must_use]
    pub fn schema_provider(&self) -> StorageProvider {
        let storage = &self.storage;
        match storage.provider {
            StorageProvider::Automatic if !storage.rdf4j.connection.addresses.is_empty() => {
                StorageProvider::Rdf4j
            }
            StorageProvider::Automatic if self.store.data_dir.is_some() => StorageProvider::File,
            StorageProvider::Automatic => StorageProvider::InMemory,
            provider => provider,
        }
    }

    /// Returns whether nobody has given the service a name.
    #[must_use]
    pub fn has_default_name(&self) -> bool {
        let application = &self.application;
        let is_given = application.name.is_some() || application.uses_address_as_name;
        !is_given && self.name == Settings::default().name
    }

    /// Returns whether other processes share the stored schemas.
    #[must_use]
    pub fn shares_schemas(&self) -> bool {
        let provider = self.schema_provider();
        matches!(provider, StorageProvider::Rdf4j | StorageProvider::MongoDb)
    }

    fn rdf4j_options(&self) -> Rdf4jSchemaOptions {
        let settings = &self.storage.rdf4j;
        Rdf4jSchemaOptions {
            connection: ConnectionOptions {
                repository: settings.connection.repository.clone(),
                ..settings.connection.clone()
            },
            application: self.name.clone(),
            auto_create_repository: settings.creates_repository,
            repository_config: settings.repository_template.0.clone(),
            disable_default: settings.disables_default.0,
            timeout: self.request_timeout,
        }
    }

    fn mongo_options(&self) -> MongoSchemaOptions {
        let settings = &self.storage.mongodb;
        MongoSchemaOptions {
            endpoint: settings.endpoint.reveal().to_owned(),
            database: settings.database.clone(),
            collection: settings.collection.clone(),
            connection_timeout: settings.connection_timeout,
            read_timeout: settings.read_timeout,
            server_selection_timeout: settings.server_selection_timeout,
            read_concern: settings.read_concern,
            write_concern: settings.write_concern.clone(),
            application_name: settings.application_name.clone(),
            application: self.name.clone(),
        }
    }
}

/// Opens the store of schemas that instances share; `None` if a process keeps its schemas itself. Connects when it is
/// first asked.
///
/// # Errors
///
/// Fails when what the settings ask for cannot be had.
pub async fn open_shared(
    settings: &Settings,
) -> Result<Option<Arc<dyn SchemaStore>>, OpenSchemasError> {
    let application = &settings.application;
    let is_named = application.name.is_some() || application.uses_address_as_name;
    Ok(match settings.schema_provider() {
        StorageProvider::Rdf4j => {
            if settings.storage.rdf4j.connection.addresses.is_empty() {
                return Err(OpenSchemasError::NoAddress);
            }
            if !is_named {
                return Err(OpenSchemasError::NoName);
            }
            Some(Arc::new(Rdf4jSchemaStore::new(settings.rdf4j_options())?))
        }
        StorageProvider::MongoDb => {
            let store = MongoSchemaStore::open(&settings.mongo_options()).await?;
            Some(Arc::new(store))
        }
        _ => None,
    })
}

/// Says where schemas are stored.
#[must_use]
pub fn place(settings: &Settings) -> String {
    match settings.schema_provider() {
        StorageProvider::Rdf4j => {
            let connection = &settings.storage.rdf4j.connection;
            let repository = connection.repository.as_deref();
            let repository = repository.unwrap_or(Rdf4jSchemaOptions::REPOSITORY);
            format!(
                "in the repository `{repository}` of {}",
                connection.addresses
            )
        }
        StorageProvider::MongoDb => {
            let mongodb = &settings.storage.mongodb;
            format!(
                "in the collection `{}.{}` of MongoDB",
                mongodb.database, mongodb.collection
            )
        }
        StorageProvider::File => "on disk".to_owned(),
        StorageProvider::InMemory | StorageProvider::Automatic => "in memory".to_owned(),
    }
}
