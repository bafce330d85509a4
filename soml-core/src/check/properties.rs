//! Properties: ranges, cardinalities and hints.

use super::objects::federated_service;
use super::{Cx, quoted};
use crate::codes::Code;
use crate::datatype::Scalar;
use crate::keys;
use crate::raw::{Named, RawMax, RawProperty, Spanned, Text, did_you_mean};
use crate::resolve::LITERALS;

/// Maximum number of empty entries that are compared with all global properties: both numbers grow
/// with the document, and so their product with its square.
const LOOKED_UP: usize = 1_000;

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    for named in &raw.properties {
        entry(cx, named);
        if let (Some(min), Some(max)) = (named.body.min, named.body.max) {
            cardinality(cx, min, Some(max));
        }
    }
    for named in raw.objects.iter().flat_map(|object| &object.body.props) {
        entry(cx, named);
    }
    for own in cx.own_properties() {
        if let Some(min) = own.slot.raw.min {
            cardinality(cx, min, own.slot.raw.max);
        }
    }
    near_misses(cx);
}

fn entry(cx: &mut Cx<'_, '_>, named: &Named<'_, RawProperty<'_>>) {
    let raw = &named.body;
    if let Some(text) = raw.range {
        range(cx, text);
    }
    if let Some(text) = raw.kind
        && !keys::PROPERTY_KINDS.contains(&text.value)
    {
        cx.add(
            Code::UnknownPropertyKind,
            text.span,
            format!("unknown kind of property {}", quoted(text)),
        )
        .help("write `literal`, `object` or `mixed`, or omit it")
        .help_with(|| did_you_mean(text.value, keys::PROPERTY_KINDS.iter().copied()));
    }
    if let Some(text) = raw.sparql_federated_service {
        let what = format!("the values of {}", quoted(named.name));
        federated_service(cx, text, &what);
    }
    // In one entry, the alias wins (docs/schema.md, "Merging and inheritance"). Where they come
    // from different entries, the nearer one does, and nothing is ignored.
    if let (Some(alias), Some(rdf_prop)) = (raw.inverse_alias, raw.rdf_prop) {
        cx.add(
            Code::RdfPropIgnored,
            rdf_prop.span,
            "`rdfProp` has no effect together with `inverseAlias`",
        )
        .label(
            alias.span,
            "the RDF property of the aliased property is used",
        )
        .help("remove it");
    }
}

fn range(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    let raw = cx.raw;
    if cx.scope().range(text.value).is_some() {
        return;
    }
    let message = format!(
        "{} is neither a datatype nor an object of this schema",
        quoted(text)
    );
    cx.add(Code::UnknownRange, text.span, message)
        .help("declare it under `objects` (it may be empty), or use a datatype")
        .help_with(|| {
            if let Some(datatype) = other_spelling(text.value) {
                return Some(format!("the datatype is called `{datatype}` here"));
            }
            let scalars = Scalar::ALL.iter().map(|s| s.soml_name());
            let literals = LITERALS.iter().map(|(name, _)| *name);
            let types = raw.types.iter().map(|t| t.name.value);
            let objects = raw.objects.iter().map(|o| o.name.value);
            did_you_mean(
                text.value,
                scalars.chain(literals).chain(types).chain(objects),
            )
        });
}

/// Finds the datatype that is meant by a name from RDF, XSD
/// (<https://www.w3.org/TR/xmlschema11-2/#built-in-datatypes>), schema.org or GraphQL.
fn other_spelling(name: &str) -> Option<&'static str> {
    let local = name.split_once(':').map_or(name, |(_, local)| local);
    Some(match (name, local) {
        // Stored `xsd:float` values are served as doubles, and GraphQL's `Float` is one
        // (<https://spec.graphql.org/September2025/#sec-Float>).
        (_, "float" | "Float" | "Number") => "double",
        (_, "anyURI" | "Resource" | "URL" | "ID" | "uri" | "IRI") => "iri",
        (_, "dateTimeStamp" | "DateTimeStamp") => "dateTime",
        (_, "gYear") => "year",
        (_, "gYearMonth") => "yearMonth",
        ("rdf:langString", _) => "langString",
        (_, "PlainLiteral" | "Text") | ("rdfs:Literal", _) => "stringOrLangString",
        (_, "bool" | "Bool") => "boolean",
        (_, "str" | "text" | "normalizedString" | "token") => "string",
        _ => {
            let scalar =
                Scalar::from_soml_name(local).or_else(|| Scalar::from_graphql_name(local))?;
            scalar.soml_name()
        }
    })
}

fn cardinality(cx: &mut Cx<'_, '_>, min: Spanned<u32>, max: Option<Spanned<RawMax>>) {
    match max {
        Some(Spanned {
            value: RawMax::Count(most),
            span,
        }) if min.value > most => {
            let message = format!("`min` is {}, but `max` is {most}", min.value);
            cx.add(Code::MinOverMax, min.span, message)
                .label(span, "the maximum");
        }
        // The default of `max` is 1 (docs/first-schema.md, "A property").
        None if min.value > 1 => {
            let message = format!("`min` is {}, but `max` defaults to 1", min.value);
            cx.add(Code::MinWithoutMax, min.span, message)
                .help("set `max`, such as `max: inf`");
        }
        _ => {}
    }
}

/// Empty entries under `props` that miss their global property by a letter or two.
fn near_misses(cx: &mut Cx<'_, '_>) {
    let scope = cx.scope();
    let globals: Vec<_> = cx
        .raw
        .properties
        .iter()
        .map(|p| scope.names.key(p.name.value))
        .collect();
    let mut looked_up = 0;
    for own in cx.own_properties() {
        let new = own.property.declared_by == own.object && !own.slot.implied;
        if !new || !own.slot.raw.is_empty() || cx.globals.contains(own.key) {
            continue;
        }
        looked_up += 1;
        if looked_up > LOOKED_UP {
            return;
        }
        if let Some(help) = did_you_mean(own.key, globals.iter().copied()) {
            let message = format!(
                "there is no global property `{}`, so the range defaults to `string`",
                own.property.name
            );
            cx.add(Code::PropertyNearMiss, own.slot.span, message)
                .help(help);
        }
    }
}
