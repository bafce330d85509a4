//! Makes of federation 1 subgraphs what they mean in federation 2.
//!
//! Libraries of federation 1 let much pass that had no effect; it is taken away here, so that the rules of federation 2
//! can be strict.

use std::collections::HashSet;

use apollo_compiler::ast::{Argument, DirectiveList, FieldDefinition, Value};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::{Name, Node, Schema};

use super::code::CompositionCode;
use super::facts::{Facts, fields, text};
use super::field_set::{self, Selected};
use super::finding::CompositionError;
use super::merge::is_root;
use super::read::Subgraph;

const SELECTING: [&str; 3] = [
    "federation__key",
    "federation__requires",
    "federation__provides",
];

/// Upgrades all subgraphs of federation 1. Returns for each subgraph what cannot be upgraded: types of which nothing is
/// left, and extensions of what no one defines.
pub(super) fn upgrade(subgraphs: &mut [Subgraph]) -> Vec<Vec<CompositionError>> {
    let mut errors = vec![Vec::new(); subgraphs.len()];
    if !subgraphs.iter().any(Subgraph::is_federation_1) {
        return errors;
    }
    // Before anything is removed: a type may be defined where nothing is left of it.
    for (at, name) in without_base(subgraphs) {
        errors[at].push(no_base(&subgraphs[at], &name));
    }
    for subgraph in subgraphs.iter_mut().filter(|it| it.is_federation_1()) {
        each_type(&mut subgraph.schema, clean_type);
    }
    let keys: Vec<HashSet<(Name, Name)>> = subgraphs.iter().map(first_keys).collect();
    for (at, subgraph) in subgraphs.iter_mut().enumerate() {
        if !subgraph.is_federation_1() {
            continue;
        }
        let others: Vec<_> = keys
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, keys)| keys)
            .collect();
        own_keys_of_others(subgraph, &others);
        remove_inactive(subgraph);
        remove_unused(subgraph, &mut errors[at]);
    }
    errors
}

/// Returns what is wrong with interfaces that others have as objects: a key of federation 1 does not say that their types
/// can be told by it.
pub(super) fn interface_keys(subgraphs: &[Subgraph]) -> Vec<(usize, CompositionError)> {
    let mut found = Vec::new();
    for (at, subgraph) in subgraphs.iter().enumerate() {
        let types = subgraph.schema.types.values();
        let keyed = types.filter(|ty| {
            subgraph.is_federation_1()
                && ty.is_interface()
                && ty.directives().has("federation__key")
        });
        for ty in keyed {
            let is_object = |other: &&Subgraph| {
                let other = other.schema.types.get(ty.name());
                other.is_some_and(|it| it.directives().has("federation__interfaceObject"))
            };
            let Some(other) = subgraphs.iter().find(is_object) else {
                continue;
            };
            let name = ty.name();
            let message = format!(
                "`{}` has the interface `{name}` as an object, and `{}` has a key of it in federation 1, which does not tell types",
                other.name, subgraph.name
            );
            let code = CompositionCode::INTERFACE_OBJECT_USAGE_ERROR;
            let error = CompositionError::new(code, message)
                .about(name.as_str())
                .at(subgraph.place(ty.location()));
            let help = format!(
                "upgrade `{}` to federation 2.3 or later, or remove the key",
                subgraph.name
            );
            found.push((at, error.help(help)));
        }
    }
    found
}

/// Returns the types that subgraphs of federation 1 extend, and no subgraph defines.
fn without_base(subgraphs: &[Subgraph]) -> Vec<(usize, Name)> {
    let mut found = Vec::new();
    for (at, subgraph) in subgraphs.iter().enumerate() {
        if !subgraph.is_federation_1() {
            continue;
        }
        // In the order of the schema, so that it is the same each time.
        for name in subgraph.schema.types.keys() {
            let is_base = |other: &Subgraph| {
                other.schema.types.contains_key(name) && !other.undefined.contains(name)
            };
            if subgraph.undefined.contains(name) && !is_root(name) && !subgraphs.iter().any(is_base)
            {
                found.push((at, name.clone()));
            }
        }
    }
    found
}

fn no_base(subgraph: &Subgraph, name: &Name) -> CompositionError {
    let message = format!(
        "`{name}` is extended in `{}`, but no subgraph defines it",
        subgraph.name
    );
    let place = subgraph.place(subgraph.schema.types[name].location());
    CompositionError::new(CompositionCode::EXTENSION_WITH_NO_BASE, message)
        .about(name.as_str())
        .at(place)
        .help("write `type` instead of `extend type`, or add the subgraph that defines it")
}

