//! Terms that an image lacks.

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::{FixedState, RandomState};
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, Vector};
use oxrdf::{Term, TermRef};

use crate::evaluate::TermMatcher;
use crate::image::literal::{CLASSES, Sortable};
use crate::image::values::Table;
use crate::query::TermView;

/// Terms that are looked at one by one before they are put in order.
const UNORDERED: usize = 256;
/// Or this share of those that are in order.
const UNORDERED_SHARE: usize = 16;

/// Terms whose numbers follow those of an image.
#[derive(Clone)]
pub(in crate::image) struct NewTerms {
    /// The number of the first one.
    first: u32,
    terms: Vector<Arc<Term>>,
    /// Numbers by the hash of their term.
    numbers: GenericHashMap<u64, Numbers, FixedState, DefaultSharedPtr>,
    hasher: RandomState,
    /// What someone has put in order, shared with the terms before and after a change.
    ordered: Arc<Mutex<Arc<Ordered>>>,
}

/// The first of some terms, in the order of an image.
#[derive(Default)]
struct Ordered {
    /// The numbers of the terms, in their order.
    numbers: Vec<u32>,
    /// The term that came last. Whoever has it has all of the others, too, under the same numbers.
    last: Option<Arc<Term>>,
    iris: u32,
    nodes: u32,
    classes: [u32; CLASSES + 1],
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
            ordered: Arc::default(),
        }
    }

    /// Returns the numbers of terms that may satisfy a condition, and perhaps of a few others.
    pub(in crate::image) fn within(&self, condition: &TermMatcher<'_>) -> Vec<u32> {
        let ordered = self.ordered();
        let spans = ordered.table(self).spans(condition);
        let places = spans.maybe().iter().flatten();
        let behind = self.first + ordered.numbers.len() as u32..self.end();
        let mut found: Vec<u32> = places
            .map(|place| ordered.numbers[place as usize])
            .chain(behind)
            .collect();
        found.sort_unstable();
        found
    }

    /// Returns terms in order: all but a few of those that came last.
    fn ordered(&self) -> Arc<Ordered> {
        let shared = || self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = Arc::clone(&shared());
        if !known.is_of(self) {
            known = Arc::default();
        }
        let unordered = self.terms.len() - known.numbers.len();
        if unordered <= UNORDERED.max(known.numbers.len() / UNORDERED_SHARE) {
            return known;
        }
        // No one waits for it; who comes meanwhile does the same.
        let ordered = Arc::new(known.with_all(self));
        *shared() = Arc::clone(&ordered);
        ordered
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
        let mut numbers = self.numbers.get(&hash)?.as_slice().iter().copied();
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

impl Ordered {
    /// Returns whether the first of some terms are these.
    fn is_of(&self, terms: &NewTerms) -> bool {
        let Some(last) = &self.last else { return true };
        let place = self.numbers.len() - 1;
        let known = terms.terms.get(place);
        known.is_some_and(|known| Arc::ptr_eq(known, last))
    }

    /// Puts all terms in order, of which these are the first.
    fn with_all(&self, terms: &NewTerms) -> Self {
        let mut numbers = self.numbers.clone();
        numbers.extend(terms.first + numbers.len() as u32..terms.end());
        // Those that are in order already are taken as such.
        numbers.sort_by(|a, b| compare(terms.get(*a), terms.get(*b)));
        let places_below = |rank: usize| {
            let is_below = |number: &u32| rank_of(terms.get(*number)) < rank;
            numbers.partition_point(is_below) as u32
        };
        Ordered {
            iris: places_below(BLANK),
            nodes: places_below(LITERAL),
            classes: std::array::from_fn(|class| places_below(LITERAL + class)),
            last: terms.terms.last().cloned(),
            numbers,
        }
    }

    fn table<'t>(&'t self, terms: &'t NewTerms) -> Table<impl Fn(u32) -> TermView<'t>> {
        Table {
            iris: self.iris,
            nodes: self.nodes,
            count: self.numbers.len() as u32,
            classes: self.classes,
            get: |place: u32| terms.get(self.numbers[place as usize]).as_ref().into(),
        }
    }
}

/// The rank of blank nodes.
const BLANK: usize = 1;
/// The rank of the first class of literals.
const LITERAL: usize = 2;

/// Returns what decides about the order of terms of different kinds.
fn rank_of(term: &Term) -> usize {
    match term.as_ref() {
        TermRef::NamedNode(_) => 0,
        TermRef::Literal(literal) => LITERAL + Sortable::new(literal).class() as usize,
        _ => BLANK,
    }
}

/// Compares terms as an image does; blank nodes are equal.
fn compare(a: &Term, b: &Term) -> Ordering {
    match (a.as_ref(), b.as_ref()) {
        (TermRef::NamedNode(a), TermRef::NamedNode(b)) => a.as_str().cmp(b.as_str()),
        (TermRef::Literal(a), TermRef::Literal(b)) => Sortable::new(a).cmp(&Sortable::new(b)),
        _ => rank_of(a).cmp(&rank_of(b)),
    }
}
