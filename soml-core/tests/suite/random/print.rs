//! Printing: documents in block layout, and schemas with everything spelt out.

use serde_json::{Map, Value, json};
use soml_core::lang::PropertyLang;
use soml_core::schema::{LiteralMember, LiteralRange, Max, ObjectKind, Path, Property, Range};
use soml_core::search::SearchSettings;
use soml_core::span::Span;
use soml_core::{Schema, load};

pub(super) fn load_valid(text: &str) -> Schema {
    let loaded = load(text);
    let said: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    assert!(said.is_empty(), "{said:#?}\n{text}");
    loaded
        .schema
        .expect("a document without findings is valid")
        .into_inner()
}

pub(super) fn without_places(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    let place = Span::default();
    schema.objects.iter_mut().for_each(|o| o.span = place);
    schema.properties.iter_mut().for_each(|p| p.span = place);
    schema.enums.iter_mut().for_each(|e| e.span = place);
    schema.unions.iter_mut().for_each(|u| u.span = place);
    for role in &mut schema.rbac.roles {
        role.span = place;
        role.actions.iter_mut().for_each(|a| a.span = place);
    }
    schema
}

/// Prints a document in block layout, with comments between.
pub(super) fn block(value: &Value) -> String {
    let mut out = "# A random document.\n".to_owned();
    write(value, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                out.push_str(&format!("{indent}{}:", scalar(key)));
                nested(value, depth, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("{indent}-"));
                nested(item, depth, out);
            }
        }
        _ => unreachable!("only collections with something in them are written as blocks"),
    }
}

fn nested(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str(" # nothing\n"),
        Value::String(text) => out.push_str(&format!(" {}\n", scalar(text))),
        Value::Object(entries) if !entries.is_empty() => {
            out.push('\n');
            write(value, depth + 1, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            write(value, depth + 1, out);
        }
        other => out.push_str(&format!(" {other}\n")),
    }
}

/// Plain where YAML allows it, else single or double quotes.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))
        && text != "null";
    if plain {
        text.to_owned()
    } else if text.len().is_multiple_of(2) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        Value::String(text.to_owned()).to_string()
    }
}

/// A document in which nothing is left to defaults, global properties or inheritance.
pub(super) fn effective(schema: &Schema) -> Value {
    let c = &schema.config;
    let lang = &c.lang;
    let enums = schema.enums.iter().map(|e| {
        let values: Vec<_> = e
            .values
            .iter()
            .map(|v| json!({"name": v.name, "label": v.label, "descr": v.descr}))
            .collect();
        (
            e.name.written.clone(),
            json!({"label": e.label, "descr": e.descr, "values": values}),
        )
    });
    let unions = schema.unions.iter().map(|u| {
        let members = u.members.iter().map(|m| match m {
            LiteralMember::Scalar(scalar) => scalar.soml_name(),
            LiteralMember::LangString => "langString",
        });
        let members: Vec<_> = members.collect();
        (
            u.name.written.clone(),
            json!({"descr": u.descr, "union": members}),
        )
    });
    let objects = (0..schema.objects.len())
        .map(|i| (schema.objects[i].name.written.clone(), object(schema, i)));
    let roles = schema.rbac.roles.iter().map(|role| {
        let actions: Vec<_> = role
            .actions
            .iter()
            .map(|a| format!("{}/{}/{}", a.object, a.property, a.operation))
            .collect();
        (
            role.name.clone(),
            json!({"description": role.description, "actions": actions}),
        )
    });
    json!({
        "id": schema.id,
        "label": schema.metadata.label,
        "config": {
            "enable_mutations": c.enable_mutations, "nullJsonArrays": c.null_json_arrays, "queryPfx": c.query_pfx,
            "includeInferred": c.include_inferred, "search": search(c.search.as_ref()),
            "lang": {
                "fetch": lang.fetch.as_ref().map(ToString::to_string),
                "validate": lang.validate.as_ref().map(ToString::to_string),
                "implicit": lang.implicit, "defaultNameFetch": lang.default_name_fetch.to_string(),
                "appendDefaultNameFetch": lang.append_default_name_fetch,
            },
        },
        "specialPrefixes": {
            "base_iri": schema.prefixes.base_iri, "vocab_iri": schema.prefixes.vocab_iri,
            "vocab_prefix": schema.prefixes.vocab_prefix, "shape_iri": schema.prefixes.shape_iri,
            "ontology_iri": schema.prefixes.ontology_iri,
        },
        "prefixes": schema.prefixes.bindings.iter().map(|(p, ns)| (p.clone(), json!(ns))).collect::<Map<_, _>>(),
        "types": enums.chain(unions).collect::<Map<_, _>>(),
        "objects": objects.collect::<Map<_, _>>(),
        "rbac": {"roles": roles.collect::<Map<_, _>>()},
    })
}

