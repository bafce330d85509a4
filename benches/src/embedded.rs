//! The generated data in an embedded store, and the service over it.

use std::io::Read;
use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{Image, ImageBuilder, ImageError};
use graphql_gen::typesystem::{ApiError, ApiOptions};
use object_engine::{ObjectService, ServiceOptions};
use oxigraph::store::{LoaderError, Store};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};

use crate::generator::{Config, Format, Generator};

/// Why there is no service to measure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// The data could not be loaded.
    #[error("failed to load the generated data")]
    Load(#[from] LoaderError),
    /// The data could not be read.
    #[error("failed to read the generated data")]
    Read(#[from] RdfParseError),
    /// No image comes of the data.
    #[error("failed to build an image")]
    Image(#[from] ImageError),
    /// The store failed.
    #[error("the store failed")]
    Storage(#[from] oxigraph::store::StorageError),
    /// The schema has errors.
    #[error("the schema has errors")]
    Schema,
    /// No API comes of the schema.
    #[error("no API can be generated")]
    Api(#[from] ApiError),
}

/// Loads the data of `config` into a new store in memory.
///
/// # Errors
/// When the store fails.
pub fn load(config: Config) -> Result<Store, EmbeddedError> {
    load_of(RdfFormat::NTriples, Generator::new(config, Format::Nt))
}

/// Loads data into a new store in memory.
///
/// # Errors
/// When the data are malformed or the store fails.
pub fn load_of(format: RdfFormat, data: impl Read) -> Result<Store, EmbeddedError> {
    let store = Store::new()?;
    let mut loader = store.bulk_loader();
    loader.load_from_reader(format, data)?;
    loader.commit()?;
    Ok(store)
}

/// Builds an image of the data of `config` in memory.
///
/// # Errors
/// When the data do not fit into an image.
pub fn image(config: Config) -> Result<Image, EmbeddedError> {
    image_of(RdfFormat::NTriples, Generator::new(config, Format::Nt))
}

/// Builds an image of data in memory.
///
/// # Errors
/// When the data are malformed or do not fit into an image.
pub fn image_of(format: RdfFormat, data: impl Read) -> Result<Image, EmbeddedError> {
    let mut builder = ImageBuilder::new();
    for quad in RdfParser::from_format(format).for_reader(data) {
        builder.add(quad?.as_ref())?;
    }
    Ok(builder.build()?)
}

/// Makes a service of a SOML schema over a store.
///
/// # Errors
/// When the schema has errors.
pub fn service(soml: &str, store: Arc<dyn GraphStore>) -> Result<ObjectService, EmbeddedError> {
    service_with(soml, store, ServiceOptions::default())
}

/// Makes a service that can write to its store.
///
/// # Errors
/// When the schema has errors.
pub fn writable_service(
    soml: &str,
    store: Arc<dyn GraphStore>,
) -> Result<ObjectService, EmbeddedError> {
    let api = ApiOptions::default().with_mutations(true);
    service_with(soml, store, ServiceOptions::new().with_api(api))
}

fn service_with(
    soml: &str,
    store: Arc<dyn GraphStore>,
    options: ServiceOptions,
) -> Result<ObjectService, EmbeddedError> {
    let schema = soml_core::load(soml).schema.ok_or(EmbeddedError::Schema)?;
    Ok(ObjectService::new(Arc::new(schema), store, options)?)
}
