//! Shorthands for building `apollo_compiler` nodes.

use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{
    Component, ComponentName, DirectiveList, EnumType, EnumValueDefinition, ExtendedType,
    FieldDefinition, InputObjectType, InputValueDefinition, InterfaceType, ObjectType, ScalarType,
    Type, UnionType, Value,
};
use apollo_compiler::{Name, Node, ast};

use super::origin::Origin;

pub(super) type Text = Option<Node<str>>;
pub(super) type Argument = Node<InputValueDefinition>;
pub(super) type FieldNode = Component<FieldDefinition>;
pub(super) type Fields = IndexMap<Name, FieldNode>;

/// A field, an input field or an enum value, on its way into a type.
#[derive(Clone)]
pub(super) struct Member<T> {
    pub(super) node: T,
    /// What it stems from; `None` when that is what the type stems from.
    origin: Option<Origin>,
}

impl<T> Member<T> {
    /// Creates a member that stems from something else than its type does.
    pub(super) fn of(origin: Origin, node: T) -> Self {
        Member {
            node,
            origin: Some(origin),
        }
    }
}

impl<T> From<T> for Member<T> {
    /// Takes a member that stems from what its type stems from.
    fn from(node: T) -> Self {
        Member { node, origin: None }
    }
}

/// A type to be added to the API, with the origins of its members.
pub(super) struct NewType {
    pub(super) definition: ExtendedType,
    pub(super) members: Vec<Option<Origin>>,
}

pub(super) fn text(value: &str) -> Text {
    Some(Node::new_str(value))
}

/// `T`
pub(super) fn named(name: &Name) -> Type {
    Type::Named(name.clone())
}

/// `T!`
pub(super) fn required(name: &Name) -> Type {
    Type::NonNullNamed(name.clone())
}

/// `[T]`
pub(super) fn list(name: &Name) -> Type {
    Type::List(Box::new(named(name)))
}

/// `[T!]`
pub(super) fn list_of_required(name: &Name) -> Type {
    Type::List(Box::new(required(name)))
}

/// `[T]!`
pub(super) fn required_list(name: &Name) -> Type {
    Type::NonNullList(Box::new(named(name)))
}

/// An argument or input field without default.
pub(super) fn input(name: &Name, description: Text, ty: impl Into<Node<Type>>) -> Argument {
    input_with_default(name, description, ty, None)
}

/// An argument or input field.
pub(super) fn input_with_default(
    name: &Name,
    description: Text,
    ty: impl Into<Node<Type>>,
    default: Option<Value>,
) -> Argument {
    Node::new(InputValueDefinition {
        description,
        name: name.clone(),
        ty: ty.into(),
        default_value: default.map(Node::new),
        directives: ast::DirectiveList::new(),
    })
}

/// A field of an object or interface type.
pub(super) fn field(
    name: &Name,
    description: Text,
    arguments: Vec<Argument>,
    ty: Type,
) -> FieldNode {
    Component::new(FieldDefinition {
        description,
        name: name.clone(),
        arguments,
        ty,
        directives: ast::DirectiveList::new(),
    })
}

/// A value of an enumeration.
pub(super) fn enum_value(value: &Name, description: Text) -> Component<EnumValueDefinition> {
    Component::new(EnumValueDefinition {
        description,
        value: value.clone(),
        directives: ast::DirectiveList::new(),
    })
}

pub(super) fn scalar_type(name: Name, description: Text) -> NewType {
    without_members(ExtendedType::Scalar(Node::new(ScalarType {
        description,
        name,
        directives: DirectiveList::new(),
    })))
}

pub(super) fn union_type(
    name: Name,
    description: Text,
    members: IndexSet<ComponentName>,
) -> NewType {
    without_members(ExtendedType::Union(Node::new(UnionType {
        description,
        name,
        directives: DirectiveList::new(),
        members,
    })))
}

pub(super) fn object_type<M: Into<Member<FieldNode>>>(
    name: Name,
    description: Text,
    implements_interfaces: IndexSet<ComponentName>,
    fields: impl IntoIterator<Item = M>,
) -> NewType {
    let (fields, members) = by_name(fields, |field| (field.name.clone(), field));
    let definition = ExtendedType::Object(Node::new(ObjectType {
        description,
        name,
        implements_interfaces,
        directives: DirectiveList::new(),
        fields,
    }));
    NewType {
        definition,
        members,
    }
}

pub(super) fn interface_type<M: Into<Member<FieldNode>>>(
    name: Name,
    description: Text,
    implements_interfaces: IndexSet<ComponentName>,
    fields: impl IntoIterator<Item = M>,
) -> NewType {
    let (fields, members) = by_name(fields, |field| (field.name.clone(), field));
    let definition = ExtendedType::Interface(Node::new(InterfaceType {
        description,
        name,
        implements_interfaces,
        directives: DirectiveList::new(),
        fields,
    }));
    NewType {
        definition,
        members,
    }
}

pub(super) fn input_type<M: Into<Member<Argument>>>(
    name: Name,
    description: Text,
    fields: impl IntoIterator<Item = M>,
) -> NewType {
    let named = |field: Argument| (field.name.clone(), Component::from(field));
    let (fields, members) = by_name(fields, named);
    let definition = ExtendedType::InputObject(Node::new(InputObjectType {
        description,
        name,
        directives: DirectiveList::new(),
        fields,
    }));
    NewType {
        definition,
        members,
    }
}

pub(super) fn enum_type<M: Into<Member<Component<EnumValueDefinition>>>>(
    name: Name,
    description: Text,
    values: impl IntoIterator<Item = M>,
) -> NewType {
    let (values, members) = by_name(values, |value| (value.value.clone(), value));
    let definition = ExtendedType::Enum(Node::new(EnumType {
        description,
        name,
        directives: DirectiveList::new(),
        values,
    }));
    NewType {
        definition,
        members,
    }
}

fn without_members(definition: ExtendedType) -> NewType {
    NewType {
        definition,
        members: Vec::new(),
    }
}

/// Puts the members of a type under their names, and their origins into the same order.
fn by_name<T, M: Into<Member<T>>, U>(
    members: impl IntoIterator<Item = M>,
    named: impl Fn(T) -> (Name, U),
) -> (IndexMap<Name, U>, Vec<Option<Origin>>) {
    let members = members.into_iter();
    let expected = members.size_hint().0;
    let mut nodes = IndexMap::with_capacity_and_hasher(expected, Default::default());
    let mut origins = Vec::with_capacity(expected);
    for member in members {
        let Member { node, origin } = member.into();
        let (name, node) = named(node);
        let (position, replaced) = nodes.insert_full(name, node);
        match replaced {
            None => origins.push(origin),
            Some(_) => origins[position] = origin,
        }
    }
    (nodes, origins)
}
