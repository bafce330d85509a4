//! A random schema with data, and its documents.

use futures::executor::block_on;
use search_index::document::Document;
use search_index::graph_store::CallContext;
use search_index::mapping::{IndexDefinition, Indexes, MappingOptions};
use search_index::read::DocumentReader;
use serde_json::Value as Json;
use test_support::random::Random;

use super::generate;
use super::generate::Pool;
use super::naive::fields::{Fields, fields};
use crate::{images, schema};

/// A random schema with data, and its documents.
pub(crate) struct World {
    pub(crate) soml: String,
    pub(crate) definition: IndexDefinition,
    pub(crate) fields: Fields,
    pub(crate) documents: Vec<Document>,
}

impl World {
    pub(crate) fn new(seed: u64, with_server: bool) -> World {
        let mut random = Random::new(seed);
        let soml = generate::schema(&mut random, seed);
        let schema = schema(&soml);
        let indexes = Indexes::new(&schema, &MappingOptions::default())
            .unwrap_or_else(|error| panic!("seed {seed}: {:?}\n{soml}", error.findings));
        let names = ["Top", "A", "A", "B", "C"];
        let known = names
            .into_iter()
            .filter(|name| indexes.named(name).is_some());
        let known: Vec<_> = known.collect();
        let definition = indexes
            .named(random.word(&known))
            .expect("it is known")
            .clone();
        let store = images::of(&generate::data(&mut random, &schema, with_server));
        let reader = DocumentReader::new(&schema, &definition, &store);
        let context = CallContext::new();
        let documents = block_on(async {
            let ids = reader.ids(&context).await.expect("ids");
            reader.documents(&ids, &context).await.expect("documents")
        });
        World {
            fields: fields(&definition),
            soml,
            definition,
            documents,
        }
    }

    /// Collects the values from which operands are drawn.
    pub(crate) fn pool(&self) -> Pool<'_> {
        Pool {
            fields: &self.fields,
            values: super::naive::values(&self.definition, &self.documents),
            ids: self
                .documents
                .iter()
                .map(|document| document.id.clone())
                .collect(),
        }
    }
}

/// Returns a document as JSON.
pub(crate) fn source(document: &Document) -> Json {
    serde_json::from_slice(&document.source).expect("JSON")
}
