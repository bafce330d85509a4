//! Visits what definitions of a type system are made of.

use apollo_compiler::ast::{
    self, Definition, DirectiveList, FieldDefinition, InputValueDefinition, Type,
};
use apollo_compiler::{Name, Node};

/// Changes names and directives of a definition.
pub(super) trait Visitor {
    /// Changes the directives of any element.
    fn directives(&mut self, directives: &mut DirectiveList);

    /// Changes the name of a type, where it is defined and where it is used.
    fn type_name(&mut self, name: &mut Name);
}

/// Visits a definition as a whole.
pub(super) fn visit(definition: &mut Definition, visitor: &mut impl Visitor) {
    macro_rules! composite {
        ($node:ident) => {{
            let it = $node.make_mut();
            visitor.type_name(&mut it.name);
            visitor.directives(&mut it.directives);
            it.implements_interfaces
                .iter_mut()
                .for_each(|name| visitor.type_name(name));
            it.fields
                .iter_mut()
                .for_each(|field| visit_field(field, visitor));
        }};
    }
    macro_rules! named {
        ($node:ident) => {{
            let it = $node.make_mut();
            visitor.type_name(&mut it.name);
            visitor.directives(&mut it.directives);
            it
        }};
    }
    match definition {
        Definition::ObjectTypeDefinition(node) => composite!(node),
        Definition::ObjectTypeExtension(node) => composite!(node),
        Definition::InterfaceTypeDefinition(node) => composite!(node),
        Definition::InterfaceTypeExtension(node) => composite!(node),
        Definition::ScalarTypeDefinition(node) => {
            named!(node);
        }
        Definition::ScalarTypeExtension(node) => {
            named!(node);
        }
        Definition::UnionTypeDefinition(node) => {
            named!(node)
                .members
                .iter_mut()
                .for_each(|name| visitor.type_name(name));
        }
        Definition::UnionTypeExtension(node) => {
            named!(node)
                .members
                .iter_mut()
                .for_each(|name| visitor.type_name(name));
        }
        Definition::EnumTypeDefinition(node) => visit_values(&mut named!(node).values, visitor),
        Definition::EnumTypeExtension(node) => visit_values(&mut named!(node).values, visitor),
        Definition::InputObjectTypeDefinition(node) => {
            named!(node)
                .fields
                .iter_mut()
                .for_each(|field| visit_input(field, visitor));
        }
        Definition::InputObjectTypeExtension(node) => {
            named!(node)
                .fields
                .iter_mut()
                .for_each(|field| visit_input(field, visitor));
        }
        Definition::DirectiveDefinition(node) => {
            node.make_mut()
                .arguments
                .iter_mut()
                .for_each(|argument| visit_input(argument, visitor));
        }
        Definition::SchemaDefinition(node) => visitor.directives(&mut node.make_mut().directives),
        Definition::SchemaExtension(node) => visitor.directives(&mut node.make_mut().directives),
        Definition::OperationDefinition(_) | Definition::FragmentDefinition(_) => {}
    }
}

fn visit_values(values: &mut [Node<ast::EnumValueDefinition>], visitor: &mut impl Visitor) {
    for value in values {
        visitor.directives(&mut value.make_mut().directives);
    }
}

fn visit_field(field: &mut Node<FieldDefinition>, visitor: &mut impl Visitor) {
    let field = field.make_mut();
    visitor.directives(&mut field.directives);
    visitor.type_name(type_name(&mut field.ty));
    for argument in &mut field.arguments {
        visit_input(argument, visitor);
    }
}

fn visit_input(input: &mut Node<InputValueDefinition>, visitor: &mut impl Visitor) {
    let input = input.make_mut();
    visitor.directives(&mut input.directives);
    visitor.type_name(type_name(input.ty.make_mut()));
}

fn type_name(ty: &mut Type) -> &mut Name {
    match ty {
        Type::Named(name) | Type::NonNullNamed(name) => name,
        Type::List(inner) | Type::NonNullList(inner) => type_name(inner),
    }
}
