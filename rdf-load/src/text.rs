//! Text files that are read as a whole.

use std::io::{self, Read};
use std::path::Path;

use crate::refusal::Refused;
use crate::report::thousands;
use crate::source::{self, Meter};

/// Maximum size of a text that is read as a whole: a few bytes of gzip can stand for any number.
const TEXT_BYTES: u64 = 256 << 20;

/// Reads a text file, decompressing it if it is gzipped.
///
/// # Errors
///
/// Fails when the file cannot be read, is not UTF-8 or larger than 256 MiB, packed or not.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let source = source::open(path, Meter::default())?;
    source.take(TEXT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > TEXT_BYTES {
        let message = format!("it has more than {} bytes", thousands(TEXT_BYTES));
        return Err(Refused(message).into());
    }
    Ok(text)
}
