//! What a subclass may change of what it inherits.

use super::{Cx, Own, quoted};
use crate::codes::Code;
use crate::schema::{ObjectId, Path, Property, Range};
use crate::span::Span;

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let schema = cx.schema();
    for own in cx.own_properties() {
        let Some(parent) = schema[own.object].inherits else {
            continue;
        };
        let at = cx.resolved.slots[parent.index()].index(own.key);
        let Some(inherited) = at.map(|at| &schema[schema[parent].props[at]]) else {
            continue;
        };
        range(cx, &own, inherited);
        regex(cx, &own, inherited);
        field_type(cx, &own, inherited);
        path(cx, &own, inherited);
    }
    object_regexes(cx);
}

/// Reports a range that does not narrow the inherited one: what a subclass has is also read as a
/// value of its superclass (docs/schema.md, "Merging and inheritance").
fn range(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, inherited: &Property) {
    if !cx.is_check_on("rangeCheck") {
        return;
    }
    let fits = match (own.property.range, inherited.range) {
        (Range::Object(narrow), Range::Object(wide)) => cx.schema().is_a(narrow, wide),
        // Datatypes have to be equal, even where XSD derives one from the other (docs/diagnostics.md,
        // "RANGE_INHERITANCE").
        (narrow, wide) => narrow == wide,
    };
    // A range that does not exist is an `UNKNOWN_RANGE` already.
    let unknown = own
        .slot
        .raw
        .range
        .is_some_and(|text| cx.scope().range(text.value).is_none());
    if fits || unknown {
        return;
    }
    let (narrow, wide) = (
        cx.range_name(own.property.range),
        cx.range_name(inherited.range),
    );
    let span = own.slot.raw.range.map_or(own.slot.span, |text| text.span);
    let message = format!("the range `{narrow}` does not fit the inherited range `{wide}`");
    let help = match inherited.range {
        Range::Object(_) => format!("use `{wide}` or one of its subclasses"),
        _ => format!("use `{wide}`"),
    };
    cx.add(Code::RangeInheritance, span, message)
        .help(help)
        .label(inherited.span, "inherited from here");
}

/// Reports an expression that replaces an inherited one. Whether it only narrows that one is hard
/// to decide for two expressions, so any other text is reported (docs/diagnostics.md,
/// "REGEX_INHERITANCE").
fn regex(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, inherited: &Property) {
    if let (Some(text), Some(first)) = (own.slot.raw.regex, &inherited.regex)
        && text.value != first
        && cx.is_check_on("regexInheritanceCheck")
    {
        report_regex(cx, text, inherited.span);
    }
}

fn object_regexes(cx: &mut Cx<'_, '_>) {
    if !cx.is_check_on("regexInheritanceCheck") {
        return;
    }
    let raw = cx.raw;
    let schema = cx.schema();
    for (at, named) in raw.objects.iter().enumerate() {
        let Some(parent) = schema[ObjectId::at(at)].inherits else {
            continue;
        };
        if let (Some(text), Some(first)) = (named.body.regex, &schema[parent].id_regex)
            && text.value != first
        {
            report_regex(cx, text, schema[parent].span);
        }
    }
}

fn report_regex(cx: &mut Cx<'_, '_>, text: crate::raw::Text<'_>, inherited: Span) {
    let message = format!("{} replaces an inherited regular expression", quoted(text));
    cx.add(Code::RegexInheritance, text.span, message)
        .label(inherited, "inherited from here")
        .help("remove it, or move the inherited expression to the subclasses");
}

/// Reports a field that its interface does not allow
/// (<https://spec.graphql.org/September2025/#IsValidImplementationFieldType()>). `disabledChecks`
/// does not concern this: the generated schema would be invalid.
fn field_type(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, inherited: &Property) {
    let raw = &own.slot.raw;
    let list = |multiple| if multiple { "a list" } else { "a single value" };
    let (here, there) = (own.property.max.is_multiple(), inherited.max.is_multiple());
    if here != there {
        let span = raw.max.map_or(own.slot.span, |max| max.span);
        let message = format!(
            "`{}` is {} here, but {} in the superclass",
            own.property.name,
            list(here),
            list(there)
        );
        cx.add(Code::FieldTypeInheritance, span, message)
            .label(inherited.span, "inherited from here")
            .help("keep the field a list or a single value, as in the superclass");
    }
    let taken_back = [
        (
            "nonNullable",
            raw.non_nullable,
            own.property.non_nullable,
            inherited.non_nullable,
        ),
        (
            "nonNullableElements",
            raw.non_nullable_elements,
            own.property.non_nullable_elements,
            inherited.non_nullable_elements,
        ),
    ];
    for (key, written, here, there) in taken_back {
        if there && !here {
            let span = written.map_or(own.slot.span, |flag| flag.span);
            cx.add(
                Code::FieldTypeInheritance,
                span,
                format!("the inherited `{key}` cannot be revoked"),
            )
            .label(inherited.span, "inherited from here");
        }
    }
}

/// Returns whether two entries of a property reach values in the same way. The partner of an
/// inverse can be another property, as long as its RDF property is the same.
pub(super) fn same_path(a: &Property, b: &Property) -> bool {
    match (&a.path, &b.path) {
        (Path::Forward(here), Path::Forward(there)) => here == there,
        (Path::Inverse { iri: here, .. }, Path::Inverse { iri: there, .. }) => here == there,
        _ => false,
    }
}

/// Warns of an overridden RDF property or direction. It is no error: each type reads its own
/// (docs/schema.md, "Merging and inheritance").
fn path(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, inherited: &Property) {
    if same_path(own.property, inherited) {
        return;
    }
    let raw = &own.slot.raw;
    let span = raw
        .inverse_alias
        .or(raw.rdf_prop)
        .map_or(own.slot.span, |text| text.span);
    let message = format!(
        "`{}` has a different RDF property or direction in the superclass",
        own.property.name
    );
    cx.add(Code::PathInheritance, span, message)
        .label(inherited.span, "inherited from here")
        .help("each type reads its own; rename the property if that is not intended");
}
