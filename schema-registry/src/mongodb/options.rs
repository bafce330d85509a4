//! Where the collection is, and how it is used.

use std::fmt;
use std::time::Duration;

use mongodb::options::{ClientOptions, ConnectionString};

use super::calls;
use super::concern::{MongoReadConcern, MongoWriteConcern};

/// The longest name of an application that the handshake takes, in bytes.
const MAX_APPLICATION_NAME: usize = 128;

/// Options of a [`MongoSchemaStore`](super::MongoSchemaStore).
///
/// They take precedence over options of the same meaning in the connection string.
#[derive(Clone)]
pub struct MongoSchemaOptions {
    /// The connection string: `mongodb://`, user and password if needed, servers, and options such as `replicaSet`,
    /// `tls` and `authSource`. It is never shown or logged, since it may hold a password.
    pub endpoint: String,
    /// The database.
    pub database: String,
    /// The collection, which belongs to stores of schemas.
    pub collection: String,
    /// How long to wait for a connection: until one is free, or established and logged in.
    pub connection_timeout: Duration,
    /// How long an answer to a command may take. The server stops working on the command after that time, too.
    pub read_timeout: Duration,
    /// How long to wait for a server that can be asked, such as for a replica set to elect its primary.
    pub server_selection_timeout: Duration,
    /// Which data reads return.
    pub read_concern: MongoReadConcern,
    /// What a server has done before it acknowledges a write.
    ///
    /// An unacknowledged write concern is sent as it is, and each write is followed by a read that shows its outcome. A
    /// failover can undo such a change, and one that another process overwrites before the read is reported as refused.
    pub write_concern: MongoWriteConcern,
    /// The name by which logs and statistics of the server show the connections, at most 128 bytes.
    pub application_name: String,
    /// The application whose bindings these are. Processes that name the same one share what is bound.
    pub application: String,
}

impl MongoSchemaOptions {
    /// Returns the default options, for a server on this machine, with the bindings of an application.
    #[must_use]
    pub fn new(application: impl Into<String>) -> Self {
        const TIMEOUT: Duration = Duration::from_secs(5);
        MongoSchemaOptions {
            endpoint: "mongodb://localhost:27017".to_owned(),
            database: "soaas".to_owned(),
            collection: "soml".to_owned(),
            connection_timeout: TIMEOUT,
            read_timeout: TIMEOUT,
            server_selection_timeout: TIMEOUT,
            read_concern: MongoReadConcern::default(),
            write_concern: MongoWriteConcern::default(),
            application_name: "search".to_owned(),
            application: application.into(),
        }
    }

    /// Checks the options without contacting a server.
    ///
    /// # Errors
    ///
    /// [`MongoOptionsError`] names the option that cannot be used.
    pub fn validate(&self) -> Result<(), MongoOptionsError> {
        self.connection_string()?;
        let database = &self.database;
        if database.is_empty()
            || database.len() > 63
            || database.contains(['/', '\\', '.', '"', '$', ' ', '\0'])
        {
            return Err(MongoOptionsError::Database);
        }
        let collection = &self.collection;
        if collection.is_empty()
            || collection.len() > 120
            || collection.starts_with("system.")
            || collection.contains(['$', '\0'])
        {
            return Err(MongoOptionsError::Collection);
        }
        if self.application_name.len() > MAX_APPLICATION_NAME {
            return Err(MongoOptionsError::ApplicationName);
        }
        for (option, timeout) in [
            ("connection timeout", self.connection_timeout),
            ("read timeout", self.read_timeout),
            ("server selection timeout", self.server_selection_timeout),
        ] {
            if timeout < Duration::from_millis(1) {
                return Err(MongoOptionsError::Timeout { option });
            }
        }
        Ok(())
    }

    fn connection_string(&self) -> Result<ConnectionString, MongoOptionsError> {
        if self.endpoint.starts_with("mongodb+srv://") {
            return Err(MongoOptionsError::EndpointOfDns);
        }
        let string = ConnectionString::parse(&self.endpoint);
        // What the driver says may quote the string.
        string.map_err(|_| MongoOptionsError::Endpoint)
    }

    /// Returns the options of the driver.
    pub(super) async fn to_driver(&self) -> Result<ClientOptions, MongoOptionsError> {
        self.validate()?;
        let mut options = ClientOptions::parse(self.connection_string()?)
            .await
            .map_err(|_| MongoOptionsError::Endpoint)?;
        options.app_name = Some(self.application_name.clone()).filter(|name| !name.is_empty());
        options.connect_timeout = Some(self.connection_timeout);
        options.server_selection_timeout = Some(self.server_selection_timeout);
        options.cmap_event_handler = Some(calls::watched());
        // The concerns are in each command, and everything is read where it is written.
        options.read_concern = None;
        options.write_concern = None;
        options.selection_criteria = None;
        // A write goes once; what became of it is looked up if the answer is lost.
        options.retry_writes = Some(false);
        options.retry_reads = Some(true);
        Ok(options)
    }
}

