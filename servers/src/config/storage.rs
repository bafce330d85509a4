//! Where schemas are stored, and how a service is called by others.

use std::fs;
use std::net::IpAddr;
use std::time::Duration;

use graph_store::remote::http::ConnectionOptions;
use outbound::Secret;
use schema_registry::{MongoReadConcern, MongoWriteConcern};
use service_config::Setting;

use super::migration::MigrationSettings;
use super::setting::Programs;

/// Where schemas are stored (`soml.storage.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageSettings {
    /// What stores them (`soml.storage.provider`).
    pub provider: StorageProvider,
    /// How often instances look what others have bound (`soml.storage.followInterval`).
    pub follow_interval: Duration,
    /// Time after which a builder of indexes is replaced that does not renew its lease (`soml.storage.leaseTime`).
    pub lease_time: Duration,
    /// A server of RDF4J's protocol (`soml.storage.rdf4j.*`).
    pub rdf4j: Rdf4jSettings,
    /// A MongoDB server (`soml.storage.mongodb.*`).
    pub mongodb: MongoSettings,
    /// How schemas are moved from another store at the start (`soml.storage.migration.*`).
    pub migration: MigrationSettings,
}

/// What stores schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageProvider {
    /// RDF4J where an address is given, otherwise the folder of the data if there is one, otherwise memory.
    #[default]
    Automatic,
    /// The folder of the data.
    File,
    /// Memory.
    InMemory,
    /// A server of RDF4J's protocol.
    Rdf4j,
    /// A MongoDB server.
    MongoDb,
}

/// A server of RDF4J's protocol that stores schemas (`soml.storage.rdf4j.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rdf4jSettings {
    /// How it is reached.
    pub connection: ConnectionOptions,
    /// Whether a missing repository is created (`soml.storage.rdf4j.autoCreateRepository`).
    pub creates_repository: bool,
    /// The template of a repository (`soml.storage.rdf4j.repositoryConfig`).
    pub repository_template: RepositoryTemplate,
    /// Whether the templates of the program are not used (`soml.storage.rdf4j.disableDefault`).
    pub disables_default: Decision,
}

/// The template of a repository in Turtle, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryTemplate(pub Option<String>);

/// A yes or no that follows from other properties where no one says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision(pub Option<bool>);

/// The connection string of a MongoDB server, which may have a password in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MongoEndpoint(pub Secret);

const DEFAULT_ENDPOINT: &str = "mongodb://localhost:27017";

impl Default for MongoEndpoint {
    fn default() -> Self {
        MongoEndpoint(Secret::new(DEFAULT_ENDPOINT))
    }
}

/// A MongoDB server that stores schemas (`soml.storage.mongodb.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MongoSettings {
    /// The connection string (`.endpoint`).
    pub endpoint: MongoEndpoint,
    /// The database (`.database`).
    pub database: String,
    /// The collection (`.collection`).
    pub collection: String,
    /// Maximum time to connect (`.connectionTimeout`).
    pub connection_timeout: Duration,
    /// Maximum time of an answer (`.readTimeout`).
    pub read_timeout: Duration,
    /// Maximum time to find a server (`.serverSelectionTimeout`).
    pub server_selection_timeout: Duration,
    /// Which data reads return (`.readConcern`).
    pub read_concern: MongoReadConcern,
    /// When writes are acknowledged (`.writeConcern`).
    pub write_concern: MongoWriteConcern,
    /// Name in the logs of the server (`.applicationName`).
    pub application_name: String,
}

/// How a service is called by others (`application.*`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplicationSettings {
    /// The name that instances share (`application.name`).
    pub name: Option<String>,
    /// The scheme of its address (`application.scheme`).
    pub scheme: Scheme,
    /// The address at which others reach it (`application.address`).
    pub address: NetworkAddress,
    /// Whether the address is the name (`application.useNetworkAddressAsName`).
    pub uses_address_as_name: bool,
}

/// The scheme of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Without TLS.
    #[default]
    Http,
    /// With TLS, of a proxy in front of the service.
    Https,
}

/// The address at which others reach a service, or nothing: a host, with a scheme and a port where they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkAddress(Option<String>);

