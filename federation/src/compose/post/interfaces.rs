//! Object types have the fields of their interfaces, once everything is merged
//! (<https://spec.graphql.org/September2025/#IsValidImplementation()>). Each subgraph is valid, but
//! an interface has the fields that any of them gives it.

use apollo_compiler::schema::ExtendedType;

use super::places;
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;
use crate::compose::merge::Merged;
use crate::compose::read::Subgraph;

pub(super) fn check(merged: &Merged, subgraphs: &[Subgraph], errors: &mut Vec<CompositionError>) {
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
                    "`{name}` implements `{}`, which has the field `{field}` in {}, but has no such \
                     field itself",
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
