//! Parts of an order between two places, as connections ask for them.

use super::object_ref::ObjectRef;
use crate::value::SortValue;

/// A place in the order of a [`Selection`](super::Selection): the sort keys and the id of an object.
///
/// The object need not exist any more; the place stays where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// One value for each key of the order.
    pub keys: Vec<SortValue>,
    /// Decides between equal keys.
    pub id: ObjectRef,
}

/// A part of the ordered objects of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Only objects behind this place.
    pub after: Option<Position>,
    /// Only objects in front of this place.
    pub before: Option<Position>,
    /// How many of those.
    pub take: Take,
}

/// How many objects of a range a [`Window`] takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Take {
    /// All of them.
    #[default]
    All,
    /// At most so many from its start.
    First(usize),
    /// At most so many from its end.
    Last(usize),
}

impl Take {
    /// Returns the greatest number of objects.
    #[must_use]
    pub fn limit(self) -> Option<usize> {
        match self {
            Take::All => None,
            Take::First(limit) | Take::Last(limit) => Some(limit),
        }
    }
}
