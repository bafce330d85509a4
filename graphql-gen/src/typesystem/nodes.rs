//! Shorthands for building `apollo_compiler` nodes.

use apollo_compiler::ast;
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{
    Component, ComponentName, DirectiveList, EnumType, EnumValueDefinition, ExtendedType,
    FieldDefinition, InputObjectType, InputValueDefinition, InterfaceType, ObjectType, ScalarType,
    Type, Value,
};
use apollo_compiler::{Name, Node};

pub(super) type Text = Option<Node<str>>;
pub(super) type Argument = Node<InputValueDefinition>;
pub(super) type Fields = IndexMap<Name, Component<FieldDefinition>>;

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
) -> Component<FieldDefinition> {
    Component::new(FieldDefinition {
        description,
        name: name.clone(),
        arguments,
        ty,
        directives: ast::DirectiveList::new(),
    })
}

pub(super) fn fields(all: impl IntoIterator<Item = Component<FieldDefinition>>) -> Fields {
    all.into_iter().map(|f| (f.name.clone(), f)).collect()
}

pub(super) fn scalar_type(name: Name, description: Text) -> ExtendedType {
    ExtendedType::Scalar(Node::new(ScalarType {
        description,
        name,
        directives: DirectiveList::new(),
    }))
}

pub(super) fn object_type(
    name: Name,
    description: Text,
    implements_interfaces: IndexSet<ComponentName>,
    fields: Fields,
) -> ExtendedType {
    let directives = DirectiveList::new();
    ExtendedType::Object(Node::new(ObjectType {
        description,
        name,
        implements_interfaces,
        directives,
        fields,
    }))
}

pub(super) fn interface_type(
    name: Name,
    description: Text,
    implements_interfaces: IndexSet<ComponentName>,
    fields: Fields,
) -> ExtendedType {
    let directives = DirectiveList::new();
    ExtendedType::Interface(Node::new(InterfaceType {
        description,
        name,
        implements_interfaces,
        directives,
        fields,
    }))
}

pub(super) fn input_type(
    name: Name,
    description: Text,
    fields: impl IntoIterator<Item = Argument>,
) -> ExtendedType {
    let fields = fields
        .into_iter()
        .map(|f| (f.name.clone(), Component::from(f)))
        .collect();
    let directives = DirectiveList::new();
    ExtendedType::InputObject(Node::new(InputObjectType {
        description,
        name,
        directives,
        fields,
    }))
}

pub(super) fn enum_type(
    name: Name,
    description: Text,
    values: impl IntoIterator<Item = (Name, Text)>,
) -> ExtendedType {
    let values = values
        .into_iter()
        .map(|(value, description)| {
            let directives = ast::DirectiveList::new();
            let definition = EnumValueDefinition {
                description,
                value: value.clone(),
                directives,
            };
            (value, Component::new(definition))
        })
        .collect();
    let directives = DirectiveList::new();
    ExtendedType::Enum(Node::new(EnumType {
        description,
        name,
        directives,
        values,
    }))
}
