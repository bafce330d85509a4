//! Literals of an operation as values of variables, so that operations that differ only in them are planned once.
//!
//! A literal stays where it is unless every subgraph surely reads the JSON value as it would have read the literal:
//!
//! - Variables have the type of the argument in the supergraph. Composition has made it fit that of every subgraph:
//!   [All Variable Usages Are Allowed](https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed).
//! - Of custom scalars only strings, booleans and null are taken: of other values a library may read a literal and a JSON
//!   value differently, and JavaScript loses digits of numbers.
//! - Numbers are taken whose text a JSON value keeps.
//! - Values with variables in them, and single values for lists, are not taken.

use apollo_compiler::ast::{Argument, Type, Value, VariableDefinition};
use apollo_compiler::executable::{
    Field, Fragment, FragmentMap, InlineFragment, Operation, Selection, SelectionSet,
};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};

use crate::hash::{IndexMap, IndexSet};
use crate::supergraph::Supergraph;

/// What the names of variables for literals begin with, where the client has none that begin so.
const PREFIX: &str = "literal";

/// Bytes that a variable takes, and that a value takes for each byte of its JSON text, about.
const VARIABLE: usize = 128;
const VALUE: usize = 16;

/// The literals of an operation that variables stand for. Equal literals of one type have one variable, so that fields
/// with equal arguments still have them.
#[derive(Debug)]
pub(crate) struct Literals<'s> {
    supergraph: &'s Supergraph,
    prefix: String,
    /// By their types, and their values as JSON text.
    found: IndexMap<(Type, String), (Name, JsonValue)>,
}

impl<'s> Literals<'s> {
    /// Creates an empty list for an operation with these variables.
    pub(super) fn new(supergraph: &'s Supergraph, variables: &[Node<VariableDefinition>]) -> Self {
        let mut prefix = PREFIX.to_owned();
        while variables
            .iter()
            .any(|variable| variable.name.starts_with(&prefix))
        {
            prefix.push('_');
        }
        Literals {
            supergraph,
            prefix,
            found: IndexMap::default(),
        }
    }

    /// Returns the variable for the value of an argument, if it is a literal that can have one.
    pub(super) fn variable(&mut self, field: &Field, argument: &Argument) -> Option<&Name> {
        // What is required with arguments is the same field, if clients ask for it too.
        if self.supergraph.is_given_arguments(&field.name) {
            return None;
        }
        let definition = field.definition.argument_by_name(&argument.name)?;
        let value = json(self.supergraph.api(), &definition.ty, &argument.value)?;
        let text = serde_json::to_string(&value).expect("JSON values can be written to memory");
        let number = self.found.len();
        let found = self.found.entry(((*definition.ty).clone(), text));
        let (name, _) = found.or_insert_with(|| {
            let name = format!("{}_{number}", self.prefix);
            (Name::new(&name).expect("the name is one of GraphQL"), value)
        });
        Some(name)
    }

    /// Returns the definitions of the variables.
    pub(super) fn definitions(&self) -> impl Iterator<Item = VariableDefinition> {
        let found = self.found.iter();
        found.map(|((ty, _), (name, _))| VariableDefinition {
            name: name.clone(),
            ty: Node::new(ty.clone()),
            default_value: None,
            directives: Default::default(),
        })
    }

    /// Returns how many bytes the variables and their values take, about.
    pub(super) fn footprint(&self) -> usize {
        let texts = self.found.keys().map(|(_, text)| text.len());
        texts.map(|length| VARIABLE + VALUE * length).sum()
    }

    /// Returns the values of the variables.
    pub(super) fn into_values(self) -> JsonMap {
        let found = self.found.into_values();
        found
            .map(|(name, value)| (name.as_str().into(), value))
            .collect()
    }
}

