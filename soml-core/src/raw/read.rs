//! Reads the sections of a document.

use super::fields::Fields;
use super::{
    Named, RawEnumValue, RawObject, RawProperty, RawRole, RawSchema, RawSpecialPrefixes, RawType,
    Spanned, Text, config, value,
};
use crate::codes::Code;
use crate::diagnostic::Findings;
use crate::keys;
use crate::span::Span;
use crate::yaml::{Document, NodeRef};

/// Longest namespace in bytes; each is repeated in many IRIs.
const MAX_IRI: usize = 2_000;
/// Longest name in bytes.
const MAX_NAME: usize = 500;

/// Reads a document. `None` when it is not a mapping at all.
pub(crate) fn read<'d>(
    document: &'d Document<'_>,
    text: &str,
    findings: &mut Findings,
) -> Option<RawSchema<'d>> {
    let mut raw = RawSchema {
        fallback_id: fallback_id(text),
        ..RawSchema::default()
    };
    let start = document
        .root()
        .map_or(Span::default(), |root| start_of(root.span()));
    let Some(root) = document.root().filter(|root| !root.is_null()) else {
        missing_sections(true, true, start, findings);
        return Some(raw);
    };
    if root.entries().is_none() {
        let message = format!("a schema must be a mapping, not {}", root.describe());
        findings
            .add(Code::WrongType, root.span(), message)
            .help("begin with `objects:`");
        return None;
    }
    let has_objects = root
        .entries()
        .is_some_and(|mut e| e.any(|(key, _)| key.text() == Some("objects")));
    let mut fields = Fields::open(root, &keys::DOCUMENT, findings);
    raw.id = fields.text("id", findings);
    raw.label = fields.caption("label", findings);
    raw.creator = fields.caption("creator", findings);
    raw.created = fields.caption("created", findings);
    raw.updated = fields.caption("updated", findings);
    raw.version_info = fields.caption("versionInfo", findings);
    if let Some(node) = fields.take("config") {
        config::config(node, &mut raw, findings);
    }
    if let Some(node) = fields.take("specialPrefixes") {
        raw.special = special_prefixes(node, findings);
    }
    if let Some(node) = fields.take("prefixes") {
        raw.prefixes = prefixes(node, findings);
    }
    raw.types = section(fields.take("types"), "`types`", findings, type_);
    raw.properties = section(
        fields.take("properties"),
        "`properties`",
        findings,
        property,
    );
    raw.objects = section(fields.take("objects"), "`objects`", findings, object);
    if let Some(node) = fields.take("rbac") {
        let mut fields = Fields::open(node, &keys::RBAC, findings);
        raw.roles = section(fields.take("roles"), "`roles`", findings, role);
    }
    missing_sections(raw.id.is_none(), !has_objects, start, findings);
    Some(raw)
}

fn missing_sections(no_id: bool, no_objects: bool, start: Span, findings: &mut Findings) {
    if no_id {
        findings
            .add(Code::MissingId, start, "the schema has no `id`")
            .help("add a line such as `id: /soml/my-schema`");
    }
    if no_objects {
        findings
            .add(
                Code::NoObjects,
                start,
                "the schema has no `objects`, so nothing can be queried",
            )
            .help("add a section `objects:`");
    }
}

fn start_of(span: Span) -> Span {
    Span {
        end: span.start,
        ..span
    }
}

/// An identifier that depends on nothing but the text.
fn fallback_id(text: &str) -> String {
    // FNV-1a, 64 bits.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("/soml/schema-{hash:016x}")
}

/// Reads a mapping from names to what `read` makes of the values.
fn section<'d, 't: 'd, T>(
    node: Option<NodeRef<'d, 't>>,
    what: &str,
    findings: &mut Findings,
    read: impl Fn(NodeRef<'d, 't>, &mut Findings) -> T,
) -> Vec<Named<'d, T>> {
    let Some(node) = node else { return Vec::new() };
    let entries = value::entries(node, what, findings);
    let named = |(key, node): (NodeRef<'d, 't>, NodeRef<'d, 't>)| {
        let name = name(key, findings)?;
        Some(Named {
            name,
            body: read(node, findings),
        })
    };
    entries.into_iter().filter_map(named).collect()
}

/// The name of an entry; absurdly long ones would make every message about them as long.
fn name<'d>(key: NodeRef<'d, '_>, findings: &mut Findings) -> Option<Text<'d>> {
    let (value, span) = (key.text()?, key.span());
    if value.len() > MAX_NAME {
        let message = format!(
            "a name has {} bytes; at most {MAX_NAME} are allowed",
            value.len()
        );
        findings.add(Code::BadName, span, message);
        return None;
    }
    Some(Spanned { value, span })
}

fn iri<'d>(text: Option<Text<'d>>, findings: &mut Findings) -> Option<Text<'d>> {
    let text = text?;
    if text.value.len() > MAX_IRI {
        let message = format!(
            "an IRI has {} bytes; at most {MAX_IRI} are allowed",
            text.value.len()
        );
        findings.add(Code::BadIri, text.span, message);
        return None;
    }
    Some(text)
}

fn special_prefixes<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawSpecialPrefixes<'d> {
    let mut fields = Fields::open(node, &keys::SPECIAL_PREFIXES, findings);
    RawSpecialPrefixes {
        base_iri: iri(fields.text("base_iri", findings), findings),
        vocab_iri: iri(fields.text("vocab_iri", findings), findings),
        vocab_prefix: fields
            .text("vocab_prefix", findings)
            .filter(|t| t.value.len() <= MAX_NAME),
        ontology_iri: iri(fields.text("ontology_iri", findings), findings),
        shape_iri: iri(fields.text("shape_iri", findings), findings),
    }
}

