//! A store over a list of quads, by the macros that other crates test their stores with.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::pattern::PatternStore;
use oxrdf::Quad;

use crate::back_end::listed::Listed;

graph_store::contract_tests!(store);

fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
    Arc::new(PatternStore::new(Listed::new(quads)))
}