/// Returns an operation, and a document with its fragments, in which variables stand for literals; nothing if there are
/// none. The names of the variables are those in the canonical text.
pub(crate) fn lifted(
    supergraph: &Supergraph,
    document: &ExecutableDocument,
    operation: &Operation,
) -> Option<(ExecutableDocument, Operation)> {
    let mut lifting = Lifting {
        literals: Literals::new(supergraph, &operation.variables),
        spread: IndexSet::default(),
    };
    let selection_set = lifting.set(&operation.selection_set);
    let mut fragments = FragmentMap::default();
    let mut position = 0;
    while let Some(name) = lifting.spread.get_index(position) {
        position += 1;
        if let Some((name, fragment)) = document.fragments.get_key_value(*name) {
            let fragment = Fragment {
                selection_set: lifting.set(&fragment.selection_set),
                name: name.clone(),
                directives: fragment.directives.clone(),
            };
            fragments.insert(name.clone(), Node::new(fragment));
        }
    }
    if lifting.literals.found.is_empty() {
        return None;
    }
    let mut variables = operation.variables.clone();
    variables.extend(lifting.literals.definitions().map(Node::new));
    let operation = Operation {
        operation_type: operation.operation_type,
        name: operation.name.clone(),
        variables,
        directives: operation.directives.clone(),
        selection_set,
    };
    let document = ExecutableDocument {
        fragments,
        ..ExecutableDocument::default()
    };
    Some((document, operation))
}

struct Lifting<'l> {
    literals: Literals<'l>,
    /// The fragments that are used, in the order in which they are first.
    spread: IndexSet<&'l Name>,
}

impl<'l> Lifting<'l> {
    fn set(&mut self, set: &'l SelectionSet) -> SelectionSet {
        let selections = set.selections.iter();
        let selections = selections.map(|selection| match selection {
            Selection::Field(field) => Selection::Field(self.field(field)),
            Selection::FragmentSpread(spread) => {
                self.spread.insert(&spread.fragment_name);
                selection.clone()
            }
            Selection::InlineFragment(inline) => {
                let inline = InlineFragment {
                    selection_set: self.set(&inline.selection_set),
                    type_condition: inline.type_condition.clone(),
                    directives: inline.directives.clone(),
                };
                Selection::InlineFragment(Node::new(inline))
            }
        });
        SelectionSet {
            selections: selections.collect(),
            ty: set.ty.clone(),
        }
    }

    fn field(&mut self, field: &'l Node<Field>) -> Node<Field> {
        if field.arguments.is_empty() && field.selection_set.selections.is_empty() {
            return field.clone();
        }
        let arguments = field.arguments.iter().map(|argument| {
            let Some(variable) = self.literals.variable(field, argument) else {
                return argument.clone();
            };
            Node::new(Argument {
                name: argument.name.clone(),
                value: Node::new(Value::Variable(variable.clone())),
            })
        });
        Node::new(Field {
            arguments: arguments.collect(),
            selection_set: self.set(&field.selection_set),
            definition: field.definition.clone(),
            alias: field.alias.clone(),
            name: field.name.clone(),
            directives: field.directives.clone(),
        })
    }
}

/// Returns the JSON value that every subgraph reads as it would read a literal; `None` where there may be none.
fn json(schema: &Schema, ty: &Type, literal: &Value) -> Option<JsonValue> {
    if literal.is_null() {
        return Some(JsonValue::Null);
    }
    if ty.is_list() {
        let items = literal.as_list()?.iter();
        return items
            .map(|item| json(schema, ty.item_type(), item))
            .collect();
    }
    let name = ty.inner_named_type();
    match (schema.types.get(name)?, literal) {
        (ExtendedType::Scalar(_), literal) => scalar(name, literal),
        (ExtendedType::Enum(_), Value::Enum(value)) => Some(value.as_str().into()),
        (ExtendedType::InputObject(input), Value::Object(members)) => {
            let members = members.iter().map(|(name, value)| {
                let field = input.fields.get(name)?;
                Some((name.as_str().into(), json(schema, &field.ty, value)?))
            });
            let members: Option<JsonMap> = members.collect();
            members.map(JsonValue::Object)
        }
        _ => None,
    }
}

fn scalar(name: &str, literal: &Value) -> Option<JsonValue> {
    match (name, literal) {
        ("Int" | "Float", Value::Int(text)) => number(text.as_str()),
        ("Float", Value::Float(text)) => number(text.as_str()),
        // Integers of any length are identifiers, but not of JSON.
        ("ID", Value::Int(text)) => Some(text.as_str().into()),
        (_, Value::String(text)) => Some(text.as_str().into()),
        (_, Value::Boolean(value)) => Some((*value).into()),
        _ => None,
    }
}

/// Returns a number that is written as the text.
fn number(text: &str) -> Option<JsonValue> {
    let number: serde_json::Number = text.parse().ok()?;
    (number.to_string() == text).then_some(JsonValue::Number(number))
}
