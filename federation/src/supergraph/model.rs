//! A supergraph with dense ids: which subgraph knows which types, and who resolves which fields.

use std::sync::Arc;

use apollo_compiler::ast;
use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};

use super::authorization::Requirement;
use super::field_set::FieldSet;
use crate::hash::{HashMap, HashSet};
use crate::ids::ids;

ids! {
    /// A subgraph of a supergraph.
    SubgraphId;
    /// A type of a supergraph.
    TypeId;
    /// A field of an object or interface type.
    FieldId;
    /// A label of progressive overrides.
    LabelId;
    /// Something that requests must have for a field.
    RequirementId;
}

/// A supergraph: the composed schema, and what each subgraph contributes to it.
#[derive(Debug)]
pub struct Supergraph {
    pub(super) schema: Valid<Schema>,
    pub(super) api: Valid<Schema>,
    pub(super) subgraphs: Vec<Subgraph>,
    pub(super) types: Vec<Type>,
    pub(super) fields: Vec<Field>,
    pub(super) by_name: HashMap<Name, TypeId>,
    pub(super) labels: Vec<String>,
    pub(super) requirements: Vec<Requirement>,
    /// What fields require, whatever type has them, by name.
    pub(super) required_by_name: HashMap<Name, Vec<RequirementId>>,
    /// The fields that subgraphs provide on some path.
    pub(super) provided: HashSet<(SubgraphId, FieldId)>,
    /// The names of fields that are required with arguments.
    pub(super) given_arguments: HashSet<Name>,
}

/// A subgraph, as `@join__graph` declares it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subgraph {
    /// Its value in `join__Graph`.
    pub graph: Name,
    /// Its name.
    pub name: String,
    /// Where it is served; may be empty.
    pub url: String,
}

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Its values are scalars or enum values.
    Leaf,
    /// An object type.
    Object,
    /// An interface.
    Interface,
    /// A union.
    Union,
    /// An input object type.
    Input,
}

/// A type of the supergraph; those of introspection and of the join specification are left out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Type {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: TypeKind,
    /// The subgraphs that know it, ascending.
    pub joins: Vec<TypeJoin>,
    /// Objects and interfaces have some.
    pub(crate) fields: HashMap<Name, FieldId>,
    /// The object types that a value of it can have, ascending; an object type itself. An interface that some subgraph
    /// has as an object type stands for the types of its objects where clients may see none of them.
    pub possible: Vec<TypeId>,
    /// Whether clients may see it.
    pub is_accessible: bool,
    /// Whether it is an interface that some subgraph has as an object type.
    pub(crate) is_interface_object: bool,
    /// Equal for types that have the same keys in the same subgraphs, and of which the same is taken for fields
    /// below.
    pub(crate) shape: u32,
    /// What fields below take from objects of the type, if it has a context.
    pub(crate) lends: Vec<FieldSet>,
}

/// The declaration of a type in one subgraph.
#[derive(Debug)]
#[non_exhaustive]
pub struct TypeJoin {
    /// The subgraph.
    pub subgraph: SubgraphId,
    /// Its keys, in the order of the SDL.
    pub keys: Vec<Key>,
    /// The object types that a value of it can have in this subgraph, ascending.
    pub possible: Vec<TypeId>,
    /// Whether the type is an interface that this subgraph has as an object type.
    pub is_interface_object: bool,
    /// The interface that stands for the type in this subgraph, which does not know the type itself.
    pub interface: Option<TypeId>,
}

/// A key of an entity in one subgraph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Key {
    /// The fields of the key.
    pub fields: FieldSet,
    /// Whether the subgraph resolves entities by it.
    pub is_resolvable: bool,
}

/// A field of an object or interface type.
#[derive(Debug)]
#[non_exhaustive]
pub struct Field {
    /// The type that it belongs to.
    pub parent: TypeId,
    /// Its name.
    pub name: Name,
    /// Its type in the supergraph.
    pub ty: ast::Type,
    /// The type inside of lists and non-null.
    pub inner: TypeId,
    /// What the subgraphs say of it, ascending; subgraphs that do not have it are left out.
    pub joins: Vec<FieldJoin>,
    /// Whether clients may select it.
    pub is_accessible: bool,
    /// What a request must have for the field, its type and the type that it belongs to, ascending.
    pub requirements: Vec<RequirementId>,
    /// Whether it may say another thing each time: it, or its type, has the tag `volatile`.
    pub(crate) is_volatile: bool,
    /// Equal for fields of which the same is said, whatever types they belong to.
    pub(crate) shape: u32,
    /// Equal for fields whose values have the same lists, nulls and leaf type in every subgraph.
    pub(crate) value_shape: u32,
}

/// The declaration of a field in one subgraph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FieldJoin {
    /// The subgraph.
    pub subgraph: SubgraphId,
    /// The type of the field there.
    pub ty: ast::Type,
    /// The type inside of lists and non-null.
    pub(crate) inner: TypeId,
    /// The fields of the object that it is computed from.
    pub requires: Option<FieldSet>,
    /// The fields below it that this subgraph resolves on this path.
    pub provides: Option<FieldSet>,
    /// Arguments that take their values from objects above.
    pub contexts: Vec<ContextArgument>,
    /// Whether the subgraph only mentions it.
    pub is_external: bool,
    /// Whether another subgraph has taken it over, wholly or while a label is active.
    pub overridden: Override,
}

