//! `soml sdl`.

use std::path::PathBuf;

use clap::Args;

use super::input::{read_schema, usable};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Sdl {
    /// A SOML document.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Sdl {
    /// Prints the schema definition of the API; findings go beside it.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let text = read_schema(&self.file)?;
        let schema = usable(&self.file.display().to_string(), &text, console)?;
        console.out.write_all(schema.api.sdl().as_bytes())?;
        Ok(Exit::Success)
    }
}
