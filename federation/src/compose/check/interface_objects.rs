//! `@interfaceObject`, and keys of interfaces.

use std::collections::BTreeSet;

use apollo_compiler::schema::ExtendedType;

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::field_set::{Selected, parse, possible};

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        let name = ty.name();
        if let Some(directive) = ty.directives().get("federation__interfaceObject")
            // Without a key, nobody could tell the types of its objects.
            && checked.facts.keys(name).is_empty()
        {
            let message = format!("`{name}` has `@interfaceObject` and no `@key`");
            let code = CompositionCode::INTERFACE_OBJECT_USAGE_ERROR;
            checked.report(code, name.as_str(), directive.location(), message);
        }
        if ty.is_interface() {
            check_keys(checked, ty);
        }
    }
}

/// Reports implementations that lack a resolvable key of their interface: a representation of the
/// interface is looked up as one of its types.
fn check_keys(checked: &mut Checked<'_>, interface: &ExtendedType) {
    let schema = &checked.subgraph.schema;
    let keys = checked.facts.keys(interface.name()).to_vec();
    for key in keys {
        let Ok(wanted) = parse(schema, interface.name(), &key.fields).map(|set| shape(&set)) else {
            continue;
        };
        let has_it = |name: &str| {
            let mut keys = checked
                .facts
                .keys(name)
                .iter()
                .filter(|it| it.is_resolvable || !key.is_resolvable);
            keys.any(|it| parse(schema, name, &it.fields).is_ok_and(|set| shape(&set) == wanted))
        };
        let implementations = possible(schema, interface);
        let missing: Vec<_> = implementations
            .into_iter()
            .filter(|name| !has_it(name))
            .collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "the key `{}` of the interface `{}` is missing on {}",
            key.fields,
            interface.name(),
            names.join(", ")
        );
        let code = CompositionCode::INTERFACE_KEY_NOT_ON_IMPLEMENTATION;
        let name = interface.name().as_str();
        checked.report(code, name, key.directive.location(), message);
    }
}

/// Returns a set as a text that does not depend on the order of its fields.
pub(in crate::compose) fn shape(set: &[Selected<'_>]) -> String {
    let parts: BTreeSet<String> = set
        .iter()
        .map(|selected| match selected {
            Selected::Typename => "__typename".to_owned(),
            Selected::Field(field) if field.inner.is_empty() => field.field.name.to_string(),
            Selected::Field(field) => format!("{} {{ {} }}", field.field.name, shape(&field.inner)),
            Selected::Fragment { condition, inner } => {
                let condition = condition.as_ref().map_or("", |name| name.as_str());
                format!("... on {condition} {{ {} }}", shape(inner))
            }
        })
        .collect();
    parts.into_iter().collect::<Vec<_>>().join(" ")
}
