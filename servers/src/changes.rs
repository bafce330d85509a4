//! Changes between two versions of a document in the style of a compiler, or as JSON.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use graphql_gen::diff::{Change, Consequence, Criticality};
use serde_json::{Map, Value, json};
use soml_core::span::{LineIndex, Span};

use crate::render::{Style, visible};

/// Consequences of one change that are shown; the JSON form has all.
const SHOWN: usize = 5;

const CRITICALITIES: [Criticality; 3] = [
    Criticality::Breaking,
    Criticality::Dangerous,
    Criticality::Safe,
];

/// One of the two documents.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Renders changes in their order, each with its position in both documents, and a summary.
#[must_use]
pub fn text(changes: &[Change], old: Version<'_>, new: Version<'_>, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for change in changes {
        text.push_str(&renderer.render(&[group(change, old, new)]));
        text.push_str("\n\n");
    }
    if changes.is_empty() {
        return "no changes\n".to_owned();
    }
    let [breaking, dangerous, safe] = CRITICALITIES.map(|c| count(changes, c));
    let noun = if changes.len() == 1 {
        "change"
    } else {
        "changes"
    };
    text.push_str(&format!(
        "{} {noun}: {breaking} breaking, {dangerous} dangerous, {safe} safe\n",
        changes.len()
    ));
    text
}

fn group<'a>(change: &'a Change, old: Version<'a>, new: Version<'a>) -> Group<'a> {
    let title = level(change.criticality)
        .primary_title(&change.message)
        .id(change.code.as_str());
    let snippet = |version: Version<'a>, span: Span, kind: AnnotationKind, label: &'static str| {
        let annotation = kind.span(visible(version.text, span)).label(label);
        Snippet::source(version.text)
            .path(version.file)
            .annotation(annotation)
    };
    let primary = AnnotationKind::Primary;
    let mut group = match (change.new_span, change.old_span) {
        (None, None) => Group::with_title(title),
        (None, Some(old_span)) => title.element(snippet(old, old_span, primary, "before")),
        (Some(new_span), None) => title.element(snippet(new, new_span, primary, "now")),
        (Some(new_span), Some(old_span)) => title
            .element(snippet(new, new_span, primary, "now"))
            .element(snippet(old, old_span, AnnotationKind::Context, "before")),
    };
    for consequence in change.consequences.iter().take(SHOWN) {
        group = group.element(level(consequence.criticality).message(&consequence.message));
    }
    if let Some(more @ 1..) = change.consequences.len().checked_sub(SHOWN) {
        let message = format!("and {more} more; `--format json` lists all");
        group = group.element(Level::NOTE.message(message));
    }
    group
}

fn level(criticality: Criticality) -> Level<'static> {
    let level = match criticality {
        Criticality::Breaking => Level::ERROR,
        Criticality::Dangerous => Level::WARNING,
        Criticality::Safe => Level::NOTE,
    };
    level.with_name(criticality.as_str())
}

fn count(changes: &[Change], criticality: Criticality) -> usize {
    changes
        .iter()
        .filter(|change| change.criticality == criticality)
        .count()
}

/// Returns changes in their order as JSON, with all their consequences and their counts.
#[must_use]
pub fn json(changes: &[Change], old: Version<'_>, new: Version<'_>) -> Value {
    let (old_lines, new_lines) = (LineIndex::new(old.text), LineIndex::new(new.text));
    let documents = changes.iter().map(|change| {
        let mut document = Map::new();
        document.insert("criticality".to_owned(), change.criticality.as_str().into());
        document.insert("code".to_owned(), change.code.as_str().into());
        document.insert("coordinate".to_owned(), change.coordinate.as_str().into());
        document.insert("message".to_owned(), change.message.as_str().into());
        let place = |span: Option<Span>, lines| span.map(|span| place(span, lines));
        document.insert("old".to_owned(), place(change.old_span, &old_lines).into());
        document.insert("new".to_owned(), place(change.new_span, &new_lines).into());
        let consequences = change.consequences.iter().map(consequence_json).collect();
        document.insert("consequences".to_owned(), consequences);
        Value::Object(document)
    });
    let mut report = Map::new();
    report.insert("old".to_owned(), old.file.into());
    report.insert("new".to_owned(), new.file.into());
    for criticality in CRITICALITIES {
        let number = count(changes, criticality);
        report.insert(criticality.as_str().to_owned(), number.into());
    }
    report.insert("changes".to_owned(), documents.collect());
    Value::Object(report)
}

fn place(span: Span, lines: &LineIndex<'_>) -> Value {
    let (start, end) = (lines.position(span.start), lines.position(span.end));
    json!({
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn consequence_json(consequence: &Consequence) -> Value {
    json!({
        "criticality": consequence.criticality.as_str(),
        "code": consequence.code.as_str(),
        "coordinate": consequence.coordinate,
        "message": consequence.message,
    })
}