fn prefixes<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> Vec<(Text<'d>, Text<'d>)> {
    let mut prefixes = Vec::new();
    for (key, node) in value::entries(node, "`prefixes`", findings) {
        let Some(prefix) = name(key, findings) else {
            continue;
        };
        let namespace = value::text(node, prefix.value, findings);
        if let Some(namespace) = iri(namespace, findings) {
            prefixes.push((prefix, namespace));
        }
    }
    prefixes
}

fn type_<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawType<'d> {
    let mut fields = Fields::open(node, &keys::TYPE, findings);
    RawType {
        label: fields.caption("label", findings),
        descr: fields.caption("descr", findings),
        values: fields
            .take("values")
            .and_then(|node| enum_values(node, findings)),
        union: fields.texts("union", findings),
    }
}

fn enum_values<'d>(
    node: NodeRef<'d, '_>,
    findings: &mut Findings,
) -> Option<Spanned<Vec<RawEnumValue<'d>>>> {
    let span = node.span();
    let Some(items) = node.items() else {
        let message = format!("`values` must be a list, not {}", node.describe());
        findings
            .add(Code::WrongType, span, message)
            .help("write `values: [{name: FIRST}, {name: SECOND}]`");
        return None;
    };
    let value = items
        .filter_map(|item| enum_value(item, findings))
        .collect();
    Some(Spanned { value, span })
}

fn enum_value<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> Option<RawEnumValue<'d>> {
    if node.text().is_some() {
        let name = value::text(node, "values", findings)?;
        return Some(RawEnumValue {
            name,
            label: None,
            descr: None,
        });
    }
    let mut fields = Fields::open(node, &keys::ENUM_VALUE, findings);
    let name = fields.text("name", findings);
    let label = fields.caption("label", findings);
    let descr = fields.caption("descr", findings);
    if name.is_none() {
        findings.add(
            Code::BadEnumValue,
            node.span(),
            "an enumeration value needs a `name`",
        );
    }
    Some(RawEnumValue {
        name: name?,
        label,
        descr,
    })
}

fn property<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawProperty<'d> {
    let mut fields = Fields::open(node, &keys::PROPERTY, findings);
    let no_inverse_alias = fields.null("inverseAlias");
    let mut property = RawProperty {
        no_inverse_alias,
        label: fields.caption("label", findings),
        descr: fields.caption("descr", findings),
        range: fields.text("range", findings),
        range_check: fields.boolean("rangeCheck", findings),
        type_cast: fields.boolean("typeCast", findings),
        min: fields
            .take("min")
            .and_then(|node| value::natural(node, "min", Code::BadCardinality, findings)),
        max: fields
            .take("max")
            .and_then(|node| value::max(node, findings)),
        non_nullable: fields.boolean("nonNullable", findings),
        non_nullable_elements: fields.boolean("nonNullableElements", findings),
        inverse_alias: fields.text("inverseAlias", findings),
        inverse_of: fields.text("inverseOf", findings),
        rdf_prop: fields.text("rdfProp", findings),
        symmetric: fields.boolean("symmetric", findings),
        regex: fields.text("regex", findings),
        prefix: fields.text("prefix", findings),
        pattern: fields.text("pattern", findings),
        kind: fields.text("kind", findings),
        values_in: fields.texts("valuesIn", findings),
        immutable: fields.boolean("immutable", findings),
        sparql_federated_service: fields.text("sparqlFederatedService", findings),
        meta: fields.text("meta", findings),
        ..RawProperty::default()
    };
    if let Some(node) = fields.take("lang") {
        config::property_lang(node, &mut property, findings);
    }
    if let Some(node) = fields.take("search") {
        property.search = config::search(node, findings);
    }
    property
}

fn object<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawObject<'d> {
    let mut fields = Fields::open(node, &keys::OBJECT, findings);
    RawObject {
        label: fields.caption("label", findings),
        descr: fields.caption("descr", findings),
        kind: fields.text("kind", findings),
        inherits: fields.text("inherits", findings),
        name: fields.text("name", findings),
        props: section(fields.take("props"), "`props`", findings, property),
        types: fields.texts("type", findings),
        type_prop: fields.text("typeProp", findings),
        regex: fields.text("regex", findings),
        prefix: fields.text("prefix", findings),
        pattern: fields.text("pattern", findings),
        extend: fields.boolean("extend", findings),
        search: fields
            .take("search")
            .map(|node| config::search(node, findings))
            .unwrap_or_default(),
        sparql_federated_service: fields.text("sparqlFederatedService", findings),
        meta: fields.text("meta", findings),
    }
}

fn role<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawRole<'d> {
    let mut fields = Fields::open(node, &keys::ROLE, findings);
    let list = |texts: Option<Spanned<Vec<Text<'d>>>>| texts.map(|t| t.value).unwrap_or_default();
    RawRole {
        description: fields.caption("description", findings),
        actions: list(fields.texts("actions", findings)),
        not_actions: list(fields.texts("notActions", findings)),
        filters: fields.take("filters").map(value::any).unwrap_or_default(),
        presets: fields.take("presets").map(value::any).unwrap_or_default(),
    }
}
