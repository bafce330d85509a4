//! Rules on the values in a document that the GraphQL library does not check.
//!
//! - [Input Object Field Uniqueness](https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness).
//! - [All Variable Usages Are Allowed](https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed):
//!   the library compares types only where a variable is a whole argument, and takes a default of null for a value.
//! - [All Variable Uses Defined](https://spec.graphql.org/September2025/#sec-All-Variable-Uses-Defined) inside of
//!   values of custom scalars.
//! - Exactly one field of a `@oneOf` input object.
//!
//! The document is valid otherwise, so every name in it has a definition.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::{
    Argument, DirectiveList, InputValueDefinition, Type, Value, VariableDefinition,
};
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::InputObjectType;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};

use super::MAX_FAULTS;
use super::one_of::{is_one_of, not_one};
use crate::code;
use crate::error::{GraphqlError, Location};

/// Returns what is wrong with the values in a document.
pub(crate) fn wrong_literals(schema: &Schema, document: &ExecutableDocument) -> Vec<GraphqlError> {
    let mut literals = Literals {
        schema,
        document,
        variables: &[],
        spread: HashSet::new(),
        wrong: Vec::new(),
    };
    for operation in document.operations.iter() {
        literals.variables = &operation.variables;
        literals.spread.clear();
        literals.directives(&operation.directives);
        for variable in &operation.variables {
            literals.directives(&variable.directives);
            if let Some(default) = &variable.default_value {
                literals.value(default, Some(Position::item(&variable.ty)));
            }
        }
        literals.selections(&operation.selection_set);
    }
    literals.wrong
}

/// Where a value is expected.
#[derive(Clone, Copy)]
struct Position<'l> {
    ty: &'l Type,
    has_default: bool,
}

impl<'l> Position<'l> {
    /// Returns a position that has no default of its own.
    fn item(ty: &'l Type) -> Self {
        Position {
            ty,
            has_default: false,
        }
    }

    fn of(definition: &'l InputValueDefinition) -> Self {
        Position {
            ty: &definition.ty,
            has_default: definition.default_value.is_some(),
        }
    }

    /// Returns whether the values of a variable all fit, as IsVariableUsageAllowed does
    /// (<https://spec.graphql.org/September2025/#IsVariableUsageAllowed()>).
    fn allows(self, variable: &VariableDefinition) -> bool {
        if !self.ty.is_non_null() || variable.ty.is_non_null() {
            return variable.ty.is_assignable_to(self.ty);
        }
        let default = variable.default_value.as_ref();
        let has_value = default.is_some_and(|value| !value.is_null());
        let nullable = self.ty.clone().nullable();
        (has_value || self.has_default) && variable.ty.is_assignable_to(&nullable)
    }
}

struct Literals<'l> {
    schema: &'l Schema,
    document: &'l ExecutableDocument,
    /// Variables of the operation.
    variables: &'l [Node<VariableDefinition>],
    /// Fragments that were looked through for the operation.
    spread: HashSet<&'l Name>,
    wrong: Vec<GraphqlError>,
}

impl<'l> Literals<'l> {
    fn report(&mut self, message: String, places: &[Option<SourceSpan>]) {
        if self.wrong.len() >= MAX_FAULTS {
            return;
        }
        let places = places
            .iter()
            .map(|place| Location::of(*place, &self.document.sources));
        let error = GraphqlError::new(code::GRAPHQL_VALIDATION_FAILED, message);
        let error = places.fold(error, GraphqlError::at);
        // Several operations may use one fragment.
        if !self.wrong.contains(&error) {
            self.wrong.push(error);
        }
    }

