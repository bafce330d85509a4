//! Roles: the form of actions, and whether they are about something that exists.

use super::{Cx, quoted};
use crate::codes::Code;
use crate::diagnostic::{Found, shorten};
use crate::raw::{Text, did_you_mean};
use crate::rbac::{Operand, Operation, for_each_text};
use crate::schema::ObjectId;
use crate::span::Span;
use crate::value::{Value, ValueKind};

const OPERATIONS: [&str; 3] = ["read", "write", "delete"];
/// Resources that every service has (docs/access.md, "What roles allow").
const BUILT_IN: [&str; 3] = ["Object", "Nameable", "_Service"];
/// Fields that every object has, and that actions name like properties (docs/access.md, "What roles
/// allow").
const FIELDS: [&str; 4] = ["id", "type", "name", "__typename"];

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    for role in &raw.roles {
        for text in role.body.actions.iter().chain(&role.body.not_actions) {
            action(cx, *text);
        }
        filters(cx, &role.body.filters);
        presets(cx, &role.body.presets);
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
    // A pattern may be meant for objects that are added later, so it need not match anything yet.
    if object.contains('*') || BUILT_IN.contains(&object) {
        return;
    }
    if let Some(id) = target(cx, Code::UnknownTarget, object, text.span) {
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

/// Finds the object that a role names. For an action the code is a warning, since an action for
/// nothing permits nothing; a row rule for nothing would protect nothing, so there it is an error.
fn target(cx: &mut Cx<'_, '_>, code: Code, object: &str, span: Span) -> Option<ObjectId> {
    let raw = cx.raw;
    let found = cx.scope().object(object);
    if found.is_none() {
        let message = format!("unknown object `{}`", shorten(object));
        cx.add(code, span, message)
            .help_with(|| did_you_mean(object, raw.objects.iter().map(|o| o.name.value)));
    }
    found
}

fn field(cx: &mut Cx<'_, '_>, object: ObjectId, property: &str, span: Span) {
    if !property.contains('*') && !FIELDS.contains(&property) {
        known_property(cx, Code::UnknownTarget, object, property, span);
    }
}

fn known_property(cx: &mut Cx<'_, '_>, code: Code, object: ObjectId, property: &str, span: Span) {
    if cx.resolved.property(object, property).is_some() {
        return;
    }
    let schema = cx.schema();
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
    cx.add(code, span, message)
        .help_with(|| did_you_mean(property, names()));
}

/// Checks the form of `filters`: `<Object>: {<operation>: <condition>}`. Whether a condition fits its type is found out with
/// the API.
fn filters(cx: &mut Cx<'_, '_>, filters: &Value) {
    for (object, operations) in objects_of(cx, filters, "filters") {
        row_target(cx, object, operations.span);
        let Some(operations) = operations.entries() else {
            row_rule(
                cx,
                operations.span,
                format!("the filters of `{object}` are not a mapping"),
            )
            .help(
                "write a condition for each operation, such as `read: {owner: {EQ: $claims.sub}}`",
            );
            continue;
        };
        for (name, condition) in operations {
            if Operation::named(name).is_none() {
                row_rule(
                    cx,
                    condition.span,
                    format!("unknown operation `{}`", shorten(name)),
                )
                .help("the operations are `read`, `write` and `delete`")
                .help_with(|| did_you_mean(name, OPERATIONS));
            }
            if condition.entries().is_none() {
                row_rule(cx, condition.span, format!("the `{name}` filter of `{object}` is not a condition"))
                    .help("write it as the argument `where` is written, such as `{owner: {EQ: $claims.sub}}`");
            }
            claims(cx, condition);
        }
    }
}

/// Checks the form of `presets`: `<Object>: {<property>: <value>}`.
fn presets(cx: &mut Cx<'_, '_>, presets: &Value) {
    for (object, properties) in objects_of(cx, presets, "presets") {
        let target = row_target(cx, object, properties.span);
        let Some(properties) = properties.entries() else {
            row_rule(
                cx,
                properties.span,
                format!("the presets of `{object}` are not a mapping"),
            )
            .help("write a value for each property, such as `owner: $claims.sub`");
            continue;
        };
        for (name, value) in properties {
            if let Some(target) = target {
                known_property(cx, Code::BadRowRule, target, name, value.span);
            }
            let is_value = |value: &Value| matches!(value.kind, ValueKind::Text { .. });
            let fits = match &value.kind {
                ValueKind::List(items) => items.iter().all(is_value),
                _ => is_value(value),
            };
            if !fits {
                row_rule(
                    cx,
                    value.span,
                    format!("the preset of `{name}` is not a value"),
                )
                .help("write a value, a list of values, or a claim such as `$claims.sub`");
            }
            claims(cx, value);
        }
    }
}

/// Returns the objects of a section and what is written of each.
fn objects_of<'v>(cx: &mut Cx<'_, '_>, section: &'v Value, key: &str) -> &'v [(String, Value)] {
    let entries = section.entries();
    if entries.is_none() && !section.is_null() {
        row_rule(cx, section.span, format!("`{key}` is not a mapping"))
            .help("its keys are the names of objects");
    }
    entries.unwrap_or_default()
}

/// Finds the object of a row rule, if it is written without wildcards. `Object` is every object
/// (docs/access.md, "Conditions on objects").
fn row_target(cx: &mut Cx<'_, '_>, object: &str, span: Span) -> Option<ObjectId> {
    if object.contains('*') || object == "Object" {
        return None;
    }
    target(cx, Code::BadRowRule, object, span)
}

/// Checks the texts that stand for claims: `$claims.<name>`, where `$$` begins a plain text
/// (docs/access.md, "Conditions on objects").
fn claims(cx: &mut Cx<'_, '_>, value: &Value) {
    for_each_text(value, &mut |text, span| {
        if Operand::of(text) == Operand::Malformed {
            row_rule(cx, span, format!("`{}` is not a claim", shorten(text))).help(
                "write `$claims.<name>`, with dots into objects; a text that begins with a dollar sign is written with two",
            );
        }
    });
}

fn row_rule<'f>(cx: &'f mut Cx<'_, '_>, span: Span, message: String) -> &'f mut Found {
    cx.add(Code::BadRowRule, span, message)
}