impl fmt::Debug for MongoSchemaOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongoSchemaOptions")
            .field("endpoint", &"…")
            .field("database", &self.database)
            .field("collection", &self.collection)
            .field("connection_timeout", &self.connection_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("server_selection_timeout", &self.server_selection_timeout)
            .field("read_concern", &self.read_concern)
            .field("write_concern", &self.write_concern)
            .field("application_name", &self.application_name)
            .field("application", &self.application)
            .finish()
    }
}

/// Why a store in MongoDB cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MongoOptionsError {
    /// The connection string is not one.
    #[error(
        "the endpoint of MongoDB is not a connection string such as `mongodb://localhost:27017`; in user and password, \
         percent-encode `:`, `/`, `?`, `#`, `[`, `]`, `@` and `%`, and set timeouts by the options of the store"
    )]
    Endpoint,
    /// The connection string asks for servers to be looked up in the domain name system.
    #[error(
        "the endpoint of MongoDB begins with `mongodb+srv://`, which is not supported: name the servers after \
         `mongodb://`, and add `tls=true` if they use TLS"
    )]
    EndpointOfDns,
    /// No database can have this name.
    #[error(
        "the name of the database of MongoDB must have 1 to 63 bytes and none of `/`, `\\`, `.`, `\"`, `$` and space"
    )]
    Database,
    /// No collection can have this name.
    #[error(
        "the name of the collection of MongoDB must have 1 to 120 bytes, no `$`, and not begin with `system.`"
    )]
    Collection,
    /// The handshake does not take the name.
    #[error("the application name for MongoDB must have at most {MAX_APPLICATION_NAME} bytes")]
    ApplicationName,
    /// Nothing can be done in no time.
    #[error("the {option} for MongoDB must be at least 1 ms")]
    Timeout {
        /// The option.
        option: &'static str,
    },
    /// The driver refuses an option of the connection string, or cannot read a file that it names.
    #[error("the driver of MongoDB refuses the options")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut MongoSchemaOptions)) -> MongoOptionsError {
        let mut options = MongoSchemaOptions::new("films");
        change(&mut options);
        options.validate().unwrap_err()
    }

    #[test]
    fn options_that_cannot_be_used_are_refused() {
        MongoSchemaOptions::new("films").validate().unwrap();
        for endpoint in ["", "localhost", "http://localhost", "mongodb://u:p@ss@h"] {
            let error = refused(|options| options.endpoint = endpoint.to_owned());
            assert!(matches!(error, MongoOptionsError::Endpoint), "{endpoint}");
        }
        let error = refused(|options| options.endpoint = "mongodb+srv://example.org".to_owned());
        assert!(matches!(error, MongoOptionsError::EndpointOfDns));
        for database in ["", "a.b", "a b", "$a"] {
            let error = refused(|options| options.database = database.to_owned());
            assert!(matches!(error, MongoOptionsError::Database), "{database}");
        }
        for collection in ["", "system.users", "a$"] {
            let error = refused(|options| options.collection = collection.to_owned());
            assert!(matches!(error, MongoOptionsError::Collection));
        }
        let error = refused(|options| options.application_name = "x".repeat(129));
        assert!(matches!(error, MongoOptionsError::ApplicationName));
        let error = refused(|options| options.read_timeout = Duration::ZERO);
        let shown = "the read timeout for MongoDB must be at least 1 ms";
        assert_eq!(error.to_string(), shown);
    }

    #[test]
    fn a_password_is_not_shown() {
        let mut options = MongoSchemaOptions::new("films");
        options.endpoint = "mongodb://user:hunter2@localhost".to_owned();
        let shown = format!("{options:?}");
        assert!(
            !shown.contains("hunter2") && !shown.contains("user"),
            "{shown}"
        );
        options.endpoint = "mongodb://user:hunter2:x@local@host:a".to_owned();
        let error = options.validate().unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[tokio::test]
    async fn options_of_the_connection_string_do_not_take_precedence() {
        let mut options = MongoSchemaOptions::new("films");
        options.endpoint =
            "mongodb://localhost/?appName=a&connectTimeoutMS=1&serverSelectionTimeoutMS=1\
                            &retryWrites=true&readConcernLevel=local&w=1&readPreference=secondary"
                .to_owned();
        let driver = options.to_driver().await.unwrap();
        assert_eq!(driver.app_name.as_deref(), Some("search"));
        assert_eq!(driver.connect_timeout, Some(options.connection_timeout));
        let selection = Some(options.server_selection_timeout);
        assert_eq!(driver.server_selection_timeout, selection);
        assert_eq!(driver.retry_writes, Some(false));
        assert_eq!((driver.read_concern, driver.write_concern), (None, None));
        assert!(driver.selection_criteria.is_none());
        options.endpoint = "mongodb://localhost/?socketTimeoutMS=5".to_owned();
        let refused = options.to_driver().await.unwrap_err();
        assert!(matches!(refused, MongoOptionsError::Endpoint));
    }
}