impl Default for StorageSettings {
    fn default() -> Self {
        StorageSettings {
            provider: StorageProvider::default(),
            follow_interval: Duration::from_secs(2),
            lease_time: Duration::from_secs(15),
            rdf4j: Rdf4jSettings::default(),
            mongodb: MongoSettings::default(),
            migration: MigrationSettings::default(),
        }
    }
}

impl Default for Rdf4jSettings {
    fn default() -> Self {
        Rdf4jSettings {
            connection: ConnectionOptions {
                repository: Some("svc-system".to_owned()),
                ..ConnectionOptions::default()
            },
            creates_repository: true,
            repository_template: RepositoryTemplate::default(),
            disables_default: Decision::default(),
        }
    }
}

impl Default for MongoSettings {
    fn default() -> Self {
        const TIMEOUT: Duration = Duration::from_secs(5);
        MongoSettings {
            endpoint: MongoEndpoint::default(),
            database: "soaas".to_owned(),
            collection: "soml".to_owned(),
            connection_timeout: TIMEOUT,
            read_timeout: TIMEOUT,
            server_selection_timeout: TIMEOUT,
            read_concern: MongoReadConcern::default(),
            write_concern: MongoWriteConcern::default(),
            application_name: "search".to_owned(),
        }
    }
}

impl ApplicationSettings {
    /// Returns whether someone has given the service a name.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.name.is_some() || self.uses_address_as_name
    }

    /// Returns the address at which others reach a service that listens on a host and port; `None` if that cannot be
    /// known.
    #[must_use]
    pub fn network_address(&self, host: IpAddr, port: u16) -> Option<String> {
        let given = match &self.address.0 {
            Some(address) => address.clone(),
            None if host.is_unspecified() => return None,
            None => match host {
                IpAddr::V6(host) => format!("[{host}]"),
                IpAddr::V4(host) => host.to_string(),
            },
        };
        let with_scheme = if given.contains("://") {
            given
        } else {
            format!("{}://{given}", self.scheme.show())
        };
        let host = with_scheme.rsplit('/').next().unwrap_or_default();
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.contains(']'));
        match (has_port, port) {
            (true, _) => Some(with_scheme),
            // It is known once the service listens.
            (false, 0) => None,
            (false, port) => Some(format!("{with_scheme}:{port}")),
        }
    }
}

impl Setting<Programs> for StorageProvider {
    const TYPE: &'static str = "`auto`, `file`, `in-memory`, `rdf4j` or `mongodb`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "auto" => Ok(StorageProvider::Automatic),
            "file" => Ok(StorageProvider::File),
            "in-memory" => Ok(StorageProvider::InMemory),
            "rdf4j" => Ok(StorageProvider::Rdf4j),
            "mongodb" => Ok(StorageProvider::MongoDb),
            _ => Err("`auto`, `file`, `in-memory`, `rdf4j` or `mongodb`"),
        }
    }

    fn show(&self) -> String {
        let name = match self {
            StorageProvider::Automatic => "auto",
            StorageProvider::File => "file",
            StorageProvider::InMemory => "in-memory",
            StorageProvider::Rdf4j => "rdf4j",
            StorageProvider::MongoDb => "mongodb",
        };
        name.to_owned()
    }
}

impl Setting<Programs> for Scheme {
    const TYPE: &'static str = "`http` or `https`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "http" => Ok(Scheme::Http),
            "https" => Ok(Scheme::Https),
            _ => Err("`http` or `https`"),
        }
    }

    fn show(&self) -> String {
        let name = match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        name.to_owned()
    }
}

impl Setting<Programs> for NetworkAddress {
    const TYPE: &'static str = "address or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "a host such as films.example.org, with http:// or https:// before it and a port after it if need be";
        if matches!(text, "" | "none") {
            return Ok(NetworkAddress(None));
        }
        let with_scheme = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url = reqwest::Url::parse(&with_scheme).map_err(|_| EXPECTED)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain {
            Ok(NetworkAddress(Some(text.trim_end_matches('/').to_owned())))
        } else {
            Err(EXPECTED)
        }
    }

    fn show(&self) -> String {
        self.0.clone().unwrap_or_else(|| "none".to_owned())
    }
}

