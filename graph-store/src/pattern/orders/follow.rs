//! Lets kept orders follow the data: only objects whose membership or keys may have changed are placed again.
//!
//! Which these are is found from the triples that changed between two states, by walking back to the ordered objects in
//! the state that is wanted. Its triples suffice: take an object whose key differs, and the first step on the way to the key
//! where some triple that is read differs. Up to there both states have the same triples, so the way back exists in
//! both.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::Range;

use foldhash::{HashMap, HashSet};
use oxrdf::NamedNode;

use super::list::{Inserted, OrderedList, Placed};
use super::spec::{Input, OrderSpec};
use crate::error::StoreError;
use crate::pattern::ready::{ReadyStep, ReadyTest};
use crate::pattern::source::{Object, QuadSource};
use crate::pattern::walk::Walker;
use crate::query::Step;
use crate::store::compare_keys;
use crate::store::order::keys;
use crate::store::ready_order::ReadyOrder;
use crate::value::SortValue;

/// Binary searches share the keys that they read in so many of their first steps.
const SHARED_STEPS: u32 = 12;

/// The changes of data since a beginning that many states of the data have in common, each of which has those of the state
/// before it first.
pub(crate) trait Changes<N> {
    /// Returns a number that differs between states with different data, and grows with each change.
    fn moment(&self) -> u64;

    /// Returns the number of terms; they are numbered in the order in which they came.
    fn terms(&self) -> u32;

    /// Returns whether an IRI is none of the first so many terms.
    fn is_after(&self, node: &N, terms: u32) -> bool;

    /// Returns the handle of an IRI, if the data have it.
    fn find(&self, iri: &NamedNode) -> Option<N>;

    /// Returns how many triples of a property were changed, as often as they were.
    fn count(&self, property: &NamedNode) -> usize;

