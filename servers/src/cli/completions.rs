//! `soml completions`.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::{CliError, Console, Exit, Soml};

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell that the script is for.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Prints the script that the shell loads.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let mut script = Vec::new();
        // Into memory, since it panics where writing fails.
        generate(self.shell, &mut Soml::command(), "soml", &mut script);
        console.out.write_all(&script)?;
        Ok(Exit::Success)
    }
}
