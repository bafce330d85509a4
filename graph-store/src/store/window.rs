//! Windows over unordered candidates: the logic that every store can use.
//!
//! Candidates are read once. Only as many as the window takes are kept, plus one that shows whether
//! there are more; so neither memory nor work depends on the position of the window.

use std::cmp::Ordering;

use crate::query::{ObjectRef, Objects, OrderKey, Position, Take, Window};
use crate::value::SortValue;

/// The objects of a [`Window`], in order, with the position of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Windowed {
    /// The objects, each once.
    pub objects: Objects,
    /// The sort keys of each object, one value for each key of the order.
    pub keys: Vec<Vec<SortValue>>,
    /// Whether the range has objects beyond the returned ones.
    pub more: bool,
    /// Whether some object of the selection is at `after` or before it.
    pub precedes: bool,
    /// Whether some object of the selection is at `before` or after it.
    pub follows: bool,
}

impl Windowed {
    /// Returns the position of an object.
    ///
    /// # Panics
    /// When there are fewer objects.
    #[must_use]
    pub fn position(&self, object: usize) -> Position {
        Position {
            keys: self.keys[object].clone(),
            id: self.objects.get(object),
        }
    }

    /// Returns the position of each object.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = Position> {
        (0..self.keys.len()).map(|object| self.position(object))
    }
}

/// Compares two positions in an order: key by key, then by id.
#[must_use]
pub fn compare_positions(order: &[OrderKey], a: &Position, b: &Position) -> Ordering {
    compare_keys(order, &a.keys, &b.keys).then_with(|| a.id.cmp(&b.id))
}

/// Compares the keys of two objects, one by one.
#[must_use]
pub fn compare_keys(order: &[OrderKey], a: &[SortValue], b: &[SortValue]) -> Ordering {
    for (key, (a, b)) in order.iter().zip(a.iter().zip(b)) {
        let ordering = if key.descending { b.cmp(a) } else { a.cmp(b) };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Builds a window from the candidates that it is offered.
///
/// An object may be offered several times, with the same keys each time; it counts once.
#[derive(Debug)]
pub struct WindowBuilder<'a> {
    places: PlaceBuilder<'a, ObjectRef>,
}

impl<'a> WindowBuilder<'a> {
    /// Creates a builder without candidates.
    #[must_use]
    pub fn new(order: &'a [OrderKey], window: &'a Window) -> Self {
        WindowBuilder {
            places: PlaceBuilder::new(order, window, ObjectRef::clone),
        }
    }

    /// Offers an object of the selection.
    pub fn offer(&mut self, candidate: Position) {
        let Position { keys, id } = candidate;
        self.places.offer(Place { keys, id }, ObjectRef::cmp);
    }

    /// Returns the window.
    #[must_use]
    pub fn finish(self) -> Windowed {
        self.places.finish(ObjectRef::cmp, Objects::from)
    }

    /// Returns how many comparisons of positions were made so far, including those of sorting.
    #[must_use]
    pub fn comparisons(&self) -> u64 {
        self.places.comparisons
    }
}

/// A [`Position`] by the handle of an object.
#[derive(Clone, Debug)]
pub(crate) struct Place<I> {
    pub(crate) keys: Vec<SortValue>,
    pub(crate) id: I,
}

/// What a [`WindowBuilder`] does, by handles of objects, each method with how to compare them.
#[derive(Debug)]
pub(crate) struct PlaceBuilder<'a, I> {
    order: &'a [OrderKey],
    after: Option<Place<I>>,
    before: Option<Place<I>>,
    take: Take,
    kept: Vec<Place<I>>,
    /// The last of the candidates kept by the latest cut: any that is not better is skipped.
    bound: Option<Place<I>>,
    precedes: bool,
    follows: bool,
    comparisons: u64,
}

impl<'a, I: Clone + Eq> PlaceBuilder<'a, I> {
    /// Creates a builder without candidates; `handle` returns the handle of an object.
    pub(crate) fn new(
        order: &'a [OrderKey],
        window: &Window,
        handle: impl Fn(&ObjectRef) -> I,
    ) -> Self {
        let place = |position: &Option<Position>| {
            position.as_ref().map(|position| Place {
                keys: position.keys.clone(),
                id: handle(&position.id),
            })
        };
        PlaceBuilder {
            order,
            after: place(&window.after),
            before: place(&window.before),
            take: window.take,
            kept: Vec::new(),
            bound: None,
            precedes: false,
            follows: false,
            comparisons: 0,
        }
    }

