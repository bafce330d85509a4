//! The data store: embedded in the process, or a SPARQL server.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::oxigraph::OxigraphStore;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, HttpStore, OptionsError};
use oxigraph::store::{StorageError, Store};
use soml_data::classes::DataView;

use crate::config::Settings;

/// The data store.
#[derive(Clone)]
pub enum DataStore {
    /// An embedded store, into which data are loaded.
    Embedded(Arc<OxigraphStore>),
    /// A SPARQL server with its data.
    Remote(Arc<HttpStore>),
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The embedded store cannot be created.
    #[error("failed to create the embedded store")]
    Embedded(#[from] StorageError),
    /// The properties of the endpoint are inconsistent.
    #[error("the properties `sparql.endpoint.*` are inconsistent")]
    Options(#[from] OptionsError),
}

impl DataStore {
    /// Opens the store that the settings describe: a server if there is an address, otherwise an
    /// embedded store.
    ///
    /// Does not connect yet, so that a service can start while the server is down.
    ///
    /// # Errors
    ///
    /// Fails if the settings are inconsistent.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        if settings.sparql.addresses.is_empty() {
            let store = OxigraphStore::new(Store::new()?);
            return Ok(DataStore::Embedded(Arc::new(store)));
        }
        DataStore::connect(&settings.sparql)
    }

    /// Creates the store for the server that `options` describe.
    ///
    /// # Errors
    ///
    /// Fails if the options are inconsistent.
    pub fn connect(options: &ConnectionOptions) -> Result<Self, OpenError> {
        let endpoint = Arc::new(HttpEndpoint::new(options.clone())?);
        Ok(DataStore::Remote(Arc::new(HttpStore::new(endpoint))))
    }

    /// Returns the store for queries.
    #[must_use]
    pub fn graph_store(&self) -> Arc<dyn GraphStore> {
        match self {
            DataStore::Embedded(store) => Arc::clone(store) as Arc<dyn GraphStore>,
            DataStore::Remote(store) => Arc::clone(store) as Arc<dyn GraphStore>,
        }
    }

    /// Returns the embedded store, if it is one.
    #[must_use]
    pub fn embedded(&self) -> Option<&Arc<OxigraphStore>> {
        match self {
            DataStore::Embedded(store) => Some(store),
            DataStore::Remote(_) => None,
        }
    }

    /// Returns the view of the data that does not depend on a schema.
    #[must_use]
    pub fn data_view(&self) -> DataView<'_> {
        match self {
            DataStore::Embedded(store) => DataView::Statements(store.as_ref()),
            DataStore::Remote(store) => DataView::Queries(store.as_ref()),
        }
    }
}
