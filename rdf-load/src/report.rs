//! What loading found: single findings while it runs, and a summary at the end.

use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use call_context::ErrorCode;
use graph_store::image::ImageError;

use crate::code;

/// Maximum number of prefixes that are remembered, of a file and of a load.
pub(crate) const MAX_PREFIXES: usize = 1_000;

/// Something wrong in a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// File that holds it.
    pub file: PathBuf,
    /// Line, from 1, if it is known.
    pub line: Option<u64>,
    /// How it was handled.
    pub kind: FindingKind,
    /// The problem.
    pub message: String,
}

/// How a [`Finding`] is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A malformed language tag; the literal is loaded unchanged.
    LanguageTagKept,
    /// A malformed statement; it is skipped.
    StatementSkipped,
    /// A file without any statement that could be read.
    NoStatements,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        match self.kind {
            FindingKind::LanguageTagKept => f.write_str(" (literal kept)"),
            FindingKind::StatementSkipped => f.write_str(" (statement skipped)"),
            FindingKind::NoStatements => Ok(()),
        }
    }
}

/// Totals of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadSummary {
    /// Number of files read.
    pub files: usize,
    /// Statements read and handed to the store, repeated ones counted each time.
    pub statements: u64,
    /// Statements that the store did not have before.
    pub added: u64,
    /// Malformed language tags; their literals were kept.
    pub language_tags_kept: u64,
    /// Malformed statements that were skipped.
    pub statements_skipped: u64,
    /// Bytes of malformed statements, each from its first error to its end.
    pub bytes_not_read: u64,
    /// Prefixes that the files declare, with their namespaces: of several for one namespace the first.
    pub prefixes: Vec<(String, String)>,
    /// Time from the first byte to the commit.
    pub elapsed: Duration,
}

impl LoadSummary {
    /// Takes over the prefixes of a file, up to a bound.
    pub(crate) fn add_prefixes(&mut self, prefixes: Vec<(String, String)>) {
        for (prefix, namespace) in prefixes {
            let is_known = self.prefixes.iter().any(|(_, known)| *known == namespace);
            if !is_known && self.prefixes.len() < MAX_PREFIXES {
                self.prefixes.push((prefix, namespace));
            }
        }
    }

    /// Returns the statements read per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.statements as f64 / self.elapsed.as_secs_f64().max(1e-6)
    }
}

impl fmt::Display for LoadSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "loaded {} from {} in {:.2} s ({} triples/s), {} new",
            counted(self.statements, "triple"),
            counted(self.files as u64, "file"),
            self.elapsed.as_secs_f64(),
            thousands(self.rate() as u64),
            thousands(self.added),
        )?;
        if self.language_tags_kept > 0 {
            let tags = counted(self.language_tags_kept, "malformed language tag");
            write!(f, "; {tags} kept")?;
        }
        if self.statements_skipped > 0 {
            let statements = counted(self.statements_skipped, "malformed statement");
            write!(f, "; {statements} skipped")?;
        }
        if self.bytes_not_read > 0 {
            write!(f, " ({} not read)", counted(self.bytes_not_read, "byte"))?;
        }
        Ok(())
    }
}

/// Writes how many of something there are, which is named in the singular.
fn counted(n: u64, name: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {name}{plural}", thousands(n))
}

/// Writes `n` with a comma between groups of three digits.
#[must_use]
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Why loading failed. The store is unchanged then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The extension is not that of a known syntax.
    #[error("cannot tell the format of {path} from its name; use --data-format")]
    FormatUnknown {
        /// The file.
        path: PathBuf,
    },
    /// The base IRI is not an absolute IRI.
    #[error("the base `{iri}` is not an absolute IRI")]
    BaseInvalid {
        /// The base as given.
        iri: String,
    },
    /// The file cannot be read.
    #[error("failed to read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file ends inside a statement.
    #[error(
        "{path}:{line}: the file ends in the middle of the statement that begins here: it seems to \
         be truncated ({bytes} bytes not read)"
    )]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Where the statement, or the token that is not closed, begins.
        line: u64,
        /// Bytes from there to the end of the file.
        bytes: u64,
    },
    /// A literal or another token is too long.
    #[error("{path}:{line}: a token is longer than {} bytes", thousands(*limit as u64))]
    TokenTooLong {
        /// The file.
        path: PathBuf,
        /// Line of the token.
        line: u64,
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The load was stopped by [`LoadOptions::stop`](super::LoadOptions::stop).
    #[error("the load was stopped")]
    Stopped,
    /// There is no data file in a folder.
    #[error("{folder} has no file with an extension of an RDF syntax; use --data-format")]
    FolderEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// The document is malformed, and parsing cannot continue in this syntax.
    #[error("{0}")]
    Document(String),
    /// All statements of all files are malformed.
    #[error(
        "nothing of the data could be read: all statements are malformed ({} found); use \
         --data-format if the extension does not match the syntax",
        thousands(*statements)
    )]
    NothingRead {
        /// How many malformed statements were found.
        statements: u64,
    },
    /// A finding, with `--strict`.
    #[error("{0}")]
    Strict(Finding),
    /// The image could not be built, or not be put in its place.
    #[error("failed to build the image of the data")]
    Image(#[source] ImageError),
    /// A thread that reads or parses ended early.
    #[error("failed to read {path}: the parser stopped unexpectedly")]
    Parser {
        /// The file.
        path: PathBuf,
    },
}

impl LoadError {
    /// Returns the stable code of an error of the data or of what names them; `None` for those of the store
    /// and of the program.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        Some(match self {
            LoadError::Document(_) | LoadError::Strict(_) => code::LOAD_MALFORMED,
            LoadError::CutOff { .. } => code::LOAD_CUT_OFF,
            LoadError::TokenTooLong { .. } => code::LOAD_LIMIT,
            LoadError::NothingRead { .. } => code::LOAD_NOTHING_READ,
            LoadError::FormatUnknown { .. }
            | LoadError::BaseInvalid { .. }
            | LoadError::FolderEmpty { .. } => code::LOAD_FILES,
            LoadError::Read { .. } => code::LOAD_UNREADABLE,
            LoadError::Stopped | LoadError::Image(_) | LoadError::Parser { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(68_981), "68,981");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
