//! Orders that are kept between requests, so that a page costs the page wherever it lies.
//!
//! Kept are the instances of types in an order of fields, which the schema bounds; never what a client
//! filters. All states of the data that go on from each other share the orders. A request whose data changed since an order
//! was used last places the changed objects again, and leaves the order to later requests. Where many have changed, whoever
//! wrote them has done so.

mod follow;
mod list;
mod spec;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use follow::Changes;
use follow::Difference;
#[cfg(feature = "image")]
pub(crate) use follow::TakeChange;
pub(crate) use list::OrderedList;
pub(crate) use spec::OrderSpec;
use spec::can_be_kept;

use super::source::QuadSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Page, Position, Selection, Take, Window};
use crate::store::order::{KeyCache, keys, sorted_page};
use crate::store::ready_order::ReadyOrder;
use crate::store::{Windowed, compare_keys};

/// Bytes that the kept orders of one store may take, unless a store says otherwise.
#[cfg(feature = "image")]
pub(crate) const KEPT_BYTES: usize = 64 << 20;

/// How often writers let an order follow that no one asks for.
#[cfg(feature = "image")]
const UNASKED: u32 = if cfg!(test) { 8 } else { 1_024 };

/// Orders of the objects of data, shared by states of the data that go on from each other.
#[derive(Clone)]
pub(crate) struct KeptOrders<N> {
    /// Maximum number of bytes of all lists; the same for all data of a store.
    bound: Arc<AtomicUsize>,
    shared: Arc<Shared<N>>,
}

struct Shared<N> {
    known: Mutex<Known<N>>,
    /// There is an order that was not there when orders were last saved.
    is_unsaved: AtomicBool,
}

struct Known<N> {
    /// The most recently used last.
    kept: Vec<Kept<N>>,
    /// Orders that were saved and not asked for since.
    saved: Vec<SavedOrder<N>>,
}

/// An order as it was saved: of the data that all changes were made to.
pub(crate) struct SavedOrder<N> {
    /// The [text](OrderSpec::text) of its specification.
    pub(crate) spec: String,
    pub(crate) nodes: Arc<[N]>,
    /// How many terms the data had.
    pub(crate) terms: u32,
}

/// An order in two states of the data.
pub(crate) struct Kept<N> {
    pub(crate) spec: Arc<OrderSpec>,
    /// The first state that has the base of the last one; states in between can be made from it.
    first: Version<N>,
    last: Version<N>,
    /// How often writers have let it follow since it was asked for.
    unasked: u32,
}

/// An order in one state of the data.
struct Version<N> {
    /// The [moment](Changes::moment) of the state.
    moment: u64,
    /// How many changes of each input the state has.
    counts: Arc<[usize]>,
    list: Arc<OrderedList<N>>,
}

impl<N> Clone for Kept<N> {
    fn clone(&self) -> Self {
        Kept {
            spec: Arc::clone(&self.spec),
            first: self.first.clone(),
            last: self.last.clone(),
            unasked: self.unasked,
        }
    }
}

impl<N> Clone for Version<N> {
    fn clone(&self) -> Self {
        Version {
            moment: self.moment,
            counts: Arc::clone(&self.counts),
            list: Arc::clone(&self.list),
        }
    }
}

impl<N> Clone for SavedOrder<N> {
    fn clone(&self) -> Self {
        SavedOrder {
            spec: self.spec.clone(),
            nodes: Arc::clone(&self.nodes),
            terms: self.terms,
        }
    }
}

impl<N> Version<N> {
    /// Creates the version of an order whose objects were just found.
    fn new(spec: &OrderSpec, nodes: Arc<[N]>, changes: &dyn Changes<N>) -> Self {
        Version {
            moment: changes.moment(),
            counts: counts(spec, changes),
            list: Arc::new(OrderedList::new(nodes, changes.terms())),
        }
    }
}

/// Returns how many changes of each input there are.
fn counts<N>(spec: &OrderSpec, changes: &dyn Changes<N>) -> Arc<[usize]> {
    let inputs = spec.inputs.iter();
    inputs.map(|input| changes.count(&input.property)).collect()
}

impl<N> Kept<N> {
    fn bytes(&self) -> usize {
        self.last.list.bytes()
    }

    /// Returns the versions, those first that later states differ less from.
    fn versions(&self) -> [&Version<N>; 2] {
        [&self.last, &self.first]
    }
}

