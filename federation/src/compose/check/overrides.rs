//! `@override`, as far as one subgraph tells.

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::{fields, text};

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        for (_, field) in fields(ty).into_iter().flatten() {
            let Some(directive) = field.directives.get("federation__override") else {
                continue;
            };
            let span = directive.location();
            let coordinate = format!("{}.{}", ty.name(), field.name);
            if ty.is_interface() {
                let message =
                    format!("`@override` on `{coordinate}`: fields of interfaces cannot have it");
                checked.report(
                    CompositionCode::OVERRIDE_ON_INTERFACE,
                    &coordinate,
                    span,
                    message,
                );
                continue;
            }
            if text(directive, "from") == Some(&subgraph.name) {
                let message = format!(
                    "`{coordinate}` is overridden from `{}`, its own subgraph",
                    subgraph.name
                );
                checked.report(
                    CompositionCode::OVERRIDE_FROM_SELF_ERROR,
                    &coordinate,
                    span,
                    message,
                );
            }
            if field.directives.has("federation__external") {
                let message = format!("`{coordinate}` has both `@override` and `@external`");
                let code = CompositionCode::OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE;
                checked.report(code, &coordinate, span, message);
            }
            if let Some(label) = text(directive, "label")
                && !is_label(label)
            {
                let message = format!(
                    "the label `{label}` of `{coordinate}` is neither a name, such as `new-source:1.0`, nor `percent(n)` with n from 0 to 100"
                );
                checked.report(
                    CompositionCode::OVERRIDE_LABEL_INVALID,
                    &coordinate,
                    span,
                    message,
                );
            }
        }
    }
}

/// Returns whether a label is a name, or a share such as `percent(12.5)`.
fn is_label(label: &str) -> bool {
    if let Some(share) = label
        .strip_prefix("percent(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return is_share(share);
    }
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "_-:./".contains(c);
    label.starts_with(|c: char| c.is_ascii_alphabetic()) && label.chars().all(is_inner)
}

/// Returns whether a text is a number from 0 to 100 with at most eight digits behind the point.
fn is_share(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number =
        is_digits(whole) && whole.len() <= 3 && is_digits(fraction) && fraction.len() <= 8;
    is_number && text.parse::<f64>().is_ok_and(|share| share <= 100.0)
}
