//! What is wrong, where, and what to do about it.

use std::fmt;

/// A line of a file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file, relative to the folder of the workspace.
    pub file: String,
    /// The line, from one; zero names the file as a whole.
    pub line: usize,
    /// What stands there: a path, or the name of a dependency.
    pub text: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.text.is_empty() {
            write!(f, ": `{}`", self.text)?;
        }
        Ok(())
    }
}

/// One thing that has to be changed, in the sources or in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong, in one line.
    pub message: String,
    /// The places that make it so.
    pub locations: Vec<Location>,
    /// What to do, and the lines to write where there are any.
    pub help: String,
}

/// Locations that are shown of one finding; the others are counted.
const SHOWN: usize = 3;

impl Finding {
    /// A file that could not be read as what it has to be.
    #[must_use]
    pub fn unreadable(file: &str, line: usize, reason: impl fmt::Display) -> Self {
        Finding {
            message: format!("failed to read {file}: {reason}"),
            locations: vec![Location {
                file: file.to_owned(),
                line,
                text: String::new(),
            }],
            help: "correct the file, or the declaration that leads to it".to_owned(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for location in self.locations.iter().take(SHOWN) {
            write!(f, "\n  at {location}")?;
        }
        if let Some(more @ 1..) = self.locations.len().checked_sub(SHOWN) {
            write!(f, "\n  and {more} more")?;
        }
        for line in self.help.lines() {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}
