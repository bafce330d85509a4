//! Trees of levels that a store can read at once, if it has reason to.
//!
//! A level is read together with the one above it only if that makes the store look at hardly more than
//! it would see level by level. Where many objects lead to the same few, and each of these to
//! many, going all ways would multiply: so a level whose objects may be reached in several ways is read
//! ahead only if single values are read of each, or if the store first finds out which objects they are.

use graph_store::query::{NodeCondition, ObjectRef, Selection, ValueCondition};

use super::{Level, LevelId, ListOutput, Output, Plan, RootField, Typing};

/// Maximum number of objects from which further levels are read at once: with more, what a round trip
/// costs matters little.
const FEW: usize = 100;

/// Maximum number of slots of the levels that are read beside the first one.
const MAX_SLOTS: usize = 24;

/// A level to be read together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The level.
    pub(crate) level: LevelId,
    /// The position of the level above it in the list, and that of its slot that leads here.
    pub(crate) parent: Option<(usize, usize)>,
    /// Whether the store is to find out which objects the level has before it reads their values.
    pub(crate) is_apart: bool,
}

/// In how many ways the objects of a level can be reached from those of the first one.
#[derive(Clone, Copy)]
struct Reach {
    /// Each in one way.
    once: bool,
    /// There is one object.
    is_one: bool,
    /// Some level on the way stands apart.
    is_below_apart: bool,
}

/// Returns the levels to read at once from a number of objects of the level `root`, which comes first. Where no one knows the
/// number, levels follow that have no more objects than the first one: most lists that are filtered are short.
pub(crate) fn level_tree(
    plan: &Plan,
    root: LevelId,
    objects: Option<usize>,
    may_be_apart: bool,
) -> Vec<Branch> {
    let first = Branch {
        level: root,
        parent: None,
        is_apart: false,
    };
    let mut tree = vec![first];
    if objects.is_some_and(|objects| objects > FEW) {
        return tree;
    }
    let mut reaches = vec![Reach {
        once: true,
        is_one: objects == Some(1),
        is_below_apart: false,
    }];
    let mut slots = 0;
    let mut above = 0;
    while let Some(&branch) = tree.get(above) {
        let reach = reaches[above];
        let level = &plan.levels[branch.level.0 as usize];
        for edge in &level.edges {
            let child = &plan.levels[edge.level.0 as usize];
            let mut below = Reach {
                once: reach.is_one,
                is_one: reach.is_one && level.single[edge.slot],
                is_below_apart: reach.is_below_apart,
            };
            let is_apart = !below.once && !has_single_values(child);
            if is_apart {
                below.once = true;
                below.is_below_apart = true;
            }
            let fits = slots + child.slots.len() <= MAX_SLOTS;
            // The way to a level that stands apart is gone twice, and would be four times behind a second one.
            let may_be = !is_apart || (may_be_apart && !reach.is_below_apart);
            let may_be = may_be && (objects.is_some() || level.single[edge.slot]);
            if fits && may_be && can_follow(level, edge.slot, child) {
                slots += child.slots.len();
                reaches.push(below);
                tree.push(Branch {
                    level: edge.level,
                    parent: Some((above, edge.slot)),
                    is_apart,
                });
            }
        }
        above += 1;
    }
    tree
}

/// Returns whether a level can be read together with the one above it, a slot of which leads to it.
fn can_follow(level: &Level, slot: usize, child: &Level) -> bool {
    let from = &level.slots[slot];
    let leads_somewhere = !from
        .condition
        .as_ref()
        .is_some_and(ValueCondition::is_false);
    // The objects of a page are known only after it is cut.
    leads_somewhere
        && from.page.is_none()
        && child.ways == 1
        && !child.slots.is_empty()
        && child.dataset == level.dataset
}

/// Returns whether single values are read of each object.
fn has_single_values(level: &Level) -> bool {
    let mut slots = level.slots.iter().zip(&level.single);
    slots.all(|(slot, single)| *single && slot.page.is_none())
}

/// Returns the ids among which a selection chooses, if there are few, and its further conditions.
///
/// What it returns of them is the same whether they are first selected or first read.
pub(crate) fn candidates(selection: &Selection) -> Option<(Vec<ObjectRef>, NodeCondition)> {
    let parts = match &selection.condition {
        NodeCondition::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let is_list = |part: &NodeCondition| matches!(part, NodeCondition::OneOf(_));
    let place = parts.iter().position(is_list)?;
    let NodeCondition::OneOf(ids) = &parts[place] else {
        return None;
    };
    let is_unordered = selection.order.is_empty() || ids.len() == 1;
    if ids.is_empty() || ids.len() > FEW || !is_unordered || !selection.page.is_whole() {
        return None;
    }
    let others = parts
        .iter()
        .enumerate()
        .filter(|(position, _)| *position != place);
    let others = NodeCondition::all(others.map(|(_, part)| part.clone()));
    let ids = ids.iter().cloned().map(ObjectRef::from).collect();
    Some((ids, others))
}

/// Notes in each level which of its slots hold one value for each object, and in how many ways the level
/// is reached.
pub(super) fn annotate_levels(levels: &mut [Level], roots: &mut [RootField]) {
    let edges = levels.iter().flat_map(|level| &level.edges);
    let mut reached: Vec<LevelId> = edges.map(|edge| edge.level).collect();
    for root in roots {
        reached.extend(root.value.levels_mut().into_iter().map(|level| *level));
    }
    for level in reached {
        levels[level.0 as usize].ways += 1;
    }
    for level in levels {
        level.single = single_slots(level);
    }
}

/// Returns for each slot whether only fields of one value show it. An object has few types.
fn single_slots(level: &Level) -> Vec<bool> {
    let mut shown = vec![(false, false); level.slots.len()];
    if let Typing::Stored { slots, .. } = &level.typing {
        slots.iter().for_each(|&slot| shown[slot].0 = true);
    }
    for field in level.variants.iter().flatten() {
        if let Some((slot, is_single)) = shows(level, &field.value) {
            shown[slot].0 |= is_single;
            shown[slot].1 |= !is_single;
        }
    }
    let shown = shown.into_iter();
    shown.map(|(single, several)| single && !several).collect()
}

/// Returns the slot that a field shows, and whether it shows one value of it.
fn shows(level: &Level, output: &Output) -> Option<(usize, bool)> {
    let single = |list: &Option<ListOutput>| list.is_none();
    match output {
        Output::TypeName | Output::Id => None,
        Output::Scalar(scalar) => Some((scalar.slot, single(&scalar.list))),
        Output::Literal(literal) => Some((literal.slot, single(&literal.list))),
        Output::Objects { edge, list } => Some((level.edges[*edge].slot, single(list))),
        Output::ObjectCount { slot } => Some((*slot, false)),
        Output::ValueCount(counted) => shows(level, counted).map(|(slot, _)| (slot, false)),
        Output::Aggregate { edge, .. } => Some((level.edges[*edge].slot, false)),
        Output::ValueAggregate(aggregate) => Some((aggregate.values.slot, false)),
    }
}
