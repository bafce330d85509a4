//! A store over a list of quads, by the macros that other crates test their stores with.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::pattern::{PatternSource, PatternStore, Quads};
use oxrdf::{GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};

graph_store::contract_tests!(store);

/// Quads in any order.
struct Listed(Vec<Quad>);

impl PatternSource for Listed {
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_> {
        let found = self.0.iter().filter(|quad| {
            subject.is_none_or(|subject| quad.subject.as_ref() == subject)
                && predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
                && object.is_none_or(|object| quad.object.as_ref() == object)
                && graph.is_none_or(|graph| quad.graph_name.as_ref() == graph)
        });
        let found: Vec<_> = found.cloned().map(Ok).collect();
        Box::new(found.into_iter())
    }
}

fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
    Arc::new(PatternStore::new(Listed(quads.to_vec())))
}
