//! The terms of an image by number, as results refer to them.

use std::cmp::Ordering;

use super::Image;
use crate::query::{Dictionary, TermView};

impl Dictionary for Image {
    fn term(&self, number: u32) -> TermView<'_> {
        self.terms.shown(&self.bytes, number)
    }

    fn is_iri(&self, number: u32) -> bool {
        number < self.terms.iris
    }

    fn find_iri(&self, iri: &str) -> Option<u32> {
        self.terms.find_iri(&self.bytes, iri)
    }

    fn compare_iris(&self, a: u32, b: u32) -> Ordering {
        // IRIs come in their order.
        a.cmp(&b)
    }
}
