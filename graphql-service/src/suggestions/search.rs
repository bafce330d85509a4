//! The pass over a document that finds what is meant by its unknown names, and by bare values.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::{
    self, Argument, Definition, DirectiveList, DirectiveLocation, InputValueDefinition, Selection,
    Value, VariableDefinition,
};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node, Schema};

use super::bare_value::{operator_path, written_out};
use super::meant::MeantFields;
use super::nearest::nearest;
use super::synonyms::synonym;
use super::unknown::{Kind, Unknown};

/// Longest value that a hint repeats, in bytes. A message is to be read, and a value may be as long
/// as a document.
const MAX_VALUE: usize = 60;

/// What was probably meant, each as a hint shows it: names in quotation marks, values as a document has them.
#[derive(Debug, Default)]
pub(crate) struct Suggestions(HashMap<Unknown, String>);

impl Suggestions {
    /// Looks up the names that `unknown` lists.
    pub(crate) fn new(
        schema: &Schema,
        document: &ast::Document,
        meant: &MeantFields,
        unknown: impl IntoIterator<Item = Unknown>,
    ) -> Self {
        let mut search = Search {
            schema,
            document,
            meant,
            variables: &[],
            wanted: unknown.into_iter().collect(),
            found: Suggestions::default(),
        };
        search.document();
        search.found
    }

    /// Returns what was probably meant.
    pub(crate) fn get(&self, unknown: Unknown) -> Option<&str> {
        self.0.get(&unknown).map(String::as_str)
    }
}

/// A pass over a document that looks for unknown names.
///
/// Depth is bounded by the parser, and everything below an unknown name is skipped.
struct Search<'d> {
    schema: &'d Schema,
    document: &'d ast::Document,
    meant: &'d MeantFields,
    /// Variables in scope.
    variables: &'d [Node<VariableDefinition>],
    wanted: HashSet<Unknown>,
    found: Suggestions,
}

impl<'d> Search<'d> {
    fn document(&mut self) {
        let shared = self.fragment_variables();
        for definition in &self.document.definitions {
            match definition {
                Definition::OperationDefinition(operation) => self.operation(operation),
                Definition::FragmentDefinition(fragment) => {
                    self.variables = shared;
                    self.fragment(fragment);
                }
                _ => {}
            }
        }
    }

