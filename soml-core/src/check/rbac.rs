//! Roles: the form of actions, and whether they are about something that exists.

use super::{Cx, quoted};
use crate::codes::Code;
use crate::diagnostic::shorten;
use crate::raw::{Text, did_you_mean};
use crate::schema::ObjectId;
use crate::span::Span;
use crate::value::{Value, ValueKind};

const OPERATIONS: [&str; 3] = ["read", "write", "delete"];
/// Resources that every service has.
const BUILT_IN: [&str; 3] = ["Object", "Nameable", "_Service"];
/// Fields that every object has.
const FIELDS: [&str; 4] = ["id", "type", "name", "__typename"];

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    for role in &raw.roles {
        for text in role.body.actions.iter().chain(&role.body.not_actions) {
            action(cx, *text);
        }
        targets(cx, &role.body.filters);
        targets(cx, &role.body.presets);
    }
}

fn action(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    let parts: Vec<_> = text.value.split('/').map(str::trim).collect();
    let [object, property, operation] = parts[..] else {
        return bad(cx, text);
    };
    if object.is_empty() || property.is_empty() || operation.is_empty() {
        return bad(cx, text);
    }
    if !operation.contains('*') && !OPERATIONS.contains(&operation) {
        let message = format!("unknown operation `{}`", shorten(operation));
        cx.add(Code::UnknownOperation, text.span, message)
            .help("the operations are `read`, `write` and `delete`")
            .help_with(|| did_you_mean(operation, OPERATIONS));
    }
    if object.contains('*') || BUILT_IN.contains(&object) {
        return;
    }
    if let Some(id) = target(cx, object, text.span) {
        field(cx, id, property, text.span);
    }
}

fn bad(cx: &mut Cx<'_, '_>, text: Text<'_>) {
    cx.add(
        Code::BadAction,
        text.span,
        format!("{} is not a valid action", quoted(text)),
    )
    .help("write `<object>/<property>/<operation>`, such as `Film/*/read`");
}

fn target(cx: &mut Cx<'_, '_>, object: &str, span: Span) -> Option<ObjectId> {
    let raw = cx.raw;
    let found = cx.scope().object(object);
    if found.is_none() {
        cx.add(
            Code::UnknownTarget,
            span,
            format!("unknown object `{}`", shorten(object)),
        )
        .help_with(|| did_you_mean(object, raw.objects.iter().map(|o| o.name.value)));
    }
    found
}

fn field(cx: &mut Cx<'_, '_>, object: ObjectId, property: &str, span: Span) {
    let schema = cx.schema();
    let known = cx.resolved.property(object, property).is_some();
    if known || property.contains('*') || FIELDS.contains(&property) {
        return;
    }
    let names = || {
        schema[object]
            .props
            .iter()
            .map(|id| schema[*id].name.written.as_str())
    };
    let message = format!(
        "`{}` has no property `{}`",
        schema[object].name,
        shorten(property)
    );
    cx.add(Code::UnknownTarget, span, message)
        .help_with(|| did_you_mean(property, names()));
}

/// The keys of `filters` and `presets` name objects.
fn targets(cx: &mut Cx<'_, '_>, value: &Value) {
    let ValueKind::Map(entries) = &value.kind else {
        return;
    };
    for (object, value) in entries {
        if !object.contains('*') && !BUILT_IN.contains(&object.as_str()) {
            target(cx, object, value.span);
        }
    }
}
