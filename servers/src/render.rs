//! Findings about a document as a compiler would print them, or as JSON.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};
use soml_core::Severity;

use crate::schema::{Checked, Note, Place};

/// How rendered text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without escape sequences.
    Plain,
    /// With colours.
    Coloured,
}

/// Renders all findings of a document named `file`, each with the lines it is about.
#[must_use]
pub fn text(file: &str, source: &str, checked: &Checked, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let notes = checked
        .notes
        .iter()
        .map(|note| note_text(&renderer, file, source, note));
    let mut text = notes.collect::<String>();
    if checked.suppressed > 0 {
        text.push_str(&format!(
            "and {} further findings that are not shown\n\n",
            checked.suppressed
        ));
    }
    text
}

fn note_text(renderer: &Renderer, file: &str, source: &str, note: &Note) -> String {
    let level = match note.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&note.message).id(note.code);
    let mut group = match note.place {
        None => Group::with_title(title),
        Some(place) => {
            let mut snippet = Snippet::source(source)
                .path(file)
                .annotation(AnnotationKind::Primary.span(visible(source, place)));
            for related in &note.related {
                let span = visible(source, related.place);
                snippet =
                    snippet.annotation(AnnotationKind::Context.span(span).label(&related.message));
            }
            title.element(snippet)
        }
    };
    if let Some(help) = &note.help {
        group = group.element(Level::HELP.message(help));
    }
    let mut text = renderer.render(&[group]);
    text.push_str("\n\n");
    text
}

/// Returns the part of `place` to underline: what spans several lines is shown by its first line.
fn visible(source: &str, place: Place) -> std::ops::Range<usize> {
    let span = place.span.range();
    let start = span.start.min(source.len());
    let end = span.end.clamp(start, source.len());
    match source[start..end].find('\n') {
        Some(line_end) if line_end > 0 => start..start + line_end,
        _ => start..end,
    }
}

/// Returns the findings of a document named `file` as JSON.
#[must_use]
pub fn json(file: &str, checked: &Checked) -> Value {
    let notes = |severity: Severity| -> Vec<&Note> {
        checked
            .notes
            .iter()
            .filter(|note| note.severity == severity)
            .collect()
    };
    json!({
        "file": file,
        "valid": checked.schema.is_some(),
        "errors": notes(Severity::Error),
        "warnings": notes(Severity::Warning),
        "suppressed": checked.suppressed,
    })
}
