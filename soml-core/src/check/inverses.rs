//! Inverses: partners exist, and their ranges lead back.

use std::collections::{HashMap, HashSet};

use super::inheritance::same_path;
use super::{Cx, Own, quoted};
use crate::codes::Code;
use crate::raw::{RawProperty, Text, did_you_mean};
use crate::schema::{ObjectId, PropertyId, Range};
use crate::span::Span;

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let mut used = HashSet::new();
    let overridden = overridden_below(cx);
    for own in cx.own_properties() {
        // Merged entries are checked, since a partner and its range can come from different ones.
        used.insert(own.key);
        conflict(cx, &own.slot.raw);
        symmetric(cx, &own);
        if own.slot.raw.inverse_alias.is_some() {
            alias(cx, &own, &overridden);
        } else if own.slot.raw.inverse_of.is_some() {
            inverse(cx, &own);
        }
    }
    let raw = cx.raw;
    for named in &raw.properties {
        conflict(cx, &named.body);
        if !used.contains(cx.scope().names.key(named.name.value)) {
            unused(cx, named.name, &named.body);
        }
    }
}

/// Properties by object and key that some subclass stores under another RDF property, with the place
/// of the first such entry.
type Overridden<'c> = HashMap<(ObjectId, &'c str), Span>;

fn overridden_below<'c>(cx: &Cx<'c, '_>) -> Overridden<'c> {
    let schema = cx.schema();
    let mut overridden = HashMap::new();
    for own in cx.own_properties() {
        let mut above = schema.lineage(own.object).skip(1);
        let inherited = above.next().and_then(|parent| {
            let at = cx.resolved.slots[parent.index()].index(own.key)?;
            Some(&schema[schema[parent].props[at]])
        });
        if inherited.is_some_and(|inherited| !same_path(own.property, inherited)) {
            for ancestor in schema.lineage(own.object).skip(1) {
                let key = (ancestor, own.key);
                overridden.entry(key).or_insert(own.property.span);
            }
        }
    }
    overridden
}

/// Reports a property that is both stored and not stored (docs/diagnostics.md, "INVERSE_CONFLICT").
fn conflict(cx: &mut Cx<'_, '_>, raw: &RawProperty<'_>) {
    if let (Some(alias), Some(inverse)) = (raw.inverse_alias, raw.inverse_of) {
        cx.add(
            Code::InverseConflict,
            inverse.span,
            "`inverseOf` and `inverseAlias` cannot be combined",
        )
        .label(alias.span, "the alias")
        .help("keep `inverseOf` if both directions are stored, otherwise `inverseAlias`");
    }
}

/// Reports a symmetric property with literals: its values are subjects too, which literals cannot
/// be (<https://www.w3.org/TR/rdf11-concepts/#section-triples>).
fn symmetric(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>) {
    let Some(flag) = own.slot.raw.symmetric.filter(|flag| flag.value) else {
        return;
    };
    if !matches!(own.property.range, Range::Object(_)) && is_range_known(cx, &own.slot.raw) {
        let range = cx.range_name(own.property.range);
        let message = format!(
            "`{}` is symmetric, but its range is `{range}`",
            own.property.name
        );
        cx.add(Code::SymmetricRange, flag.span, message)
            .help("the range must be an object");
    }
}

/// Properties of the section `properties` that no object uses are checked too.
fn unused(cx: &mut Cx<'_, '_>, name: Text<'_>, raw: &RawProperty<'_>) {
    let Some(inverse) = raw.inverse_alias.or(raw.inverse_of) else {
        return;
    };
    if !is_range_known(cx, raw) {
        return;
    }
    match raw.range.and_then(|text| cx.scope().range(text.value)) {
        Some(Range::Object(range)) => {
            partner(cx, name.value, inverse, range);
        }
        _ => not_an_object(cx, name.value, inverse, raw),
    }
}

/// A range that is written and not known is reported elsewhere.
fn is_range_known(cx: &Cx<'_, '_>, raw: &RawProperty<'_>) -> bool {
    raw.range
        .is_none_or(|text| cx.scope().range(text.value).is_some())
}

fn not_an_object(cx: &mut Cx<'_, '_>, name: &str, inverse: Text<'_>, raw: &RawProperty<'_>) {
    let range = raw.range.map_or("string", |text| text.value);
    let message = format!(
        "`{name}` has the inverse {}, but its range is `{range}`",
        quoted(inverse)
    );
    let finding = cx.add(Code::InverseRange, inverse.span, message);
    finding.help("the range must be the object that has the inverse");
    if let Some(text) = raw.range {
        finding.label(text.span, "the range");
    }
}

