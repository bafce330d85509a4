//! `soml json-schema`.

use clap::Args;

use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct JsonSchema {}

impl JsonSchema {
    /// Prints the JSON Schema of SOML documents.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        writeln!(console.out, "{:#}", soml_core::json_schema())?;
        Ok(Exit::Success)
    }
}