    /// Offers an object of the selection.
    pub(crate) fn offer(
        &mut self,
        candidate: Place<I>,
        compare_ids: impl Fn(&I, &I) -> Ordering + Copy,
    ) {
        let mut inside = true;
        if let Some(after) = &self.after {
            self.comparisons += 1;
            let precedes = self.compare(&candidate, after, compare_ids).is_le();
            self.precedes |= precedes;
            inside &= !precedes;
        }
        if let Some(before) = &self.before {
            self.comparisons += 1;
            let follows = self.compare(&candidate, before, compare_ids).is_ge();
            self.follows |= follows;
            inside &= !follows;
        }
        if !inside {
            return;
        }
        if let Some(bound) = &self.bound {
            self.comparisons += 1;
            if self.quality(&candidate, bound, compare_ids).is_ge() {
                return;
            }
        }
        self.kept.push(candidate);
        if self.kept.len() >= self.room().saturating_mul(2) {
            self.cut(compare_ids);
        }
    }

    /// Returns the window; `objects` converts the handles of objects.
    pub(crate) fn finish(
        mut self,
        compare_ids: impl Fn(&I, &I) -> Ordering + Copy,
        objects: impl FnOnce(Vec<I>) -> Objects,
    ) -> Windowed {
        self.cut(compare_ids);
        let limit = self.take.limit().unwrap_or(usize::MAX);
        let more = self.kept.len() > limit;
        self.kept.truncate(limit);
        if matches!(self.take, Take::Last(_)) {
            self.kept.reverse();
        }
        let kept = self.kept.into_iter().map(|place| (place.keys, place.id));
        let (keys, ids): (Vec<_>, Vec<_>) = kept.unzip();
        Windowed {
            objects: objects(ids),
            keys,
            more,
            precedes: self.precedes,
            follows: self.follows,
        }
    }

    fn compare(
        &self,
        a: &Place<I>,
        b: &Place<I>,
        compare_ids: impl Fn(&I, &I) -> Ordering,
    ) -> Ordering {
        compare_keys(self.order, &a.keys, &b.keys).then_with(|| compare_ids(&a.id, &b.id))
    }

    /// Returns how many candidates to keep: the window, and one more that shows whether there are
    /// others.
    fn room(&self) -> usize {
        let limit = self.take.limit();
        limit.map_or(usize::MAX, |limit| limit.saturating_add(1))
    }

    /// Orders candidates by preference of the window, best first.
    fn quality(
        &self,
        a: &Place<I>,
        b: &Place<I>,
        compare_ids: impl Fn(&I, &I) -> Ordering,
    ) -> Ordering {
        match self.take {
            Take::Last(_) => self.compare(b, a, compare_ids),
            Take::All | Take::First(_) => self.compare(a, b, compare_ids),
        }
    }

