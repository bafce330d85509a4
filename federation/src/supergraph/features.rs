//! The features that a supergraph is composed with: those that cannot be ignored must be known.

use apollo_compiler::{Schema, ast};

use super::error::SupergraphError;
use super::join;
use crate::code;

/// Versions of the join specification that are read.
const JOIN: [&str; 4] = ["v0.2", "v0.3", "v0.4", "v0.5"];

/// Features whose directives are known by their own names, beside those of `join`.
const KNOWN: [&str; 5] = [
    "inaccessible",
    "authenticated",
    "requiresScopes",
    "policy",
    "context",
];

/// Checks that the gateway can do what the supergraph asks of it.
///
/// # Errors
/// With every use of a feature that is not supported.
pub(super) fn check(schema: &Schema) -> Result<(), Vec<SupergraphError>> {
    let mut errors = Vec::new();
    for link in schema.schema_definition.directives.get_all("link") {
        if let Some(message) = link_problem(link) {
            let error = SupergraphError::new(code::UNSUPPORTED_FEATURE, message);
            errors.push(error.at(link.location(), schema));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Returns what is wrong with a `@link`.
fn link_problem(link: &ast::Directive) -> Option<String> {
    let url = join::text(link, "url")?;
    let mut parts = url.rsplit('/');
    let (version, name) = (parts.next()?, parts.next()?);
    let purpose = link
        .specified_argument_by_name("for")
        .and_then(|purpose| purpose.as_enum());
    match name {
        "join" if !JOIN.contains(&version) => Some(format!(
            "join {version} is not supported; supported are {}",
            JOIN.join(", ")
        )),
        _ if (name == "join" || KNOWN.contains(&name)) && is_renamed(link) => Some(format!(
            "the feature `{name}` under another name is not supported"
        )),
        "authenticated" | "requiresScopes" | "policy" | "context" if version != "v0.1" => Some(
            format!("{name} {version} is not supported; supported is v0.1"),
        ),
        // Tags are for caches in front of subgraphs, and change no answer.
        "join" | "link" | "tag" | "cost" | "cacheTag" => None,
        _ if KNOWN.contains(&name) => None,
        _ => purpose.map(|purpose| format!("the feature `{url}` for {purpose} is not supported")),
    }
}

/// Returns whether a feature, or a part of it, goes under another name.
fn is_renamed(link: &ast::Directive) -> bool {
    let imports = join::list(link, "import").iter();
    let mut imports = imports.filter_map(|import| import.as_object());
    join::text(link, "as").is_some()
        || imports.any(|import| import.iter().any(|(name, _)| name == "as"))
}
