//! Builds the types of a schema, each name once.

use std::collections::HashSet;

use apollo_compiler::ast::{DirectiveList as AstDirectives, FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::{
    Component, DirectiveList, EnumType, EnumValueDefinition, ExtendedType, InputObjectType,
    ObjectType, ScalarType, Type, Value,
};
use apollo_compiler::{Name, Node, Schema};

/// A member of an input type, or an argument: name, type and default.
pub(super) type Input = Node<InputValueDefinition>;

/// Returns a type by its text, such as `[Int!]`; the name inside must be a name.
pub(super) fn of_type(text: &str) -> Type {
    if let Some(inner) = text.strip_suffix('!') {
        return of_type(inner).non_null();
    }
    match text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => of_type(inner).list(),
        None => Type::Named(Name::new_unchecked(text)),
    }
}

/// An argument or input field without default.
pub(super) fn input(name: &str, ty: &str, description: &str) -> Input {
    input_or(name, ty, description, None)
}

/// An argument or input field.
pub(super) fn input_or(name: &str, ty: &str, description: &str, default: Option<Value>) -> Input {
    Node::new(InputValueDefinition {
        description: (!description.is_empty()).then(|| Node::new_str(description)),
        name: Name::new_unchecked(name),
        ty: Node::new(of_type(ty)),
        default_value: default.map(Node::new),
        directives: AstDirectives::new(),
    })
}

/// Input fields by name, type and description; a `*` in a type stands for `own`.
pub(super) fn inputs(own: &str, rows: &[(&str, &str, &str)]) -> Vec<Input> {
    let row = |(name, ty, description): &(&str, &str, &str)| {
        input(name, &ty.replace('*', own), description)
    };
    rows.iter().map(row).collect()
}

/// A field of an object type.
pub(super) fn field(name: &str, ty: &str, description: &str) -> FieldDefinition {
    FieldDefinition {
        description: (!description.is_empty()).then(|| Node::new_str(description)),
        name: Name::new_unchecked(name),
        arguments: Vec::new(),
        ty: of_type(ty),
        directives: AstDirectives::new(),
    }
}

/// The types of a schema, in the order in which they are added.
pub(super) struct Types {
    schema: Schema,
    /// Names that were added twice for different types, which are those of objects of the document against ours.
    pub(super) taken: Vec<String>,
    /// Names of types that are added when something has them for the first time.
    shared: HashSet<String>,
}

impl Types {
    pub(super) fn new() -> Self {
        Types {
            schema: Schema::new(),
            taken: Vec::new(),
            shared: HashSet::new(),
        }
    }

    /// Returns the schema, whose root type is `Query`.
    pub(super) fn finish(mut self) -> Schema {
        let query = apollo_compiler::name!("Query");
        self.schema.schema_definition.make_mut().query = Some(query.into());
        self.schema
    }

    /// Returns whether this is the first time that a type is asked for, which is then to be added.
    pub(super) fn is_new(&mut self, name: &str) -> bool {
        self.shared.insert(name.to_owned())
    }

    pub(super) fn scalar(&mut self, name: &str, description: &str) {
        self.add(ExtendedType::Scalar(Node::new(ScalarType {
            description: Some(Node::new_str(description)),
            name: Name::new_unchecked(name),
            directives: DirectiveList::new(),
        })));
    }

    pub(super) fn object(&mut self, name: &str, description: &str, fields: Vec<FieldDefinition>) {
        let fields = fields
            .into_iter()
            .map(|field| (field.name.clone(), Component::new(field)));
        self.add(ExtendedType::Object(Node::new(ObjectType {
            description: Some(Node::new_str(description)),
            name: Name::new_unchecked(name),
            implements_interfaces: Default::default(),
            directives: DirectiveList::new(),
            fields: fields.collect(),
        })));
    }

    /// Adds an input type, unless it would have no fields; returns whether it was added.
    pub(super) fn inputs(&mut self, name: &str, description: &str, fields: Vec<Input>) -> bool {
        if fields.is_empty() {
            return false;
        }
        let fields = fields
            .into_iter()
            .map(|field| (field.name.clone(), Component::from(field)));
        self.add(ExtendedType::InputObject(Node::new(InputObjectType {
            description: Some(Node::new_str(description)),
            name: Name::new_unchecked(name),
            directives: DirectiveList::new(),
            fields: fields.collect(),
        })));
        true
    }

    pub(super) fn choice<'v>(
        &mut self,
        name: &str,
        description: &str,
        values: impl IntoIterator<Item = &'v str>,
    ) {
        let values = values.into_iter().map(|value| {
            let value = Name::new_unchecked(value);
            let definition = EnumValueDefinition {
                description: None,
                value: value.clone(),
                directives: AstDirectives::new(),
            };
            (value, Component::new(definition))
        });
        self.add(ExtendedType::Enum(Node::new(EnumType {
            description: Some(Node::new_str(description)),
            name: Name::new_unchecked(name),
            directives: DirectiveList::new(),
            values: values.collect(),
        })));
    }

    /// Adds a type, unless it is there; another one of the same name is taken.
    pub(super) fn add(&mut self, definition: ExtendedType) {
        let name = definition.name().clone();
        match self.schema.types.get(&name) {
            // Shared by several ways to the same object.
            Some(known) if *known == definition => {}
            Some(_) => self.taken.push(name.to_string()),
            None => {
                self.schema.types.insert(name, definition);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_type;

    #[test]
    fn types_are_read_from_their_text() {
        for text in ["Int", "Int!", "[Int]", "[[Int!]!]!"] {
            assert_eq!(of_type(text).to_string(), text);
        }
    }
}