    /// Shows subject and object of some of these, as far as they are IRIs.
    fn each(&self, property: &NamedNode, range: Range<usize>, take: &mut TakeChange<'_, N>);
}

/// Takes subject and object of a triple.
pub(crate) type TakeChange<'t, N> = dyn FnMut(Option<&N>, Option<&N>) + 't;

/// Changes that lie between two states of the data.
pub(super) struct Difference<'c, N> {
    /// Those of the later state.
    pub(super) changes: &'c dyn Changes<N>,
    /// How many changes of each input both states have.
    pub(super) from: &'c [usize],
    /// How many the later state has.
    pub(super) to: &'c [usize],
}

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the objects of an order whose membership or keys may differ between two states, of which this is one; `None` if
    /// there are more than `most`.
    pub(super) fn touched(
        &self,
        spec: &OrderSpec,
        difference: &Difference<'_, S::Node>,
        most: usize,
    ) -> Result<Option<HashSet<S::Node>>, StoreError> {
        let tests = self.ready_tests(spec);
        let mut touched = HashSet::default();
        let ends = difference.from.iter().zip(difference.to);
        for (input, (from, to)) in spec.inputs.iter().zip(ends) {
            if from >= to {
                continue;
            }
            self.check()?;
            let mut nodes = changed_at(input, difference.changes, *from..*to, most);
            for step in input.way.iter().rev() {
                if nodes.len() > most {
                    return Ok(None);
                }
                nodes = self.before_step(&nodes, step, most)?;
            }
            for node in nodes {
                // Whether it is a member would be read from other triples.
                if input.is_of_members || self.passes(&node, &tests)? {
                    touched.insert(node);
                }
            }
            if touched.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(touched))
    }

    /// Returns the objects from which a step leads to some others in some graph; `most` and one more if there are more.
    fn before_step(
        &self,
        nodes: &HashSet<S::Node>,
        step: &Step,
        most: usize,
    ) -> Result<HashSet<S::Node>, StoreError> {
        let ReadyStep { property, inverse } = self.step(step);
        let mut before = HashSet::default();
        for node in nodes.iter().filter(|node| self.knows(node)) {
            if inverse {
                let found = self.source.objects(node, &property, None);
                self.add_nodes(found, &mut before, most)?;
            } else {
                let found = self.source.subjects(&property, Object::Node(node), None);
                self.add_nodes(found, &mut before, most)?;
            }
            if before.len() > most {
                break;
            }
        }
        Ok(before)
    }

    /// Adds the IRIs among terms, up to `most` and one more.
    fn add_nodes(
        &self,
        found: impl Iterator<Item = Result<S::Term, StoreError>>,
        nodes: &mut HashSet<S::Node>,
        most: usize,
    ) -> Result<(), StoreError> {
        for term in found {
            self.tick()?;
            if let Some(node) = self.source.as_node(&term?) {
                nodes.insert(node.clone());
            }
            if nodes.len() > most {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether the data have an IRI that an earlier or a later state has.
    fn knows(&self, node: &S::Node) -> bool {
        let orders = self.source.orders();
        orders.is_none_or(|(_, own)| !own.is_after(node, own.terms()))
    }

    /// Returns a list with some objects where they belong in these data.
    pub(super) fn placed_again(
        &self,
        spec: &OrderSpec,
        list: &OrderedList<S::Node>,
        touched: &HashSet<S::Node>,
    ) -> Result<OrderedList<S::Node>, StoreError> {
        let (own, terms) = (self.source.orders().map(|(_, own)| own), list.terms());
        let is_old = |node: &&S::Node| own.is_none_or(|own| !own.is_after(node, terms));
        let old = touched.iter().filter(is_old).cloned().collect();
        let remaining = list.without(touched, &old);
        let tests = self.ready_tests(spec);
        let order = ReadyOrder::new(self, &spec.order);
        let placing = Placing {
            walker: self,
            order: &order,
            list: &remaining,
            known: RefCell::default(),
        };
        let mut placed = Vec::new();
        for node in touched {
            if self.passes(node, &tests)? {
                placed.push(placing.place(node)?);
            }
        }
        placed.sort_by(|(a, of_a), (b, of_b)| {
            let place = |placed: &Placed<S::Node>| (placed.inserted.before, placed.place);
            let by_place = place(a).cmp(&place(b));
            by_place.then_with(|| {
                let (a, b) = (&a.inserted.node, &b.inserted.node);
                placing.compare((of_a, a), (of_b, b))
            })
        });
        self.settle()?;
        let placed = placed.into_iter().map(|(placed, _)| placed).collect();
        let list = remaining.with(placed);
        Ok(match own.filter(|_| list.is_far_from_base()) {
            Some(own) => list.rebased(own.terms()),
            None => list,
        })
    }

    /// Looks the tests up that all objects of an order pass.
    fn ready_tests<'q>(&self, spec: &'q OrderSpec) -> Vec<ReadyTest<'q, S>> {
        let tests = spec.tests();
        tests
            .map(|test| ReadyTest::new(&self.source, test))
            .collect()
    }

    /// Returns whether these data have an object and it passes some tests.
    fn passes(&self, node: &S::Node, tests: &[ReadyTest<'_, S>]) -> Result<bool, StoreError> {
        self.tick()?;
        if !self.knows(node) {
            return Ok(false);
        }
        for test in tests {
            if !self.is_instance(node, test)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns how many of so many places are before something, where each one answers for itself.
    pub(super) fn places_before(
        &self,
        places: Range<usize>,
        mut is_before: impl FnMut(usize, u32) -> Result<bool, StoreError>,
    ) -> Result<usize, StoreError> {
        let Range {
            start: mut from,
            end: mut to,
        } = places;
        let mut steps = 0;
        while from < to {
            let middle = from + (to - from) / 2;
            self.tick()?;
            if is_before(middle, steps)? {
                from = middle + 1;
            } else {
                to = middle;
            }
            steps += 1;
        }
        Ok(from)
    }
}

/// Returns where changed triples of an input are read; `most` and one more if there are more.
fn changed_at<N: Clone + Eq + Hash>(
    input: &Input,
    changes: &dyn Changes<N>,
    range: Range<usize>,
    most: usize,
) -> HashSet<N> {
    let types = input.types.as_ref().map(|types| {
        let known = types.iter().filter_map(|ty| changes.find(ty));
        known.collect::<HashSet<N>>()
    });
    let mut nodes = HashSet::default();
    changes.each(&input.property, range, &mut |subject, object| {
        let is_read = match &types {
            Some(types) => object.is_some_and(|object| types.contains(object)),
            None => true,
        };
        let end = if input.inverse { object } else { subject };
        if is_read && nodes.len() <= most {
            nodes.extend(end.cloned());
        }
    });
    nodes
}

/// Finds the places of objects in a list that lacks them.
struct Placing<'p, 'q, 'w, S: QuadSource> {
    walker: &'p Walker<'w, S>,
    order: &'p ReadyOrder<'q, Walker<'w, S>>,
    list: &'p OrderedList<S::Node>,
    /// Keys of remaining objects of the base, by their positions among these.
    known: RefCell<HashMap<usize, Vec<SortValue>>>,
}

/// The keys of an object, and the object.
type Keyed<'k, N> = (&'k [SortValue], &'k N);

impl<S: QuadSource> Placing<'_, '_, '_, S> {
    fn keys(&self, node: &S::Node) -> Result<Vec<SortValue>, StoreError> {
        keys(self.walker, node, self.order)
    }

    fn compare(&self, (a, of_a): Keyed<'_, S::Node>, (b, of_b): Keyed<'_, S::Node>) -> Ordering {
        let by_keys = compare_keys(self.order.keys, a, b);
        by_keys.then_with(|| self.walker.source.compare(of_a, of_b))
    }

    /// Returns the place of an object, and its keys.
    fn place(&self, node: &S::Node) -> Result<(Placed<S::Node>, Vec<SortValue>), StoreError> {
        let keys = self.keys(node)?;
        let wanted = (keys.as_slice(), node);
        let before = self
            .walker
            .places_before(0..self.list.remaining(), |at, steps| {
                self.is_remaining_before(at, steps, wanted)
            })?;
        let inserted = self.list.inserted();
        let start = inserted.partition_point(|known| known.before < before);
        let end = inserted.partition_point(|known| known.before <= before);
        let place = self.walker.places_before(start..end, |at, _| {
            let known = &inserted[at].node;
            let of_known = self.keys(known)?;
            Ok(self.compare((&of_known, known), wanted).is_lt())
        })?;
        let inserted = Inserted {
            node: node.clone(),
            before,
        };
        Ok((Placed { inserted, place }, keys))
    }

    /// Returns whether a remaining object of the base comes before another one.
    fn is_remaining_before(
        &self,
        at: usize,
        steps: u32,
        wanted: Keyed<'_, S::Node>,
    ) -> Result<bool, StoreError> {
        let Some(node) = self.list.remaining_at(at) else {
            return Ok(false);
        };
        if let Some(known) = self.known.borrow().get(&at) {
            return Ok(self.compare((known, node), wanted).is_lt());
        }
        let keys = self.keys(node)?;
        let is_before = self.compare((&keys, node), wanted).is_lt();
        if steps < SHARED_STEPS {
            self.known.borrow_mut().insert(at, keys);
        }
        Ok(is_before)
    }
}
