//! Values of many objects at once.

use super::objects::ObjectSlice;
use super::terms::{TermSlice, Terms};
use super::{Dataset, NodeCondition, OrderKey, Page, Step, TypeTest, ValueCondition};

/// A request for the values of some objects.
#[derive(Clone, Copy, Debug)]
pub struct HydrationRequest<'a> {
    /// The objects, each once.
    pub nodes: ObjectSlice<'a>,
    /// The values to read of each object.
    pub slots: &'a [Slot],
    /// The graphs to read.
    pub dataset: &'a Dataset,
}

/// The values of one property to read, for every object of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// From the object to its values.
    pub step: Step,
    /// Condition on the object; those that do not satisfy it have no values.
    pub of: Option<NodeCondition>,
    /// Condition on each value.
    pub condition: Option<ValueCondition>,
    /// The order and page of the values of each object; `None` returns all values in any order.
    ///
    /// Only for values that are objects: scalar values are ordered after conversion.
    pub page: Option<SlotPage>,
}

impl Slot {
    /// Creates a slot for all values along a step.
    #[must_use]
    pub fn new(step: Step) -> Self {
        Slot {
            step,
            of: None,
            condition: None,
            page: None,
        }
    }
}

/// Order and page of the values of each object.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotPage {
    /// Sort keys; the IRI breaks ties.
    pub order: Vec<OrderKey>,
    /// The page to return.
    pub page: Page,
    /// Objects that fail this test do not count. Literals among them do, and come last.
    pub members: Option<TypeTest>,
}

/// The answer to a [`HydrationRequest`]: one column per slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hydrated {
    /// Columns in the order of the slots.
    pub columns: Vec<Column>,
}

impl Hydrated {
    /// Copies all terms that are numbers, so that [`TermSlice::terms`] has them.
    #[must_use]
    pub fn into_owned(self) -> Self {
        let columns = self.columns.into_iter().map(|column| Column {
            offsets: column.offsets,
            values: column.values.into_vec().into(),
        });
        Hydrated {
            columns: columns.collect(),
        }
    }
}

/// The values of one slot.
///
/// Blank nodes are skipped, and a value occurs once per object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// Offset in [`Column::values`] where each object's values end, preceded by 0.
    pub offsets: Vec<u32>,
    /// Values of all objects, one object after the other.
    pub values: Terms,
}

impl Column {
    /// Creates an empty column with room for `nodes` objects.
    #[must_use]
    pub fn with_capacity(nodes: usize) -> Self {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        Column {
            offsets,
            values: Terms::with_capacity(nodes),
        }
    }

    /// Ends the values of the current object.
    ///
    /// # Panics
    /// When the column holds more than `u32::MAX` values.
    pub fn end_node(&mut self) {
        self.offsets
            .push(u32::try_from(self.values.len()).expect("a column below 2^32 values"));
    }

    /// Adds the objects and values of another column at the end.
    ///
    /// # Panics
    /// When the column holds more than `u32::MAX` values.
    pub fn append(&mut self, other: Column) {
        let start = u32::try_from(self.values.len()).expect("a column below 2^32 values");
        self.values.append(other.values);
        let ends = other.offsets.iter().skip(1);
        self.offsets
            .extend(ends.map(|end| start.checked_add(*end).expect("a column below 2^32 values")));
    }

    /// Returns the range of the values of object `node` in [`Column::values`].
    #[inline]
    #[must_use]
    pub fn range(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// Returns the values of object `node`.
    #[inline]
    #[must_use]
    pub fn of(&self, node: usize) -> TermSlice<'_> {
        self.values.slice(self.range(node))
    }
}
