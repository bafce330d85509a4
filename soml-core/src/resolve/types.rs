//! The `types` section: enumerations and unions.

use std::collections::HashMap;

use super::Namespaces;
use crate::datatype::Scalar;
use crate::raw::{Named, RawSchema, RawType};
use crate::schema::{
    EnumId, EnumType, EnumValue, LiteralMember, LiteralRange, Range, UnionId, UnionType,
};

/// Resolves the custom types (docs/schema.md, "Custom types"). One with neither `values` nor
/// `union` is left out, as an `UNSUPPORTED_TYPE`.
pub(super) fn resolve(raw: &RawSchema<'_>, names: &Namespaces) -> (Vec<EnumType>, Vec<UnionType>) {
    let mut enums = Vec::new();
    let mut unions = Vec::new();
    for named in &raw.types {
        if named.body.values.is_some() {
            enums.push(enumeration(named, names));
        } else if named.body.union.is_some() {
            unions.push(union(named, names));
        }
    }
    (enums, unions)
}

fn enumeration(named: &Named<'_, RawType<'_>>, names: &Namespaces) -> EnumType {
    let owned = |text: Option<crate::raw::Text<'_>>| text.map(|t| t.value.to_owned());
    let values = named.body.values.iter().flat_map(|values| &values.value);
    EnumType {
        name: names.object_name(named.name.value),
        label: owned(named.body.label),
        descr: owned(named.body.descr),
        values: values
            .map(|value| EnumValue {
                name: value.name.value.to_owned(),
                label: owned(value.label),
                descr: owned(value.descr),
            })
            .collect(),
        span: named.name.span,
    }
}

fn union(named: &Named<'_, RawType<'_>>, names: &Namespaces) -> UnionType {
    let members = named.body.union.iter().flat_map(|members| &members.value);
    UnionType {
        name: names.object_name(named.name.value),
        members: members.filter_map(|text| member(text.value)).collect(),
        descr: named
            .body
            .descr
            .or(named.body.label)
            .map(|t| t.value.to_owned()),
        span: named.name.span,
    }
}

/// Finds a member of a union by its name. IRIs are no members: unions are served as literals, and
/// an IRI is none (RDF 1.1, <https://www.w3.org/TR/rdf11-concepts/#section-triples>).
pub(crate) fn member(name: &str) -> Option<LiteralMember> {
    if name == "langString" {
        return Some(LiteralMember::LangString);
    }
    Scalar::from_soml_name(name)
        .filter(|s| *s != Scalar::Iri)
        .map(LiteralMember::Scalar)
}

/// Makes the custom types known as ranges.
pub(super) fn add_ranges(
    enums: &[EnumType],
    unions: &[UnionType],
    names: &Namespaces,
    ranges: &mut HashMap<String, Range>,
) {
    for (i, found) in enums.iter().enumerate() {
        let key = names.key(&found.name.written).to_owned();
        ranges.entry(key).or_insert(Range::Enum(EnumId::at(i)));
    }
    for (i, found) in unions.iter().enumerate() {
        let key = names.key(&found.name.written).to_owned();
        ranges
            .entry(key)
            .or_insert(Range::Literal(LiteralRange::Union(UnionId::at(i))));
    }
}
