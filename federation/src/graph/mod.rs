//! The graph of moves: from objects that are present in some subgraphs, where can one go, and after how
//! many waves?
//!
//! A move is a field that a subgraph resolves, or a key by which it finds an object that another subgraph
//! told of. The graph is not stored: each move is looked up in the supergraph, under the labels that are
//! active. Whatever is found here can be planned, and nothing else can.

mod reach;

use std::collections::BTreeSet;

use crate::authorization::Denied;
use crate::supergraph::{
    FieldId, FieldJoin, Key, LabelId, Override, SubgraphId, Supergraph, TypeId,
};

pub use reach::Waves;
pub(crate) use reach::{Presence, Provided};

/// The labels of progressive overrides that are active for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActiveLabels(BTreeSet<LabelId>);

impl ActiveLabels {
    /// Activates labels.
    pub fn new(labels: impl IntoIterator<Item = LabelId>) -> Self {
        ActiveLabels(labels.into_iter().collect())
    }

    /// Returns whether a label is active.
    #[must_use]
    pub fn is_active(&self, label: LabelId) -> bool {
        self.0.contains(&label)
    }

    /// Returns the labels, ascending.
    pub fn iter(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.0.iter().copied()
    }
}

/// The moves of a supergraph under the active labels.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'s> {
    supergraph: &'s Supergraph,
    labels: &'s ActiveLabels,
    denied: Option<&'s Denied>,
    /// Whether what is provided on some path counts as resolved everywhere.
    is_optimistic: bool,
}

impl<'s> Graph<'s> {
    /// Creates the graph.
    #[must_use]
    pub fn new(supergraph: &'s Supergraph, labels: &'s ActiveLabels) -> Self {
        Graph {
            supergraph,
            labels,
            denied: None,
            is_optimistic: false,
        }
    }

    /// Lets what is provided on some path count as resolved everywhere: whatever is not found then cannot
    /// be planned, and no plan is earlier.
    pub(crate) fn optimistic(self) -> Self {
        Graph {
            is_optimistic: self.supergraph.has_provided(),
            ..self
        }
    }

    /// Leaves out what a request may not see.
    #[must_use]
    pub fn without(self, denied: &'s Denied) -> Self {
        Graph {
            denied: Some(denied),
            ..self
        }
    }

    pub(crate) fn is_optimistic(self) -> bool {
        self.is_optimistic
    }

    /// Returns what the request may not see, where something was left out.
    #[must_use]
    pub fn denied(self) -> Option<&'s Denied> {
        self.denied
    }

    /// Returns the supergraph.
    #[must_use]
    pub fn supergraph(self) -> &'s Supergraph {
        self.supergraph
    }

    /// Returns what a subgraph says of a field that it resolves wherever it has the object, after it
    /// was given what the field requires. Provided fields are not among them.
    #[must_use]
    pub fn resolves(self, subgraph: SubgraphId, field: FieldId) -> Option<&'s FieldJoin> {
        let join = self.supergraph.field(field).join(subgraph)?;
        self.counts(field, join).then_some(join)
    }

    /// Returns the subgraphs that resolve a field.
    pub fn resolvers(self, field: FieldId) -> impl Iterator<Item = &'s FieldJoin> {
        let joins = self.supergraph.field(field).joins.iter();
        joins.filter(move |join| self.counts(field, join))
    }

    fn counts(self, field: FieldId, join: &FieldJoin) -> bool {
        (!join.is_external && self.is_kept(join))
            || (self.is_optimistic && self.supergraph.is_provided(join.subgraph, field))
    }

    fn is_kept(self, join: &FieldJoin) -> bool {
        match join.overridden {
            Override::Never => true,
            Override::Always => false,
            Override::Unless(label) => !self.labels.is_active(label),
            Override::If(label) => self.labels.is_active(label),
        }
    }

    /// Returns the keys by which a subgraph resolves entities of a type.
    pub fn keys(self, ty: TypeId, subgraph: SubgraphId) -> impl Iterator<Item = &'s Key> {
        let join = self.supergraph.ty(ty).join(subgraph);
        let keys = join.into_iter().flat_map(|join| &join.keys);
        keys.filter(|key| key.is_resolvable)
    }

    /// Returns the interface that stands for an object type in a subgraph, or that is an object type itself there.
    #[must_use]
    pub fn interface(self, ty: TypeId, subgraph: SubgraphId) -> Option<TypeId> {
        let join = self.supergraph.ty(ty).join(subgraph)?;
        join.interface.or(join.is_interface_object.then_some(ty))
    }

    /// Returns the interface whose objects a field has as values, without telling their types.
    #[must_use]
    pub fn untyped(self, join: &FieldJoin) -> Option<TypeId> {
        let known = self.supergraph.ty(join.inner).join(join.subgraph)?;
        known.is_interface_object.then_some(join.inner)
    }

    /// Returns the object types that the value of a field can have in a subgraph.
    #[must_use]
    pub fn possible(self, join: &FieldJoin) -> &'s [TypeId] {
        let known = self.supergraph.ty(join.inner).join(join.subgraph);
        known.map_or(&[], |known| known.possible.as_slice())
    }
}