impl<N> Known<N> {
    fn bytes(&self) -> usize {
        let kept: usize = self.kept.iter().map(Kept::bytes).sum();
        let saved = self.saved.iter();
        kept + saved
            .map(|saved| size_of_val::<[N]>(&saved.nodes))
            .sum::<usize>()
    }

    /// Drops what was not used for the longest time until the rest fits.
    fn fit(&mut self, room: usize) {
        let mut taken = self.bytes();
        while taken > room && !self.saved.is_empty() {
            taken -= size_of_val::<[N]>(&self.saved.remove(0).nodes);
        }
        while taken > room && !self.kept.is_empty() {
            taken -= self.kept.remove(0).bytes();
        }
    }

    /// Takes an order that was saved.
    fn take_saved(&mut self, spec: &OrderSpec) -> Option<SavedOrder<N>> {
        if self.saved.is_empty() {
            return None;
        }
        let text = spec.text();
        let found = self.saved.iter().position(|saved| saved.spec == text)?;
        Some(self.saved.remove(found))
    }
}

#[cfg(feature = "image")]
impl<N> KeptOrders<N> {
    /// Creates a holder of orders that takes up to some bytes.
    pub(crate) fn new(bound: usize) -> Self {
        KeptOrders::within(Arc::new(AtomicUsize::new(bound)))
    }

    fn within(bound: Arc<AtomicUsize>) -> Self {
        let known = Known {
            kept: Vec::new(),
            saved: Vec::new(),
        };
        KeptOrders {
            bound,
            shared: Arc::new(Shared {
                known: Mutex::new(known),
                is_unsaved: AtomicBool::new(false),
            }),
        }
    }

    /// Returns a holder without orders, for data in place of these.
    pub(crate) fn successor(&self) -> Self {
        KeptOrders::within(Arc::clone(&self.bound))
    }

    /// Sets how many bytes orders may take from now on.
    pub(crate) fn set_bound(&self, bytes: usize) {
        self.bound.store(bytes, Ordering::Relaxed);
        self.known().fit(bytes);
    }

    /// Returns all orders, those last that were used last.
    pub(crate) fn all(&self) -> Vec<Kept<N>> {
        self.known().kept.clone()
    }

    /// Returns the orders that writers shall let follow: those that someone has asked for not long ago.
    pub(crate) fn asked(&self) -> Vec<Kept<N>> {
        let mut known = self.known();
        let asked = known.kept.iter_mut().filter(|kept| kept.unasked < UNASKED);
        let noted = asked.map(|kept| {
            kept.unasked += 1;
            kept.clone()
        });
        noted.collect()
    }

    /// Returns the orders that were saved and not asked for since.
    pub(crate) fn unused(&self) -> Vec<SavedOrder<N>> {
        self.known().saved.clone()
    }

    /// Adds orders that were saved.
    pub(crate) fn add_saved(&self, saved: Vec<SavedOrder<N>>) {
        let mut known = self.known();
        known.saved = saved;
        known.fit(self.bound());
    }

    /// Adds an order of data.
    pub(crate) fn add(&self, spec: &Arc<OrderSpec>, nodes: Arc<[N]>, changes: &dyn Changes<N>) {
        self.keep(spec, Version::new(spec, nodes, changes));
    }

    /// Drops an order.
    pub(crate) fn forget(&self, spec: &OrderSpec) {
        self.known().kept.retain(|kept| !kept.spec.is(spec));
    }

    /// Returns whether there are orders that were never saved, and notes that they are now.
    pub(crate) fn begin_save(&self) -> bool {
        self.shared.is_unsaved.swap(false, Ordering::AcqRel)
    }
}

impl<N> KeptOrders<N> {
    fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    fn known(&self) -> MutexGuard<'_, Known<N>> {
        let known = self.shared.known.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the order of a selection.
    fn find(&self, selection: &Selection) -> Option<Kept<N>> {
        let mut known = self.known();
        let found = known
            .kept
            .iter()
            .position(|kept| kept.spec.is_of(selection));
        let kept = match found {
            Some(found) => Kept {
                unasked: 0,
                ..known.kept.remove(found)
            },
            None if known.saved.is_empty() => return None,
            None => {
                let spec = Arc::new(OrderSpec::of(selection));
                let saved = known.take_saved(&spec)?;
                let version = Version {
                    moment: 0,
                    counts: spec.inputs.iter().map(|_| 0).collect(),
                    list: Arc::new(OrderedList::new(saved.nodes, saved.terms)),
                };
                Kept {
                    spec,
                    first: version.clone(),
                    last: version,
                    unasked: 0,
                }
            }
        };
        known.kept.push(kept.clone());
        Some(kept)
    }

