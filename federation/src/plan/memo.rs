//! What a step needs not ask for: fields of entities that its subgraph was asked for elsewhere in the plan.
//!
//! An operation often leads to the same entities on several paths. Where a subgraph has answered the same fields, with
//! the same arguments, of the same entity before, what it said is taken from there.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::builder::{PlanBuilder, meet};
use super::fetch_group::{GroupEntry, GroupId, Input, InputFragment, Listing, ListingId};
use crate::hash::IndexSet;
use crate::operation::{ClassId, Node, NodeId, RowLayout};

/// Most sources of a step.
const SOURCES: usize = 8;

/// Fields that are compared for one plan at most.
const WORK: usize = 20_000;

/// Objects of which a subgraph is asked for what a step needs, too.
#[derive(Clone, Debug)]
pub(crate) struct MemoSource {
    /// The position of the request that asks, and of its step.
    pub(crate) step: StepId,
    /// The objects, and what representations of them would have if the step were about them.
    pub(crate) listing: ListingId,
    /// The fields that are taken of them.
    pub(crate) fields: Vec<MemoField>,
}

/// The position of a request in a plan, and of a step in it.
pub(crate) type StepId = (usize, usize);

/// A value that is taken from one object for another one.
#[derive(Clone, Debug)]
pub(crate) struct MemoField {
    /// Where it is.
    pub(crate) from: u32,
    /// Where it belongs.
    pub(crate) to: u32,
    /// What is taken of its objects; `None` for leaves.
    pub(crate) selection: Option<MemoSelection>,
}

/// What is taken of objects below others.
#[derive(Clone, Debug)]
pub(crate) struct MemoSelection {
    /// The layout of the copies.
    pub(crate) layout: RowLayout,
    pub(crate) fields: Vec<MemoField>,
}

/// Finds where the steps of a plan can take from.
pub(super) struct MemoFinder<'f, 's> {
    builder: &'f PlanBuilder<'s>,
    /// The classes of which each group fetches something.
    classes: Vec<Vec<ClassId>>,
    /// Fields that may still be compared.
    left: Cell<usize>,
}

impl<'f, 's> MemoFinder<'f, 's> {
    pub(super) fn new(builder: &'f PlanBuilder<'s>) -> Self {
        let classes = builder.groups.iter().map(|group| {
            let nodes = group.nodes.iter();
            let mut classes: Vec<ClassId> =
                nodes.map(|node| builder.tree.node(*node).class).collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        });
        MemoFinder {
            classes: classes.collect(),
            builder,
            left: Cell::new(WORK),
        }
    }

    /// Returns where a group can take from. `step` tells the step of a group.
    pub(super) fn sources(
        &self,
        id: GroupId,
        step: impl Fn(GroupId) -> StepId,
        listings: &mut IndexSet<Listing>,
    ) -> Vec<MemoSource> {
        let builder = self.builder;
        let group = &builder.groups[id];
        let GroupEntry::Entities {
            classes,
            interface: None,
            inputs,
            contexts,
        } = &group.entry
        else {
            return Vec::new();
        };
        let ([class], true) = (classes.as_slice(), contexts.is_empty()) else {
            return Vec::new();
        };
        let mut sources = Vec::new();
        for (other, known) in builder.groups.iter().enumerate() {
            let is_before = known.wave < group.wave
                || step(other).0 == step(id).0 && self.rank(other) < self.rank(id);
            if known.subgraph != group.subgraph || !is_before {
                continue;
            }
            for from in self.classes[other].iter().copied() {
                if sources.len() == SOURCES || self.left.get() == 0 {
                    return sources;
                }
                let repeated = RepeatedFields {
                    nodes: &group.nodes,
                    from: other,
                };
                let types = |class: ClassId| &builder.tree.class(class).types;
                if from == *class || !meet(types(from), types(*class)) {
                    continue;
                }
                let inputs = self.inputs(*class, inputs, from);
                let fields = self.fields(repeated, *class, from);
                if let (Some(inputs), Some(fields)) = (inputs, fields) {
                    let listing = Listing {
                        class: from,
                        interface: None,
                        is_whole: false,
                        inputs,
                    };
                    sources.push(MemoSource {
                        step: step(other),
                        listing: listings.insert_full(listing).0,
                        fields,
                    });
                }
            }
        }
        sources
    }

