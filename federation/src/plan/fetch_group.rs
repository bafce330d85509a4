//! Fetch groups: what is asked of one subgraph from one point on.

use std::collections::BTreeSet;
use std::sync::Arc;

use apollo_compiler::ast;

use crate::operation::{ClassId, NodeId};
use crate::supergraph::{SubgraphId, TypeId};

/// A position in the list of fetch groups.
pub(super) type GroupId = usize;

/// What is asked of one subgraph from one point on.
#[derive(Clone, Debug)]
pub(super) struct FetchGroup {
    pub(super) subgraph: SubgraphId,
    pub(super) entry: GroupEntry,
    /// The fields that are fetched; with a field, the one that its object is the value of.
    pub(super) nodes: BTreeSet<NodeId>,
    /// The groups that must be complete before.
    pub(super) after: BTreeSet<GroupId>,
    /// The longest chain of groups before it.
    pub(super) wave: u32,
    /// Whether it keeps its wave, whatever else is planned.
    pub(super) is_fixed: bool,
}

/// Where a group begins.
#[derive(Clone, Debug)]
pub(super) enum GroupEntry {
    /// At the root of the operation.
    Root,
    /// At the root type, for objects on a path that leads back to it.
    Reentry(ClassId),
    /// At entities.
    Entities {
        /// Several where types of objects are not known before.
        classes: Vec<ClassId>,
        /// The interface that they are asked for as.
        interface: Option<TypeId>,
        /// The fields of the key, and what fields require.
        inputs: Vec<Input>,
        /// The values from contexts that its fields are given as arguments.
        contexts: Vec<ContextValue>,
    },
}

/// A value that is taken from the nearest object above that has a context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextValue {
    /// The type of the argument.
    pub ty: ast::Type,
    /// How many objects above.
    pub levels: usize,
    /// Where the value is in that object, by its types: one of the inputs that apply.
    pub inputs: Vec<Input>,
}

/// Objects of the merged data, and what their representations have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Listing {
    /// The class of the objects.
    pub class: ClassId,
    /// The interface that they are represented as.
    pub interface: Option<TypeId>,
    /// Whether it is about all objects at the place of the class, of whatever type: what is answered
    /// tells it.
    pub is_whole: bool,
    /// The members of representations beside the type.
    pub inputs: Vec<Input>,
}

/// The position of a listing in a plan.
pub type ListingId = usize;

/// A member of representations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The key of its value in the answer that has it.
    pub key: Arc<str>,
    /// Where its value is among those of an object in the merged data.
    pub(crate) member: u32,
    /// Whether it is part of the key: without it there is no representation.
    pub is_key: bool,
    /// Whether its objects say their type.
    pub has_typename: bool,
    /// The type of its objects, where only one is possible.
    pub only: Option<TypeId>,
    /// What is sent of its objects, by their types, as inline fragments select it; empty for leaves.
    pub fragments: Vec<InputFragment>,
}

/// What is sent of the objects of some types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct InputFragment {
    /// The types, ascending.
    pub types: Vec<TypeId>,
    /// The members.
    pub inputs: Vec<Input>,
}

impl InputFragment {
    /// Returns whether it is sent of objects of a type; of those without a known one, it is.
    pub(crate) fn is_of(&self, ty: Option<TypeId>) -> bool {
        ty.is_none_or(|ty| self.types.binary_search(&ty).is_ok())
    }
}

impl Input {
    /// Returns whether a representation that has this one needs the other one no more.
    pub(super) fn covers(&self, other: &Input) -> bool {
        let is_covered = |(fragment, other): (&InputFragment, &InputFragment)| {
            let inputs = fragment.inputs.iter().zip(&other.inputs);
            fragment.types == other.types
                && fragment.inputs.len() == other.inputs.len()
                && inputs.into_iter().all(|(input, other)| input.covers(other))
        };
        self.name == other.name
            && self.key == other.key
            && self.is_key >= other.is_key
            && self.has_typename == other.has_typename
            && self.only == other.only
            && self.fragments.len() == other.fragments.len()
            && self.fragments.iter().zip(&other.fragments).all(is_covered)
    }
}

impl GroupEntry {
    /// Returns the classes that the group begins at, the root aside.
    pub(super) fn classes(&self) -> &[ClassId] {
        match self {
            GroupEntry::Root => &[],
            GroupEntry::Reentry(class) => std::slice::from_ref(class),
            GroupEntry::Entities { classes, .. } => classes,
        }
    }
}
