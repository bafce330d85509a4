//! Texts that are refused, whatever their parsers would say.

use std::io;

/// Why a text is refused, in an error of its reader.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub(crate) String);

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, refused)
    }
}

/// Returns the error for a document whose syntax differs from its extension.
pub(crate) fn not_in_syntax(syntax: &str) -> io::Error {
    let message = format!(
        "the file is not {syntax}; use --data-format if the extension does not match the syntax"
    );
    Refused(message).into()
}
