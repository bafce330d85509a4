//! Why a provisioning file cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Mistakes that are printed; further ones are counted.
const SHOWN: usize = 20;

/// Why a provisioning file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProvisioningError {
    /// The file cannot be read.
    #[error("failed to read the provisioning file {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is larger than such a file can be.
    #[error("the provisioning file {path} is larger than {bytes} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        bytes: u64,
    },
    /// The file has mistakes.
    #[error("{}", listed(.name, .mistakes))]
    Invalid {
        /// What the text is called.
        name: String,
        /// All mistakes, in the order of the text.
        mistakes: Vec<Mistake>,
    },
}

/// A mistake in a provisioning file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The problem, as a lower-case fragment without passwords.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

fn listed(name: &str, mistakes: &[Mistake]) -> String {
    let shown = mistakes.iter().take(SHOWN);
    let mut lines: Vec<_> = shown.map(|mistake| format!("{name}:{mistake}")).collect();
    if mistakes.len() > SHOWN {
        lines.push(format!("{} more errors", mistakes.len() - SHOWN));
    }
    lines.join("\n")
}
