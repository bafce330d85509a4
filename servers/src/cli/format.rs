//! The option `--format` of commands that print a report.

use clap::ValueEnum;

/// How a report is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// Human-readable text.
    Text,
    /// One JSON document.
    Json,
}
