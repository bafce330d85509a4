//! Quads that a pattern finds: what a store of one's own has at least.

use std::collections::HashMap;

use graph_store::pattern::{PatternSource, Quads};
use oxrdf::{GraphNameRef, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Quad, TermRef};

/// Quads in any order, by subject and by object.
#[derive(Default)]
pub struct Listed {
    pub all: Vec<Quad>,
    by_subject: HashMap<NamedOrBlankNode, Vec<usize>>,
    by_object: HashMap<String, Vec<usize>>,
}

impl Listed {
    pub fn new(quads: &[Quad]) -> Self {
        let mut listed = Listed {
            all: quads.to_vec(),
            by_subject: HashMap::new(),
            by_object: HashMap::new(),
        };
        for (at, quad) in quads.iter().enumerate() {
            let of_subject = listed.by_subject.entry(quad.subject.clone());
            of_subject.or_default().push(at);
            let of_object = listed.by_object.entry(quad.object.to_string());
            of_object.or_default().push(at);
        }
        listed
    }
}

impl PatternSource for Listed {
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_> {
        let places = match (subject, object) {
            (Some(subject), _) => self.by_subject.get(&subject.into_owned()).cloned(),
            (None, Some(object)) => self.by_object.get(&object.to_string()).cloned(),
            (None, None) => Some((0..self.all.len()).collect()),
        };
        let quads = places
            .unwrap_or_default()
            .into_iter()
            .map(|at| &self.all[at]);
        let found = quads.filter(|quad| {
            predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
                && object.is_none_or(|object| quad.object.as_ref() == object)
                && graph.is_none_or(|graph| quad.graph_name.as_ref() == graph)
        });
        let found: Vec<_> = found.cloned().map(Ok).collect();
        Box::new(found.into_iter())
    }
}
