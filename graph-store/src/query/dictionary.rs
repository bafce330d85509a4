//! Terms of a store by number, and views of terms that lie in the memory of a store.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use oxrdf::{BlankNodeRef, LiteralRef, NamedNode, NamedNodeRef, Term, TermRef};

use crate::value::AsTerm;

/// Terms of one snapshot of a store, by number.
///
/// Selections and columns of a store that numbers its terms hold numbers, and share one dictionary that
/// tells what these stand for. Numbers are equal exactly for equal terms of the same dictionary; those of
/// two dictionaries cannot be compared.
pub trait Dictionary: Any + fmt::Debug + Send + Sync {
    /// Returns the term of a number that a result of the store holds.
    fn term(&self, number: u32) -> TermView<'_>;

    /// Returns whether a number stands for an IRI.
    fn is_iri(&self, number: u32) -> bool {
        matches!(self.term(number), TermView::Iri { .. })
    }

    /// Returns the number of an IRI; `None` if the snapshot does not have it.
    fn find_iri(&self, iri: &str) -> Option<u32>;

    /// Returns how many bytes the texts of some terms have in all.
    fn text_bytes(&self, numbers: &[u32]) -> usize {
        let lengths = numbers.iter().map(|number| self.term(*number).text_len());
        lengths.sum()
    }

    /// Compares the IRIs of two numbers by code point.
    fn compare_iris(&self, a: u32, b: u32) -> Ordering {
        self.compare_texts(a, b)
    }

    /// Compares the texts of two numbers by code point, whatever the numbers tell.
    fn compare_texts(&self, a: u32, b: u32) -> Ordering {
        self.term(a).text().cmp(self.term(b).text())
    }
}

/// Returns whether two dictionaries are the same one, so that their numbers can be compared.
#[must_use]
pub fn is_same_dictionary(a: &Arc<dyn Dictionary>, b: &Arc<dyn Dictionary>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b))
}

/// A term as it lies in the memory of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermView<'t> {
    /// An IRI in two parts, of which either may be empty.
    Iri {
        /// How it begins.
        prefix: &'t str,
        /// How it goes on.
        rest: &'t str,
    },
    /// The name of a blank node.
    Blank(&'t str),
    /// A literal.
    Literal(LiteralRef<'t>),
}

impl<'t> TermView<'t> {
    /// Returns the term as a whole; copies an IRI that lies in two parts.
    #[inline]
    #[must_use]
    pub fn whole(self) -> WholeTerm<'t> {
        match self {
            TermView::Iri { prefix: "", rest } => {
                WholeTerm::Borrowed(NamedNodeRef::new_unchecked(rest).into())
            }
            TermView::Iri { prefix, rest: "" } => {
                WholeTerm::Borrowed(NamedNodeRef::new_unchecked(prefix).into())
            }
            TermView::Iri { prefix, rest } => {
                WholeTerm::Joined(NamedNode::new_unchecked([prefix, rest].concat()))
            }
            TermView::Blank(name) => WholeTerm::Borrowed(BlankNodeRef::new_unchecked(name).into()),
            TermView::Literal(literal) => WholeTerm::Borrowed(literal.into()),
        }
    }

    /// Copies the term.
    #[must_use]
    pub fn into_owned(self) -> Term {
        match self.whole() {
            WholeTerm::Borrowed(term) => term.into_owned(),
            WholeTerm::Joined(iri) => iri.into(),
        }
    }

    /// Returns the IRI; `None` if the term is none.
    #[must_use]
    pub fn into_iri(self) -> Option<NamedNode> {
        match self {
            TermView::Iri { prefix, rest } => {
                Some(NamedNode::new_unchecked([prefix, rest].concat()))
            }
            _ => None,
        }
    }

    /// Returns the literal; `None` if the term is none.
    #[must_use]
    pub fn literal(self) -> Option<LiteralRef<'t>> {
        match self {
            TermView::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// Returns the number of bytes of the IRI, name or lexical form.
    #[inline]
    #[must_use]
    pub fn text_len(self) -> usize {
        match self {
            TermView::Iri { prefix, rest } => prefix.len() + rest.len(),
            TermView::Blank(name) => name.len(),
            TermView::Literal(literal) => literal.value().len(),
        }
    }

    /// Returns the bytes of the IRI, name or lexical form.
    fn text(self) -> impl Iterator<Item = u8> {
        let (first, second) = match self {
            TermView::Iri { prefix, rest } => (prefix, rest),
            TermView::Blank(name) => (name, ""),
            TermView::Literal(literal) => (literal.value(), ""),
        };
        first.bytes().chain(second.bytes())
    }
}

impl fmt::Display for TermView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.whole().as_term().fmt(f)
    }
}

impl<'t> From<TermRef<'t>> for TermView<'t> {
    fn from(term: TermRef<'t>) -> Self {
        match term {
            TermRef::NamedNode(node) => TermView::Iri {
                prefix: "",
                rest: node.as_str(),
            },
            TermRef::BlankNode(node) => TermView::Blank(node.as_str()),
            TermRef::Literal(literal) => TermView::Literal(literal),
            #[allow(
                unreachable_patterns,
                reason = "other kinds of terms are a feature of oxrdf"
            )]
            _ => unreachable!("triples are no terms of this data model"),
        }
    }
}

/// A term in one piece: borrowed where it lies in one, else an IRI that was joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeTerm<'t> {
    /// A term in the memory of the store.
    Borrowed(TermRef<'t>),
    /// A copy of an IRI.
    Joined(NamedNode),
}

impl AsTerm for WholeTerm<'_> {
    fn as_term(&self) -> TermRef<'_> {
        match self {
            WholeTerm::Borrowed(term) => *term,
            WholeTerm::Joined(iri) => iri.into(),
        }
    }
}
