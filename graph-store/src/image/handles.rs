//! The terms of a snapshot by number, as results refer to them.

use std::cmp::Ordering;

use oxrdf::NamedNodeRef;

use super::snapshot::Snapshot;
use crate::query::{Dictionary, TermView};

impl Snapshot {
    /// Returns whether a number is one of the image, whose numbers are in the order of values.
    #[inline]
    fn is_ordered(&self, number: u32) -> bool {
        number < self.image.terms.count
    }
}

impl Dictionary for Snapshot {
    #[inline]
    fn term(&self, number: u32) -> TermView<'_> {
        match self.is_ordered(number) {
            true => self.image.terms.shown(&self.image.bytes, number),
            false => self.delta.terms.get(number).as_ref().into(),
        }
    }

    #[inline]
    fn is_iri(&self, number: u32) -> bool {
        match self.is_ordered(number) {
            true => number < self.image.terms.iris,
            false => self.delta.terms.get(number).is_named_node(),
        }
    }

    fn find_iri(&self, iri: &str) -> Option<u32> {
        self.find(NamedNodeRef::new_unchecked(iri).into())
    }

    fn compare_iris(&self, a: u32, b: u32) -> Ordering {
        match self.is_ordered(a) && self.is_ordered(b) {
            true => a.cmp(&b),
            false => self.compare_texts(a, b),
        }
    }
}
