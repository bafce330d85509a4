//! Types of the values in [`super::ConnectionOptions`], and their syntax.

use std::str::FromStr;

/// Configured kind of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerType {
    /// The kind is detected.
    #[default]
    Auto,
    /// It is of this kind.
    Known(ServerKind),
}

/// A kind of server; determines the protocol parameters and the dialect of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// RDF4J Server, and other servers of its protocol.
    Rdf4j,
    /// GraphDB, which extends RDF4J's protocol.
    GraphDb,
    /// Apache Jena Fuseki.
    Fuseki,
    /// Any other endpoint of the SPARQL 1.1 Protocol.
    Sparql11,
}

impl ServerKind {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServerKind::Rdf4j => "rdf4j",
            ServerKind::GraphDb => "graphdb",
            ServerKind::Fuseki => "fuseki",
            ServerKind::Sparql11 => "sparql11",
        }
    }
}

impl ServerType {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServerType::Auto => "auto",
            ServerType::Known(kind) => kind.as_str(),
        }
    }
}

impl FromStr for ServerType {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => ServerType::Auto,
            "rdf4j" => ServerType::Known(ServerKind::Rdf4j),
            "graphdb" => ServerType::Known(ServerKind::GraphDb),
            "fuseki" => ServerType::Known(ServerKind::Fuseki),
            "sparql11" => ServerType::Known(ServerKind::Sparql11),
            _ => return Err("`auto`, `rdf4j`, `graphdb`, `fuseki` or `sparql11`"),
        })
    }
}

/// The requested format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFormat {
    /// JSON, whose end is marked: a truncated result is always detected.
    #[default]
    Json,
    /// Tab-separated values: smaller and faster to parse. Only for servers that break the
    /// connection when a query fails midway; one that ends the response properly all the same, as
    /// RDF4J 3.7 and Fuseki 6.1 do when a query times out, makes a truncated list look complete.
    Tsv,
}

impl ResultFormat {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ResultFormat::Json => "json",
            ResultFormat::Tsv => "tsv",
        }
    }
}

impl FromStr for ResultFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "json" => Ok(ResultFormat::Json),
            "tsv" => Ok(ResultFormat::Tsv),
            _ => Err("`json` or `tsv`"),
        }
    }
}
