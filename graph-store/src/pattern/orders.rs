//! Orders that are kept between requests, so that a page costs the page wherever it lies.
//!
//! Kept are the instances of types in an order of fields, which the schema bounds; never what a client
//! filters. Whoever keeps orders drops them when the data change.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::source::QuadSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{
    Dataset, NodeCondition, OrderKey, OrderWay, Page, Position, Selection, SortBy, Take, Window,
};
use crate::store::order::{KeyCache, keys, sorted_page};
use crate::store::ready_order::ReadyOrder;
use crate::store::{Windowed, compare_keys};

/// Bytes that the kept orders of one state of the data may take, unless a store says otherwise.
#[cfg(feature = "image")]
pub(crate) const KEPT_BYTES: usize = 64 << 20;

/// Orders of the objects of one state of the data, the most recently used last.
pub(crate) struct KeptOrders<N> {
    /// Maximum number of bytes of all lists; the same for all states of the data of a store.
    bound: Arc<AtomicUsize>,
    known: Mutex<Vec<Kept<N>>>,
}

struct Kept<N> {
    condition: NodeCondition,
    order: Vec<OrderKey>,
    dataset: Dataset,
    nodes: Arc<[N]>,
}

impl<N> Kept<N> {
    fn selects_as(&self, selection: &Selection) -> bool {
        self.condition == selection.condition && self.dataset == selection.dataset
    }
}

#[cfg(feature = "image")]
impl<N> KeptOrders<N> {
    /// Sets how many bytes orders may take from now on.
    pub(crate) fn set_bound(&self, bytes: usize) {
        self.bound.store(bytes, Ordering::Relaxed);
    }

    /// Creates a holder of orders that takes up to some bytes.
    pub(crate) fn new(bound: usize) -> Self {
        KeptOrders {
            bound: Arc::new(AtomicUsize::new(bound)),
            known: Mutex::default(),
        }
    }
}

/// Changed data begin without orders.
#[cfg(feature = "image")]
impl<N> Clone for KeptOrders<N> {
    fn clone(&self) -> Self {
        KeptOrders {
            bound: Arc::clone(&self.bound),
            known: Mutex::default(),
        }
    }
}

impl<N> KeptOrders<N> {
    fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    fn get(&self, selection: &Selection) -> Option<Arc<[N]>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted =
            |kept: &Kept<N>| kept.order == selection.order && kept.selects_as(selection);
        let found = known.iter().position(is_wanted)?;
        let kept = known.remove(found);
        let nodes = Arc::clone(&kept.nodes);
        known.push(kept);
        Some(nodes)
    }

    /// Keeps an order if there is room for it, in place of those that were not used for the longest time.
    fn keep(&self, selection: &Selection, nodes: &Arc<[N]>) {
        let bytes = |nodes: &Arc<[N]>| size_of_val::<[N]>(nodes);
        let Some(room) = self.bound().checked_sub(bytes(nodes)) else {
            return;
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Requests that come at the same time make the same order.
        known.retain(|kept| kept.order != selection.order || !kept.selects_as(selection));
        let mut taken: usize = known.iter().map(|kept| bytes(&kept.nodes)).sum();
        let mut dropped = 0;
        while taken > room {
            taken -= bytes(&known[dropped].nodes);
            dropped += 1;
        }
        known.drain(..dropped);
        known.push(Kept {
            condition: selection.condition.clone(),
            order: selection.order.clone(),
            dataset: selection.dataset.clone(),
            nodes: Arc::clone(nodes),
        });
    }

    /// Returns the number of objects of a selection, if it is kept in some order.
    #[cfg(feature = "image")]
    fn count(&self, selection: &Selection) -> Option<usize> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = known.iter();
        let found = known.find(|kept| kept.selects_as(selection))?;
        Some(found.nodes.len())
    }
}

impl<N> fmt::Debug for KeptOrders<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptOrders")
            .field("bound", &self.bound())
            .finish_non_exhaustive()
    }
}

/// Returns whether the order of a selection may be kept: it is one of instances, and the same for every
/// client.
fn can_be_kept(selection: &Selection) -> bool {
    let is_of_types = |part: &NodeCondition| matches!(part, NodeCondition::Instance(_));
    let of_types = match &selection.condition {
        NodeCondition::All(parts) => !parts.is_empty() && parts.iter().all(is_of_types),
        single => is_of_types(single),
    };
    let mut ways = selection.order.iter().flat_map(|key| &key.ways);
    of_types && ways.all(is_same_for_all)
}

fn is_same_for_all(way: &OrderWay) -> bool {
    match &way.by {
        SortBy::Iri | SortBy::Constant(_) | SortBy::Enum { .. } => true,
        // The languages of the request choose.
        SortBy::Scalar { lang, .. } | SortBy::Literal { lang, .. } => lang.is_none(),
        // Comparing indexes of types would cost more than a page.
        SortBy::TypeName(_) => false,
    }
}

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the objects of a selection in its order, if orders like that are kept.
    pub(super) fn kept(&self, selection: &Selection) -> Result<Option<Arc<[S::Node]>>, StoreError> {
        let may_keep = |orders: &&KeptOrders<S::Node>| orders.bound() > 0 && can_be_kept(selection);
        let Some(orders) = self.source.orders().filter(may_keep) else {
            return Ok(None);
        };
        if let Some(known) = orders.get(selection) {
            self.context.count_call();
            self.check()?;
            return Ok(Some(known));
        }
        let nodes: Arc<[S::Node]> = self.in_order(selection)?.into();
        orders.keep(selection, &nodes);
        Ok(Some(nodes))
    }

    /// Returns the number of objects of a selection.
    #[cfg(feature = "image")]
    pub(crate) fn count(&self, selection: &Selection) -> Result<u64, StoreError> {
        let known = self
            .source
            .orders()
            .and_then(|orders| orders.count(selection));
        let count = match known {
            Some(known) => known,
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
        nodes: &[S::Node],
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
        let (first, last) = (start.unwrap_or(0), end.unwrap_or(nodes.len()));
        let range = nodes.get(first..last).unwrap_or_default();
        let limit = window.take.limit().unwrap_or(usize::MAX).min(range.len());
        let taken = match window.take {
            Take::Last(_) => &range[range.len() - limit..],
            Take::All | Take::First(_) => &range[..limit],
        };
        let mut positions = Vec::with_capacity(taken.len());
        for node in taken {
            self.tick()?;
            self.keep_node(node);
            positions.push(keys(self, node, &order)?);
        }
        self.settle()?;
        Ok(Windowed {
            objects: self.source.to_objects(taken.to_vec()),
            keys: positions,
            more: limit < range.len(),
            precedes: start.is_some_and(|start| start > 0),
            follows: end.is_some_and(|end| end < nodes.len()),
        })
    }

    /// Returns how many of the ordered objects come before a position, or up to it.
    fn place_of(
        &self,
        nodes: &[S::Node],
        order: &ReadyOrder<'_, Self>,
        place: &Position,
        with_it: bool,
    ) -> Result<usize, StoreError> {
        let id = self.source.node(place.id.node());
        let (mut from, mut to) = (0, nodes.len());
        while from < to {
            let middle = from + (to - from) / 2;
            let node = &nodes[middle];
            self.tick()?;
            let ordering = compare_keys(order.keys, &keys(self, node, order)?, &place.keys);
            let ordering = ordering.then_with(|| self.source.compare(node, &id));
            if ordering.is_lt() || with_it && ordering.is_eq() {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }
}
