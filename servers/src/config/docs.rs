//! The table of properties as text: for `--help`, and as a page of the documentation.

use std::fmt::Write;

use super::table::PROPERTIES;

/// Returns the section of `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Properties (--set KEY=VALUE, --config FILE, or the environment as KEY with `_` for `.`):\n",
    );
    for property in PROPERTIES.iter() {
        let _ = write!(
            text,
            "  {} <{}> [default: {}]\n      {}\n",
            property.key,
            property.kind.replace('`', ""),
            property.default(),
            property.doc.replace('`', ""),
        );
    }
    text
}

/// Returns the table of `docs/configuration.md`.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| property | type | default | meaning |\n|---|---|---|---|\n");
    for property in PROPERTIES.iter() {
        let secret = if property.secret { " Secret." } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {} | `{}` | {}{secret} |",
            property.key,
            property.kind,
            property.default(),
            property.doc,
        );
    }
    text
}
