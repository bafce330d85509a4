//! Objects: kind, superclass, types and the name property.

use super::{Cx, quoted};
use crate::codes::Code;
use crate::keys;
use crate::raw::{Named, RawObject, Text, did_you_mean};
use crate::schema::{ObjectId, ObjectKind, Range};

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    for (at, named) in raw.objects.iter().enumerate() {
        let id = ObjectId::at(at);
        if let Some(text) = named.body.kind {
            kind(cx, text);
        }
        if let Some(text) = named.body.inherits {
            parent(cx, text);
        }
        types(cx, id, named);
        name(cx, id, named);
        if let Some(text) = named.body.sparql_federated_service {
            let what = format!("the instances of {}", quoted(named.name));
            federated_service(cx, text, &what);
        }
    }
}

/// Reports that what another service holds is not asked for there.
pub(super) fn federated_service(cx: &mut Cx<'_, '_>, text: Text<'_>, what: &str) {
    cx.add(
        Code::FederatedServiceIgnored,
        text.span,
        format!("{what} are not read from the service {}", quoted(text)),
    )
    .help("load its data into the store");
}

fn kind(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    if !keys::OBJECT_KINDS.contains(&text.value) {
        cx.add(
            Code::UnknownKind,
            text.span,
            format!("unknown kind of object {}", quoted(text)),
        )
        .help("write `abstract` or `object`")
        .help_with(|| did_you_mean(text.value, keys::OBJECT_KINDS[..2].iter().copied()));
    }
}

fn parent(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    let raw = cx.raw;
    if cx.scope().object(text.value).is_none() {
        cx.add(
            Code::UnknownParent,
            text.span,
            format!("unknown object {}", quoted(text)),
        )
        .help_with(|| did_you_mean(text.value, raw.objects.iter().map(|o| o.name.value)));
    }
}

fn types(cx: &mut Cx<'_, '_>, id: ObjectId, named: &Named<'_, RawObject<'_>>) {
    let object = &cx.schema()[id];
    if let Some(types) = &named.body.types
        && types.value.is_empty()
        // An abstract object without classes selects those of its subtypes (docs/queries.md, "Root
        // fields").
        && object.kind == ObjectKind::Concrete
    {
        cx.add(
            Code::NoType,
            types.span,
            format!("{} has no type", quoted(named.name)),
        )
        .help("add a type, or omit `type` to use the name of the object");
    }
}

fn name(cx: &mut Cx<'_, '_>, id: ObjectId, named: &Named<'_, RawObject<'_>>) {
    let schema = cx.schema();
    if let Some(text) = named.body.name
        // These are fields of every object, and no properties.
        && matches!(text.value, "id" | "type" | "__typename")
    {
        let message = format!("{} cannot be the name property of an object", quoted(text));
        cx.add(Code::NameProperty, text.span, message)
            .help("use a property with strings");
        return;
    }
    let Some(property) = schema[id].name_property.map(|id| &schema[id]) else {
        return;
    };
    // `name` is one string, which objects do not have (docs/queries.md, "Language").
    if matches!(property.range, Range::Object(_))
        && (named.body.name.is_some() || property.owner == property.declared_by)
    {
        let span = named.body.name.map_or(property.span, |text| text.span);
        let range = cx.range_name(property.range);
        let message = format!(
            "`{}` refers to objects of `{range}` and cannot be the name property",
            property.name
        );
        cx.add(Code::NameProperty, span, message)
            .help("use a property with strings")
            .label(property.span, "the property");
    }
    if let Some(text) = named.body.name
        && property.implied_by_name
        // A name with a prefix usually comes from a vocabulary whose properties are not declared,
        // such as `rdfs:label`.
        && !text.value.contains(':')
        && !cx.globals.contains(text.value)
    {
        near_miss(cx, id, text);
    }
}

/// A name property that is not declared is made; one that is nearly declared is probably misspelt.
fn near_miss(cx: &mut Cx<'_, '_>, id: ObjectId, text: Text<'_>) {
    let schema = cx.schema();
    let known = schema[id].props.iter().map(|id| &schema[*id]);
    let known = known
        .filter(|p| !p.implied_by_name)
        .map(|p| p.name.written.as_str());
    if let Some(help) = did_you_mean(text.value, known) {
        let message = format!("property {} is not declared, so it is added", quoted(text));
        cx.add(Code::PropertyNearMiss, text.span, message)
            .help(help);
    }
}
