//! `soml explain`.

use clap::Args;

use super::{CliError, Console, Exit};
use crate::codes::{self, Area, CodeEntry};
use crate::config::{CATALOGUE, Settings};

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// The code, such as `DUPLICATE_KEY`, or the property, such as `http.sendTimeout`; without one, all codes
    /// are listed.
    #[arg(value_name = "CODE|KEY")]
    code: Option<String>,
}

impl Explain {
    /// Prints what the code means, and of findings why they are reported and what causes them; of a property its
    /// type, default and meaning.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        match &self.code {
            None => list(console)?,
            Some(name) => match (
                codes::find(name),
                CATALOGUE.described(&Settings::default(), name),
            ) {
                (Ok(entry), _) => explain(&entry, console)?,
                (Err(_), Some(property)) => writeln!(console.out, "{property}")?,
                (Err(near), None) => return Err(unknown(name, near)),
            },
        }
        Ok(Exit::Success)
    }
}

fn list(console: &mut Console<'_>) -> Result<(), CliError> {
    for (position, area) in Area::ALL.iter().enumerate() {
        if position > 0 {
            writeln!(console.out)?;
        }
        writeln!(console.out, "{}:", area.title())?;
        for entry in codes::all().filter(|entry| entry.area == *area) {
            let CodeEntry {
                name,
                level,
                meaning,
                ..
            } = entry;
            writeln!(console.out, "  {name:<26} {level:<8} {meaning}")?;
        }
    }
    Ok(())
}

fn explain(entry: &CodeEntry, console: &mut Console<'_>) -> Result<(), CliError> {
    let CodeEntry {
        name,
        level,
        meaning,
        ..
    } = entry;
    match entry.area {
        Area::Http => writeln!(console.out, "{name} (HTTP status {level}): {meaning}")?,
        _ => writeln!(console.out, "{name} ({level}): {meaning}")?,
    }
    let Some(info) = entry.info else {
        return Ok(());
    };
    writeln!(console.out, "\n{}\n\nExample:\n", info.explanation)?;
    for line in info.example.lines() {
        writeln!(console.out, "    {line}")?;
    }
    Ok(())
}

fn unknown(name: &str, near: Option<&str>) -> CliError {
    let hint = match near {
        Some(near) => format!("; did you mean {near}?"),
        None => match CATALOGUE.nearest(name) {
            Some(near) => format!("; did you mean {near}?"),
            None => "; `soml explain` lists all codes, and docs/configuration.md all properties"
                .to_owned(),
        },
    };
    CliError::Usage(format!("there is no code or property `{name}`{hint}"))
}
