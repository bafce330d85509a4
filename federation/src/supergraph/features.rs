//! The features that a supergraph is composed with: those that cannot be ignored must be known.

use apollo_compiler::{Schema, ast};

use super::error::SupergraphError;
use super::join;
use crate::code;

/// Versions of the join specification that are read.
const JOIN: [&str; 4] = ["v0.2", "v0.3", "v0.4", "v0.5"];

/// Features whose directives are known by their own names, in addition to those of `join`.
const KNOWN: [&str; 5] = [
    "inaccessible",
    "authenticated",
    "requiresScopes",
    "policy",
    "context",
];

/// Checks that the gateway supports the features that the supergraph links. Those for security or execution must not be
/// ignored (<https://specs.apollo.dev/link/v1.0/#Purpose>).
///
/// # Errors
/// With every use of a feature that is not supported.
pub(super) fn check(schema: &Schema) -> Result<(), Vec<SupergraphError>> {
    let mut errors = Vec::new();
    for link in schema.schema_definition.directives.iter() {
        if let Some((message, help)) = url(link).and_then(|url| link_problem(link, url)) {
            let error = SupergraphError::new(code::UNSUPPORTED_FEATURE, message);
            errors.push(error.at(link.location(), schema).help(help));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Returns the feature that a `@link` is for, or a `@core`, its predecessor.
fn url(link: &ast::Directive) -> Option<&str> {
    match link.name.as_str() {
        "link" => join::text(link, "url"),
        "core" => join::text(link, "feature"),
        _ => None,
    }
}

/// Returns what is wrong with a link to a feature, and what helps.
fn link_problem(link: &ast::Directive, url: &str) -> Option<(String, &'static str)> {
    // A URL ends in name and version, and a slash at its end does not count; any other URL identifies a feature that
    // is not known (<https://specs.apollo.dev/link/v1.0/>, "url").
    let mut parts = url.strip_suffix('/').unwrap_or(url).rsplit('/');
    let version = parts.next().unwrap_or_default();
    let name = parts.next().unwrap_or_default();
    let purpose = link
        .specified_argument_by_name("for")
        .and_then(|purpose| purpose.as_enum());
    match name {
        "join" if !JOIN.contains(&version) => {
            let known = JOIN.join(", ");
            let message = format!("join {version} is not supported; supported are {known}");
            let help = "compose the supergraph with a composer of federation 2";
            Some((message, help))
        }
        _ if (name == "join" || KNOWN.contains(&name)) && is_renamed(link) => {
            let message = format!("the feature `{name}` under another name is not supported");
            Some((message, "link the feature without `as`"))
        }
        "authenticated" | "requiresScopes" | "policy" | "context" if version != "v0.1" => {
            let message = format!("{name} {version} is not supported; supported is v0.1");
            Some((message, "compose the supergraph for version v0.1"))
        }
        // Tags and costs change no answer: what reads them is not the gateway.
        "join" | "link" | "core" | "tag" | "cost" | "cacheTag" => None,
        _ if KNOWN.contains(&name) => None,
        _ => purpose.map(|purpose| {
            let message = format!("the feature `{url}` for {purpose} is not supported");
            (
                message,
                "remove the feature from the subgraphs that link it",
            )
        }),
    }
}

/// Returns whether a feature, or a part of it, goes under another name.
fn is_renamed(link: &ast::Directive) -> bool {
    let mut imports = join::list(link, "import")
        .iter()
        .filter_map(|import| import.as_object());
    join::text(link, "as").is_some()
        || imports.any(|import| import.iter().any(|(name, _)| name == "as"))
}
