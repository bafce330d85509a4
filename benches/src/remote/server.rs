//! A dataset or repository of a server, filled with the generated data.

use graph_store::remote::http::{ConnectionOptions, ServerKind, ServerType};
use graph_store::remote::{Dialect, RemoteOptions};

use crate::generator::{Config, Format, Generator};

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Apache Jena Fuseki, a dataset in memory.
    Fuseki,
    /// RDF4J Server, a repository in memory.
    Rdf4j,
}

/// A dataset or repository of a server.
#[derive(Clone, Debug)]
pub struct RemoteServer {
    kind: Kind,
    client: reqwest::Client,
    /// Address of the server.
    base: String,
    name: String,
}

/// Why there are no data on the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The server cannot be reached, or refuses.
    #[error("failed to fill the server")]
    Http(#[from] reqwest::Error),
    /// The data could not be generated.
    #[error("failed to generate the data")]
    Data(#[from] std::io::Error),
}

/// What a repository of an RDF4J Server is made of.
const REPOSITORY: &str = r#"@prefix rep: <http://www.openrdf.org/config/repository#> .
@prefix sr: <http://www.openrdf.org/config/repository/sail#> .
@prefix sail: <http://www.openrdf.org/config/sail#> .
[] a rep:Repository ; rep:repositoryID "NAME" ; rep:repositoryImpl [
  rep:repositoryType "openrdf:SailRepository" ; sr:sailImpl [ sail:sailType "openrdf:MemoryStore" ] ] ."#;

impl RemoteServer {
    /// Makes a dataset or repository, and loads the data into it.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses.
    pub async fn fill(kind: Kind, address: &str, config: Config) -> Result<Self, ServerError> {
        // One may have been chosen before.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let server = RemoteServer {
            kind,
            client: reqwest::Client::new(),
            base: address.trim_end_matches('/').to_owned(),
            name: format!("templates-{}", std::process::id()),
        };
        let (base, name) = (&server.base, &server.name);
        let made = match kind {
            Kind::Fuseki => server
                .client
                .post(format!("{base}/$/datasets"))
                .header("content-type", "application/x-www-form-urlencoded")
                .body(format!("dbName={name}&dbType=mem")),
            Kind::Rdf4j => server
                .client
                .put(format!("{base}/repositories/{name}"))
                .header("content-type", "text/turtle")
                .body(REPOSITORY.replace("NAME", name)),
        };
        made.send().await?.error_for_status()?;
        let mut data = Vec::new();
        std::io::copy(&mut Generator::new(config, Format::Nt), &mut data)?;
        let loaded = server
            .client
            .post(server.statements())
            .header("content-type", "application/n-triples")
            .body(data);
        loaded.send().await?.error_for_status()?;
        Ok(server)
    }

    /// Removes the data.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses.
    pub async fn clear(&self) -> Result<(), ServerError> {
        let place = match self.kind {
            Kind::Fuseki => format!("{}/$/datasets/{}", self.base, self.name),
            // Removing a repository can hang the server.
            Kind::Rdf4j => self.statements(),
        };
        self.client.delete(place).send().await?.error_for_status()?;
        Ok(())
    }

    fn statements(&self) -> String {
        match self.kind {
            Kind::Fuseki => format!("{}/{}/data?default", self.base, self.name),
            Kind::Rdf4j => format!("{}/repositories/{}/statements", self.base, self.name),
        }
    }

    /// Returns where SPARQL is sent to.
    #[must_use]
    pub fn queries(&self) -> String {
        match self.kind {
            Kind::Fuseki => format!("{}/{}", self.base, self.name),
            Kind::Rdf4j => format!("{}/repositories/{}", self.base, self.name),
        }
    }

    /// Returns how the service asks it.
    #[must_use]
    pub fn asked(&self) -> RemoteOptions {
        RemoteOptions::new(match self.kind {
            Kind::Fuseki => Dialect::Fuseki,
            Kind::Rdf4j => Dialect::Rdf4j,
        })
    }

    /// Returns how the service connects to it.
    ///
    /// # Panics
    /// When the address of the server is none.
    #[must_use]
    pub fn options(&self) -> ConnectionOptions {
        let kind = match self.kind {
            Kind::Fuseki => ServerKind::Fuseki,
            Kind::Rdf4j => ServerKind::Rdf4j,
        };
        ConnectionOptions {
            addresses: self.base.parse().expect("what data were loaded to"),
            repository: Some(self.name.clone()),
            server: ServerType::Known(kind),
            ..ConnectionOptions::default()
        }
    }
}
