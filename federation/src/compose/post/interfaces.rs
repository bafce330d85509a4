//! Object types have the fields of their interfaces, once everything is merged.

use apollo_compiler::schema::ExtendedType;

use super::places;
use crate::compose::code::CompositionCode;
use crate::compose::facts::{Facts, fields};
use crate::compose::finding::CompositionError;
use crate::compose::merge::Merged;
use crate::compose::read::Subgraph;

pub(super) fn check(
    merged: &Merged,
    subgraphs: &[Subgraph],
    facts: &[Facts],
    errors: &mut Vec<CompositionError>,
) {
    check_keys(merged, subgraphs, facts, errors);
    for ty in merged.types.values() {
        let (interfaces, own) = match ty {
            ExtendedType::Object(object) => (&object.implements_interfaces, &object.fields),
            ExtendedType::Interface(interface) => {
                (&interface.implements_interfaces, &interface.fields)
            }
            _ => continue,
        };
        for interface in interfaces {
            let wanted = merged.types.get(interface.name.as_str()).and_then(fields);
            let missing = wanted
                .into_iter()
                .flat_map(|wanted| wanted.keys())
                .filter(|name| !own.contains_key(*name));
            for field in missing {
                let name = ty.name();
                let coordinate = format!("{name}.{field}");
                let having = subgraphs.iter().filter(|subgraph| {
                    let ty = subgraph
                        .schema
                        .types
                        .get(interface.name.as_str())
                        .and_then(fields);
                    ty.is_some_and(|fields| fields.contains_key(field))
                });
                let having: Vec<_> = having
                    .map(|subgraph| format!("`{}`", subgraph.name))
                    .collect();
                let message = format!(
                    "`{name}` implements `{}`, which has the field `{field}` in {}, and has no such field itself",
                    interface.name,
                    having.join(", ")
                );
                let error =
                    CompositionError::new(CompositionCode::INTERFACE_FIELD_NO_IMPLEM, message);
                errors.push(
                    error
                        .about(coordinate)
                        .at_all(places(subgraphs, name, None)),
                );
            }
        }
    }
}

/// A subgraph that resolves an interface by a key knows all of its implementations.
fn check_keys(
    merged: &Merged,
    subgraphs: &[Subgraph],
    facts: &[Facts],
    errors: &mut Vec<CompositionError>,
) {
    for (subgraph, facts) in subgraphs.iter().zip(facts) {
        for interface in subgraph
            .schema
            .types
            .values()
            .filter_map(ExtendedType::as_interface)
        {
            let name = &interface.name;
            let Some(key) = facts.keys(name).iter().find(|key| key.is_resolvable) else {
                continue;
            };
            let implementations = merged.types.values().filter_map(ExtendedType::as_object);
            let implementations = implementations
                .filter(|object| object.implements_interfaces.contains(name.as_str()));
            let is_known = |object: &str| {
                let known = subgraph.schema.get_object(object);
                known.is_some_and(|object| object.implements_interfaces.contains(name.as_str()))
            };
            let missing = implementations.filter(|object| !is_known(&object.name));
            let missing: Vec<_> = missing.map(|object| format!("`{}`", object.name)).collect();
            if missing.is_empty() {
                continue;
            }
            let message = format!(
                "`{}` resolves the interface `{name}` by the key `{}`, and lacks its implementations {}",
                subgraph.name,
                key.fields,
                missing.join(", ")
            );
            let code = CompositionCode::INTERFACE_KEY_MISSING_IMPLEMENTATION_TYPE;
            let place = subgraph.place(key.directive.location());
            errors.push(
                CompositionError::new(code, message)
                    .about(name.as_str())
                    .at(place),
            );
        }
    }
}
