//! `soml diff`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use graphql_gen::diff::{Change, Criticality, diff, diff_schemas};
use graphql_gen::typesystem::ApiOptions;
use schema_registry::{UsableSchema, served_api};

use super::graphql_file::{is_graphql, read_client_schema};
use super::input::{read_schema, usable_with};
use super::{CliError, Console, Exit};
use crate::changes::{self, Version};
use crate::render::Style;

const EXIT_CODES: &str = "Exit codes:
   0  no breaking changes
   1  one of the documents has errors
   2  there are breaking changes
   3  a document cannot be read
  64  wrong arguments";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Diff {
    /// Old SOML document; or a GraphQL schema or supergraph, in a file that ends in `.graphql`.
    old: PathBuf,
    /// New document or schema of the same kind.
    new: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Leaves out the type `Mutation` with its inputs and payloads (SOML documents only).
    #[arg(long)]
    no_mutations: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Human-readable text in the style of a compiler, most critical changes first.
    Text,
    /// One JSON document, with all consequences of each change.
    Json,
}

impl Diff {
    /// Prints the changes; the outcome tells whether one of them is breaking.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let (old_text, new_text, changes) = self.changes(console)?;
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

    /// Returns both texts and the changes between them.
    fn changes(
        &self,
        console: &mut Console<'_>,
    ) -> Result<(String, String, Vec<Change>), CliError> {
        match (is_graphql(&self.old), is_graphql(&self.new)) {
            (false, false) => {
                let options = served_api().with_mutations(!self.no_mutations);
                let (old_text, old) = read(&self.old, &options, console)?;
                let (new_text, new) = read(&self.new, &options, console)?;
                Ok((old_text, new_text, diff(&old.api, &new.api)))
            }
            (true, true) if self.no_mutations => {
                let message = "--no-mutations is for SOML documents; these are GraphQL schemas";
                Err(CliError::Usage(message.to_owned()))
            }
            (true, true) => {
                let (old_text, old) = read_client_schema(&self.old, console)?;
                let (new_text, new) = read_client_schema(&self.new, console)?;
                Ok((old_text, new_text, diff_schemas(&old, &new)))
            }
            _ => {
                let message = "one is a SOML document and the other a GraphQL schema: \
                               `soml sdl` prints the schema of a document";
                Err(CliError::Usage(message.to_owned()))
            }
        }
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
