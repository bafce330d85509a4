//! The identifier, prefixes, and what names expand to.

use super::{Cx, quoted};
use crate::codes::Code;
use crate::diagnostic::shorten;
use crate::raw::{RawProperty, Text, did_you_mean};
use crate::resolve::{Unresolved, bracketed, is_absolute, is_local};

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    identifier(cx);
    let special = &raw.special;
    // Namespaces are put in front of names as they are, so each must begin an absolute IRI
    // (docs/diagnostics.md, "BAD_IRI").
    for iri in [
        special.base_iri,
        special.vocab_iri,
        special.ontology_iri,
        special.shape_iri,
    ] {
        absolute(cx, iri);
    }
    for (_, namespace) in &raw.prefixes {
        absolute(cx, Some(*namespace));
    }
    for named in &raw.types {
        name(cx, named.name);
    }
    for named in &raw.properties {
        name(cx, named.name);
        property(cx, &named.body);
    }
    for named in &raw.objects {
        name(cx, named.name);
        let object = &named.body;
        for text in object.name.iter().chain(&object.type_prop) {
            name(cx, *text);
        }
        for text in object
            .types
            .iter()
            .flat_map(|types| &types.value)
            .chain(&object.prefix)
        {
            relative(cx, *text);
        }
        for prop in &object.props {
            name(cx, prop.name);
            property(cx, &prop.body);
        }
    }
}

fn identifier(cx: &mut Cx<'_, '_>) {
    let Some(id) = cx.raw.id else { return };
    // A warning: other identifiers work, but the last segment is the name in URLs
    // (docs/diagnostics.md, "ID_FORM").
    if id.value.strip_prefix("/soml/").is_none_or(str::is_empty) {
        let last = id
            .value
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("my-schema");
        cx.add(
            Code::IdForm,
            id.span,
            format!("{} does not begin with `/soml/`", quoted(id)),
        )
        .help(format!("write `/soml/{}`", shorten(last)));
    }
}

fn property(cx: &mut Cx<'_, '_>, raw: &RawProperty<'_>) {
    if let Some(text) = raw.rdf_prop {
        name(cx, text);
    }
    if let Some(text) = raw.prefix {
        relative(cx, text);
    }
}

fn absolute(cx: &mut Cx<'_, '_>, iri: Option<Text<'_>>) {
    if let Some(iri) = iri
        && !is_absolute(iri.value)
    {
        cx.add(
            Code::BadIri,
            iri.span,
            format!("{} is not an absolute IRI", quoted(iri)),
        )
        .help("write a full IRI, such as `https://example.org/films#`");
    }
}

fn name(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    if let Some(iri) = bracketed(text.value) {
        full(cx, text, iri);
        return;
    }
    let scope = cx.scope();
    if let Err(unresolved) = scope.names.expand(text.value) {
        undeclared(cx, text, unresolved);
        return;
    }
    // Only the local part is checked here; namespaces have been checked where they are declared.
    let (_, local) = scope.names.split(text.value);
    if local.is_empty() {
        cx.add(
            Code::BadName,
            text.span,
            format!("{} is not a valid name", quoted(text)),
        )
        .help("a name has at least one character besides its prefix");
    } else if !is_local(local) {
        forbidden(cx, text);
    }
}

fn relative(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    if let Some(iri) = bracketed(text.value) {
        full(cx, text, iri);
        return;
    }
    let scope = cx.scope();
    match scope.names.expand_relative(text.value) {
        Err(unresolved) => undeclared(cx, text, unresolved),
        Ok(_) if !is_local(text.value) => forbidden(cx, text),
        Ok(_) => {}
    }
}

/// Checks an IRI in angle brackets.
fn full(cx: &mut Cx<'_, '_>, text: Text<'_>, iri: &str) {
    if !is_absolute(iri) {
        let message = format!("{} is not an absolute IRI", quoted(text));
        cx.add(Code::BadIri, text.span, message)
            .help("angle brackets enclose a full IRI, such as `<https://example.org/films#Film>`");
    }
}

fn forbidden(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    let message = format!(
        "{} contains characters that are not allowed in IRIs",
        quoted(text)
    );
    cx.add(Code::BadIri, text.span, message)
        .help("spaces, quotes, backslashes, braces and angle brackets must be percent-encoded");
}

fn undeclared(cx: &mut Cx<'_, '_>, text: Text<'_>, unresolved: Unresolved<'_>) {
    let scope = cx.scope();
    let prefix = unresolved.prefix;
    let message = format!(
        "the prefix `{}` of {} is not declared",
        shorten(prefix),
        quoted(text)
    );
    cx.add(Code::UndeclaredPrefix, text.span, message)
        .help(format!("declare `{}` under `prefixes`", shorten(prefix)))
        .help_with(|| {
            let known = scope
                .names
                .prefixes()
                .bindings
                .iter()
                .map(|(known, _)| known.as_str());
            did_you_mean(prefix, known)
        });
}
