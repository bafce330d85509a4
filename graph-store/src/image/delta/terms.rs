//! Terms that an image lacks.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::{FixedState, RandomState};
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, Vector};
use oxrdf::{Term, TermRef};

/// Terms whose numbers follow those of an image.
#[derive(Clone)]
pub(in crate::image) struct NewTerms {
    /// The number of the first one.
    first: u32,
    terms: Vector<Arc<Term>>,
    /// Numbers by the hash of their term.
    numbers: GenericHashMap<u64, Numbers, FixedState, DefaultSharedPtr>,
    hasher: RandomState,
}

/// The numbers of terms with the same hash.
#[derive(Clone)]
enum Numbers {
    One(u32),
    Several(Arc<[u32]>),
}

impl Numbers {
    fn as_slice(&self) -> &[u32] {
        match self {
            Numbers::One(number) => std::slice::from_ref(number),
            Numbers::Several(numbers) => numbers,
        }
    }
}

impl NewTerms {
    pub(super) fn new(first: u32) -> Self {
        NewTerms {
            first,
            terms: Vector::new(),
            numbers: GenericHashMap::default(),
            hasher: RandomState::default(),
        }
    }

    /// Returns the number behind the last term.
    pub(in crate::image) fn end(&self) -> u32 {
        // Bounded where terms are added.
        self.first + self.terms.len() as u32
    }

    /// Returns a term by its number, which must be one of these.
    pub(in crate::image) fn get(&self, number: u32) -> &Term {
        let term = self.terms.get((number - self.first) as usize);
        term.expect("a number that was given to a term")
    }

    /// Returns the number of a term.
    pub(in crate::image) fn find(&self, term: TermRef<'_>) -> Option<u32> {
        if self.terms.is_empty() {
            return None;
        }
        self.find_hashed(self.hasher.hash_one(term), term)
    }

    fn find_hashed(&self, hash: u64, term: TermRef<'_>) -> Option<u32> {
        let numbers = self.numbers.get(&hash)?.as_slice();
        let mut numbers = numbers.iter().copied();
        numbers.find(|number| Term::as_ref(self.get(*number)) == term)
    }

    /// Returns the number of a term, which it gets unless it has one; `None` when there are no numbers left.
    pub(super) fn insert(&mut self, term: TermRef<'_>, limit: u32) -> Option<u32> {
        let hash = self.hasher.hash_one(term);
        if let Some(number) = self.find_hashed(hash, term) {
            return Some(number);
        }
        let number = self.end();
        if number >= limit {
            return None;
        }
        self.terms.push_back(Arc::new(term.into_owned()));
        let numbers = match self.numbers.get(&hash) {
            None => Numbers::One(number),
            Some(known) => {
                Numbers::Several(known.as_slice().iter().copied().chain([number]).collect())
            }
        };
        self.numbers.insert(hash, numbers);
        Some(number)
    }
}
