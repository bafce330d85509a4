//! A first SOML schema from data alone.
//!
//! Every class that has instances becomes an object, every property that its instances have becomes
//! a property; ranges and cardinalities are what was counted, and the counts stand beside them as
//! comments. The document is meant to be read and improved, and is a working API as it is.

mod name;
mod range;
mod statistics;
mod yaml;

use graph_store::{CallContext, StoreError};
use oxigraph::store::Store;
use statistics::Statistics;

/// What an inferred schema is called, and how much it takes in.
#[derive(Clone, Debug)]
pub struct InferOptions {
    /// Identifier of the schema.
    pub id: String,
    /// Classes with fewer instances are left out.
    pub min_instances: u64,
    /// Greatest number of classes; those with the most instances stay.
    pub max_classes: usize,
}

impl Default for InferOptions {
    fn default() -> Self {
        InferOptions {
            id: "/soml/inferred".to_owned(),
            min_instances: 1,
            max_classes: 1_000,
        }
    }
}

/// A schema made from data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The SOML document.
    pub yaml: String,
    /// Number of objects in it.
    pub objects: usize,
    /// Number of properties of all objects.
    pub properties: usize,
}

/// Reads a store and writes a schema for what is in it.
///
/// Costs one walk over the triples of every instance of every class.
///
/// # Errors
/// When the store fails, or the context says that nobody waits any more.
pub fn infer(
    store: &Store,
    options: &InferOptions,
    context: &CallContext,
) -> Result<Inferred, StoreError> {
    let statistics = Statistics::collect(store, options, context)?;
    Ok(yaml::document(&statistics, options))
}
