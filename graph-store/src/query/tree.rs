//! Values of objects and of those that they lead to, over several levels at once.

use foldhash::HashMap;
use oxrdf::Term;

use super::{Column, Dataset, Hydrated, NodeCondition, ObjectRef, Slot};

/// A request for the values of some objects, and of the objects that these lead to.
#[derive(Clone, Copy, Debug)]
pub struct TreeRequest<'a> {
    /// The objects of the first level, each once.
    pub roots: &'a [ObjectRef],
    /// Only those roots are wanted that satisfy this; `None` for all.
    pub condition: Option<&'a NodeCondition>,
    /// The levels: first that of the roots, and each later one after its parent.
    pub levels: &'a [TreeLevel<'a>],
    /// The graphs to read.
    pub dataset: &'a Dataset,
}

/// A level of a [`TreeRequest`].
#[derive(Clone, Copy, Debug)]
pub struct TreeLevel<'a> {
    /// The position of the level above, and that of its slot whose values are the objects of this
    /// level; the slot has no page. `None` for the roots.
    pub parent: Option<(usize, usize)>,
    /// Whether it is first found out which objects the level has, each once, so that what is below it is not read for each
    /// way that leads to them. Only stores that say so can do that, and only below levels that do not stand apart.
    pub is_apart: bool,
    /// The values to read of each object.
    pub slots: &'a [Slot],
}

/// The answer to a [`TreeRequest`].
#[derive(Debug)]
pub struct Tree {
    /// The roots that satisfy the condition, in the order of the request.
    pub roots: Vec<ObjectRef>,
    /// The values of each level, in the order of the request.
    pub levels: Vec<TreeValues>,
}

/// The values of all objects of a level, by object.
///
/// Values of further objects do no harm: only those of objects that someone asks for are used.
#[derive(Debug)]
pub struct TreeValues {
    positions: HashMap<ObjectRef, usize>,
    /// For each slot, the values of each object.
    values: Vec<Vec<Vec<Term>>>,
}

impl TreeValues {
    /// Creates the values of a level that has so many slots, without an object.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        TreeValues {
            positions: HashMap::default(),
            values: vec![Vec::new(); slots],
        }
    }

    /// Returns the values of an object, to add some.
    pub fn of_mut(&mut self, object: ObjectRef, slot: usize) -> &mut Vec<Term> {
        let next = self.positions.len();
        let position = *self.positions.entry(object).or_insert(next);
        let values = &mut self.values[slot];
        if values.len() <= position {
            values.resize_with(position + 1, Vec::new);
        }
        &mut values[position]
    }

    /// Returns the values of all objects that have some in a slot, to change them.
    pub fn all_mut(&mut self, slot: usize) -> impl Iterator<Item = &mut Vec<Term>> {
        self.values[slot].iter_mut()
    }

    /// Returns the values of some objects, each named once. An object that is not known has none.
    #[must_use]
    pub fn into_hydrated(mut self, objects: &[ObjectRef]) -> Hydrated {
        let positions: Vec<Option<usize>> = objects
            .iter()
            .map(|object| self.positions.get(object))
            .map(Option::<&usize>::copied)
            .collect();
        let columns = self.values.iter_mut().map(|values| {
            let mut column = Column::with_capacity(objects.len());
            for position in &positions {
                if let Some(values) = position.and_then(|position| values.get_mut(position)) {
                    column.values.extend(values.drain(..));
                }
                column.end_node();
            }
            column
        });
        Hydrated {
            columns: columns.collect(),
        }
    }
}
