//! `@shareable`.

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::read::Subgraph;

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        let code = CompositionCode::INVALID_SHAREABLE_USAGE;
        for (_, field) in fields(ty).into_iter().flatten() {
            let coordinate = format!("{}.{}", ty.name(), field.name);
            let markers: Vec<_> = field.directives.get_all("federation__shareable").collect();
            let Some(first) = markers.first() else {
                continue;
            };
            let span = first.location();
            // Only the fields of object types are resolved.
            if ty.is_interface() {
                let message =
                    format!("`@shareable` on `{coordinate}`: fields of interfaces cannot have it");
                checked.report(code, &coordinate, span, message);
            } else if markers.len() > 1 {
                let message = format!("`{coordinate}` has `@shareable` twice");
                checked.report(repeated_code(subgraph), &coordinate, span, message);
            }
        }
        let markers: Vec<_> = ty.directives().get_all("federation__shareable").collect();
        let repeated = markers.iter().enumerate().any(|(at, marker)| {
            markers[..at]
                .iter()
                .any(|other| other.origin == marker.origin)
        });
        if repeated {
            let message = format!("`{}` has `@shareable` twice in one declaration", ty.name());
            let span = markers[0].location();
            checked.report(repeated_code(subgraph), ty.name().as_str(), span, message);
        }
    }
}

/// Before version 2.2 the directive could not be repeated at all.
fn repeated_code(subgraph: &Subgraph) -> CompositionCode {
    match subgraph.links.minor() {
        Some(0 | 1) => CompositionCode::INVALID_GRAPHQL,
        _ => CompositionCode::INVALID_SHAREABLE_USAGE,
    }
}
