//! Where the data is: embedded in the process, or behind a SPARQL endpoint.

use std::sync::Arc;

use graphql_gen::store::GraphStore;
use graphql_gen::store::oxigraph::OxigraphStore;
use graphql_gen::store::remote::SparqlEndpoint;
use graphql_gen::store::remote::http::{ConnectionOptions, HttpEndpoint, OptionsError};
use oxigraph::store::{StorageError, Store};

use crate::config::Settings;

/// The store of the data.
pub enum DataStore {
    /// In this process; data is loaded into it.
    Embedded(Store),
    /// On a server, with what it holds.
    Remote(Arc<dyn GraphStore>),
}

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The embedded store cannot be made.
    #[error("failed to make the embedded store")]
    Embedded(#[from] StorageError),
    /// The properties of the endpoint contradict each other.
    #[error("the properties `sparql.endpoint.*` cannot be used")]
    Options(#[from] OptionsError),
    /// Objects cannot be read over an endpoint.
    #[error("`sparql.endpoint.address` names {0}, and this version reads the embedded store alone")]
    Unsupported(String),
}

impl DataStore {
    /// Opens the store that the settings name: a server when there is an address of one.
    ///
    /// Connects to nothing yet, so that a service starts while its store is down.
    ///
    /// # Errors
    ///
    /// Fails when the settings contradict each other.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        if settings.sparql.addresses.is_empty() {
            return Ok(DataStore::Embedded(Store::new()?));
        }
        connect(&settings.sparql).map(DataStore::Remote)
    }

    /// Returns the store for queries.
    #[must_use]
    pub fn graph_store(&self) -> Arc<dyn GraphStore> {
        match self {
            DataStore::Embedded(store) => Arc::new(OxigraphStore::new(store.clone())),
            DataStore::Remote(store) => Arc::clone(store),
        }
    }

    /// Returns the embedded store, into which data can be loaded.
    #[must_use]
    pub fn embedded(&self) -> Option<&Store> {
        match self {
            DataStore::Embedded(store) => Some(store),
            DataStore::Remote(_) => None,
        }
    }
}

/// Makes the store over the endpoint that `options` describe.
fn connect(options: &ConnectionOptions) -> Result<Arc<dyn GraphStore>, OpenError> {
    let endpoint: Arc<dyn SparqlEndpoint> = Arc::new(HttpEndpoint::new(options.clone())?);
    over(endpoint, options)
}

/// Makes the store over an endpoint.
fn over(
    _endpoint: Arc<dyn SparqlEndpoint>,
    options: &ConnectionOptions,
) -> Result<Arc<dyn GraphStore>, OpenError> {
    Err(OpenError::Unsupported(options.addresses.to_string()))
}