    fn selections(&mut self, set: &'l SelectionSet) {
        for selection in &set.selections {
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => {
                    self.arguments(&field.arguments, &field.definition.arguments);
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(inline) => self.selections(&inline.selection_set),
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    // Once for each operation: its variables are the same wherever it spreads the
                    // fragment.
                    if let Some(fragment) = fragment
                        && self.spread.insert(&spread.fragment_name)
                    {
                        self.directives(&fragment.directives);
                        self.selections(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn directives(&mut self, directives: &'l DirectiveList) {
        for directive in directives {
            let definition = self.schema.directive_definitions.get(&directive.name);
            let arguments = definition.map_or(&[][..], |definition| &definition.arguments);
            self.arguments(&directive.arguments, arguments);
        }
    }

    fn arguments(
        &mut self,
        arguments: &'l [Node<Argument>],
        definitions: &'l [Node<InputValueDefinition>],
    ) {
        for argument in arguments {
            let definition = definitions.iter().find(|of| of.name == argument.name);
            self.value(&argument.value, definition.map(|of| Position::of(of)));
        }
    }

    /// Looks through a value; inside of custom scalars, nothing is said of where it is.
    fn value(&mut self, value: &'l Node<Value>, position: Option<Position<'l>>) {
        match &**value {
            Value::Variable(name) => self.variable(name, value.location(), position),
            Value::List(items) => {
                let list = position.filter(|position| position.ty.is_list());
                // A default of the list is none of its items
                // (<https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed>).
                let item = list.map(|position| Position::item(position.ty.item_type()));
                items
                    .iter()
                    .for_each(|item_value| self.value(item_value, item));
            }
            Value::Object(members) => {
                let ty = position.map(|position| position.ty.inner_named_type());
                let input = ty.and_then(|ty| self.schema.get_input_object(ty));
                self.object(members, value, input.map(|input| &**input));
            }
            _ => {}
        }
    }

    fn object(
        &mut self,
        members: &'l [(Name, Node<Value>)],
        value: &Node<Value>,
        input: Option<&'l InputObjectType>,
    ) {
        let mut first: HashMap<&Name, Option<SourceSpan>> = HashMap::new();
        for (name, value) in members {
            let place = name.location();
            if let Some(before) = first.insert(name, place) {
                let message = format!("There can be only one input field named \"{name}\".");
                self.report(message, &[before, place]);
            }
            let field = input.and_then(|input| input.fields.get(name));
            self.value(value, field.map(|field| Position::of(field)));
        }
        if let Some(input) = input.filter(|input| is_one_of(input)) {
            let nulls = members.iter().filter(|(_, value)| self.may_be_null(value));
            if let Some(reason) = not_one(input, members.len(), nulls.count()) {
                let message = format!("a value of `{}` {reason}", input.name);
                self.report(message, &[value.location()]);
            }
        }
    }

    fn variable(&mut self, name: &Name, place: Option<SourceSpan>, position: Option<Position<'l>>) {
        let Some(variable) = self.definition(name) else {
            self.report(format!("Variable \"${name}\" is not defined."), &[place]);
            return;
        };
        let Some(position) = position.filter(|position| !position.allows(variable)) else {
            return;
        };
        let expected = position.ty;
        let mut message = format!(
            "Variable \"${name}\" of type \"{}\" used in position expecting type \"{expected}\".",
            variable.ty
        );
        if *variable.ty == expected.clone().nullable() {
            message.push_str(&format!(" Declare it as \"${name}: {expected}\"."));
        }
        self.report(message, &[variable.location(), place]);
    }

    fn definition(&self, name: &Name) -> Option<&'l Node<VariableDefinition>> {
        let mut variables = self.variables.iter();
        variables.find(|variable| variable.name == *name)
    }

    /// Returns whether a literal is null, or a variable that could be: in a `@oneOf` input object,
    /// only a variable of a non-null type is allowed
    /// (<https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects>).
    fn may_be_null(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Variable(name) => {
                let variable = self.definition(name);
                variable.is_none_or(|variable| !variable.ty.is_non_null())
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use apollo_compiler::Schema;

    use crate::{Documents, Limits, Refusal};

    const SCHEMA: &str = "
        directive @marked(as: Where, n: Int) on QUERY | FIELD | FRAGMENT_DEFINITION | FRAGMENT_SPREAD
        directive @oneOf on INPUT_OBJECT
        scalar Any
        input Where { name: Text, OR: [Where!], NOT: Where, ids: [ID!], limit: Int! = 1, any: Any }
        input Text { EQ: String, IN: [String!] }
        input Key @oneOf { id: ID, name: String }
        type Query { find(where: Where, n: Int!, ids: [ID!], m: Int! = 3, any: Any, by: Key, grid: [[Int!]]): Query }";

    /// Returns messages and places of the errors that refuse a document.
    fn refused(text: &str) -> Vec<String> {
        let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").expect("a schema");
        let documents = Documents::new(&schema, Limits::default(), 1 << 16);
        let errors = match documents.get(text, |_| Ok::<_, Refusal>(())) {
            Ok(_) => return Vec::new(),
            Err(errors) => errors,
        };
        let shown = errors.into_iter().map(|error| {
            assert_eq!(error.code.as_str(), "GRAPHQL_VALIDATION_FAILED");
            let places = error.locations.iter();
            let places: Vec<String> = places
                .map(|of| format!("{}:{}", of.line, of.column))
                .collect();
            format!("{} {}", places.join(" "), error.message)
        });
        shown.collect()
    }

    #[test]
    fn a_member_stands_once_in_an_input_object_wherever_it_is() {
        for (text, places) in [
            (
                "{ find(n: 1, where: {ids: [], ids: []}) { __typename } }",
                "1:22 1:31",
            ),
            (
                r#"{ find(n: 1, where: {OR: [{NOT: {name: {EQ: "a", EQ: "b"}}}]}) { __typename } }"#,
                "1:41 1:50",
            ),
            (
                "{ find(n: 1, any: {a: [{b: 1, c: 2, b: 3}]}) { __typename } }",
                "1:25 1:37",
            ),
            (
                "query ($w: Where = {ids: 1, ids: 2}) { find(n: 1, where: $w) { __typename } }",
                "1:21 1:29",
            ),
            (
                "query @marked(as: {any: 1, any: 1}) { __typename }",
                "1:20 1:28",
            ),
            ("{ __typename @marked(as: {any: 1, any: 1}) }", "1:27 1:35"),
            (
                "{ ...F } fragment F on Query { find(n: 1, any: {a: 1, a: 1}) { __typename } }",
                "1:49 1:55",
            ),
        ] {
            let [error] = &refused(text)[..] else {
                panic!("{text}: {:?}", refused(text));
            };
            let (place, message) = error.split_once(" There").expect("a message");
            assert_eq!(place, places, "{text}");
            assert!(
                message.contains("can be only one input field named"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_variable_that_can_be_null_is_refused_where_null_is_none_of_the_values() {
        for (variables, argument) in [
            ("$a: Int = null", "n: $a"),
            ("$a: ID", "n: 1, ids: [$a]"),
            ("$a: ID = null", "n: 1, ids: [$a]"),
            ("$a: ID", "n: 1, where: {ids: [$a]}"),
            ("$a: String", "n: 1, where: {OR: {NOT: {name: {IN: [$a]}}}}"),
            ("$a: Where", "n: 1, where: {OR: [{ids: []}, $a]}"),
            ("$a: [Where]", "n: 1, where: {OR: $a}"),
            ("$a: ID!", "n: 1, where: {ids: $a}"),
            ("$a: [Int]", "n: 1, grid: [$a]"),
            ("$a: String", "n: 1, by: {name: $a}"),
            ("$a: Boolean = null", "n: 1) @skip(if: $a"),
        ] {
            let text = format!("query ({variables}) {{ find({argument}) {{ __typename }} }}");
            let errors = refused(&text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        }
        let text = "query ($a: Int = null) {\n  find(n: $a) { __typename } }";
        let expected = "1:8 2:11 Variable \"$a\" of type \"Int\" used in position expecting type \"Int!\". \
                        Declare it as \"$a: Int!\".";
        assert_eq!(refused(text), [expected]);
    }

    #[test]
    fn a_default_on_either_side_makes_up_for_null() {
        for (variables, argument) in [
            ("$a: Int = 1", "n: $a"),
            ("$a: Int", "n: 1, m: $a"),
            ("$a: Int", "n: 1, where: {limit: $a}"),
            ("$a: ID = 1", "n: 1, ids: [$a]"),
            ("$a: [ID!]", "n: 1, ids: $a"),
            ("$a: [Int!]", "n: 1, grid: [$a, [1]]"),
            ("$a: Int", "n: 1, any: {x: [$a]}"),
            ("$a: String!", "n: 1, by: {name: $a}"),
            ("$a: Text", "n: 1, where: {name: $a}"),
        ] {
            let text = format!("query ({variables}) {{ find({argument}) {{ __typename }} }}");
            assert_eq!(refused(&text), [] as [String; 0], "{text}");
        }
    }

    #[test]
    fn a_fragment_is_checked_with_the_variables_of_each_operation() {
        let fragment = "fragment F on Query { find(n: $a) { __typename } }";
        let text =
            format!("query A($a: Int!) {{ ...F }} query B($a: Int = null) {{ ...F }} {fragment}");
        assert_eq!(refused(&text).len(), 1);
        let text =
            format!("query A($a: Int!) {{ ...F }} query B($a: Int! = 2) {{ ...F }} {fragment}");
        assert_eq!(refused(&text).len(), 0);
    }

    #[test]
    fn variables_in_custom_scalars_are_defined() {
        let errors = refused("{ find(n: 1, any: {x: [$a]}) { __typename } }");
        assert_eq!(errors, ["1:24 Variable \"$a\" is not defined."]);
    }
}
