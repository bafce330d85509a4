//! Definitions and uses of the API's own directives.

use apollo_compiler::ast::{
    Argument as DirectiveArgument, Directive, DirectiveDefinition, DirectiveLocation, Value,
};
use apollo_compiler::schema::Type;
use apollo_compiler::{Name, Node, name};

use super::nodes::{input, list_of_required, named, required, text};

/// `@descr`: the written text about a class or property.
pub(super) fn descr() -> Node<DirectiveDefinition> {
    definition(
        name!("descr"),
        None,
        &[("_", required(&name!("String")))],
        &[
            DirectiveLocation::Object,
            DirectiveLocation::FieldDefinition,
            DirectiveLocation::Interface,
        ],
    )
}

/// `@nameAlias`: the field of the property behind `name`.
pub(super) fn name_alias() -> Node<DirectiveDefinition> {
    let locations = [
        DirectiveLocation::FieldDefinition,
        DirectiveLocation::VariableDefinition,
    ];
    definition(name!("nameAlias"), None, &[], &locations)
}

/// `@constraints`: what values a property may have.
pub(super) fn constraints() -> Node<DirectiveDefinition> {
    definition(
        name!("constraints"),
        Some("Constraints on semantic object properties."),
        &[
            ("minCount", named(&name!("Int"))),
            ("maxCount", named(&name!("Int"))),
            ("valuesIn", named(&name!("String"))),
            ("valuesListExclusive", named(&name!("Boolean"))),
        ],
        &[DirectiveLocation::FieldDefinition],
    )
}

/// `@hasRole`: the roles that may read, write or delete.
pub(super) fn has_role() -> Node<DirectiveDefinition> {
    let roles = list_of_required(&name!("String"));
    definition(
        name!("hasRole"),
        Some("Roles, any one of which is needed for an operation."),
        &[
            ("read", roles.clone()),
            ("write", roles.clone()),
            ("delete", roles),
        ],
        &[
            DirectiveLocation::Object,
            DirectiveLocation::Interface,
            DirectiveLocation::FieldDefinition,
        ],
    )
}

/// `@somlObject`: the effective SOML settings of an object.
pub(super) fn soml_object() -> Node<DirectiveDefinition> {
    let string = named(&name!("String"));
    definition(
        name!("somlObject"),
        Some("Effective SOML settings of an object."),
        &[
            ("name", required(&name!("String"))),
            ("type", list_of_required(&name!("String"))),
            ("typeProp", string.clone()),
            ("inherits", string.clone()),
            ("prefix", string.clone()),
            ("regex", string.clone()),
            ("pattern", string),
        ],
        &[DirectiveLocation::Object, DirectiveLocation::Interface],
    )
}

/// `@somlProperty`: the effective SOML settings of a property.
pub(super) fn soml_property() -> Node<DirectiveDefinition> {
    let string = named(&name!("String"));
    let boolean = named(&name!("Boolean"));
    definition(
        name!("somlProperty"),
        Some("Effective SOML settings of a property."),
        &[
            ("name", required(&name!("String"))),
            ("rdfProp", required(&name!("String"))),
            ("range", required(&name!("String"))),
            ("min", named(&name!("Int"))),
            ("max", string.clone()),
            ("inverseAlias", string.clone()),
            ("inverseOf", string.clone()),
            ("symmetric", boolean.clone()),
            ("rangeCheck", boolean.clone()),
            ("typeCast", boolean),
            ("regex", string.clone()),
            ("prefix", string.clone()),
            ("pattern", string.clone()),
            ("lang", string),
        ],
        &[DirectiveLocation::FieldDefinition],
    )
}

fn definition(
    name: Name,
    description: Option<&str>,
    arguments: &[(&'static str, Type)],
    locations: &[DirectiveLocation],
) -> Node<DirectiveDefinition> {
    let arguments = arguments
        .iter()
        .map(|(name, ty)| input(&Name::new_static_unchecked(name), None, ty.clone()));
    Node::new(DirectiveDefinition {
        description: description.and_then(text),
        name,
        arguments: arguments.collect(),
        repeatable: false,
        locations: locations.to_vec(),
    })
}

/// A directive in use, with the arguments that have a value.
pub(super) struct Applied(Directive);

impl Applied {
    pub(super) fn new(name: Name) -> Self {
        Applied(Directive {
            name,
            arguments: Vec::new(),
        })
    }

    /// Adds an argument.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        let name = Name::new_static_unchecked(name);
        let value = Node::new(value.into());
        self.0
            .arguments
            .push(Node::new(DirectiveArgument { name, value }));
        self
    }

    /// Adds an argument if it has a value.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a flag if it is set.
    pub(super) fn with_flag(self, name: &'static str, set: bool) -> Self {
        if set { self.with(name, true) } else { self }
    }

    /// Adds a list of texts.
    pub(super) fn with_list<'a>(
        self,
        name: &'static str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let values = values
            .into_iter()
            .map(|v| Node::new(Value::from(v)))
            .collect();
        self.with(name, Value::List(values))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.arguments.is_empty()
    }

    pub(super) fn build(self) -> Directive {
        self.0
    }
}