/// Finds the partner of an inverse in its range.
fn partner(
    cx: &mut Cx<'_, '_>,
    name: &str,
    inverse: Text<'_>,
    range: ObjectId,
) -> Option<PropertyId> {
    let found = cx.resolved.property(range, inverse.value);
    if found.is_none() {
        let schema = cx.schema();
        let object = &schema[range];
        let message = format!(
            "the inverse {} of `{name}` is not a property of its range `{}`",
            quoted(inverse),
            object.name
        );
        cx.add(Code::UnknownInverse, inverse.span, message)
            .label(object.span, format!("the range `{}`", object.name))
            .help_with(|| {
                let known = object
                    .props
                    .iter()
                    .map(|id| schema[*id].name.written.as_str());
                did_you_mean(inverse.value, known)
            });
    }
    found
}

/// Finds the partner of an own property.
fn own_partner(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, inverse: Text<'_>) -> Option<PropertyId> {
    if !is_range_known(cx, &own.slot.raw) {
        return None;
    }
    let name = cx.full_name(own.id);
    match own.property.range {
        Range::Object(range) => partner(cx, &name, inverse, range),
        _ => {
            not_an_object(cx, &name, inverse, &own.slot.raw);
            None
        }
    }
}

fn alias(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, overridden: &Overridden<'_>) {
    let Some(text) = own.slot.raw.inverse_alias else {
        return;
    };
    let Some(of) = own_partner(cx, own, text) else {
        return;
    };
    let schema = cx.schema();
    let target = &schema[of];
    let name = cx.full_name(of);
    if slot_of(cx, of).inverse_alias.is_some() {
        cx.add(
            Code::InverseOfAlias,
            text.span,
            format!("`{name}` is an inverse alias itself"),
        )
        .label(target.span, "nothing is stored for this property")
        .help("use the property that is stored");
        return;
    }
    // Related in either direction: a narrower range leads back from some objects, and `iri` from
    // any. A warning is enough, since nothing is stored for an alias.
    let leads_back = match target.range {
        Range::Object(back) => schema.is_a(own.object, back) || schema.is_a(back, own.object),
        Range::Scalar(scalar) => scalar == crate::datatype::Scalar::Iri,
        _ => false,
    };
    if !leads_back && is_range_known(cx, slot_of(cx, of)) {
        let range = cx.range_name(target.range);
        let message = format!(
            "the range of `{name}` is `{range}`, which is not related to `{}`",
            schema[own.object].name
        );
        cx.add(Code::InverseAliasRange, text.span, message)
            .label(target.span, "the aliased property");
    }
    // An alias reads one RDF property, that of its range (docs/schema.md, "Merging and
    // inheritance").
    let partner = (target.owner, cx.scope().names.key(text.value));
    if let Some(&span) = overridden.get(&partner) {
        let message = format!(
            "`{name}` has a different RDF property in a subclass; `{}` follows only that of \
             `{name}`",
            cx.full_name(own.id)
        );
        cx.add(Code::PathInheritance, text.span, message)
            .label(span, "the subclass declares it here")
            .help("links that the subclass stores are not found in the inverse direction");
    }
}

fn inverse(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>) {
    let Some(text) = own.slot.raw.inverse_of else {
        return;
    };
    let Some(of) = own_partner(cx, own, text) else {
        return;
    };
    let schema = cx.schema();
    let target = &schema[of];
    let (name, partner) = (cx.full_name(own.id), cx.full_name(of));
    let raw = slot_of(cx, of);
    if raw.inverse_alias.is_some() {
        cx.add(
            Code::InverseOfAlias,
            text.span,
            format!("`{partner}` is an inverse alias, so nothing is stored for it"),
        )
        .label(target.span, "the alias")
        .help("use `inverseOf` on both properties, or omit it here");
        return;
    }
    // Stricter than for an alias: writing stores this object as a value of the partner
    // (docs/writing.md, "References in both directions").
    let leads_back = matches!(target.range, Range::Object(back) if schema.is_a(own.object, back));
    if !leads_back && is_range_known(cx, raw) {
        let range = cx.range_name(target.range);
        let object = &schema[own.object].name;
        let message = format!(
            "`{name}` is the inverse of `{partner}`, whose range `{range}` is neither `{object}` nor a superclass of it"
        );
        cx.add(Code::InverseRange, text.span, message)
            .label(target.span, "the inverse property");
    }
    // Both directions are written together, so a property has one inverse (docs/diagnostics.md,
    // "INVERSE_GROUP").
    if let Some(back) = raw.inverse_of
        && cx.scope().names.key(back.value) != own.key
    {
        let message = format!(
            "`{name}` is the inverse of `{partner}`, which has the inverse {}",
            quoted(back)
        );
        cx.add(Code::InverseGroup, text.span, message)
            .label(back.span, "the other inverse");
    }
}

/// What is written about a property.
fn slot_of<'c, 'd>(cx: &Cx<'c, 'd>, id: PropertyId) -> &'c RawProperty<'d> {
    let schema = cx.schema();
    let owner = schema[id].owner;
    // The properties of one object have consecutive ids, in the order of its slots.
    let at = id.index() - schema[owner].props[0].index();
    let (_, slot) = cx.resolved.slots[owner.index()]
        .iter()
        .nth(at)
        .expect("slots and properties pair up");
    &slot.raw
}