/// Changes the types of a schema that are the subgraph's own.
fn each_type(schema: &mut Schema, mut change: impl FnMut(&mut ExtendedType)) {
    let own = schema.types.values_mut().filter(|ty| !ty.is_built_in());
    own.for_each(&mut change);
}

/// Takes from a type what had no effect, and makes strings of selections.
fn clean_type(ty: &mut ExtendedType) {
    match ty {
        ExtendedType::Interface(interface) => {
            let interface = interface.make_mut();
            interface
                .directives
                .0
                .retain(|it| it.name != "federation__key");
            for field in interface.fields.values_mut() {
                let directives = &mut field.make_mut().directives.0;
                directives.retain(|it| {
                    !SELECTING.contains(&it.name.as_str()) && it.name != "federation__external"
                });
            }
        }
        ExtendedType::Object(object) => {
            let object = object.make_mut();
            object
                .directives
                .0
                .retain(|it| it.name != "federation__external");
            for directive in object
                .directives
                .0
                .iter_mut()
                .filter(|it| it.name == "federation__key")
            {
                stringify(&mut directive.make_mut().arguments);
            }
            for field in object.fields.values_mut() {
                clean_field(field);
            }
        }
        _ => {}
    }
}

fn clean_field(field: &mut Component<FieldDefinition>) {
    if field.directives.is_empty() {
        return;
    }
    let field = field.make_mut();
    let is_external = field.directives.has("federation__external");
    field
        .directives
        .0
        .retain(|it| !(is_external && it.name == "federation__tag"));
    for directive in field
        .directives
        .0
        .iter_mut()
        .filter(|it| SELECTING.contains(&it.name.as_str()))
    {
        stringify(&mut directive.make_mut().arguments);
    }
}

