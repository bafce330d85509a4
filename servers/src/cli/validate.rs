//! `soml validate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use schema_registry::{Checked, check};
use serde_json::{Value, json};
use soml_core::Severity;

use super::input::read_schema;
use super::{CliError, Console, Exit};
use crate::render::{self, Style};

#[derive(Debug, Args)]
pub(super) struct Validate {
    /// SOML documents.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Human-readable text in the style of a compiler.
    Text,
    /// One JSON document.
    Json,
    /// The JSON-LD response of `POST /soml/validate`; for several files, a list.
    JsonLd,
}

impl Validate {
    /// Checks all files; the outcome is bad when one of them has an error.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let mut files = Vec::new();
        for path in &self.files {
            let text = read_schema(path)?;
            let checked = check(&text);
            files.push((path.display().to_string(), text, checked));
        }
        match self.format {
            Format::Text => print_text(&files, console)?,
            Format::Json => print_json(&files, console)?,
            Format::JsonLd => print_json_ld(&files, console)?,
        }
        let valid = files.iter().all(|(_, _, checked)| checked.schema.is_some());
        Ok(if valid { Exit::Success } else { Exit::BadInput })
    }
}

type File = (String, String, Checked);

fn count(files: &[File], severity: Severity) -> usize {
    files
        .iter()
        .map(|(_, _, checked)| checked.count(severity))
        .sum()
}

fn print_text(files: &[File], console: &mut Console<'_>) -> Result<(), CliError> {
    let style = if console.coloured {
        Style::Coloured
    } else {
        Style::Plain
    };
    for (name, text, checked) in files {
        console
            .out
            .write_all(render::text(name, text, checked, style).as_bytes())?;
    }
    let errors = plural(count(files, Severity::Error), "error");
    let warnings = plural(count(files, Severity::Warning), "warning");
    let shape = match files {
        [
            (
                _,
                _,
                Checked {
                    schema: Some(schema),
                    ..
                },
            ),
        ] => format!(
            ": {}, {}",
            plural(schema.soml.objects.len(), "object"),
            plural(schema.soml.property_name_count(), "property"),
        ),
        _ => String::new(),
    };
    writeln!(
        console.out,
        "{}{shape}; {errors}, {warnings}",
        plural(files.len(), "file")
    )?;
    Ok(())
}

pub(super) fn plural(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {noun}s"),
    }
}

fn print_json(files: &[File], console: &mut Console<'_>) -> Result<(), CliError> {
    let documents: Vec<_> = files
        .iter()
        .map(|(name, _, checked)| schema_registry::json(name, checked))
        .collect();
    let report = json!({
        "files": documents,
        "errors": count(files, Severity::Error),
        "warnings": count(files, Severity::Warning),
    });
    writeln!(console.out, "{report:#}")?;
    Ok(())
}

fn print_json_ld(files: &[File], console: &mut Console<'_>) -> Result<(), CliError> {
    let document = |(_, text, checked): &File| {
        let id = checked.schema.as_ref().map(|schema| schema.iri());
        Value::Object(schema_registry::json_ld(id.as_deref(), text, checked))
    };
    let report = match files {
        [file] => document(file),
        files => files.iter().map(document).collect(),
    };
    writeln!(console.out, "{report:#}")?;
    Ok(())
}
