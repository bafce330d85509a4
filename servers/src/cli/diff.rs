//! `soml diff`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use graphql_gen::diff::{Criticality, diff};
use graphql_gen::typesystem::ApiOptions;

use super::input::{read_schema, usable_with};
use super::{CliError, Console, Exit};
use crate::changes::{self, Version};
use crate::render::Style;
use crate::schema::{UsableSchema, served_api};

const EXIT_CODES: &str = "Exit codes:
   0  no breaking changes
   1  one of the documents has errors
   2  there are breaking changes
   3  a document cannot be read
  64  wrong arguments";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Diff {
    /// Old SOML document.
    old: PathBuf,
    /// New SOML document.
    new: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Leaves out the type `Mutation` with its inputs and payloads.
    #[arg(long)]
    no_mutations: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Human-readable text in the style of a compiler, the most critical changes first.
    Text,
    /// One JSON document, with all consequences of each change.
    Json,
}

impl Diff {
    /// Prints the changes; the outcome tells whether one of them is breaking.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let options = served_api().with_mutations(!self.no_mutations);
        let (old_text, old_schema) = read(&self.old, &options, console)?;
        let (new_text, new_schema) = read(&self.new, &options, console)?;
        let changes = diff(&old_schema.api, &new_schema.api);
        let old_name = self.old.display().to_string();
        let new_name = self.new.display().to_string();
        let old = Version {
            file: &old_name,
            text: &old_text,
        };
        let new = Version {
            file: &new_name,
            text: &new_text,
        };
        match self.format {
            Format::Text => {
                let style = if console.coloured {
                    Style::Coloured
                } else {
                    Style::Plain
                };
                let text = changes::text(&changes, old, new, style);
                console.out.write_all(text.as_bytes())?;
            }
            Format::Json => writeln!(console.out, "{:#}", changes::json(&changes, old, new))?,
        }
        let breaking = changes
            .iter()
            .any(|change| change.criticality == Criticality::Breaking);
        Ok(if breaking {
            Exit::Breaking
        } else {
            Exit::Success
        })
    }
}

fn read(
    path: &Path,
    options: &ApiOptions,
    console: &mut Console<'_>,
) -> Result<(String, UsableSchema), CliError> {
    let text = read_schema(path)?;
    let schema = usable_with(&path.display().to_string(), &text, options, console)?;
    Ok((text, schema))
}
