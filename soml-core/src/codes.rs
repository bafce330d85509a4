//! The table of finding codes. Documentation pages and `explain` commands are made from it.

use std::fmt;

use crate::diagnostic::Severity;

/// One row of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code itself.
    pub code: Code,
    /// Its stable name.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Why it is reported and what to do.
    pub explanation: &'static str,
    /// A small document, or a part of one, that causes it.
    pub example: &'static str,
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $title:literal $explanation:literal $example:literal;)*) => {
        /// A stable code of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`: ", $title, ".")] $variant,)*
        }

        /// All codes, in the order in which a document is checked.
        pub static CODES: &[CodeInfo] = &[
            $(CodeInfo {
                code: Code::$variant,
                name: $name,
                severity: Severity::$severity,
                title: $title,
                explanation: $explanation,
                example: $example,
            },)*
        ];
    };
}

include!("codes_table.rs");

impl Code {
    /// Returns the row of the table.
    #[must_use]
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }

    /// Returns the stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// Returns how bad a finding with this code is.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// Finds a code by its name; letter case does not matter.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Code> {
        CODES
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(|row| row.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_the_index_of_their_code_and_names_are_unique() {
        for (i, row) in CODES.iter().enumerate() {
            assert_eq!(row.code as usize, i);
            assert_eq!(Code::from_name(row.name), Some(row.code));
            assert!(
                !row.explanation.is_empty() && !row.example.is_empty(),
                "{}",
                row.name
            );
        }
    }
}