    /// Keeps the best candidates.
    fn cut(&mut self, compare_ids: impl Fn(&I, &I) -> Ordering + Copy) {
        let room = self.room();
        let mut kept = std::mem::take(&mut self.kept);
        let mut comparisons = 0;
        kept.sort_unstable_by(|a, b| {
            comparisons += 1;
            self.quality(a, b, compare_ids)
        });
        kept.dedup_by(|a, b| a.id == b.id);
        kept.truncate(room);
        if kept.len() == room {
            self.bound = kept.last().cloned();
        }
        self.comparisons += comparisons;
        self.kept = kept;
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;
    use proptest::prelude::*;

    use super::{WindowBuilder, Windowed, compare_positions};
    use crate::query::{ObjectRef, OrderKey, Position, SortBy, Take, Window};
    use crate::value::SortValue;

    fn order(descending: bool) -> Vec<OrderKey> {
        vec![OrderKey::new(Vec::new(), SortBy::Iri, descending)]
    }

    fn position(key: u8, id: u8) -> Position {
        Position {
            keys: vec![SortValue::Boolean(key.is_multiple_of(2))],
            id: NamedNode::new_unchecked(format!("http://e/{id:03}")).into(),
        }
    }

    /// Naive reference implementation of a window.
    fn by_definition(order: &[OrderKey], window: &Window, candidates: &[Position]) -> Windowed {
        let mut all = candidates.to_vec();
        all.sort_by(|a, b| compare_positions(order, a, b));
        all.dedup();
        let behind = |place: &Position| {
            all.iter()
                .filter(|p| compare_positions(order, p, place).is_gt())
                .count()
        };
        let (start, precedes) = match &window.after {
            None => (0, false),
            Some(after) => (all.len() - behind(after), all.len() > behind(after)),
        };
        let in_front = |place: &Position| {
            all.iter()
                .filter(|p| compare_positions(order, p, place).is_lt())
                .count()
        };
        let (end, follows) = match &window.before {
            None => (all.len(), false),
            Some(before) => (in_front(before), in_front(before) < all.len()),
        };
        let range = all.get(start..end).unwrap_or_default();
        let limit = window.take.limit().unwrap_or(usize::MAX).min(range.len());
        let objects = match window.take {
            Take::Last(_) => &range[range.len() - limit..],
            Take::All | Take::First(_) => &range[..limit],
        };
        Windowed {
            objects: objects.iter().map(|position| position.id.clone()).collect(),
            keys: objects
                .iter()
                .map(|position| position.keys.clone())
                .collect(),
            more: limit < range.len(),
            precedes,
            follows,
        }
    }

    fn take() -> impl Strategy<Value = Take> {
        prop_oneof![
            Just(Take::All),
            (0..6_usize).prop_map(Take::First),
            (0..6_usize).prop_map(Take::Last),
            Just(Take::First(usize::MAX)),
        ]
    }

    proptest! {
        #[test]
        fn windows_are_as_defined(
            candidates in proptest::collection::vec(0..40_u8, 0..60),
            after in proptest::option::of((0..2_u8, 0..40_u8)),
            before in proptest::option::of((0..2_u8, 0..40_u8)),
            take in take(),
            descending in any::<bool>(),
        ) {
            let order = order(descending);
            // The key depends on the id alone, since an object has the same keys each time.
            let candidates: Vec<_> = candidates.into_iter().map(|id| position(id / 3, id)).collect();
            let place = |(key, id)| position(key, id);
            let window = Window { after: after.map(place), before: before.map(place), take };
            let mut builder = WindowBuilder::new(&order, &window);
            candidates.iter().cloned().for_each(|candidate| builder.offer(candidate));
            prop_assert_eq!(builder.finish(), by_definition(&order, &window, &candidates));
        }
    }

    #[test]
    fn a_late_page_costs_what_an_early_one_costs() {
        let id = |number: u64| -> ObjectRef {
            NamedNode::new_unchecked(format!("http://e/{number:06}")).into()
        };
        let at = |number| Position {
            keys: Vec::new(),
            id: id(number),
        };
        let total = 200_003;
        let cost = |place: u64| {
            let window = Window {
                after: Some(at(place)),
                before: None,
                take: Take::First(20),
            };
            let mut builder = WindowBuilder::new(&[], &window);
            // Every number once, in a scrambled order: the total is prime.
            for step in 0..total {
                builder.offer(at(step * 7_919 % total));
                assert!(builder.places.kept.len() <= 42, "only the window is kept");
            }
            let comparisons = builder.comparisons();
            let found = builder.finish().objects;
            assert_eq!(found.get(0), id(place + 1));
            assert_eq!(found.len(), 20);
            comparisons
        };
        let costs = [10, 1_000, 100_000].map(cost);
        let (least, most) = (costs.iter().min(), costs.iter().max());
        let (Some(&least), Some(&most)) = (least, most) else {
            panic!("three costs");
        };
        println!("comparisons at positions 10, 1,000 and 100,000: {costs:?}");
        // Far down the order, half of the candidates are skipped after one comparison instead of
        // two.
        assert!(most <= 2 * total + 2 * total / 10, "{costs:?}");
        assert!(costs[2] * 10 <= costs[0] * 13 && least > 0, "{costs:?}");
    }
}