    /// Returns an order of the objects of a selection.
    #[cfg(feature = "image")]
    fn find_objects(&self, selection: &Selection) -> Option<Kept<N>> {
        let known = self.known();
        let mut kept = known.kept.iter().rev();
        let found = kept.find(|kept| kept.spec.has_objects_of(selection));
        found.cloned()
    }

    /// Keeps an order if there is room for it, in place of those that were not used for the longest time. That of a later state
    /// stays.
    fn keep(&self, spec: &Arc<OrderSpec>, version: Version<N>) {
        let mut known = self.known();
        let found = known.kept.iter().position(|kept| kept.spec.is(spec));
        let mut kept = Kept {
            spec: Arc::clone(spec),
            first: version.clone(),
            last: version,
            unasked: 0,
        };
        let Some(found) = found else {
            self.shared.is_unsaved.store(true, Ordering::Release);
            if let Some(room) = self.bound().checked_sub(kept.bytes()) {
                known.fit(room);
                known.kept.push(kept);
            }
            return;
        };
        let earlier = &known.kept[found];
        if earlier.last.moment > kept.last.moment {
            return;
        }
        if earlier.first.list.shares_base_with(&kept.last.list) {
            kept.first = earlier.first.clone();
        }
        kept.unasked = earlier.unasked;
        known.kept[found] = kept;
        known.fit(self.bound());
    }
}

