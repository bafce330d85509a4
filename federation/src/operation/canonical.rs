//! Operations as plans are kept for them: without what planning does not depend on.
//!
//! White space, comments, names of operations, the order of fragments, fragments of other operations and directives
//! that the gateway does not know are left out, and variables stand for literals.

use std::fmt::Write;
use std::sync::Arc;

use apollo_compiler::ast::{DirectiveList, Value};
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;
use apollo_compiler::{ExecutableDocument, Name};

use super::literals::Literals;
use crate::hash::IndexSet;
use crate::supergraph::{RequirementId, Supergraph};

/// Bytes that what is canonical of an operation takes beside its text and its literals, about.
const BASE: usize = 256;

/// What planning depends on.
#[derive(Debug)]
pub(crate) struct Canonical {
    /// The operation with its fragments: a GraphQL document, in which variables stand for literals.
    pub(crate) text: Arc<str>,
    /// The variables of conditions, each once.
    pub(crate) conditions: Vec<Name>,
    /// What fields require that have the names of selected ones, ascending.
    pub(crate) requirements: Vec<RequirementId>,
    /// The values of the variables for literals.
    pub(crate) literals: JsonMap,
    /// Bytes that all of it takes, about.
    pub(crate) footprint: usize,
}

impl Canonical {
    /// Reads an operation of a valid document.
    pub(crate) fn new(
        supergraph: &Supergraph,
        document: &ExecutableDocument,
        operation: &Operation,
    ) -> Self {
        let mut printer = Printer {
            supergraph,
            out: String::new(),
            literals: Literals::new(supergraph, &operation.variables),
            spread: IndexSet::default(),
            conditions: Vec::new(),
            requirements: Vec::new(),
        };
        printer.set(&operation.selection_set);
        let mut position = 0;
        while let Some(name) = printer.spread.get_index(position) {
            position += 1;
            if let Some(fragment) = document.fragments.get(*name) {
                let condition = fragment.type_condition();
                let _ = write!(printer.out, " fragment {name} on {condition}");
                printer.set(&fragment.selection_set);
            }
        }
        let Printer {
            out,
            literals,
            mut conditions,
            mut requirements,
            ..
        } = printer;
        conditions.sort();
        conditions.dedup();
        requirements.sort();
        requirements.dedup();
        let text = format!("{}{out}", head(operation, &literals));
        Canonical {
            footprint: BASE + text.len() + literals.footprint(),
            text: text.into(),
            conditions,
            requirements,
            literals: literals.into_values(),
        }
    }
}

/// Returns what stands before the selections of an operation.
fn head(operation: &Operation, literals: &Literals<'_>) -> String {
    let mut head = operation.operation_type.name().to_owned();
    let mut begin = "(";
    let variables = operation.variables.iter().map(AsRef::as_ref).cloned();
    for variable in variables.chain(literals.definitions()) {
        let _ = write!(head, "{begin}${}:{}", variable.name, variable.ty);
        if let Some(default) = &variable.default_value {
            let _ = write!(head, "={}", default.serialize().no_indent());
        }
        begin = " ";
    }
    if begin == " " {
        head.push(')');
    }
    head
}

struct Printer<'c> {
    supergraph: &'c Supergraph,
    out: String,
    literals: Literals<'c>,
    /// The fragments that are used, in the order in which they are first.
    spread: IndexSet<&'c Name>,
    conditions: Vec<Name>,
    requirements: Vec<RequirementId>,
}

impl<'c> Printer<'c> {
    fn set(&mut self, set: &'c SelectionSet) {
        self.out.push('{');
        for (position, selection) in set.selections.iter().enumerate() {
            if position > 0 {
                self.out.push(' ');
            }
            match selection {
                Selection::Field(field) => self.field(field),
                Selection::FragmentSpread(spread) => {
                    self.spread.insert(&spread.fragment_name);
                    let _ = write!(self.out, "...{}", spread.fragment_name);
                    self.directives(&spread.directives);
                }
                Selection::InlineFragment(inline) => {
                    self.out.push_str("...");
                    if let Some(condition) = &inline.type_condition {
                        let _ = write!(self.out, "on {condition}");
                    }
                    self.directives(&inline.directives);
                    self.set(&inline.selection_set);
                }
            }
        }
        self.out.push('}');
    }

