//! A first SOML schema from data alone.
//!
//! Every class that has instances becomes an object, every property that its instances have becomes
//! a property; ranges and cardinalities are what was counted, and the counts stand beside them as
//! comments. A class inherits from another if `rdfs:subClassOf` says so, or if nearly all of its
//! instances are instances of the other too. The document is meant to be read and improved, and is a
//! working API as it is.
//!
//! A document is loaded, and its API generated, before it is returned. Names that turn out to be taken, by
//! GraphQL or by what is generated for other classes, are changed; IRIs and labels stay.
//!
//! The same data give the same document, in an embedded store and behind a SPARQL endpoint, as long as the
//! [prefixes](InferOptions::prefixes) are the same and no literal is malformed: a server is not asked for the form of each.

mod descriptions;
mod error;
mod hierarchy;
mod layout;
mod listed;
mod name;
mod ontology;
mod range;
mod remote;
mod statistics;
mod valid;
mod yaml;

pub use error::InferError;

use graph_store::remote::Solutions;
use graph_store::{CallContext, Statements};
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
    /// Takes in classes of `rdf:`, `rdfs:`, `owl:` and `sh:` even if the data have others.
    pub ontology_classes: bool,
    /// Prefixes that the data declare, with their namespaces; the first for each is used.
    pub prefixes: Vec<(String, String)>,
}

impl Default for InferOptions {
    fn default() -> Self {
        InferOptions {
            id: "/soml/inferred".to_owned(),
            min_instances: 1,
            max_classes: 1_000,
            ontology_classes: false,
            prefixes: Vec::new(),
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
    /// Number of classes of `rdf:`, `rdfs:`, `owl:` and `sh:` that were left out, since there are others.
    pub ontology_classes: usize,
}

/// Reads a store that lists its statements, and writes a schema for what is in it.
///
/// Costs one walk over the triples of every instance of every class.
///
/// # Errors
/// When the store fails, or the context says that no one waits any more; when no valid document can be
/// written, as with an identifier that is none.
pub fn infer(
    store: &dyn Statements,
    options: &InferOptions,
    context: &CallContext,
) -> Result<Inferred, InferError> {
    let statistics = Statistics::of_statements(store, options, context)?;
    valid::document(statistics, options)
}

/// Asks a SPARQL endpoint what it has, and writes a schema for it.
///
/// The number of queries depends on the number of classes alone, and no answer has more rows than a
/// schema may have properties.
///
/// # Errors
/// When the store fails or answers with more rows, or the context says that no one waits any more; when no
/// valid document can be written, as with an identifier that is none.
pub async fn infer_remote(
    store: &dyn Solutions,
    options: &InferOptions,
    context: &CallContext,
) -> Result<Inferred, InferError> {
    let statistics = Statistics::of_solutions(store, options, context).await?;
    valid::document(statistics, options)
}