/// Makes a string of a list of names, which libraries of federation 1 accept as well.
fn stringify(arguments: &mut [Node<Argument>]) {
    for argument in arguments.iter_mut().filter(|it| it.name == "fields") {
        let text = match argument.value.as_ref() {
            Value::Enum(name) => name.to_string(),
            Value::List(items) => {
                let text = |item: &Node<Value>| match item.as_ref() {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                items.iter().map(text).collect::<Vec<_>>().join(" ")
            }
            _ => continue,
        };
        argument.make_mut().value = Node::new(Value::String(text));
    }
}

/// Returns the fields of the first key of each type.
fn first_keys(subgraph: &Subgraph) -> HashSet<(Name, Name)> {
    let mut keys = HashSet::new();
    for ty in subgraph.schema.types.values() {
        let first = ty
            .directives()
            .get("federation__key")
            .and_then(|key| text(key, "fields"));
        let set = first.and_then(|text| field_set::parse(&subgraph.schema, ty.name(), text).ok());
        for selected in set.into_iter().flatten() {
            if let Selected::Field(field) = selected {
                keys.insert((ty.name().clone(), field.field.name.clone()));
            }
        }
    }
    keys
}

/// An extension without a key takes the key of its owner: those fields are its own.
fn own_keys_of_others(subgraph: &mut Subgraph, others: &[&HashSet<(Name, Name)>]) {
    let extended = &subgraph.extended;
    each_type(&mut subgraph.schema, |ty| {
        let ExtendedType::Object(object) = ty else {
            return;
        };
        if !extended.contains(&object.name) || object.directives.has("federation__key") {
            return;
        }
        let object = object.make_mut();
        for (name, field) in &mut object.fields {
            let key = (object.name.clone(), name.clone());
            if field.directives.has("federation__external")
                && others.iter().any(|keys| keys.contains(&key))
            {
                without(&mut field.make_mut().directives, "federation__external");
            }
        }
    });
}

fn without(directives: &mut DirectiveList, name: &str) {
    directives.0.retain(|it| it.name != name);
}

/// Takes from requirements and provisions what the subgraph resolves anyway. In federation 2, a
/// field there that is not external is an error (`REQUIRES_FIELDS_MISSING_EXTERNAL`).
fn remove_inactive(subgraph: &mut Subgraph) {
    let facts = Facts::of(subgraph);
    let schema = subgraph.schema.clone();
    each_type(&mut subgraph.schema, |ty| {
        let ExtendedType::Object(object) = ty else {
            return;
        };
        let object = object.make_mut();
        for field in object.fields.values_mut() {
            for (name, parent) in [
                ("federation__requires", object.name.clone()),
                ("federation__provides", field.ty.inner_named_type().clone()),
            ] {
                let Some(given) = field.directives.get(name).and_then(|it| text(it, "fields"))
                else {
                    continue;
                };
                let is_composite = schema
                    .types
                    .get(&parent)
                    .is_some_and(|ty| !ty.is_scalar() && !ty.is_enum());
                let Ok(set) = field_set::parse(&schema, &parent, given) else {
                    if !is_composite {
                        without(&mut field.make_mut().directives, name);
                    }
                    continue;
                };
                let active = active(&facts, &set);
                if active.is_empty() {
                    without(&mut field.make_mut().directives, name);
                } else if active != written(&set) {
                    let directives = &mut field.make_mut().directives;
                    for directive in directives.0.iter_mut().filter(|it| it.name == name) {
                        for argument in directive
                            .make_mut()
                            .arguments
                            .iter_mut()
                            .filter(|it| it.name == "fields")
                        {
                            argument.make_mut().value = Node::new(Value::String(active.clone()));
                        }
                    }
                }
            }
        }
    });
}

/// Writes the parts of a set that are external, or lie below something that is.
fn active(facts: &Facts, set: &[Selected<'_>]) -> String {
    let parts = set.iter().filter_map(|selected| match selected {
        Selected::Typename => None,
        Selected::Field(field) if facts.is_external(field.parent, &field.field.name) => {
            Some(written(std::slice::from_ref(selected)))
        }
        Selected::Field(field) => {
            let inner = active(facts, &field.inner);
            (!inner.is_empty()).then(|| format!("{} {{ {inner} }}", field.field.name))
        }
        Selected::Fragment { condition, inner } => {
            let inner = active(facts, inner);
            (!inner.is_empty()).then(|| fragment(condition.as_ref(), &inner))
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn written(set: &[Selected<'_>]) -> String {
    let parts = set.iter().map(|selected| match selected {
        Selected::Typename => "__typename".to_owned(),
        Selected::Fragment { condition, inner } => fragment(condition.as_ref(), &written(inner)),
        Selected::Field(field) => {
            let mut text = field.field.name.to_string();
            if !field.arguments.is_empty() {
                let arguments = field
                    .arguments
                    .iter()
                    .map(|it| format!("{}: {}", it.name, it.value));
                text = format!("{text}({})", arguments.collect::<Vec<_>>().join(", "));
            }
            if field.inner.is_empty() {
                text
            } else {
                format!("{text} {{ {} }}", written(&field.inner))
            }
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn fragment(condition: Option<&Name>, inner: &str) -> String {
    match condition {
        Some(condition) => format!("... on {condition} {{ {inner} }}"),
        None => format!("... {{ {inner} }}"),
    }
}

/// Removes external fields that nothing needs, and types of which nothing is left. In federation 2,
/// they are errors (`EXTERNAL_UNUSED`).
fn remove_unused(subgraph: &mut Subgraph, errors: &mut Vec<CompositionError>) {
    let facts = Facts::of(subgraph);
    let mut emptied = Vec::new();
    each_type(&mut subgraph.schema, |ty| {
        let ExtendedType::Object(object) = ty else {
            return;
        };
        let name = object.name.clone();
        let is_unused =
            |field: &Name| facts.is_external(&name, field) && !facts.is_used(&name, field);
        if !object.fields.keys().any(is_unused) {
            return;
        }
        object
            .make_mut()
            .fields
            .retain(|field, _| !is_unused(field));
        if object.fields.is_empty() {
            emptied.push(name);
        }
    });
    for name in emptied {
        let is_used = subgraph.schema.types.values().any(|ty| {
            let mut fields = fields(ty).into_iter().flatten();
            fields.any(|(_, field)| *field.ty.inner_named_type() == name)
        });
        if is_used {
            let place = subgraph.place(subgraph.schema.types[&name].name().location());
            let message = format!(
                "all fields of `{name}` are external in `{}`, and nothing needs them",
                subgraph.name
            );
            let code = CompositionCode::TYPE_WITH_ONLY_UNUSED_EXTERNAL;
            errors.push(
                CompositionError::new(code, message)
                    .about(name.as_str())
                    .at(place),
            );
        } else {
            subgraph.schema.types.shift_remove(&name);
        }
    }
}
