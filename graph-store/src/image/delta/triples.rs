//! The changed triples of a property, in both directions.

use std::iter::Peekable;
use std::ops::Range;

use imbl::{OrdMap, Vector};

use super::touched::Touched;

/// Subject and object, or object and subject.
pub(in crate::image) type Pair = (u32, u32);

/// The changed triples of a property: the number of the list of their graphs.
#[derive(Clone, Default)]
pub(in crate::image) struct Changes {
    /// By subject.
    pub(in crate::image) forward: Direction,
    /// By object.
    pub(in crate::image) backward: Direction,
    /// Subject and object of each triple that was added to a graph or removed from one, as often as it was, in that order.
    history: Vector<Pair>,
}

impl Changes {
    /// Notes that a triple is in the graphs of a list; `None` if that is what the image says.
    pub(super) fn set(&mut self, subject: u32, object: u32, list: Option<u32>) {
        self.forward.set((subject, object), list);
        self.backward.set((object, subject), list);
        self.history.push_back((subject, object));
    }

    /// Returns how many triples were changed, as often as they were.
    pub(in crate::image) fn count(&self) -> usize {
        self.history.len()
    }

    /// Returns some of these, in the order in which they were changed.
    pub(in crate::image) fn changed(&self, range: Range<usize>) -> impl Iterator<Item = Pair> {
        range.map_while(|at| self.history.get(at).copied())
    }
}

/// One direction of changed triples.
#[derive(Clone, Default)]
pub(in crate::image) struct Direction {
    /// Most look-ups end here.
    touched: Touched,
    triples: OrdMap<Pair, u32>,
}

impl Direction {
    fn set(&mut self, pair: Pair, list: Option<u32>) {
        match list {
            Some(list) => {
                self.triples.insert(pair, list);
                let all = self.triples.keys().map(|(key, _)| *key);
                self.touched.insert(pair.0, all);
            }
            None => {
                self.triples.remove(&pair);
            }
        }
    }

    /// Returns whether a key may have changed triples.
    #[inline]
    pub(in crate::image) fn touches(&self, key: u32) -> bool {
        self.touched.contains(key)
    }

    /// Returns whether a key has changed triples.
    pub(in crate::image) fn has(&self, key: u32) -> bool {
        self.touches(key) && self.of(key).next().is_some()
    }

    /// Returns the list of the graphs of a triple; `None` if it did not change.
    pub(in crate::image) fn get(&self, pair: Pair) -> Option<u32> {
        if !self.touches(pair.0) {
            return None;
        }
        self.triples.get(&pair).copied()
    }

    /// Returns the changed triples of a key, ascending.
    pub(in crate::image) fn of(&self, key: u32) -> impl Iterator<Item = (Pair, u32)> + use<'_> {
        self.from((key, 0))
    }

    /// Returns the changed triples of the keys in a range, ascending.
    pub(in crate::image) fn between(
        &self,
        keys: &Range<u32>,
    ) -> impl Iterator<Item = (Pair, u32)> + use<'_> {
        let triples = self.triples.range((keys.start, 0)..(keys.end, 0));
        triples.map(|(pair, list)| (*pair, *list))
    }

    /// Returns the changed triples from one on that have its key, ascending.
    pub(in crate::image) fn from(&self, pair: Pair) -> impl Iterator<Item = (Pair, u32)> + use<'_> {
        let triples = self.triples.range(pair..=(pair.0, u32::MAX));
        triples.map(|(pair, list)| (*pair, *list))
    }

    /// Returns about how many keys have changed triples.
    pub(in crate::image) fn keys(&self) -> usize {
        self.touched.len()
    }

    /// Returns all changed triples, ascending.
    pub(in crate::image) fn all(&self) -> impl Iterator<Item = (Pair, u32)> + use<'_> {
        self.triples.iter().map(|(pair, list)| (*pair, *list))
    }
}

/// Returns triples of an image and changed ones, both ascending, as one: those of the image that changed
/// are left out.
pub(in crate::image) fn merged<T>(
    image: impl Iterator<Item = (Pair, T)>,
    changed: impl Iterator<Item = (Pair, u32)>,
) -> impl Iterator<Item = (Pair, Found<T>)> {
    Merged {
        image: image.peekable(),
        changed: changed.peekable(),
    }
}

/// Where a triple was found, and what is known of it there.
pub(in crate::image) enum Found<T> {
    Image(T),
    /// The list of its graphs.
    Changed(u32),
}

struct Merged<T, I: Iterator<Item = (Pair, T)>, C: Iterator<Item = (Pair, u32)>> {
    image: Peekable<I>,
    changed: Peekable<C>,
}

impl<T, I: Iterator<Item = (Pair, T)>, C: Iterator<Item = (Pair, u32)>> Iterator
    for Merged<T, I, C>
{
    type Item = (Pair, Found<T>);

    fn next(&mut self) -> Option<Self::Item> {
        let Some((next, _)) = self.changed.peek() else {
            let (pair, known) = self.image.next()?;
            return Some((pair, Found::Image(known)));
        };
        if let Some((pair, known)) = self.image.next_if(|(pair, _)| pair < next) {
            return Some((pair, Found::Image(known)));
        }
        let (pair, list) = self.changed.next()?;
        self.image.next_if(|(known, _)| *known == pair);
        Some((pair, Found::Changed(list)))
    }
}
