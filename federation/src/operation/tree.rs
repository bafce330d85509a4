//! The tree of an operation: classes of objects, and the fields that are needed of them.

use std::sync::Arc;

use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node as AstNode, Schema, ast};

use super::slots::{RowLayout, SlotId, Slots};
use crate::hash::HashMap;
use crate::ids::ids;
use crate::supergraph::{FieldId, FieldSet, TypeId};

ids! {
    /// A class of a tree.
    ClassId;
    /// A field of a tree.
    NodeId;
}

/// What an operation needs.
///
/// Planning adds what clients did not ask for: keys, and what fields require.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) classes: Vec<Class>,
    pub(super) nodes: Vec<Node>,
    pub(super) slots: Slots,
    /// The leaves of each class by their slots.
    pub(super) leaves: HashMap<(ClassId, SlotId), NodeId>,
    /// Objects and fields that may still be added.
    pub(super) room: usize,
    /// Selections that were looked at since the last one that counted as an object or field.
    pub(super) looks: usize,
}

/// Objects on one path whose types are treated alike.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Class {
    /// The field whose values they are; `None` for the root.
    pub position: Option<NodeId>,
    /// Their object types, ascending. Whatever matters for planning is the same for all of them.
    pub types: Vec<TypeId>,
    /// The fields that are needed of them.
    pub nodes: Vec<NodeId>,
    /// What clients see of them, in order.
    pub outputs: Vec<Output>,
    pub(crate) slot: SlotId,
}

/// A member of an object that clients see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// The value of a field.
    Field {
        /// The response key.
        key: Name,
        /// The field.
        node: NodeId,
    },
    /// A field that the request may not see.
    Denied {
        /// The response key.
        key: Name,
        /// The field, of the first type of the class.
        field: FieldId,
    },
    /// The name of the object's type.
    Typename {
        /// The response key.
        key: Name,
    },
    /// `__schema` or `__type`.
    Introspection {
        /// The response key.
        key: Name,
    },
}

impl Output {
    /// Returns the response key.
    #[must_use]
    pub fn key(&self) -> &Name {
        match self {
            Output::Field { key, .. }
            | Output::Denied { key, .. }
            | Output::Typename { key }
            | Output::Introspection { key } => key,
        }
    }

    /// Returns the field.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Output::Field { node, .. } => Some(*node),
            _ => None,
        }
    }
}

/// How a leaf is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafKind {
    Int,
    Float,
    Boolean,
    String,
    Id,
    Enum,
    /// A custom scalar, which is not checked.
    Custom,
}

impl LeafKind {
    /// Returns how leaves of a type are checked.
    pub(crate) fn of(api: &Schema, name: &str) -> Self {
        match name {
            "Int" => LeafKind::Int,
            "Float" => LeafKind::Float,
            "Boolean" => LeafKind::Boolean,
            "String" => LeafKind::String,
            "ID" => LeafKind::Id,
            _ => match api.types.get(name) {
                Some(ExtendedType::Enum(_)) => LeafKind::Enum,
                _ => LeafKind::Custom,
            },
        }
    }
}

/// A field that is needed of the objects of a class.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The class of the objects.
    pub class: ClassId,
    /// The field, of the first type of the class.
    pub field: FieldId,
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub arguments: Vec<AstNode<ast::Argument>>,
    /// Its name in subgraph operations and in their answers.
    pub key: Arc<str>,
    /// Where its values are among those of an object in the merged data.
    pub(crate) member: u32,
    /// The client's name for it; `None` where only the gateway needs it.
    pub response_key: Option<Name>,
    /// Whether its values are scalars or enum values.
    pub is_leaf: bool,
    /// How they are checked then.
    pub(crate) kind: LeafKind,
    /// The classes of its values, if they are objects.
    pub classes: Vec<ClassId>,
    /// Whether clients ask the same of all of its classes, of which there are several, without type conditions and not
    /// for their types. Where no subgraph tells the type of an object, it is one of the first class.
    pub is_uniform: bool,
    /// What it was added for, where the gateway needs objects.
    pub(super) inner: Option<FieldSet>,
    pub(crate) slot: SlotId,
}

impl Tree {
    /// The root objects.
    pub const ROOT: ClassId = ClassId(0);

    /// Forgets what only planning needs: plans are kept.
    pub(crate) fn planned(self) -> Self {
        Tree {
            slots: self.slots.planned(),
            leaves: HashMap::default(),
            ..self
        }
    }

    /// Returns a class.
    #[must_use]
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// Returns a field.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the keys of the values of objects at a slot, by their places.
    pub(crate) fn keys(&self, slot: SlotId) -> &[Arc<str>] {
        self.slots.keys(slot)
    }

    /// Returns the layout of the rows of objects at a slot.
    pub(crate) fn layout(&self, slot: SlotId) -> RowLayout {
        let width = u32::try_from(self.keys(slot).len()).expect("operations are bounded");
        RowLayout { slot, width }
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether nothing is needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns whether clients ask the same of two fields.
    pub(crate) fn is_alike(&self, one: NodeId, other: NodeId) -> bool {
        let (a, b) = (self.node(one), self.node(other));
        let is_alike = |(a, b): (&ClassId, &ClassId)| {
            self.class(*a).types == self.class(*b).types && self.asks_alike(*a, *b)
        };
        one == other
            || (a.key == b.key
                && a.arguments == b.arguments
                && a.classes.len() == b.classes.len()
                && a.classes.iter().zip(&b.classes).all(is_alike))
    }

    /// Returns whether clients ask the same of the objects of two classes.
    fn asks_alike(&self, one: ClassId, other: ClassId) -> bool {
        let (one, other) = (&self.class(one).outputs, &self.class(other).outputs);
        one.len() == other.len()
            && one.iter().zip(other).all(|(a, b)| {
                a.key() == b.key()
                    && match (a.node(), b.node()) {
                        (Some(a), Some(b)) => self.is_alike(a, b),
                        (None, None) => a == b,
                        _ => false,
                    }
            })
    }

    /// Returns whether clients ask for the types of the objects of a class.
    pub(crate) fn asks_types(&self, class: ClassId) -> bool {
        let mut outputs = self.class(class).outputs.iter();
        outputs.any(|output| matches!(output, Output::Typename { .. }))
    }

    /// Returns whether clients see the same of all classes of a field, and not their types.
    pub(super) fn is_uniform(&self, node: NodeId) -> bool {
        let Some((first, others)) = self.node(node).classes.split_first() else {
            return false;
        };
        !others.is_empty()
            && !self.asks_types(*first)
            && others.iter().all(|other| self.asks_alike(*first, *other))
    }

    /// Returns the class among several that objects of a type belong to.
    #[must_use]
    pub fn class_of(&self, classes: &[ClassId], ty: TypeId) -> Option<ClassId> {
        let mut classes = classes.iter().copied();
        classes.find(|id| self.class(*id).types.binary_search(&ty).is_ok())
    }
}

impl Class {
    /// Returns a type that stands for all of the class.
    #[must_use]
    pub fn ty(&self) -> TypeId {
        self.types[0]
    }
}
