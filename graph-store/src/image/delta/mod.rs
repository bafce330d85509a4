//! Changes that lie over an image: triples whose graphs differ from those that the image gives them.
//!
//! Terms that the image lacks have numbers behind those of the image, in the order in which they came, not
//! in that of their values. All maps share what they have in common with those of earlier changes, so a
//! change costs what it changes, and a reader keeps what it began with.

mod apply;
mod graphs;
mod terms;
mod touched;
mod triples;

use std::sync::Arc;

use foldhash::fast::FixedState;
use graphs::GraphLists;
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;
use terms::NewTerms;
pub(super) use triples::{Changes, Found, merged};

/// The changes of each property, by the number of its IRI.
type ByProperty = GenericHashMap<u32, Arc<Changes>, FixedState, DefaultSharedPtr>;

/// Changes that lie over an image.
#[derive(Clone)]
pub(super) struct Delta {
    pub(super) terms: NewTerms,
    pub(super) graphs: GraphLists,
    pub(super) properties: ByProperty,
    /// How many triples there are more than in the image.
    pub(super) triples: i64,
    /// How many quads there are more than in the image.
    pub(super) quads: i64,
    /// Some quad was added to another graph than the default one.
    pub(super) has_named_graphs: bool,
    /// Quads that were added or removed so far, however often.
    pub(super) size: u64,
}

impl Delta {
    /// Creates changes over an image with so many terms that change nothing.
    pub(super) fn new(terms: u32) -> Self {
        Delta {
            terms: NewTerms::new(terms),
            graphs: GraphLists::default(),
            properties: ByProperty::default(),
            triples: 0,
            quads: 0,
            has_named_graphs: false,
            size: 0,
        }
    }
}
