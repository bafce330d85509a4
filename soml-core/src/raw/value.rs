//! Values of the expected form, or a finding that says what was expected.

use super::{RawMax, Spanned, Text};
use crate::codes::Code;
use crate::diagnostic::{Findings, shorten};
use crate::value::{Value, ValueKind};
use crate::yaml::NodeRef;

/// Returns the entries of a mapping; null has none, and neither has what is not a mapping.
pub(super) fn entries<'d, 't: 'd>(
    node: NodeRef<'d, 't>,
    what: &str,
    findings: &mut Findings,
) -> Vec<(NodeRef<'d, 't>, NodeRef<'d, 't>)> {
    if node.is_null() {
        return Vec::new();
    }
    match node.entries() {
        Some(entries) => entries.collect(),
        None => {
            wrong(node, what, "a mapping", findings);
            Vec::new()
        }
    }
}

pub(super) fn text<'d>(
    node: NodeRef<'d, '_>,
    what: &str,
    findings: &mut Findings,
) -> Option<Text<'d>> {
    match node.text() {
        Some(value) => Some(Spanned {
            value,
            span: node.span(),
        }),
        None => {
            wrong(node, &format!("`{what}`"), "a string", findings);
            None
        }
    }
}

/// A descriptive text, of which several are forgiven.
pub(super) fn caption<'d>(
    node: NodeRef<'d, '_>,
    what: &str,
    findings: &mut Findings,
) -> Option<Text<'d>> {
    let Some(mut items) = node.items() else {
        return text(node, what, findings);
    };
    let count = items.len();
    let first = items.find_map(|item| item.text().map(|value| (value, item.span())));
    findings
        .add(
            Code::SeveralTexts,
            node.span(),
            format!("`{what}` is a list of {count} items, expected one string"),
        )
        .help("the first string is used");
    first.map(|(value, span)| Spanned { value, span })
}

/// One text or a list of texts.
pub(super) fn texts<'d>(
    node: NodeRef<'d, '_>,
    what: &str,
    findings: &mut Findings,
) -> Option<Spanned<Vec<Text<'d>>>> {
    let span = node.span();
    let value = match node.items() {
        Some(items) => items
            .filter_map(|item| text(item, what, findings))
            .collect(),
        None => vec![text(node, what, findings)?],
    };
    Some(Spanned { value, span })
}

pub(super) fn boolean(
    node: NodeRef<'_, '_>,
    what: &str,
    findings: &mut Findings,
) -> Option<Spanned<bool>> {
    match node.text().and_then(truth) {
        Some(value) => Some(Spanned {
            value,
            span: node.span(),
        }),
        None => {
            wrong(node, &format!("`{what}`"), "`true` or `false`", findings);
            None
        }
    }
}

/// Reads the words of YAML 1.1 for truth, quoted or not.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

pub(super) fn natural(
    node: NodeRef<'_, '_>,
    what: &str,
    code: Code,
    findings: &mut Findings,
) -> Option<Spanned<u32>> {
    let span = node.span();
    if let Some(value) = node.text().and_then(|text| text.parse().ok()) {
        return Some(Spanned { value, span });
    }
    let found = node.text().unwrap_or_else(|| node.describe());
    findings.add(
        code,
        span,
        format!(
            "`{what}` must be a non-negative integer, not `{}`",
            shorten(found)
        ),
    );
    None
}

pub(super) fn max(node: NodeRef<'_, '_>, findings: &mut Findings) -> Option<Spanned<RawMax>> {
    let span = node.span();
    let value = match node.text() {
        Some("inf" | ".inf" | ".Inf" | ".INF") => Some(RawMax::Unbounded),
        Some(text) => text.parse().ok().filter(|n| *n > 0).map(RawMax::Count),
        None => None,
    };
    if value.is_none() {
        let found = node.text().unwrap_or_else(|| node.describe());
        let message = format!(
            "`max` must be a positive integer or `inf`, not `{}`",
            shorten(found)
        );
        findings.add(Code::BadCardinality, span, message);
    }
    value.map(|value| Spanned { value, span })
}

pub(super) fn any(node: NodeRef<'_, '_>) -> Value {
    let kind = if let Some(text) = node.text() {
        ValueKind::Text {
            text: text.to_owned(),
            quoted: node.plain_text().is_none(),
        }
    } else if let Some(items) = node.items() {
        ValueKind::List(items.map(any).collect())
    } else if let Some(entries) = node.entries() {
        let named = |(key, value): (NodeRef<'_, '_>, NodeRef<'_, '_>)| {
            (key.text().unwrap_or_default().to_owned(), any(value))
        };
        ValueKind::Map(entries.map(named).collect())
    } else {
        ValueKind::Null
    };
    Value {
        kind,
        span: node.span(),
    }
}

fn wrong(node: NodeRef<'_, '_>, what: &str, expected: &str, findings: &mut Findings) {
    let found = node.describe();
    findings.add(
        Code::WrongType,
        node.span(),
        format!("{what} must be {expected}, not {found}"),
    );
}
