//! Definitions that subgraphs have of directives and types of federation.
//!
//! Whatever a subgraph writes, those of the specification hold; a definition that contradicts them is an error.

use std::sync::LazyLock;

use apollo_compiler::Node;
use apollo_compiler::ast::{Definition, DirectiveDefinition, Document, InputValueDefinition, Type};

use super::Reading;
use super::links::Links;
use crate::compose::code::CompositionCode;
use crate::compose::finding::CompositionError;

/// The definitions of the specification, under the names that documents have once they are rewritten.
pub(super) static SPECIFICATION: LazyLock<Document> = LazyLock::new(|| {
    let text = include_str!("definitions.graphql");
    Document::parse(text, "federation.graphql").expect("the definitions are valid")
});

/// Checks a definition of a subgraph.
pub(super) fn check(definition: &Definition, links: &Links, reading: &mut Reading<'_>) {
    match definition {
        Definition::DirectiveDefinition(directive) => {
            let canonical = links.directives.get(directive.name.as_str());
            let wanted = canonical.and_then(|name| directive_of_specification(name));
            if let Some(wanted) = wanted
                && let Some(problem) = contradiction(directive, wanted, links)
            {
                let message = format!(
                    "the definition of `@{}` is not that of federation: {problem}",
                    directive.name
                );
                let error =
                    CompositionError::new(CompositionCode::DIRECTIVE_DEFINITION_INVALID, message)
                        .about(format!("@{}", directive.name))
                        .at(reading.place(directive.location()))
                        .help("remove the definition: the directive is known without it");
                reading.report(error);
            }
        }
        Definition::ScalarTypeDefinition(_) => {}
        other => {
            let name = other.name().map(|name| name.as_str()).unwrap_or_default();
            if name != "_Any" && links.types.contains_key(name) {
                let message = format!("`{name}` is a scalar in federation");
                let error =
                    CompositionError::new(CompositionCode::TYPE_DEFINITION_INVALID, message)
                        .about(name)
                        .at(reading.place(other.location()));
                reading.report(error);
            }
        }
    }
}

/// Returns the definition that the specification has of a directive.
pub(in crate::compose) fn directive_of_specification(
    name: &str,
) -> Option<&'static Node<DirectiveDefinition>> {
    SPECIFICATION
        .definitions
        .iter()
        .find_map(|definition| match definition {
            Definition::DirectiveDefinition(directive) => {
                let is_it = directive.name.strip_prefix("federation__") == Some(name);
                is_it.then_some(directive)
            }
            _ => None,
        })
}

/// Returns how a definition contradicts that of the specification. Libraries leave out arguments
/// and locations that came with later versions, so fewer of either are no contradiction.
fn contradiction(
    found: &DirectiveDefinition,
    wanted: &DirectiveDefinition,
    links: &Links,
) -> Option<String> {
    for argument in &found.arguments {
        let Some(known) = wanted.argument_by_name(&argument.name) else {
            return Some(format!("there is no argument `{}`", argument.name));
        };
        if !is_like(&argument.ty, &known.ty, links) {
            return Some(format!(
                "the argument `{}` is of the type `{}`",
                known.name,
                plain(&known.ty)
            ));
        }
    }
    let is_missing = |argument: &&Node<InputValueDefinition>| {
        argument.is_required() && found.argument_by_name(&argument.name).is_none()
    };
    if let Some(missing) = wanted.arguments.iter().find(is_missing) {
        return Some(format!("the argument `{}` is missing", missing.name));
    }
    let foreign = found
        .locations
        .iter()
        .find(|location| !wanted.locations.contains(location));
    if let Some(foreign) = foreign {
        return Some(format!("it has no meaning on {foreign}"));
    }
    None
}

/// Returns whether a type is that of the specification, or stricter or looser about null; strings stand for the
/// scalars of federation.
fn is_like(found: &Type, wanted: &Type, links: &Links) -> bool {
    match (found.is_list(), wanted.is_list()) {
        (true, true) => is_like(found.item_type(), wanted.item_type(), links),
        (false, false) => {
            let (found, wanted) = (found.inner_named_type(), wanted.inner_named_type());
            let canonical = links.types.get(found.as_str());
            let bare = wanted.strip_prefix("federation__");
            found == wanted || (bare.is_some() && (found == "String" || canonical.copied() == bare))
        }
        _ => false,
    }
}

fn plain(ty: &Type) -> String {
    ty.to_string().replace("federation__", "")
}
