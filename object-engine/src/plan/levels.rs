//! Levels under construction: their identity, growth and order.

use std::sync::Arc;

use apollo_compiler::executable::SelectionSet;
use graph_store::query::{Dataset, NodeCondition, Slot, SlotPage, Step, ValueCondition};
use graphql_gen::typesystem::TypeRef;
use soml_core::lang::LangSpec;

use super::build::Scope;
use super::parameters::{Parameter, SlotParameter};
use super::{Edge, Level, LevelId, ResponseField, RootField, RootValue};

/// The identity of a level.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct LevelKey {
    target: TypeRef,
    /// Addresses of the selection sets, which do not move while the document is borrowed.
    sets: Vec<*const SelectionSet>,
    lang: Option<LangSpec>,
    dataset: Arc<Dataset>,
}

impl LevelKey {
    pub(super) fn new(target: TypeRef, sets: &[&SelectionSet], scope: &Scope) -> Self {
        LevelKey {
            target,
            sets: sets.iter().map(|&set| std::ptr::from_ref(set)).collect(),
            lang: scope.lang.clone(),
            dataset: Arc::clone(&scope.dataset),
        }
    }
}

/// Orders the levels so that every level comes after those that lead to it.
pub(super) fn order_levels(
    levels: &mut [Level],
    roots: &mut [RootField],
    parameters: &mut [Parameter],
) {
    // A level is numbered before those that it leads to, but one that is shared may be
    // reached from a level of a higher number; depths settle the order.
    let mut changed = true;
    while changed {
        changed = false;
        for parent in 0..levels.len() {
            let depth = levels[parent].depth + 1;
            for edge in levels[parent].edges.clone() {
                let child = &mut levels[edge.level.0 as usize];
                if child.depth < depth {
                    child.depth = depth;
                    changed = true;
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&level| levels[level].depth);
    let mut places = vec![LevelId(0); levels.len()];
    for (location, &level) in (0u32..).zip(&order) {
        places[level] = LevelId(location);
    }
    for level in levels.iter_mut() {
        for edge in &mut level.edges {
            edge.level = places[edge.level.0 as usize];
        }
    }
    for root in roots.iter_mut() {
        for level in root.value.levels_mut() {
            *level = places[level.0 as usize];
        }
    }
    for parameter in parameters {
        if let Some(level) = parameter.level_mut() {
            *level = places[level.0 as usize];
        }
    }
    levels.sort_by_key(|level| level.depth);
}

impl RootValue {
    /// Returns the levels of the objects of a root field.
    pub(super) fn levels_mut(&mut self) -> Vec<&mut LevelId> {
        match self {
            RootValue::Objects(objects) => vec![&mut objects.level],
            RootValue::Aggregate(aggregate) => vec![&mut aggregate.objects.level],
            RootValue::Entities(entities) => {
                let types = entities.types.iter_mut();
                types.map(|objects| &mut objects.level).collect()
            }
            RootValue::Connection(connection) => connection.levels.iter_mut().collect(),
            RootValue::Count(_) | RootValue::Service(_) | RootValue::Introspection => Vec::new(),
        }
    }
}

/// The parts of a level under construction.
#[derive(Default)]
pub(super) struct LevelBuilder {
    pub(super) slots: Vec<Slot>,
    pub(super) edges: Vec<Edge>,
    pub(super) variants: Vec<Vec<ResponseField>>,
    /// The objects that slots are for which are added now; `None` for all.
    pub(super) of: Option<NodeCondition>,
    /// Slots that depend on variables.
    pub(super) parameters: Vec<(usize, SlotParameter)>,
}

impl LevelBuilder {
    /// Returns the position of a slot, adding it if it is new.
    pub(super) fn slot(
        &mut self,
        step: Step,
        condition: Option<ValueCondition>,
        page: Option<SlotPage>,
    ) -> usize {
        let slot = Slot {
            step,
            of: self.of.clone(),
            condition,
            page,
        };
        // What is equal for one request need not be for the next.
        let depends = |at: usize| self.parameters.iter().any(|(slot, _)| *slot == at);
        let mut known = self.slots.iter().enumerate();
        let known = known
            .find(|(at, known)| **known == slot && !depends(*at))
            .map(|(at, _)| at);
        known.unwrap_or_else(|| self.add(slot))
    }

    /// Returns the position of a slot that depends on variables, adding it if none depends on them alike.
    pub(super) fn slot_of_request(&mut self, slot: Slot, parameter: SlotParameter) -> usize {
        let mut known = self.parameters.iter();
        let known = known.find(|(at, known)| {
            let other = &self.slots[*at];
            other.step == slot.step && other.of == slot.of && known.depends_alike(&parameter)
        });
        if let Some((at, _)) = known {
            return *at;
        }
        let at = self.add(slot);
        self.parameters.push((at, parameter));
        at
    }

    fn add(&mut self, slot: Slot) -> usize {
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// Returns the position of an edge, adding it if it is new.
    pub(super) fn edge(&mut self, edge: Edge) -> usize {
        self.edges
            .iter()
            .position(|known| *known == edge)
            .unwrap_or_else(|| {
                self.edges.push(edge);
                self.edges.len() - 1
            })
    }
}
