//! Enumerations and unions.

use std::collections::HashMap;

use super::{Cx, quoted};
use crate::codes::Code;
use crate::datatype::Scalar;
use crate::raw::{Named, RawEnumValue, RawType, Spanned, Text, did_you_mean};
use crate::resolve::types::member;

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    for named in &raw.types {
        match (&named.body.values, &named.body.union) {
            (Some(values), None) => enumeration(cx, named, values),
            (None, Some(members)) => union(cx, named, members),
            (Some(_), Some(members)) => {
                let message = format!("{} is both an enumeration and a union", quoted(named.name));
                cx.add(Code::UnsupportedType, members.span, message);
            }
            (None, None) => {
                let message = format!("{} has neither `values` nor `union`", quoted(named.name));
                cx.add(Code::UnsupportedType, named.name.span, message)
                    .help("add `values` for an enumeration, or `union` for a union");
            }
        }
    }
}

fn enumeration(
    cx: &mut Cx<'_, '_>,
    named: &Named<'_, RawType<'_>>,
    values: &Spanned<Vec<RawEnumValue<'_>>>,
) {
    // An enum has at least one value (<https://spec.graphql.org/September2025/#sec-Enums>).
    if values.value.is_empty() {
        cx.add(
            Code::EmptyEnum,
            values.span,
            format!("{} has no values", quoted(named.name)),
        );
    }
    let mut seen: HashMap<&str, Text<'_>> = HashMap::new();
    for RawEnumValue { name, .. } in &values.value {
        if !is_enum_value(name.value) {
            let message = format!(
                "{} is not a valid enumeration value in GraphQL",
                quoted(*name)
            );
            cx.add(Code::BadEnumValue, name.span, message)
                .help("use letters, digits and `_`, not beginning with a digit; `true`, `false` and `null` are not allowed");
        }
        // Values of an enum are unique (<https://spec.graphql.org/September2025/#sec-Enums>).
        if let Some(first) = seen.insert(name.value, *name) {
            let message = format!("{} is listed twice", quoted(*name));
            cx.add(Code::BadEnumValue, name.span, message)
                .label(first.span, "first occurrence");
        }
    }
}

/// Returns whether a name is an enum value (<https://spec.graphql.org/September2025/#EnumValue>)
/// that is not reserved (<https://spec.graphql.org/September2025/#sec-Names.Reserved-Names>).
fn is_enum_value(name: &str) -> bool {
    !matches!(name, "true" | "false" | "null")
        && !name.starts_with("__")
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn union(cx: &mut Cx<'_, '_>, named: &Named<'_, RawType<'_>>, members: &Spanned<Vec<Text<'_>>>) {
    if members.value.is_empty() {
        cx.add(
            Code::UnknownMember,
            members.span,
            format!("{} has no members", quoted(named.name)),
        );
    }
    for text in &members.value {
        if member(text.value).is_none() {
            let message = format!("{} is not a literal datatype", quoted(*text));
            cx.add(Code::UnknownMember, text.span, message)
                .help_with(|| {
                    let known = Scalar::ALL
                        .iter()
                        .filter(|s| **s != Scalar::Iri)
                        .map(|s| s.soml_name());
                    did_you_mean(text.value, known.chain(["langString"]))
                });
        }
    }
}
