//! `@authenticated`, `@requiresScopes` and `@policy`: not on interfaces, since their implementations decide.

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;

/// The directives that demand something of a request (docs/federation.md, "Authorization").
pub(in crate::compose) const AUTH: [&str; 3] = ["authenticated", "requiresScopes", "policy"];

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        if !ty.is_interface() && !ty.directives().has("federation__interfaceObject") {
            continue;
        }
        for name in AUTH {
            let directive = format!("federation__{name}");
            let code = CompositionCode::AUTH_REQUIREMENTS_APPLIED_ON_INTERFACE;
            let help = "interfaces demand what their implementations do";
            if let Some(found) = ty.directives().get(&directive) {
                let message = format!("`@{name}` is on the interface `{}`: {help}", ty.name());
                checked.report(code, ty.name().as_str(), found.location(), message);
            }
            // A field of an interface object is one of every implementation, which demands it.
            let own = fields(ty).filter(|_| ty.is_interface());
            for (_, field) in own.into_iter().flatten() {
                if let Some(found) = field.directives.get(&directive) {
                    let coordinate = format!("{}.{}", ty.name(), field.name);
                    let message =
                        format!("`@{name}` is on `{coordinate}`, a field of an interface: {help}");
                    checked.report(code, &coordinate, found.location(), message);
                }
            }
        }
    }
}
