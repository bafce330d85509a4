//! The data store: embedded in the process, or a SPARQL server.

use std::sync::Arc;

use graph_store::image::{ImageBuilder, ImageError, ImageStore};
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, HttpStore, OptionsError};
use graph_store::{GraphStore, Statements};
use object_service::folder::{FolderError, open_image};
use soml_data::classes::DataView;

use crate::config::Settings;

/// The data store.
#[derive(Clone)]
pub enum DataStore {
    /// A store in the process, into which data are loaded.
    Embedded(Arc<ImageStore>),
    /// A SPARQL server with its data.
    Remote(Arc<HttpStore>),
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The embedded store cannot be created.
    #[error("failed to create the embedded store")]
    Embedded(#[from] ImageError),
    /// The folder of the data cannot be opened.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Both a folder and a server are named.
    #[error(
        "`store.dataDir` names a folder with the data, and `sparql.endpoint.address` a server with \
         the data: use only one of them"
    )]
    TwoStores,
    /// The properties of the endpoint are inconsistent.
    #[error("the properties `sparql.endpoint.*` are inconsistent")]
    Options(#[from] OptionsError),
}

/// Creates a store in memory, without data.
///
/// # Errors
///
/// Fails if there is no memory for it.
pub fn in_memory() -> Result<Arc<ImageStore>, ImageError> {
    let image = ImageBuilder::new().build()?;
    Ok(Arc::new(ImageStore::new(image)))
}

impl DataStore {
    /// Opens the store that the settings describe: a server if there is an address, otherwise an
    /// embedded store, over the folder of the data if there is one.
    ///
    /// Does not connect yet, so that a service can start while the server is down.
    ///
    /// # Errors
    ///
    /// Fails if the settings are inconsistent, or if the folder cannot be opened or has no data.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        match (
            &settings.store.data_dir,
            settings.sparql.addresses.is_empty(),
        ) {
            (None, true) => {
                let store = in_memory()?;
                store.set_order_memory(settings.store.order_memory);
                Ok(DataStore::Embedded(store))
            }
            (Some(folder), true) => {
                let image = open_image(folder, &settings.folder_options())?;
                Ok(DataStore::Embedded(Arc::new(image)))
            }
            (None, false) => DataStore::connect(&settings.sparql),
            (Some(_), false) => Err(OpenError::TwoStores),
        }
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
    pub fn embedded(&self) -> Option<&Arc<ImageStore>> {
        match self {
            DataStore::Embedded(store) => Some(store),
            DataStore::Remote(_) => None,
        }
    }

    /// Returns the data as they are without a schema.
    #[must_use]
    pub fn plain_data(&self) -> PlainData {
        match self {
            DataStore::Embedded(store) => PlainData::Statements(store.snapshot()),
            DataStore::Remote(store) => PlainData::Queries(Arc::clone(store)),
        }
    }
}

/// Data as they are without a schema.
#[derive(Clone)]
pub enum PlainData {
    /// A list of statements.
    Statements(Arc<dyn Statements>),
    /// A server that answers SPARQL queries.
    Queries(Arc<HttpStore>),
}

impl PlainData {
    /// Returns the view that counts and checks take.
    #[must_use]
    pub fn view(&self) -> DataView<'_> {
        match self {
            PlainData::Statements(statements) => DataView::Statements(statements.as_ref()),
            PlainData::Queries(store) => DataView::Queries(store.as_ref()),
        }
    }
}