    /// Returns the variables that fragments can use; with several operations, these differ.
    fn fragment_variables(&self) -> &'d [Node<VariableDefinition>] {
        let definitions = self.document.definitions.iter();
        let mut operations = definitions.filter_map(|definition| match definition {
            Definition::OperationDefinition(operation) => Some(operation),
            _ => None,
        });
        match (operations.next(), operations.next()) {
            (Some(only), None) => &only.variables,
            _ => &[],
        }
    }

    fn operation(&mut self, operation: &'d ast::OperationDefinition) {
        self.variables = &operation.variables;
        for variable in self.variables {
            let ty = variable.ty.inner_named_type();
            // Variables are of input types
            // (<https://spec.graphql.org/September2025/#sec-Variables-Are-Input-Types>).
            let types = types(self.schema, ExtendedType::is_input_type);
            self.meet(Kind::Type, variable.location(), ty, types);
            if let Some(value) = &variable.default_value {
                self.value(value, self.schema.types.get(ty));
            }
            self.directives(&variable.directives, DirectiveLocation::VariableDefinition);
        }
        self.directives(&operation.directives, operation.operation_type.into());
        let root = self.schema.root_operation(operation.operation_type);
        self.selections(&operation.selection_set, root);
    }

    fn fragment(&mut self, fragment: &'d ast::FragmentDefinition) {
        self.type_condition(&fragment.type_condition);
        let location = DirectiveLocation::FragmentDefinition;
        self.directives(&fragment.directives, location);
        self.selections(&fragment.selection_set, Some(&fragment.type_condition));
    }

    fn selections(&mut self, selections: &'d [Selection], parent: Option<&'d Name>) {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.field(field, parent),
                Selection::FragmentSpread(spread) => self.spread(spread),
                Selection::InlineFragment(fragment) => {
                    if let Some(condition) = &fragment.type_condition {
                        self.type_condition(condition);
                    }
                    self.directives(&fragment.directives, DirectiveLocation::InlineFragment);
                    let parent = fragment.type_condition.as_ref().or(parent);
                    self.selections(&fragment.selection_set, parent);
                }
            }
        }
    }

    fn field(&mut self, field: &'d ast::Field, parent: Option<&'d Name>) {
        let Some(parent) = parent else { return };
        let fields = self.schema.types.get(parent).into_iter().flat_map(fields);
        self.meet(Kind::Field, field.name.location(), &field.name, fields);
        // Nothing is known of what is below an unknown field.
        let Ok(definition) = self.schema.type_field(parent, &field.name) else {
            return;
        };
        self.arguments(&field.arguments, &definition.arguments);
        self.directives(&field.directives, DirectiveLocation::Field);
        let ty = definition.ty.inner_named_type();
        self.selections(&field.selection_set, Some(ty));
    }

    fn spread(&mut self, spread: &'d Node<ast::FragmentSpread>) {
        let definitions = self.document.definitions.iter();
        let fragments = definitions.filter_map(|definition| match definition {
            Definition::FragmentDefinition(fragment) => Some(&fragment.name),
            _ => None,
        });
        let name = &spread.fragment_name;
        self.meet(Kind::Fragment, spread.location(), name, fragments);
        self.directives(&spread.directives, DirectiveLocation::FragmentSpread);
    }

    fn type_condition(&mut self, name: &'d Name) {
        // Fragments are on objects, interfaces and unions.
        let types = types(self.schema, is_composite);
        self.meet(Kind::Type, name.location(), name, types);
    }

    fn directives(&mut self, directives: &'d DirectiveList, location: DirectiveLocation) {
        for directive in directives {
            let definitions = self.schema.directive_definitions.values();
            // Only a directive that may stand here helps.
            let here = definitions.filter(|definition| definition.locations.contains(&location));
            let known = here.map(|definition| &definition.name);
            let (span, name) = (directive.location(), &directive.name);
            self.meet(Kind::Directive, span, name, known);
            let definition = self.schema.directive_definitions.get(name);
            let arguments = definition.map_or(&[][..], |definition| &definition.arguments);
            self.arguments(&directive.arguments, arguments);
        }
    }

    fn arguments(
        &mut self,
        arguments: &'d [Node<Argument>],
        definitions: &'d [Node<InputValueDefinition>],
    ) {
        for argument in arguments {
            let known = || {
                definitions
                    .iter()
                    .map(|definition| definition.name.as_str())
            };
            let (span, name) = (argument.location(), &argument.name);
            self.meet_with(Kind::Argument, span, || {
                synonym(name, known()).or_else(|| nearest(name, known()))
            });
            let definition = definitions.iter().find(|d| d.name == *name);
            let ty = definition.and_then(|d| self.schema.types.get(d.ty.inner_named_type()));
            self.value(&argument.value, ty);
        }
    }

    /// Searches a value of type `ty`, with list and non-null wrappers removed.
    fn value(&mut self, value: &'d Node<Value>, ty: Option<&'d ExtendedType>) {
        match (&**value, ty) {
            (Value::Variable(name), _) => {
                let known = self.variables.iter().map(|variable| &variable.name);
                self.meet(Kind::Variable, value.location(), name, known);
            }
            (Value::Enum(name), Some(ExtendedType::Enum(ty))) => {
                self.meet(Kind::EnumValue, name.location(), name, ty.values.keys());
            }
            (
                Value::String(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Boolean(_)
                | Value::Enum(_),
                Some(ExtendedType::InputObject(ty)),
            ) => self.bare(value, ty),
            (Value::List(items), ty) => items.iter().for_each(|item| self.value(item, ty)),
            (Value::Object(members), Some(ExtendedType::InputObject(ty))) => {
                let meant = self.meant;
                for (name, value) in members {
                    // The finding points at the value.
                    self.meet_with(Kind::InputField, value.location(), || {
                        let known = ty.fields.keys().map(Name::as_str);
                        let meant = meant.get(&ty.name, name);
                        meant.or_else(|| nearest(name, known))
                    });
                    let field = ty.fields.get(name);
                    let ty = field.and_then(|f| self.schema.types.get(f.ty.inner_named_type()));
                    self.value(value, ty);
                }
            }
            _ => {}
        }
    }

    /// Records which of the `known` names is nearest, if the one at `span` is wanted.
    fn meet(
        &mut self,
        kind: Kind,
        span: Option<SourceSpan>,
        name: &str,
        known: impl Iterator<Item = &'d Name>,
    ) {
        self.meet_with(kind, span, || nearest(name, known.map(Name::as_str)));
    }

    /// Records the name that is found, if the one at `span` is wanted.
    fn meet_with<'n>(
        &mut self,
        kind: Kind,
        span: Option<SourceSpan>,
        find: impl FnOnce() -> Option<&'n str>,
    ) {
        let Some(place) = Unknown::at(kind, span).filter(|place| self.wanted.remove(place)) else {
            return;
        };
        if let Some(name) = find() {
            let written = format!("\"{}{name}\"", kind.sigil());
            self.found.0.insert(place, written);
        }
    }

    /// Records how a bare value is written for an input object, if it is wanted.
    fn bare(&mut self, value: &Node<Value>, ty: &'d InputObjectType) {
        let place = Unknown::at(Kind::Value, value.location());
        let Some(place) = place.filter(|place| self.wanted.remove(place)) else {
            return;
        };
        let operand = value.serialize().no_indent().to_string();
        let path = operator_path(self.schema, ty).filter(|_| operand.len() <= MAX_VALUE);
        if let Some(path) = path {
            let written = written_out(&path, &operand, Name::to_string);
            self.found.0.insert(place, written);
        }
    }
}

fn types(schema: &Schema, is_meant: fn(&ExtendedType) -> bool) -> impl Iterator<Item = &Name> {
    let meant = schema.types.iter().filter(move |(_, ty)| is_meant(ty));
    meant.map(|(name, _)| name)
}

fn is_composite(ty: &ExtendedType) -> bool {
    ty.is_object() || ty.is_interface() || ty.is_union()
}

fn fields(ty: &ExtendedType) -> Box<dyn Iterator<Item = &Name> + '_> {
    match ty {
        ExtendedType::Object(ty) => Box::new(ty.fields.keys()),
        ExtendedType::Interface(ty) => Box::new(ty.fields.keys()),
        _ => Box::new(std::iter::empty()),
    }
}