fn object(schema: &Schema, index: usize) -> Value {
    let object = &schema.objects[index];
    let mut props = Map::new();
    let mut name = Value::Null;
    for id in &object.props {
        let property = &schema[*id];
        if object.name_property == Some(*id) {
            name = json!(property.name.written);
        }
        if !property.implied_by_name {
            props.insert(
                property.name.written.clone(),
                self::property(schema, property),
            );
        } else if property.label.as_deref() != Some("Name")
            || object.name_label.is_some()
            || property.min != 1
        {
            props.insert(
                "name".to_owned(),
                json!({"label": object.name_label, "min": property.min}),
            );
        }
    }
    json!({
        "label": object.label, "descr": object.descr,
        "kind": if object.kind == ObjectKind::Abstract { "abstract" } else { "object" },
        "inherits": object.inherits.map(|id| schema[id].name.written.clone()),
        "typeProp": object.type_prop, "type": object.types, "prefix": object.id_prefix,
        "extend": object.extend, "name": name, "search": search(object.search.as_ref()), "props": props,
    })
}

fn property(schema: &Schema, p: &Property) -> Value {
    let range = match p.range {
        Range::Scalar(scalar) => scalar.soml_name(),
        Range::Enum(id) => &schema[id].name.written,
        Range::Object(id) => &schema[id].name.written,
        Range::Literal(LiteralRange::LangString) => "langString",
        Range::Literal(LiteralRange::StringOrLangString) => "stringOrLangString",
        Range::Literal(LiteralRange::Any) => "literal",
        Range::Literal(LiteralRange::DateOrYearOrMonth) => "dateOrYearOrMonth",
        Range::Literal(LiteralRange::Union(id)) => &schema[id].name.written,
    };
    let (rdf_prop, alias) = match &p.path {
        Path::Forward(iri) => (json!(iri), Value::Null),
        Path::Inverse { of, .. } => (Value::Null, json!(schema[*of].name.written)),
    };
    json!({
        "label": p.label, "descr": p.descr, "range": range, "min": p.min,
        "max": match p.max { Max::Unbounded => json!("inf"), Max::Count(n) => json!(n) },
        "rdfProp": rdf_prop, "inverseAlias": alias, "rangeCheck": p.range_check, "typeCast": p.type_cast,
        "nonNullable": p.non_nullable, "nonNullableElements": p.non_nullable_elements,
        "immutable": p.immutable, "regex": p.regex, "valuesIn": p.values_in, "lang": lang(&p.lang),
        "search": search(p.search.as_ref()),
    })
}

fn lang(lang: &PropertyLang) -> Value {
    json!({
        "fetch": lang.fetch.as_ref().map(ToString::to_string),
        "validate": lang.validate.as_ref().map(ToString::to_string),
        "implicit": lang.implicit,
    })
}

fn search(settings: Option<&SearchSettings>) -> Value {
    let Some(s) = settings else {
        return Value::Null;
    };
    json!({
        "index": s.index, "nested": s.nested, "analysis": {"analyzer": s.analyzer},
        "type": {"name": s.field_type, "nestingLevel": s.nesting_level},
    })
}
