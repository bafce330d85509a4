//! Lists of terms: owned ones, or numbers of one dictionary.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use oxrdf::Term;

use super::dictionary::{Dictionary, TermView, is_same_dictionary};

/// A list of terms.
///
/// A store pushes terms; one that numbers its terms gives their numbers and a [`Dictionary`] instead.
/// Readers need not know which: they look at [`TermView`]s.
#[derive(Clone)]
pub struct Terms(Inner);

#[derive(Clone)]
enum Inner {
    Owned(Vec<Term>),
    Numbered {
        numbers: Vec<u32>,
        dictionary: Arc<dyn Dictionary>,
    },
}

impl Terms {
    /// Creates an empty list with room for some terms.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Terms(Inner::Owned(Vec::with_capacity(capacity)))
    }

    /// Creates a list of terms of a dictionary by their numbers.
    #[must_use]
    pub fn numbered(numbers: Vec<u32>, dictionary: Arc<dyn Dictionary>) -> Self {
        Terms(Inner::Numbered {
            numbers,
            dictionary,
        })
    }

    /// Returns the number of terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Returns whether there are no terms.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a term at the end.
    pub fn push(&mut self, term: Term) {
        self.owned().push(term);
    }

    /// Adds the terms of another list at the end.
    pub fn append(&mut self, other: Terms) {
        match (&mut self.0, other.0) {
            (
                Inner::Numbered {
                    numbers,
                    dictionary,
                },
                Inner::Numbered {
                    numbers: mut more,
                    dictionary: other,
                },
            ) if is_same_dictionary(dictionary, &other) => numbers.append(&mut more),
            (Inner::Owned(terms), other @ Inner::Numbered { .. }) if terms.is_empty() => {
                self.0 = other;
            }
            (_, other) => self.owned().append(&mut Terms(other).into_vec()),
        }
    }

    /// Returns all terms.
    #[must_use]
    pub fn as_slice(&self) -> TermSlice<'_> {
        TermSlice(match &self.0 {
            Inner::Owned(terms) => Slice::Owned(terms),
            Inner::Numbered {
                numbers,
                dictionary,
            } => Slice::Numbered(numbers, dictionary),
        })
    }

    /// Returns the terms of a range of positions.
    ///
    /// # Panics
    /// When the range is beyond the end.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> TermSlice<'_> {
        TermSlice(match &self.0 {
            Inner::Owned(terms) => Slice::Owned(&terms[range]),
            Inner::Numbered {
                numbers,
                dictionary,
            } => Slice::Numbered(&numbers[range], dictionary),
        })
    }

    /// Returns views of all terms.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = TermView<'_>> {
        self.as_slice().iter()
    }

    /// Converts the list to terms; copies those of a dictionary.
    #[must_use]
    pub fn into_vec(self) -> Vec<Term> {
        match self.0 {
            Inner::Owned(terms) => terms,
            Inner::Numbered { .. } => self.iter().map(TermView::into_owned).collect(),
        }
    }

    fn owned(&mut self) -> &mut Vec<Term> {
        if let Inner::Numbered { .. } = &self.0 {
            let terms = self.iter().map(TermView::into_owned).collect();
            self.0 = Inner::Owned(terms);
        }
        match &mut self.0 {
            Inner::Owned(terms) => terms,
            Inner::Numbered { .. } => unreachable!("numbers were just made terms"),
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        Terms::with_capacity(0)
    }
}

impl From<Vec<Term>> for Terms {
    fn from(terms: Vec<Term>) -> Self {
        Terms(Inner::Owned(terms))
    }
}

impl Extend<Term> for Terms {
    fn extend<T: IntoIterator<Item = Term>>(&mut self, terms: T) {
        self.owned().extend(terms);
    }
}

impl PartialEq for Terms {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// A part of a list of terms.
#[derive(Clone, Copy)]
pub struct TermSlice<'t>(Slice<'t>);

#[derive(Clone, Copy)]
enum Slice<'t> {
    Owned(&'t [Term]),
    Numbered(&'t [u32], &'t Arc<dyn Dictionary>),
}

impl<'t> TermSlice<'t> {
    /// Returns the number of terms.
    #[must_use]
    pub fn len(self) -> usize {
        match self.0 {
            Slice::Owned(terms) => terms.len(),
            Slice::Numbered(numbers, _) => numbers.len(),
        }
    }

    /// Returns whether there are no terms.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the term at a position.
    ///
    /// # Panics
    /// When the position is beyond the end.
    #[must_use]
    pub fn get(self, position: usize) -> TermView<'t> {
        match self.0 {
            Slice::Owned(terms) => terms[position].as_ref().into(),
            Slice::Numbered(numbers, dictionary) => dictionary.term(numbers[position]),
        }
    }

    /// Returns the only term; `None` if there are none or several.
    #[must_use]
    pub fn single(self) -> Option<TermView<'t>> {
        (self.len() == 1).then(|| self.get(0))
    }

    /// Returns how many bytes the texts of the terms have in all.
    #[must_use]
    pub fn text_bytes(self) -> usize {
        match self.0 {
            Slice::Owned(_) => self.iter().map(TermView::text_len).sum(),
            Slice::Numbered(numbers, dictionary) => dictionary.text_bytes(numbers),
        }
    }

    /// Returns views of the terms.
    pub fn iter(self) -> impl ExactSizeIterator<Item = TermView<'t>> {
        (0..self.len()).map(move |position| self.get(position))
    }

    /// Returns the terms, copied where they are numbers.
    #[must_use]
    pub fn to_terms(self) -> Cow<'t, [Term]> {
        match self.0 {
            Slice::Owned(terms) => Cow::Borrowed(terms),
            Slice::Numbered(..) => Cow::Owned(self.iter().map(TermView::into_owned).collect()),
        }
    }

    /// Returns the terms where they are owned; `None` for numbers.
    #[must_use]
    pub fn terms(self) -> Option<&'t [Term]> {
        match self.0 {
            Slice::Owned(terms) => Some(terms),
            Slice::Numbered(..) => None,
        }
    }

    /// Returns the numbers of the terms and what they stand for; `None` for owned terms.
    #[must_use]
    pub fn numbers(self) -> Option<(&'t [u32], &'t Arc<dyn Dictionary>)> {
        match self.0 {
            Slice::Owned(_) => None,
            Slice::Numbered(numbers, dictionary) => Some((numbers, dictionary)),
        }
    }
}

impl PartialEq for TermSlice<'_> {
    fn eq(&self, other: &Self) -> bool {
        if let (Some((a, of_a)), Some((b, of_b))) = (self.numbers(), other.numbers())
            && is_same_dictionary(of_a, of_b)
        {
            return a == b;
        }
        let whole = |slice: &Self| -> Vec<Term> { slice.to_terms().into_owned() };
        self.len() == other.len() && whole(self) == whole(other)
    }
}

impl fmt::Debug for TermSlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_terms().iter()).finish()
    }
}
