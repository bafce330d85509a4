//! Stores over the same data: as they were loaded, with changes on top, merged, and opened again.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{FolderOptions, ImageStore};
use graph_store::pattern::PatternStore;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Quad, Term};

use crate::back_end::listed::Listed;
use crate::back_end::{self, BackEnd, written};
use crate::images;

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

    /// Returns a store with these quads, and the quads as it holds them: endpoints of Oxigraph keep numbers by value.
    pub(super) fn load(&self, quads: &[Quad]) -> (Arc<dyn GraphStore>, Vec<Quad>) {
        if let Some(back_end) = &self.back_end {
            let kept = quads.iter().filter(|quad| self.can_keep(quad));
            back_end.load(&kept.cloned().collect::<Vec<_>>());
            return (back_end.graph_store(), back_end.quads());
        }
        let store: Arc<dyn GraphStore> = match self.kind {
            Kind::Image => Arc::new(images::of(quads)),
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

fn changed(quads: &[Quad]) -> ImageStore {
    let store = images::empty();
    let put = |quads: &[Quad]| {
        store
            .replace_data(images::builder(quads))
            .expect("an image")
    };
    written::load(&store, quads, put, || ());
    store
}

fn reopened(quads: &[Quad]) -> ImageStore {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FolderOptions::default();
    let store = ImageStore::create(&folder, images::builder(&[]), &options);
    let store = store.expect("a store in a folder");
    let put = |quads: &[Quad]| {
        store
            .replace_data(images::builder(quads))
            .expect("an image")
    };
    written::load(&store, quads, put, || store.merge().expect("an image"));
    drop(store);
    // All that is read of it is in memory once it is open.
    ImageStore::open(&folder, &options).expect("the folder is opened again")
}
