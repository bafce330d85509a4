//! Building indexes, over an engine in memory that can fail in every way.

mod faults;
mod follow;
mod memory;
mod runs;
mod stores;

use std::sync::Arc;
use std::time::Duration;

use graph_store::{CallContext, GraphStore};
use search_index::engine::SearchEngine;
use search_index::indexer::{Indexer, IndexerError, IndexerOptions, Report};
use search_index::mapping::{Indexes, MappingOptions, Owner};
use soml_core::Schema;

use crate::{images, schema};

/// Films and planets; the name of the property of planets decides the fingerprint of their index.
fn films(property: &str) -> String {
    format!(
        "
id: /soml/films
specialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}
objects:
  Film: {{search: yes, props: {{title: {{}}, length: {{range: int}}}}}}
  Planet: {{search: yes, props: {{{property}: {{}}}}}}
"
    )
}

/// Writes some films and planets as Turtle.
fn triples(films: usize, planets: usize) -> String {
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    for at in 0..films {
        turtle += &format!("v:f{at} a v:Film ; v:title \"Film {at}\" ; v:length {at} .\n");
    }
    for at in 0..planets {
        turtle += &format!("v:p{at} a v:Planet ; v:name \"Planet {at}\" ; v:label \"P{at}\" .\n");
    }
    turtle
}

fn store(turtle: &str) -> Arc<dyn GraphStore> {
    Arc::new(images::from_turtle(turtle))
}

/// Options that wait little, with small pages so that there are several.
fn options() -> IndexerOptions {
    let mut options = IndexerOptions::new(Owner::new("test"));
    options.retry_interval = Duration::from_millis(1);
    options.drop_delay = Duration::ZERO;
    options.max_retries = 3;
    options.max_page = 4;
    options.pages = 2;
    options
}

fn indexer(
    soml: &str,
    store: Arc<dyn GraphStore>,
    engine: Arc<dyn SearchEngine>,
    options: IndexerOptions,
) -> Indexer {
    indexer_with(soml, &|_| MappingOptions::default(), store, engine, options)
}

/// Returns an indexer whose indexes are defined in some way.
fn indexer_with(
    soml: &str,
    mapping: &dyn Fn(&Schema) -> MappingOptions,
    store: Arc<dyn GraphStore>,
    engine: Arc<dyn SearchEngine>,
    options: IndexerOptions,
) -> Indexer {
    let schema = schema(soml);
    let indexes = Indexes::new(&schema, &mapping(&schema)).expect("searchable");
    Indexer::new(Arc::new(schema), Arc::new(indexes), store, engine, options)
}

/// Runs an indexer to its end, superseded indexes deleted.
async fn run(indexer: &Indexer) -> Result<Report, IndexerError> {
    let context = CallContext::new();
    let report = indexer.run(&context).await?;
    indexer.remove_superseded(&report, &context).await?;
    Ok(report)
}
