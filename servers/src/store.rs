//! Where the data is: embedded in the process, or behind a SPARQL endpoint.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::oxigraph::OxigraphStore;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, HttpStore, OptionsError};
use oxigraph::store::{StorageError, Store};

use crate::config::Settings;

/// The store of the data.
#[derive(Clone)]
pub enum DataStore {
    /// In this process; data is loaded into it.
    Embedded(Arc<OxigraphStore>),
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
            let store = OxigraphStore::new(Store::new()?);
            return Ok(DataStore::Embedded(Arc::new(store)));
        }
        DataStore::connect(&settings.sparql)
    }

    /// Makes the store over the server that `options` describe.
    ///
    /// # Errors
    ///
    /// Fails when the options contradict each other.
    pub fn connect(options: &ConnectionOptions) -> Result<Self, OpenError> {
        let endpoint = Arc::new(HttpEndpoint::new(options.clone())?);
        Ok(DataStore::Remote(Arc::new(HttpStore::new(endpoint))))
    }

    /// Returns the store for queries.
    #[must_use]
    pub fn graph_store(&self) -> Arc<dyn GraphStore> {
        match self {
            DataStore::Embedded(store) => Arc::clone(store) as Arc<dyn GraphStore>,
            DataStore::Remote(store) => Arc::clone(store),
        }
    }

    /// Returns the embedded store, into which data can be loaded.
    #[must_use]
    pub fn embedded(&self) -> Option<&Arc<OxigraphStore>> {
        match self {
            DataStore::Embedded(store) => Some(store),
            DataStore::Remote(_) => None,
        }
    }
}
