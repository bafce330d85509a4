//! Ranges between two positions of an order, for connections.

use super::object_ref::ObjectRef;
use crate::value::SortValue;

/// A position in the order of a [`Selection`](super::Selection): the sort keys and id of an object.
///
/// The object need not exist any more; the position remains valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// One value for each sort key.
    pub keys: Vec<SortValue>,
    /// Breaks ties between equal keys.
    pub id: ObjectRef,
}

/// A range of the ordered objects of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Only objects after this position.
    pub after: Option<Position>,
    /// Only objects before this position.
    pub before: Option<Position>,
    /// How many of them to return.
    pub take: Take,
}

/// How many objects of a range a [`Window`] takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Take {
    /// All of them.
    #[default]
    All,
    /// At most this many from its start.
    First(usize),
    /// At most this many from its end.
    Last(usize),
}

impl Take {
    /// Returns the maximum number of objects.
    #[must_use]
    pub fn limit(self) -> Option<usize> {
        match self {
            Take::All => None,
            Take::First(limit) | Take::Last(limit) => Some(limit),
        }
    }
}
