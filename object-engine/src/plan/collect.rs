//! Fields of selection sets, fragments put in.

use std::collections::{HashMap, HashSet};

use apollo_compiler::Node;
use apollo_compiler::executable::{self, SelectionSet};
use apollo_compiler::response::JsonMap;
use graphql_gen::typesystem::Api;
use soml_core::schema::ObjectId;

use super::build::PlanInput;
use super::input::Input;
use super::{LiteralField, LiteralPart, ServicePart};

/// Fields of a selection set after fragments are put in, by response key.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) entries: Vec<(String, Vec<&'a Node<executable::Field>>)>,
    positions: HashMap<&'a str, usize>,
    visited: HashSet<&'a str>,
}

/// The type whose fields are collected.
pub(super) enum Parent {
    Root,
    Object(ObjectId),
}

/// Collects the fields that apply to an object of a concrete type, in the order of the specification.
pub(super) fn collect<'a>(
    input: &PlanInput<'a>,
    parent: &Parent,
    sets: &[&'a SelectionSet],
    fields: &mut Fields<'a>,
) {
    for selection in sets.iter().flat_map(|set| &set.selections) {
        if !is_included(selection.directives(), input.variables) {
            continue;
        }
        match selection {
            executable::Selection::Field(field) => {
                let key = field.response_key().as_str();
                match fields.positions.get(key) {
                    Some(&position) => fields.entries[position].1.push(field),
                    None => {
                        fields.positions.insert(key, fields.entries.len());
                        fields.entries.push((key.to_owned(), vec![field]));
                    }
                }
            }
            executable::Selection::FragmentSpread(spread) => {
                let name = spread.fragment_name.as_str();
                let Some(fragment) = input.document.fragments.get(name) else {
                    continue;
                };
                if fields.visited.insert(name)
                    && applies(input.api, parent, Some(fragment.type_condition().as_str()))
                {
                    collect(input, parent, &[&fragment.selection_set], fields);
                }
            }
            executable::Selection::InlineFragment(inline) => {
                let condition = inline.type_condition.as_ref().map(|name| name.as_str());
                if applies(input.api, parent, condition) {
                    collect(input, parent, &[&inline.selection_set], fields);
                }
            }
        }
    }
}

fn applies(api: &Api, parent: &Parent, condition: Option<&str>) -> bool {
    match (parent, condition) {
        (Parent::Root, _) | (_, None) => true,
        (Parent::Object(object), Some(name)) => api
            .type_ref(name)
            .is_some_and(|ty| api.possible_types(ty).contains(object)),
    }
}

/// Evaluates `@skip` and `@include`.
fn is_included(directives: &executable::DirectiveList, variables: &JsonMap) -> bool {
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

/// Collects the fields of `_Service`.
pub(super) fn service_fields<'a>(
    input: &PlanInput<'a>,
    nodes: &[&'a Node<executable::Field>],
) -> Vec<(String, ServicePart)> {
    let part = |name: &str| match name {
        "sdl" => ServicePart::Sdl,
        "full_sdl" => ServicePart::FullSdl,
        _ => ServicePart::TypeName,
    };
    keys_and_names(input, nodes)
        .map(|(key, name)| (key, part(name)))
        .collect()
}

/// Returns key and name of the fields of a type that has no subtypes.
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
