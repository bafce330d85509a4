//! Stores over the same data: as they were loaded, with changes on top, merged, and opened again.

use std::collections::HashMap;
use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::pattern::{PatternSource, PatternStore, Quads};
use oxrdf::vocab::xsd;
use oxrdf::{
    GraphNameRef, Literal, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Quad, Term, TermRef,
};

use crate::back_end::{self, BackEnd, written};

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An image in memory.
    Image,
    /// The same with changes on top.
    Changed,
    /// The same after a merge of the changes.
    Merged,
    /// A store in a folder, with changes on top of a merge, opened again.
    Reopened,
    /// Any quads found by patterns.
    Pattern,
    /// A store that other tests run over too.
    BackEnd(back_end::Kind),
}

/// A store that data are put into.
pub(super) struct Subject {
    pub(super) kind: Kind,
    back_end: Option<BackEnd>,
}

impl Subject {
    pub(super) fn new(kind: Kind) -> Self {
        let back_end = match kind {
            Kind::BackEnd(kind) => Some(BackEnd::new(kind)),
            _ => None,
        };
        Subject { kind, back_end }
    }

    /// Returns a store with these quads, and the quads as it holds them: Oxigraph normalizes numbers.
    pub(super) fn load(&self, quads: &[Quad]) -> (Arc<dyn GraphStore>, Vec<Quad>) {
        if let Some(back_end) = &self.back_end {
            let kept = quads.iter().filter(|quad| self.can_keep(quad));
            back_end.load(&kept.cloned().collect::<Vec<_>>());
            return (back_end.graph_store(), back_end.quads());
        }
        let store: Arc<dyn GraphStore> = match self.kind {
            Kind::Image => Arc::new(image(quads)),
            Kind::Changed => Arc::new(changed(quads)),
            Kind::Merged => {
                let store = changed(quads);
                store.merge().expect("an image");
                Arc::new(store)
            }
            Kind::Reopened => Arc::new(reopened(quads)),
            Kind::Pattern | Kind::BackEnd(_) => Arc::new(PatternStore::new(Listed::new(quads))),
        };
        (store, quads.to_vec())
    }

    /// Returns whether a store can remove a quad again.
    ///
    /// Oxigraph takes the ill-formed number `-NaN` for a number that is listed as `NaN` and is another term than
    /// that, as `docs/stores.md` says.
    fn can_keep(&self, quad: &Quad) -> bool {
        let is_server = matches!(
            self.kind,
            Kind::BackEnd(back_end::Kind::Rdf4j { .. } | back_end::Kind::Fuseki)
        );
        let of_sign = |literal: &Literal| {
            literal.value() == "-NaN" && [xsd::FLOAT, xsd::DOUBLE].contains(&literal.datatype())
        };
        is_server || !matches!(&quad.object, Term::Literal(literal) if of_sign(literal))
    }
}

fn builder(quads: &[Quad]) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for quad in quads {
        builder.add(quad.as_ref()).expect("room for a few quads");
    }
    builder
}

fn image(quads: &[Quad]) -> ImageStore {
    ImageStore::new(builder(quads).build().expect("an image"))
}

fn changed(quads: &[Quad]) -> ImageStore {
    let store = image(&[]);
    let put = |quads: &[Quad]| store.replace_data(builder(quads)).expect("an image");
    written::load(&store, quads, put, || ());
    store
}

fn reopened(quads: &[Quad]) -> ImageStore {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FolderOptions::default();
    let store = ImageStore::create(&folder, ImageBuilder::new(), &options);
    let store = store.expect("a store in a folder");
    let put = |quads: &[Quad]| store.replace_data(builder(quads)).expect("an image");
    written::load(&store, quads, put, || store.merge().expect("an image"));
    drop(store);
    // All that is read of it is in memory once it is open.
    ImageStore::open(&folder, &options).expect("the folder is opened again")
}

/// Quads in any order, by subject and by object.
struct Listed {
    all: Vec<Quad>,
    by_subject: HashMap<NamedOrBlankNode, Vec<usize>>,
    by_object: HashMap<String, Vec<usize>>,
}

impl Listed {
    fn new(quads: &[Quad]) -> Self {
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