    /// Returns what groups of a request are ordered by: those that can begin first come first.
    pub(super) fn rank(&self, id: GroupId) -> (u32, GroupId) {
        let after = self.builder.groups[id].after.iter();
        let waves = after.map(|before| self.builder.groups[*before].wave + 1);
        (waves.max().unwrap_or(0), id)
    }

    /// Returns what representations would have that are made of objects of another class.
    fn inputs(&self, class: ClassId, inputs: &[Input], from: ClassId) -> Option<Vec<Input>> {
        let inputs = inputs.iter().map(|input| {
            let mut nodes = self.builder.tree.class(class).nodes.iter();
            let node = nodes.find(|node| self.node(**node).member == input.member)?;
            let same = self.same(*node, from)?;
            let fragments = input.fragments.iter().map(|fragment| {
                let of = |node: NodeId| {
                    let mut classes = self.node(node).classes.iter().copied();
                    classes.find(|class| self.builder.tree.class(*class).types == fragment.types)
                };
                Some(InputFragment {
                    types: fragment.types.clone(),
                    inputs: self.inputs(of(*node)?, &fragment.inputs, of(same)?)?,
                })
            });
            Some(Input {
                key: self.node(same).key.clone(),
                member: self.node(same).member,
                fragments: fragments.collect::<Option<_>>()?,
                ..input.clone()
            })
        });
        inputs.collect()
    }

    /// Returns what is taken of objects of a class for those of another one: everything that is fetched of these.
    fn fields(
        &self,
        repeated: RepeatedFields<'_>,
        to: ClassId,
        from: ClassId,
    ) -> Option<Vec<MemoField>> {
        let nodes = self.builder.tree.class(to).nodes.iter().copied();
        let nodes: Vec<NodeId> = nodes.filter(|node| repeated.nodes.contains(node)).collect();
        let fields = nodes.into_iter().map(|node| {
            let same = self.same(node, from)?;
            let is_only = self.builder.fetched.get(&same)?.as_slice() == [repeated.from];
            if !is_only || self.is_volatile(node) {
                return None;
            }
            let selection = if self.node(node).is_leaf {
                None
            } else {
                Some(self.selection(repeated, node, same)?)
            };
            Some(MemoField {
                from: self.node(same).member,
                to: self.node(node).member,
                selection,
            })
        });
        fields.collect()
    }

    /// Returns what is taken of the objects below a field.
    fn selection(
        &self,
        repeated: RepeatedFields<'_>,
        node: NodeId,
        same: NodeId,
    ) -> Option<MemoSelection> {
        let tree = &self.builder.tree;
        // Objects of several types have to be told apart.
        let ([to], [from]) = (
            self.node(node).classes.as_slice(),
            self.node(same).classes.as_slice(),
        ) else {
            return None;
        };
        if tree.class(*to).types != tree.class(*from).types || tree.class(*to).types.len() > 1 {
            return None;
        }
        Some(MemoSelection {
            layout: tree.layout(self.node(node).slot),
            fields: self.fields(repeated, *to, *from)?,
        })
    }

    /// Returns the field of another class that asks for the same.
    fn same(&self, node: NodeId, from: ClassId) -> Option<NodeId> {
        let node = self.node(node);
        let nodes = &self.builder.tree.class(from).nodes;
        self.left.set(self.left.get().saturating_sub(nodes.len()));
        let is_same = |other: &&NodeId| {
            let other = self.node(**other);
            other.name == node.name
                && other.arguments == node.arguments
                && other.is_leaf == node.is_leaf
        };
        nodes.iter().find(is_same).copied()
    }

    /// Returns whether what a field says may be another thing each time.
    fn is_volatile(&self, node: NodeId) -> bool {
        let supergraph = self.builder.graph.supergraph();
        let node = self.node(node);
        let types = &self.builder.tree.class(node.class).types;
        let mut fields = types
            .iter()
            .filter_map(|ty| supergraph.field_id(*ty, &node.name));
        fields.any(|field| supergraph.field(field).is_volatile)
    }

    fn node(&self, id: NodeId) -> &'f Node {
        self.builder.tree.node(id)
    }
}

/// What one group asks a subgraph for that another one asks it for too.
#[derive(Clone, Copy)]
struct RepeatedFields<'g> {
    /// What is asked for.
    nodes: &'g BTreeSet<NodeId>,
    /// The other group.
    from: GroupId,
}