    fn field(&mut self, field: &'c Field) {
        let requirements = self.supergraph.requirements_of_name(&field.name);
        self.requirements.extend(requirements);
        if let Some(alias) = field.alias.as_ref().filter(|alias| **alias != field.name) {
            let _ = write!(self.out, "{alias}:");
        }
        self.out.push_str(&field.name);
        for (position, argument) in field.arguments.iter().enumerate() {
            self.out.push(if position == 0 { '(' } else { ' ' });
            let _ = write!(self.out, "{}:", argument.name);
            let _ = match self.literals.variable(field, argument) {
                Some(variable) => write!(self.out, "${variable}"),
                None => write!(self.out, "{}", argument.value.serialize().no_indent()),
            };
        }
        if !field.arguments.is_empty() {
            self.out.push(')');
        }
        self.directives(&field.directives);
        if !field.selection_set.selections.is_empty() {
            self.set(&field.selection_set);
        }
    }

    /// Prints the conditions among directives.
    fn directives(&mut self, directives: &DirectiveList) {
        for name in ["skip", "include"] {
            let directive = directives.get(name);
            let condition = directive.and_then(|it| it.specified_argument_by_name("if"));
            let Some(condition) = condition else {
                continue;
            };
            if let Value::Variable(variable) = &**condition {
                self.conditions.push(variable.clone());
            }
            let condition = condition.serialize().no_indent();
            let _ = write!(self.out, "@{name}(if:{condition})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lifted;
    use super::*;

    const SDL: &str = r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query }
        directive @link(url: String, for: link__Purpose) repeatable on SCHEMA
        directive @join__graph(name: String!, url: String!) on ENUM_VALUE
        directive @join__type(graph: join__Graph!) repeatable on OBJECT | INPUT_OBJECT
        enum link__Purpose { SECURITY EXECUTION }
        enum join__Graph { A @join__graph(name: "a", url: "") }
        input Filter @join__type(graph: A) { names: [String!] ratio: Float }
        type Query @join__type(graph: A) { find(filter: Filter, id: ID, n: Int): Query, name(in: String): String }"#;

    #[test]
    fn the_canonical_text_is_a_document_whose_canonical_text_it_is() {
        let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
        for (text, canonical) in [
            ("{ name }", "query{name}"),
            (
                "query Q($a: Int = 3, $s: Boolean!) { find(n: $a) @skip(if: $s) { __typename @include(if: true) } }",
                "query($a:Int=3 $s:Boolean!){find(n:$a)@skip(if:$s){__typename@include(if:true)}}",
            ),
            (
                "query Q($literal_0: Int) { find(n: $literal_0, id: 7) { n: name(in: \"a\\n\\\"b\\\"\") } }",
                "query($literal_0:Int $literal___0:ID $literal___1:String)\
                 {find(n:$literal_0 id:$literal___0){n:name(in:$literal___1)}}",
            ),
            (
                "fragment G on Query { name(in: \"x\") } fragment F on Query { ...G find(n: 1) { ...G } }
                 { ... { ...F } ... on Query { f: find(filter: {names: [\"x\"], ratio: 1.50}, n: 1) { name(in: \"x\") } } }",
                "query($literal_0:Int $literal_1:String){...{...F} ...on Query\
                 {f:find(filter:{names: [\"x\"], ratio: 1.50} n:$literal_0){name(in:$literal_1)}}} \
                 fragment F on Query{...G find(n:$literal_0){...G}} fragment G on Query{name(in:$literal_1)}",
            ),
        ] {
            let parse = |text: &str| {
                let api = supergraph.api();
                ExecutableDocument::parse_and_validate(api, text, "query.graphql").unwrap()
            };
            let document = parse(text);
            let operation = document.operations.iter().next().unwrap();
            let first = Canonical::new(&supergraph, &document, operation);
            assert_eq!(&*first.text, canonical);
            if let Some((document, operation)) = lifted(&supergraph, &document, operation) {
                let again = Canonical::new(&supergraph, &document, &operation);
                assert_eq!(again.text, first.text);
                assert!(again.literals.is_empty());
            } else {
                assert!(first.literals.is_empty());
            }
            let document = parse(&first.text);
            let operation = document.operations.get(None).unwrap();
            let again = Canonical::new(&supergraph, &document, operation);
            assert_eq!(again.text, first.text);
        }
    }
}
