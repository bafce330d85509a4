//! Collects the fields of selection sets, with fragments expanded.

use apollo_compiler::Node;
use apollo_compiler::ast::Argument;
use apollo_compiler::executable::{self, SelectionSet};
use foldhash::HashMap;
use graphql_gen::typesystem::{Api, TypeRef};
use soml_core::schema::ObjectId;

use super::build::PlanInput;
use super::input::{Input, Variables};
use super::{LiteralField, LiteralPart};

/// Fields of a selection set with fragments expanded, by response key.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) entries: Vec<(String, Vec<&'a Node<executable::Field>>)>,
    positions: HashMap<&'a str, usize>,
    /// How far each field of each entry comes from, in the order of the entries.
    distances: Vec<Vec<usize>>,
    /// Fragments, and how far from the object they were met.
    visited: HashMap<&'a str, usize>,
}

impl<'a> Fields<'a> {
    /// Adds a field behind those that come from as near.
    fn add(&mut self, field: &'a Node<executable::Field>, distance: usize) {
        let key = field.response_key().as_str();
        let position = *self.positions.entry(key).or_insert_with(|| {
            self.entries.push((key.to_owned(), Vec::new()));
            self.distances.push(Vec::new());
            self.entries.len() - 1
        });
        let distances = &mut self.distances[position];
        // The nearest class comes first, so that it decides; within a class, the order of the
        // document stays.
        let at = distances.partition_point(|known| *known <= distance);
        distances.insert(at, distance);
        self.entries[position].1.insert(at, field);
    }

    /// Notes a visit of a fragment; tells whether there is something new to see.
    fn visit(&mut self, name: &'a str, distance: usize) -> bool {
        let known = self.visited.get(name).is_some_and(|met| *met <= distance);
        if !known {
            self.visited.insert(name, distance);
        }
        !known
    }
}

/// The type whose fields are collected.
pub(super) enum Parent {
    Root,
    Object(ObjectId),
}

/// Collects the fields that apply to an object of a concrete type, in the order of the
/// specification (<https://spec.graphql.org/September2025/#CollectFields()>).
///
/// A fragment on a concrete superclass applies to its subclasses too, where the specification has
/// it apply to its own type alone
/// (<https://spec.graphql.org/September2025/#DoesFragmentTypeApply()>): an object of a subclass is
/// one of the superclass as well (docs/queries.md, "Interfaces"). A document may give one key to
/// different fields of a class and its superclass, since fragments on object types exclude each
/// other elsewhere: then the nearer class decides.
pub(super) fn collect<'a>(
    input: &PlanInput<'a>,
    parent: &Parent,
    sets: &[&'a SelectionSet],
    fields: &mut Fields<'a>,
) {
    gather(input, parent, sets, fields, 0);
    for (_, nodes) in &mut fields.entries {
        let first = nodes[0];
        nodes.retain(|node| asks_the_same(first, node));
    }
}

/// Returns whether two fields have the same name and arguments.
fn asks_the_same(a: &executable::Field, b: &executable::Field) -> bool {
    a.name == b.name && has_same_arguments(a, b)
}

/// Returns whether two fields have the same arguments.
pub(super) fn has_same_arguments(a: &executable::Field, b: &executable::Field) -> bool {
    let known = |argument: &Node<Argument>| {
        let others = &mut b.arguments.iter();
        others.any(|other| other.name == argument.name && other.value == argument.value)
    };
    a.arguments.len() == b.arguments.len() && a.arguments.iter().all(known)
}

fn gather<'a>(
    input: &PlanInput<'a>,
    parent: &Parent,
    sets: &[&'a SelectionSet],
    fields: &mut Fields<'a>,
    distance: usize,
) {
    for selection in sets.iter().flat_map(|set| &set.selections) {
        if !is_included(selection.directives(), input.variables) {
            continue;
        }
        match selection {
            executable::Selection::Field(field) => fields.add(field, distance),
            executable::Selection::FragmentSpread(spread) => {
                let name = spread.fragment_name.as_str();
                let Some(fragment) = input.document.fragments.get(name) else {
                    continue;
                };
                let condition = Some(fragment.type_condition().as_str());
                if let Some(far) = distance_to(input.api, parent, condition)
                    && fields.visit(name, distance.max(far))
                {
                    let far = distance.max(far);
                    gather(input, parent, &[&fragment.selection_set], fields, far);
                }
            }
            executable::Selection::InlineFragment(inline) => {
                let condition = inline.type_condition.as_ref().map(|name| name.as_str());
                if let Some(far) = distance_to(input.api, parent, condition) {
                    let far = distance.max(far);
                    gather(input, parent, &[&inline.selection_set], fields, far);
                }
            }
        }
    }
}

/// Returns how many classes the object type of a fragment is above that of an object, 0 for
/// interfaces; `None` when the fragment does not apply.
fn distance_to(api: &Api, parent: &Parent, condition: Option<&str>) -> Option<usize> {
    let (Parent::Object(object), Some(name)) = (parent, condition) else {
        return Some(0);
    };
    match api.type_ref(name)? {
        TypeRef::Concrete(class) => api.soml().lineage(*object).position(|id| id == class),
        ty => api.possible_types(ty).contains(object).then_some(0),
    }
}

/// Evaluates `@skip` and `@include`; both have to let a field through
/// (<https://spec.graphql.org/September2025/#sec--skip>).
fn is_included(directives: &executable::DirectiveList, variables: &Variables<'_>) -> bool {
    let condition = |name: &str| {
        let argument = directives.get(name)?.specified_argument_by_name("if")?;
        match Input::from_ast(argument, variables)? {
            Input::Boolean(value) => Some(value),
            _ => None,
        }
    };
    condition("skip") != Some(true) && condition("include") != Some(false)
}

/// Collects the fields of a `Literal`.
pub(super) fn literal_fields<'a>(
    input: &PlanInput<'a>,
    nodes: &[&'a Node<executable::Field>],
) -> Vec<LiteralField> {
    let part = |name: &str| match name {
        "value" => LiteralPart::Value,
        "lang" => LiteralPart::Lang,
        "type" => LiteralPart::Type,
        _ => LiteralPart::TypeName,
    };
    keys_and_names(input, nodes)
        .map(|(key, name)| LiteralField {
            key,
            part: part(name),
        })
        .collect()
}

/// Returns response key and name of the fields of a type without subtypes.
fn keys_and_names<'a>(
    input: &PlanInput<'a>,
    nodes: &[&'a Node<executable::Field>],
) -> impl Iterator<Item = (String, &'a str)> {
    let mut fields = Fields::default();
    let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
    collect(input, &Parent::Root, &sets, &mut fields);
    fields
        .entries
        .into_iter()
        .map(|(key, nodes)| (key, nodes[0].name.as_str()))
}
