//! The store of schemas that the settings describe, where instances share one.

use std::sync::Arc;

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
        "`{asked}` is `rdf4j`, but `soml.storage.rdf4j.address` names no server to store the \
         schemas"
    )]
    NoAddress {
        /// The property that asks for the store.
        asked: &'static str,
    },
    /// Instances have nothing that they share what is bound by.
    #[error(
        "`application.name` is required if `{asked}` is `rdf4j`: instances with the same name share \
         bindings"
    )]
    NoName {
        /// The property that asks for the store.
        asked: &'static str,
    },
    /// There is no folder.
    #[error(
        "`{asked}` is `file`, which keeps schemas in the folder of the data: name it with \
         `store.dataDir` or --data-dir"
    )]
    NoFolder {
        /// The property that asks for the store.
        asked: &'static str,
    },
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

    /// Returns whether no one has given the service a name.
    #[must_use]
    pub fn has_default_name(&self) -> bool {
        !self.application.is_named() && self.name == Settings::default().name
    }

    /// Returns whether other processes share the stored schemas.
    #[must_use]
    pub fn shares_schemas(&self) -> bool {
        let provider = self.schema_provider();
        matches!(provider, StorageProvider::Rdf4j | StorageProvider::MongoDb)
    }

    fn rdf4j_options(&self) -> Rdf4jSchemaOptions {
        let settings = &self.storage.rdf4j;
        let mut connection = settings.connection.clone();
        connection.force_connection |= self.sparql.force_connection;
        Rdf4jSchemaOptions {
            connection,
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
            endpoint: settings.endpoint.0.reveal().to_owned(),
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

/// The property that says what stores schemas.
pub(crate) const PROVIDER: &str = "soml.storage.provider";

/// Opens the store of schemas that instances share; `None` if a process keeps its schemas itself. Connects when it is
/// first asked.
///
/// # Errors
///
/// Fails when what the settings ask for cannot be had.
pub async fn open_shared(
    settings: &Settings,
) -> Result<Option<Arc<dyn SchemaStore>>, OpenSchemasError> {
    Ok(match settings.schema_provider() {
        StorageProvider::Rdf4j => Some(Arc::new(open_rdf4j(settings, PROVIDER, true)?)),
        StorageProvider::MongoDb => Some(Arc::new(open_mongodb(settings).await?)),
        _ => None,
    })
}

/// Opens the store in RDF4J, for which a property asks. Unless it `creates` the repository, that must be there.
pub(crate) fn open_rdf4j(
    settings: &Settings,
    asked: &'static str,
    creates: bool,
) -> Result<Rdf4jSchemaStore, OpenSchemasError> {
    if settings.storage.rdf4j.connection.addresses.is_empty() {
        return Err(OpenSchemasError::NoAddress { asked });
    }
    if !settings.application.is_named() {
        return Err(OpenSchemasError::NoName { asked });
    }
    let mut options = settings.rdf4j_options();
    options.auto_create_repository &= creates;
    Ok(Rdf4jSchemaStore::new(options)?)
}

/// Opens the store in MongoDB.
pub(crate) async fn open_mongodb(
    settings: &Settings,
) -> Result<MongoSchemaStore, OpenSchemasError> {
    Ok(MongoSchemaStore::open(&settings.mongo_options()).await?)
}

/// Describes where schemas are stored.
#[must_use]
pub fn place(settings: &Settings) -> String {
    match settings.schema_provider() {
        StorageProvider::Rdf4j => {
            let connection = &settings.storage.rdf4j.connection;
            let repository = connection
                .repository
                .as_deref()
                .unwrap_or(Rdf4jSchemaOptions::REPOSITORY);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use service_config::Sources;

    use super::*;
    use crate::config::read;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let flags: Vec<String> = pairs
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let sources = Sources {
            defaults: Settings::default(),
            file: None,
            environment: Vec::new(),
            flags: &flags,
        };
        read(&sources).expect("the values fit").0
    }

    #[test]
    fn each_property_of_rdf4j_is_an_option_of_the_store() {
        let of = |name: &str, value: &str| {
            let name = format!("soml.storage.rdf4j.{name}");
            settings(&[(&name, value)]).rdf4j_options()
        };
        let time = Duration::from_millis(7);
        let connection = |name: &str, value: &str| of(name, value).connection;
        let addresses = connection("address", "http://a; http://b").addresses;
        assert_eq!(addresses.to_string(), "http://a/, http://b/");
        assert_eq!(
            connection("repository", "r").repository.as_deref(),
            Some("r")
        );
        assert_eq!(of("maxRetries", "1").repository(), "svc-system");
        assert_eq!(connection("username", "u").username.as_deref(), Some("u"));
        let credentials = connection("credentials", "p").credentials;
        assert_eq!(credentials.expect("a secret").reveal(), "p");
        assert_eq!(
            connection("maxConcurrentConnections", "7").max_concurrent_connections,
            7
        );
        assert_eq!(
            connection("connectionRequestTimeout", "7").connection_request_timeout,
            time
        );
        assert_eq!(connection("connectTimeout", "7").connect_timeout, time);
        assert_eq!(connection("socketTimeout", "7").socket_timeout, time);
        assert!(
            connection("retryHttpCodes", "50x")
                .retry_http_codes
                .contains(507)
        );
        assert_eq!(connection("maxRetries", "7").max_retries, 7);
        assert_eq!(connection("retryInterval", "7").retry_interval, time);
        assert_eq!(
            connection("healthCheckTimeout", "7").health_check_timeout,
            time
        );
        assert_eq!(
            connection("cluster.unavailableReadTimeout", "7").unavailable_read_timeout,
            time
        );
        assert_eq!(
            connection("cluster.scanFailedInterval", "7").scan_failed_interval,
            time
        );
        assert!(!connection("cluster.retryOnHttp4xx", "false").retry_on_http_4xx);
        assert!(!connection("cluster.retryOnHttp5xx", "false").retry_on_http_5xx);
        assert_eq!(
            connection("cluster.unavailableWriteTimeout", "7").unavailable_write_timeout,
            time
        );
        assert!(connection("cluster.forceClusterClient", "true").force_cluster_client);
        assert!(connection("cluster.forceConnection", "true").force_connection);
        let of_data = settings(&[("sparql.endpoint.cluster.forceConnection", "true")]);
        assert!(of_data.rdf4j_options().connection.force_connection);
        assert!(!of("autoCreateRepository", "false").auto_create_repository);
        assert_eq!(of("disableDefault", "true").disable_default, Some(true));
        assert_eq!(of("maxRetries", "1").disable_default, None);
        let template = of("repositoryConfig", "@prefix a: <b> .").repository_config;
        assert_eq!(template.as_deref(), Some("@prefix a: <b> ."));
    }

    #[test]
    fn each_property_of_mongodb_is_an_option_of_the_store_by_both_of_its_names() {
        for family in ["soml.storage.mongodb", "search.soml.storage.mongodb"] {
            let of = |name: &str, value: &str| {
                settings(&[(&format!("{family}.{name}"), value)]).mongo_options()
            };
            let time = Duration::from_millis(7);
            assert_eq!(of("endpoint", "mongodb://a").endpoint, "mongodb://a");
            assert_eq!(of("database", "d").database, "d");
            assert_eq!(of("collection", "c").collection, "c");
            assert_eq!(of("connectionTimeout", "7").connection_timeout, time);
            assert_eq!(of("readTimeout", "7").read_timeout, time);
            assert_eq!(
                of("serverSelectionTimeout", "7").server_selection_timeout,
                time
            );
            assert_eq!(of("readConcern", "local").read_concern.to_string(), "local");
            let concern = "w=2, wtimeout=1000";
            assert_eq!(
                of("writeConcern", concern).write_concern.to_string(),
                concern
            );
            assert_eq!(of("applicationName", "n").application_name, "n");
        }
    }

    #[tokio::test]
    async fn a_provider_that_cannot_be_had_is_refused() {
        use StorageProvider::{File, InMemory, MongoDb, Rdf4j};
        let provider = |pairs: &[(&str, &str)]| settings(pairs).schema_provider();
        let address = ("soml.storage.rdf4j.address", "http://a");
        assert_eq!(provider(&[]), InMemory);
        assert_eq!(provider(&[("store.dataDir", "d")]), File);
        assert_eq!(provider(&[("store.dataDir", "d"), address]), Rdf4j);
        let named = |name| ("soml.storage.provider", name);
        assert_eq!(provider(&[named("mongodb"), address]), MongoDb);
        assert_eq!(provider(&[named("in-memory"), address]), InMemory);
        let refused = async |pairs: &[(&str, &str)]| {
            let opened = open_shared(&settings(pairs)).await;
            opened.err().expect("it is refused").to_string()
        };
        let text = refused(&[named("rdf4j")]).await;
        assert!(text.contains("`soml.storage.rdf4j.address`"), "{text}");
        let text = refused(&[address]).await;
        assert!(text.contains("`application.name` is required"), "{text}");
        let name = ("application.name", "a");
        let zero = ("soml.storage.rdf4j.maxConcurrentConnections", "0");
        let text = refused(&[address, name, zero]).await;
        assert!(text.contains("`soml.storage.rdf4j.*`"), "{text}");
        assert!(
            open_shared(&settings(&[address, name]))
                .await
                .is_ok_and(|it| it.is_some())
        );
        let endpoint = ("soml.storage.mongodb.endpoint", "http://a");
        let text = refused(&[named("mongodb"), endpoint]).await;
        assert!(text.contains("`soml.storage.mongodb.*`"), "{text}");
    }
}