/// An argument that takes its value from the nearest object above that has a context. Clients do not see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ContextArgument {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: ast::Type,
    /// The object types that have the context, ascending, and the one value that is taken from each.
    pub sources: Arc<[(TypeId, FieldSet)]>,
}

/// Who resolves a field that has moved from one subgraph to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Override {
    /// This subgraph, whatever labels are active.
    Never,
    /// Another subgraph.
    Always,
    /// This subgraph while the label is active.
    Unless(LabelId),
    /// This subgraph while the label is not active.
    If(LabelId),
}

impl Supergraph {
    /// Returns the composed schema, with its join directives.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Returns the schema that clients see.
    #[must_use]
    pub fn api(&self) -> &Valid<Schema> {
        &self.api
    }

    /// Returns the subgraphs in the order of their ids.
    #[must_use]
    pub fn subgraphs(&self) -> &[Subgraph] {
        &self.subgraphs
    }

    /// Returns whether any subgraph provides anything.
    pub(crate) fn has_provided(&self) -> bool {
        !self.provided.is_empty()
    }

    /// Returns whether a subgraph provides a field on some path.
    pub(crate) fn is_provided(&self, subgraph: SubgraphId, field: FieldId) -> bool {
        self.provided.contains(&(subgraph, field))
    }

    /// Returns whether a field of a name is required with arguments, of whatever type.
    pub(crate) fn is_given_arguments(&self, name: &str) -> bool {
        self.given_arguments.contains(name)
    }

    /// Returns the labels of progressive overrides in the order of their ids.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns what requests must have for some fields, in the order of the ids.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Returns what fields of a name require, of whatever type.
    pub(crate) fn requirements_of_name(&self, name: &str) -> &[RequirementId] {
        self.required_by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the id of the label at a position of [`Supergraph::labels`].
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn label_id(&self, position: usize) -> LabelId {
        assert!(position < self.labels.len(), "there is no such label");
        LabelId::new(position)
    }

    /// Returns the id of the subgraph with a name.
    #[must_use]
    pub fn subgraph_id(&self, name: &str) -> Option<SubgraphId> {
        let position = self
            .subgraphs
            .iter()
            .position(|subgraph| subgraph.name == name);
        position.map(SubgraphId::new)
    }

    /// Returns a subgraph.
    #[must_use]
    pub fn subgraph(&self, id: SubgraphId) -> &Subgraph {
        &self.subgraphs[id.index()]
    }

    /// Returns a type.
    #[must_use]
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// Returns a field.
    #[must_use]
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// Returns the type with a name.
    #[must_use]
    pub fn type_id(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// Returns the field of a type with a name.
    #[must_use]
    pub fn field_id(&self, parent: TypeId, name: &str) -> Option<FieldId> {
        self.ty(parent).fields.get(name).copied()
    }

    /// Returns the root type of an operation type.
    #[must_use]
    pub fn root(&self, operation: OperationType) -> Option<TypeId> {
        self.type_id(self.schema.root_operation(operation)?)
    }

    /// Returns whether a value of the declared type can be an object of the other type.
    #[must_use]
    pub fn is_possible(&self, declared: TypeId, object: TypeId) -> bool {
        self.ty(declared).possible.binary_search(&object).is_ok()
    }

    /// Returns the ids of the subgraphs in their order.
    pub(crate) fn subgraph_ids(&self) -> impl Iterator<Item = SubgraphId> + use<> {
        (0..self.subgraphs.len()).map(SubgraphId::new)
    }

    /// Returns the types in the order of their ids.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len()).map(TypeId::new)
    }
}

impl Type {
    /// Returns its fields with their names, in no particular order.
    pub fn fields(&self) -> impl Iterator<Item = (&Name, FieldId)> {
        self.fields.iter().map(|(name, id)| (name, *id))
    }

    /// Returns the declaration of the type in a subgraph.
    #[must_use]
    pub fn join(&self, subgraph: SubgraphId) -> Option<&TypeJoin> {
        let found = self
            .joins
            .binary_search_by_key(&subgraph, |join| join.subgraph);
        found.ok().map(|position| &self.joins[position])
    }

    /// Returns whether values of it are objects.
    #[must_use]
    pub fn is_composite(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Object | TypeKind::Interface | TypeKind::Union
        )
    }

    /// Returns whether values of it can have several object types.
    #[must_use]
    pub fn is_abstract(&self) -> bool {
        matches!(self.kind, TypeKind::Interface | TypeKind::Union)
    }
}

impl FieldJoin {
    /// Returns whether the field is resolved wherever the subgraph has its object, without being given anything.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.requires.is_none() && self.contexts.is_empty()
    }
}

impl ContextArgument {
    /// Returns what is taken from objects of a type; `None` if it does not have the context.
    #[must_use]
    pub fn source(&self, ty: TypeId) -> Option<&FieldSet> {
        let found = self.sources.binary_search_by_key(&ty, |(known, _)| *known);
        found.ok().map(|position| &self.sources[position].1)
    }
}

impl Field {
    /// Returns the declaration of the field in a subgraph.
    #[must_use]
    pub fn join(&self, subgraph: SubgraphId) -> Option<&FieldJoin> {
        let found = self
            .joins
            .binary_search_by_key(&subgraph, |join| join.subgraph);
        found.ok().map(|position| &self.joins[position])
    }
}
