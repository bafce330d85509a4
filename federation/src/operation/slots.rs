//! Names of values in subgraph operations and in their answers.
//!
//! A slot is a place in the merged data, below the slot of the object that it belongs to. Its key is the
//! name of its field, or another one where that is taken by a field that differs in arguments or in the
//! shape of its value. Aliases of clients are never used, so they cannot meet names of ours.
//!
//! The slots below another one are numbered: in the merged data, an object is a row with a value for each.

use std::sync::Arc;

use apollo_compiler::Name;

use crate::hash::{HashMap, HashSet};

/// A place in the merged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SlotId(usize);

/// How the row of an object is laid out in the merged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLayout {
    /// The slot of the object.
    pub(crate) slot: SlotId,
    /// How many values it has.
    pub(crate) width: u32,
}

/// A slot below another one.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: Arc<str>,
    /// Its number.
    pub(super) number: u32,
    pub(super) slot: SlotId,
}

/// What tells the slots of one object apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) name: Name,
    pub(super) arguments: String,
    /// Lists, nulls and the leaf type of the value, in each subgraph: the number of the field's value shape.
    pub(super) shape: u32,
    /// How many fields of the same objects ask the same and select other things below; clients may do
    /// that under aliases.
    pub(super) repetition: usize,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    below: HashMap<Asked, Member>,
    /// The keys of the slots below, by their numbers.
    keys: Vec<Arc<str>>,
    taken: HashSet<Arc<str>>,
    /// The numbers that names were given last.
    numbers: HashMap<Name, usize>,
}

/// The slots of an operation.
#[derive(Clone, Debug)]
pub(super) struct Slots(Vec<Slot>);

impl Slots {
    pub(super) fn new() -> Self {
        Slots(vec![Slot::default()])
    }

    /// Returns the slot of the root objects.
    pub(super) fn root() -> SlotId {
        SlotId(0)
    }

    /// Returns the keys of the slots below another one, by their numbers.
    pub(super) fn keys(&self, under: SlotId) -> &[Arc<str>] {
        &self.0[under.0].keys
    }

    /// Forgets what only planning needs.
    pub(super) fn planned(self) -> Self {
        let slots = self.0.into_iter().map(|slot| Slot {
            keys: slot.keys,
            ..Slot::default()
        });
        Slots(slots.collect())
    }

    /// Returns the slot of what is asked below another one.
    pub(super) fn get(&mut self, under: SlotId, asked: Asked) -> Member {
        if let Some(known) = self.0[under.0].below.get(&asked) {
            return known.clone();
        }
        let slot = SlotId(self.0.len());
        self.0.push(Slot::default());
        let parent = &mut self.0[under.0];
        let mut key = asked.name.to_string();
        let number = parent.numbers.entry(asked.name.clone()).or_default();
        while parent.taken.contains(key.as_str()) {
            *number += 1;
            key = format!("{}_{number}", asked.name);
        }
        let key: Arc<str> = key.into();
        parent.taken.insert(Arc::clone(&key));
        let number = u32::try_from(parent.keys.len()).expect("operations are bounded");
        parent.keys.push(Arc::clone(&key));
        let member = Member { key, number, slot };
        parent.below.insert(asked, member.clone());
        member
    }
}
