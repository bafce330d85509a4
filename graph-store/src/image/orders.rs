//! Kept orders of objects beside the requests: over a merge, and for the next start.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use call_context::CallContext;
use foldhash::HashMap;
use oxrdf::NamedNode;

use super::Image;
use super::shared::{Shared, locked};
use super::snapshot::Snapshot;
use super::source::Reader;
use crate::error::StoreError;
use crate::pattern::{Changes, Kept, OrderSpec, OrderedList, SavedOrder, TakeChange, Walker};

/// Changed quads that are left to the next page of an order, which takes about as long as placing their objects.
const FOLLOW_AFTER: u64 = if cfg!(test) { 4 } else { 8 };

impl Snapshot {
    /// Returns whether the term of a number is an IRI.
    fn is_iri(&self, number: u32) -> bool {
        let terms = &self.image.terms;
        if number < terms.count {
            number < terms.iris
        } else {
            self.delta.terms.get(number).is_named_node()
        }
    }
}

/// The changes to an image.
impl Changes<u32> for Snapshot {
    fn moment(&self) -> u64 {
        self.delta.size
    }

    fn terms(&self) -> u32 {
        self.delta.terms.end()
    }

    fn is_after(&self, node: &u32, terms: u32) -> bool {
        *node >= terms
    }

    fn find(&self, iri: &NamedNode) -> Option<u32> {
        Snapshot::find(self, iri.into())
    }

    fn count(&self, property: &NamedNode) -> usize {
        let property = self.handle(Changes::find(self, property));
        property.changes.map_or(0, |changes| changes.count())
    }

    fn each(&self, property: &NamedNode, range: Range<usize>, take: &mut TakeChange<'_, u32>) {
        let property = self.handle(Changes::find(self, property));
        let changed = property.changes.map(|changes| changes.changed(range));
        for (subject, object) in changed.into_iter().flatten() {
            let [subject, object] = [subject, object].map(|end| self.is_iri(end).then_some(end));
            take(subject.as_ref(), object.as_ref());
        }
    }
}

/// The thread that saves the orders of a store in a folder now and then, so that the end of a process that no one could
/// prepare for does not lose them. It ends when this is dropped.
pub(super) struct OrderThread {
    is_closing: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OrderThread {
    pub(super) fn start(shared: &Arc<Shared>, every: Duration) -> io::Result<Self> {
        let shared = Arc::clone(shared);
        let (sender, is_closing) = channel();
        let thread = thread::Builder::new()
            .name("image-orders".to_owned())
            .spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = is_closing.recv_timeout(every) {
                    let _replacing = locked(&shared.replacing);
                    shared.save_orders();
                }
            })?;
        Ok(OrderThread {
            is_closing: Some(sender),
            thread: Some(thread),
        })
    }
}

impl Drop for OrderThread {
    fn drop(&mut self) {
        drop(self.is_closing.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that saves sort orders has panicked");
        }
    }
}

/// An order of the objects of one state of the data.
pub(super) struct ListOf {
    spec: Arc<OrderSpec>,
    list: Arc<OrderedList<u32>>,
}

/// Lets orders that are asked for follow data; those that a page would rather sort again are dropped.
fn follow(data: &Arc<Snapshot>) {
    let context = CallContext::new();
    for kept in data.orders.asked() {
        let walker = Walker::new(Reader::new(data), &kept.spec.dataset, &context);
        if !matches!(walker.followed(&kept), Ok(Some(_))) {
            data.orders.forget(&kept.spec);
        }
    }
}

/// Returns the orders of data that are kept, as far as they follow the data.
pub(super) fn orders_of(data: &Arc<Snapshot>) -> Vec<ListOf> {
    lists(data, data, |walker, kept| walker.followed(kept))
}

/// Returns orders of objects as something makes them of those that are kept with some data.
fn lists(
    kept_with: &Snapshot,
    data: &Arc<Snapshot>,
    make: impl Fn(
        &Walker<'_, Reader<'_>>,
        &Kept<u32>,
    ) -> Result<Option<Arc<OrderedList<u32>>>, StoreError>,
) -> Vec<ListOf> {
    let context = CallContext::new();
    let list = |kept: Kept<u32>| {
        let walker = Walker::new(Reader::new(data), &kept.spec.dataset, &context);
        match make(&walker, &kept) {
            Ok(list) => list.map(|list| ListOf {
                spec: kept.spec,
                list,
            }),
            Err(error) => {
                tracing::warn!(%error, "a sort order cannot be saved");
                None
            }
        }
    };
    kept_with
        .orders
        .all()
        .into_iter()
        .filter_map(list)
        .collect()
}

/// Keeps orders of some data with the same data over another image.
pub(super) fn translate_orders(lists: &[ListOf], from: &Snapshot, to: &Snapshot) {
    let mut numbers = HashMap::default();
    let mut translated = |number: &u32| {
        if let Some(known) = numbers.get(number) {
            return Some(*known);
        }
        let found = Snapshot::find(to, from.term(*number).as_ref())?;
        numbers.insert(*number, found);
        Some(found)
    };
    for ListOf { spec, list } in lists {
        let nodes: Option<Arc<[u32]>> = list.nodes().iter().map(&mut translated).collect();
        // All objects of an order are terms of the data.
        if let Some(nodes) = nodes {
            to.orders.add(spec, nodes, to);
        }
    }
}

impl Shared {
    /// Lets orders follow the data where more has changed than a page should pay for.
    pub(super) fn follow_orders(&self) {
        let data = self.published();
        let size = data.delta.size;
        // A merge begins to count again.
        if size.abs_diff(self.followed.load(Ordering::Relaxed)) >= FOLLOW_AFTER {
            self.followed.store(size, Ordering::Relaxed);
            follow(&data);
        }
    }

    /// Writes the orders of a store in a folder for the next start, if there are some that are not written yet.
    ///
    /// They are written as orders of the objects of the image, so that a later start finds out what has changed since.
    pub(super) fn save_orders(&self) {
        let data = self.published();
        let Some(folder) = self.folder().filter(|folder| !folder.is_read_only()) else {
            return;
        };
        if !data.orders.begin_save() {
            return;
        }
        let of_image = Arc::new(Snapshot::new(Arc::clone(&data.image)));
        let lists = lists(&data, &of_image, |walker, kept| {
            walker.rewound(kept, &*data)
        });
        let lists = lists.into_iter().map(|of| saved(of, &data.image));
        let mut orders = data.orders.unused();
        orders.extend(lists);
        folder.save_orders(&data.image, &orders);
    }
}

fn saved(ListOf { spec, list }: ListOf, image: &Image) -> SavedOrder<u32> {
    SavedOrder {
        spec: spec.text(),
        nodes: list.nodes(),
        terms: image.terms.count,
    }
}
