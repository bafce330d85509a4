//! Diagnostics of a document in the style of a compiler.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use schema_registry::Checked;
use soml_core::span::Span;
use soml_core::{Diagnostic, Severity};

/// The style of rendered text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without escape sequences.
    Plain,
    /// With colours.
    Coloured,
}

/// Renders all diagnostics of the document `file`, each with its source lines.
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
            "{} more diagnostics are not shown\n\n",
            checked.suppressed
        ));
    }
    text
}

fn note_text(renderer: &Renderer, file: &str, source: &str, note: &Diagnostic) -> String {
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
                .annotation(AnnotationKind::Primary.span(visible(source, place.span)));
            for label in &note.labels {
                let span = visible(source, label.place.span);
                snippet =
                    snippet.annotation(AnnotationKind::Context.span(span).label(&label.message));
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

/// Returns the part of `span` to underline: what spans several lines is shown by its first line.
pub(crate) fn visible(source: &str, span: Span) -> Range<usize> {
    let span = span.range();
    let start = span.start.min(source.len());
    let end = span.end.clamp(start, source.len());
    match source[start..end].find('\n') {
        Some(line_end) if line_end > 0 => start..start + line_end,
        _ => start..end,
    }
}
