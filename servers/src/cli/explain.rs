//! `soml explain`.

use clap::Args;
use soml_core::Code;
use soml_core::codes::CODES;

use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// The code, such as `DUPLICATE_KEY`; without one all codes are listed.
    code: Option<String>,
}

impl Explain {
    /// Prints what the code means, why it is reported and what causes it.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let Some(name) = self.code else {
            for row in CODES {
                writeln!(
                    console.out,
                    "{:<28} {:<8} {}",
                    row.name, row.severity, row.title
                )?;
            }
            return Ok(Exit::Success);
        };
        let Some(code) = Code::from_name(&name) else {
            return Err(unknown(&name));
        };
        let row = code.info();
        writeln!(
            console.out,
            "{} ({}): {}\n",
            row.name, row.severity, row.title
        )?;
        writeln!(console.out, "{}\n\nExample:\n", row.explanation)?;
        for line in row.example.lines() {
            writeln!(console.out, "    {line}")?;
        }
        Ok(Exit::Success)
    }
}

fn unknown(name: &str) -> CliError {
    let upper = name.to_ascii_uppercase();
    let near = CODES
        .iter()
        .map(|row| (strsim::damerau_levenshtein(row.name, &upper), row.name))
        .min()
        .filter(|(distance, _)| *distance <= 4);
    let hint = near
        .map(|(_, near)| format!("; did you mean {near}?"))
        .unwrap_or_default();
    CliError::Usage(format!("there is no code `{name}`{hint}"))
}