impl Setting<Programs> for Decision {
    const TYPE: &'static str = "boolean or `auto`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "auto" => Ok(Decision(None)),
            _ => match text.parse() {
                Ok(decision) => Ok(Decision(Some(decision))),
                Err(_) => Err("true, false or `auto`"),
            },
        }
    }

    fn show(&self) -> String {
        self.0
            .map_or_else(|| "auto".to_owned(), |it| it.to_string())
    }
}

impl Setting<Programs> for RepositoryTemplate {
    const TYPE: &'static str = "path, Turtle or `none`";

    /// Reads the file of a path; a text of several lines, or one that begins as Turtle does, is the template itself.
    fn parse(text: &str) -> Result<Self, &'static str> {
        let begin = text.trim_start();
        if matches!(begin, "" | "none") {
            return Ok(RepositoryTemplate(None));
        }
        let is_turtle = begin.contains('\n') || begin.starts_with(['@', '[', '<', '#', '_']);
        if is_turtle {
            return Ok(RepositoryTemplate(Some(text.to_owned())));
        }
        match fs::read_to_string(text) {
            Ok(text) => Ok(RepositoryTemplate(Some(text))),
            Err(_) => Err("the path of a file in Turtle that can be read, or the text of one"),
        }
    }

    fn show(&self) -> String {
        match &self.0 {
            Some(text) => format!("({} bytes of Turtle)", text.len()),
            None => "none".to_owned(),
        }
    }
}

impl Setting<Programs> for MongoReadConcern {
    const TYPE: &'static str =
        "`default`, `local`, `majority`, `linearizable`, `snapshot` or `available`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for MongoWriteConcern {
    const TYPE: &'static str = "write concern";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for MongoEndpoint {
    const TYPE: &'static str = "connection string";

    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(MongoEndpoint(Secret::new(text)))
    }

    /// Shows no other value than the default.
    fn show(&self) -> String {
        match self.0.reveal() {
            DEFAULT_ENDPOINT => DEFAULT_ENDPOINT.to_owned(),
            _ => "***".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    fn address(scheme: &str, given: &str) -> Option<String> {
        let application = ApplicationSettings {
            scheme: Scheme::parse(scheme).unwrap(),
            address: NetworkAddress::parse(given).unwrap(),
            ..ApplicationSettings::default()
        };
        application.network_address(Ipv4Addr::UNSPECIFIED.into(), 8080)
    }

    #[test]
    fn an_address_gets_the_scheme_and_the_port_that_it_lacks() {
        for (given, whole) in [
            ("films.example.org", "https://films.example.org:8080"),
            ("films.example.org:81", "https://films.example.org:81"),
            ("http://films.example.org", "http://films.example.org:8080"),
            (
                "http://films.example.org:80/",
                "http://films.example.org:80",
            ),
            ("[::1]", "https://[::1]:8080"),
            ("[::1]:81", "https://[::1]:81"),
        ] {
            assert_eq!(address("https", given).as_deref(), Some(whole), "{given}");
        }
        assert_eq!(address("http", "none"), None);
        let application = ApplicationSettings::default();
        let of_host = |host: IpAddr| application.network_address(host, 1);
        let shown = |text: &str| Some(text.to_owned());
        assert_eq!(
            of_host(Ipv4Addr::LOCALHOST.into()),
            shown("http://127.0.0.1:1")
        );
        assert_eq!(of_host(Ipv6Addr::LOCALHOST.into()), shown("http://[::1]:1"));
        for wrong in ["a/b", "http://u:p@a", "ftp://a", "a b", "http://a?b"] {
            assert!(NetworkAddress::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_template_is_a_file_or_the_text_itself() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.ttl");
        fs::write(&path, "# a template").unwrap();
        let read = |text: &str| RepositoryTemplate::parse(text).map(|template| template.0);
        assert_eq!(
            read(path.to_str().unwrap()),
            Ok(Some("# a template".to_owned()))
        );
        assert_eq!(
            read("@prefix a: <b> ."),
            Ok(Some("@prefix a: <b> .".to_owned()))
        );
        assert_eq!(read("none"), Ok(None));
        assert!(read("missing.ttl").is_err());
    }
}
