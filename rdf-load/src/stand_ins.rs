//! What the parsers are given in place of single terms that are malformed, so that they can parse
//! strictly.
//!
//! A malformed language tag costs a warning, and its literal is kept (ruling 20 of the reference); a
//! malformed IRI costs the triples that it is in. A strict parser ends the statement, or the
//! whole document, at both. So each of them is written as a well-formed term that says
//! what it stands for, and read back from the statements that come out. Nothing is remembered, so
//! no number of them takes memory. The names are made with the keys of the file, so that no file can
//! hold such a term itself.

use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};

/// Longest term that is given in another form; one that is longer ends its statement.
pub(crate) const STAND_IN_BYTES: usize = 64 << 10;

/// Names of stand-ins, for one file.
#[derive(Debug)]
pub(crate) struct StandIns {
    /// What language tags begin with, up to the last hyphen.
    tag: String,
    /// The scheme of IRIs, with its colon.
    scheme: String,
}

impl StandIns {
    pub(crate) fn new() -> Self {
        let key = RandomState::new().hash_one("stand-in");
        StandIns {
            // A private use tag: its parts have up to eight letters and digits.
            tag: format!("x-{:08x}-{:08x}", key >> 32, key & u64::from(u32::MAX)),
            scheme: format!("x-{key:016x}:"),
        }
    }

    /// Returns a well-formed language tag in place of `tag`.
    pub(crate) fn tag(&self, tag: &str) -> String {
        let mut text = self.tag.clone();
        // The parsers write tags in lower case.
        for part in tag.to_ascii_lowercase().as_bytes().chunks(4) {
            text.push('-');
            push_hex(&mut text, part);
        }
        text
    }

    /// Returns the language tag that `tag` stands for.
    pub(crate) fn original_tag(&self, tag: &str) -> Option<String> {
        let parts = tag.strip_prefix(&self.tag)?;
        let digits: String = parts.split('-').collect();
        let bytes: Option<Vec<u8>> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
            .collect();
        String::from_utf8(bytes?).ok()
    }

    /// Returns a well-formed IRI in place of `iri`.
    pub(crate) fn iri(&self, iri: &str) -> String {
        let mut text = self.scheme.clone();
        for byte in iri.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => {
                    text.push(char::from(byte));
                }
                _ => {
                    text.push('%');
                    push_hex(&mut text, &[byte]);
                }
            }
        }
        text
    }

    /// Returns the IRI that `iri` stands for, or begins with as a name with a prefix does.
    pub(crate) fn original_iri(&self, iri: &str) -> Option<String> {
        let text = iri.strip_prefix(&self.scheme)?;
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let [first, after @ ..] = rest {
            let code = after.get(..2).filter(|_| *first == b'%');
            let code = code.and_then(|code| str::from_utf8(code).ok());
            let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
            bytes.push(code.unwrap_or(*first));
            rest = after.get(if code.is_some() { 2 } else { 0 }..)?;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use oxilangtag::LanguageTag;
    use oxiri::Iri;

    use super::*;

    #[test]
    fn a_stand_in_is_well_formed_and_says_what_it_stands_for() {
        let stand_ins = StandIns::new();
        for tag in ["", "zh-classical", "a", "toolongtag", "é x"] {
            let other = stand_ins.tag(tag);
            assert!(LanguageTag::parse(other.as_str()).is_ok(), "{other}");
            assert_eq!(stand_ins.original_tag(&other).as_deref(), Some(tag));
        }
        for iri in ["http://e/x y", "", "a:%zz", "<é>"] {
            let other = stand_ins.iri(iri);
            assert!(Iri::parse(other.as_str()).is_ok(), "{other}");
            assert_eq!(stand_ins.original_iri(&other).as_deref(), Some(iri));
        }
        let name = format!("{}local", stand_ins.iri("http://e/x y/"));
        assert_eq!(
            stand_ins.original_iri(&name).as_deref(),
            Some("http://e/x y/local")
        );
        assert_eq!(stand_ins.original_tag("x-12345678"), None);
        assert_eq!(stand_ins.original_iri("http://e/"), None);
        assert_eq!(StandIns::new().original_iri(&name), None);
    }
}