impl<N> fmt::Debug for KeptOrders<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptOrders")
            .field("bound", &self.bound())
            .finish_non_exhaustive()
    }
}

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the objects of a selection in its order, if orders like that are kept.
    pub(super) fn kept(
        &self,
        selection: &Selection,
    ) -> Result<Option<Arc<OrderedList<S::Node>>>, StoreError> {
        let Some((orders, changes)) = self.source.orders() else {
            return Ok(None);
        };
        if orders.bound() == 0 || !can_be_kept(selection) {
            return Ok(None);
        }
        let found = orders.find(selection);
        if let Some(kept) = &found
            && let Some(list) = self.followed(kept)?
        {
            self.context.count_call();
            self.check()?;
            return Ok(Some(list));
        }
        let spec = found
            .map(|kept| kept.spec)
            .unwrap_or_else(|| Arc::new(OrderSpec::of(selection)));
        let nodes = self.in_order(selection)?.into();
        let version = Version::new(&spec, nodes, changes);
        let list = Arc::clone(&version.list);
        orders.keep(&spec, version);
        Ok(Some(list))
    }

    /// Returns the objects of a kept order in these data; `None` where sorting them costs less, or the order is one of later
    /// data only.
    pub(crate) fn followed(
        &self,
        kept: &Kept<S::Node>,
    ) -> Result<Option<Arc<OrderedList<S::Node>>>, StoreError> {
        let Some((orders, changes)) = self.source.orders() else {
            return Ok(None);
        };
        let moment = changes.moment();
        if kept.last.moment == moment {
            return Ok(Some(Arc::clone(&kept.last.list)));
        }
        let counts = counts(&kept.spec, changes);
        let mut versions = kept.versions().into_iter();
        // What changed since, or before, does not concern the order.
        if let Some(same) = versions.find(|version| version.counts == counts) {
            return Ok(Some(Arc::clone(&same.list)));
        }
        let mut versions = kept.versions().into_iter();
        let Some(from) = versions.find(|version| version.moment <= moment) else {
            return Ok(None);
        };
        let difference = Difference {
            changes,
            from: &from.counts,
            to: &counts,
        };
        let Some(list) = self.changed_list(&kept.spec, &from.list, &difference)? else {
            return Ok(None);
        };
        let version = Version {
            moment,
            counts,
            list: Arc::clone(&list),
        };
        orders.keep(&kept.spec, version);
        Ok(Some(list))
    }

    /// Returns the objects of a kept order in these data, to which the changes of later data were made; `None` if too many differ.
    #[cfg(feature = "image")]
    pub(crate) fn rewound(
        &self,
        kept: &Kept<S::Node>,
        changes: &dyn Changes<S::Node>,
    ) -> Result<Option<Arc<OrderedList<S::Node>>>, StoreError> {
        let first: Vec<usize> = kept.spec.inputs.iter().map(|_| 0).collect();
        let mut versions = kept.versions().into_iter();
        if let Some(same) = versions.find(|version| *version.counts == *first) {
            return Ok(Some(Arc::clone(&same.list)));
        }
        let difference = Difference {
            changes,
            from: &first,
            to: &kept.first.counts,
        };
        self.changed_list(&kept.spec, &kept.first.list, &difference)
    }

    fn changed_list(
        &self,
        spec: &OrderSpec,
        list: &Arc<OrderedList<S::Node>>,
        difference: &Difference<'_, S::Node>,
    ) -> Result<Option<Arc<OrderedList<S::Node>>>, StoreError> {
        let Some(touched) = self.touched(spec, difference, list.most_changes())? else {
            return Ok(None);
        };
        if touched.is_empty() {
            return Ok(Some(Arc::clone(list)));
        }
        let begun = self.begun();
        let list = self.placed_again(spec, list, &touched)?;
        self.record("places", touched.len(), begun);
        Ok(Some(Arc::new(list)))
    }

    /// Returns the number of objects of a selection.
    #[cfg(feature = "image")]
    pub(crate) fn count(&self, selection: &Selection) -> Result<u64, StoreError> {
        let orders = self.source.orders().map(|(orders, _)| orders);
        let kept = orders.and_then(|orders| orders.find_objects(selection));
        let known = match &kept {
            Some(kept) => self.followed(kept)?,
            None => None,
        };
        let count = match known {
            Some(known) => known.len(),
            None => self.candidates(selection)?.len(),
        };
        self.settle()?;
        Ok(count as u64)
    }

    fn in_order(&self, selection: &Selection) -> Result<Vec<S::Node>, StoreError> {
        let nodes = self.candidates(selection)?;
        let begun = self.begun();
        let order = ReadyOrder::new(self, &selection.order);
        let sorted = sorted_page(
            self,
            nodes,
            &order,
            Page::default(),
            &mut KeyCache::default(),
        )?;
        self.settle()?;
        if !selection.order.is_empty() {
            self.record("sorts", sorted.len(), begun);
        }
        Ok(sorted)
    }

    /// Cuts a window out of the ordered objects of a selection.
    pub(super) fn window_of(
        &self,
        nodes: &OrderedList<S::Node>,
        selection: &Selection,
        window: &Window,
    ) -> Result<Windowed, StoreError> {
        let order = ReadyOrder::new(self, &selection.order);
        let up_to = |place: &Option<Position>, with_it: bool| {
            let Some(place) = place else {
                return Ok(None);
            };
            self.place_of(nodes, &order, place, with_it).map(Some)
        };
        let start = up_to(&window.after, true)?;
        let end = up_to(&window.before, false)?;
        let length = nodes.len();
        let (first, last) = (start.unwrap_or(0), end.unwrap_or(length));
        let taken = taken(first..last.max(first), window.take);
        let more = taken.len() < last.saturating_sub(first);
        let taken = nodes.range(taken);
        let mut positions = Vec::with_capacity(taken.len());
        for node in &taken {
            self.tick()?;
            self.keep_node(node);
            positions.push(keys(self, node, &order)?);
        }
        self.settle()?;
        Ok(Windowed {
            objects: self.source.to_objects(taken),
            keys: positions,
            more,
            precedes: start.is_some_and(|start| start > 0),
            follows: end.is_some_and(|end| end < length),
        })
    }

    /// Returns how many of the ordered objects come before a position, or up to it.
    fn place_of(
        &self,
        nodes: &OrderedList<S::Node>,
        order: &ReadyOrder<'_, Self>,
        place: &Position,
        with_it: bool,
    ) -> Result<usize, StoreError> {
        let id = self.source.node(place.id.node());
        self.places_before(0..nodes.len(), |at, _| {
            let Some(node) = nodes.get(at) else {
                return Ok(false);
            };
            let ordering = compare_keys(order.keys, &keys(self, node, order)?, &place.keys)
                .then_with(|| self.source.compare(node, &id));
            Ok(ordering.is_lt() || with_it && ordering.is_eq())
        })
    }
}

/// Returns the part of a range that a window takes.
fn taken(range: Range<usize>, take: Take) -> Range<usize> {
    let limit = take.limit().unwrap_or(usize::MAX).min(range.len());
    match take {
        Take::Last(_) => range.end - limit..range.end,
        Take::All | Take::First(_) => range.start..range.start + limit,
    }
}
