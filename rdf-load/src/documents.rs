//! Bounds on documents in JSON-LD and RDF/XML, whose parsers have none.

use std::borrow::Cow;
use std::io;

use crate::base::plain_base;
use crate::bounds::JSON_TOKEN_BYTES;
use crate::refusal::{Refused, not_in_syntax};
use crate::xml::XmlGuard;

/// How deep the objects and arrays of a JSON document may be nested; the parser calls itself for each
/// level, and twice as many overflow its stack.
const JSON_DEPTH: usize = 512;

/// Looks at a document before its parser does.
#[derive(Debug)]
pub(crate) enum Guard {
    #[cfg(test)]
    None,
    Json(JsonGuard),
    Xml(Box<XmlGuard>),
}

impl Guard {
    /// Looks at a piece of the document, and appends to `out` what the parser is given of it.
    pub(crate) fn pass(&mut self, text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            #[cfg(test)]
            Guard::None => {
                out.extend_from_slice(text);
                Ok(())
            }
            Guard::Json(guard) => guard.pass(text, out),
            Guard::Xml(guard) => guard.pass(text, out),
        }
    }

    /// Appends what is left at the end of the document.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            #[cfg(test)]
            Guard::None => Ok(()),
            Guard::Json(guard) => {
                guard.end(out);
                Ok(())
            }
            Guard::Xml(guard) => guard.end(out),
        }
    }
}

/// Bounds the depth and the strings of a JSON document, and removes the dot segments of its bases.
#[derive(Debug, Default)]
pub(crate) struct JsonGuard {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    string_bytes: usize,
    has_begun: bool,
    /// The string that is read, up to what a key or a base may have.
    string: Vec<u8>,
    bases: Bases,
}

/// How far a member `"@base": "…"` is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bases {
    #[default]
    Outside,
    /// Behind the key.
    Key,
    /// Behind its colon.
    Colon,
    /// In the value, which is handed on once it is whole.
    Value,
}

/// Longest base whose dot segments are removed.
const BASE_BYTES: usize = 64 << 10;

impl JsonGuard {
    fn pass(&mut self, text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        for byte in text {
            self.step(*byte)?;
            self.base(*byte, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if self.bases == Bases::Value {
            out.append(&mut self.string);
        }
    }

    /// Hands a byte on, or keeps it where it belongs to a base.
    fn base(&mut self, byte: u8, out: &mut Vec<u8>) {
        let ends_string = byte == b'"' && !self.in_string;
        self.bases = match self.bases {
            Bases::Value => {
                if ends_string {
                    let base = std::mem::take(&mut self.string);
                    out.extend_from_slice(&without_dots(&base));
                    out.push(byte);
                    Bases::Outside
                } else if self.string.len() > BASE_BYTES {
                    out.append(&mut self.string);
                    Bases::Outside
                } else {
                    Bases::Value
                }
            }
            bases => {
                out.push(byte);
                match bases {
                    Bases::Outside if ends_string && self.string == b"\"@base" => Bases::Key,
                    Bases::Key if byte == b':' => Bases::Colon,
                    Bases::Colon if byte == b'"' => {
                        out.pop();
                        Bases::Value
                    }
                    Bases::Key | Bases::Colon if byte.is_ascii_whitespace() => bases,
                    _ => Bases::Outside,
                }
            }
        };
    }

    fn step(&mut self, byte: u8) -> io::Result<()> {
        if self.in_string {
            let escapes = !self.is_escaped && byte == b'\\';
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = escapes;
            self.string_bytes += 1;
            if self.in_string && self.string.len() <= BASE_BYTES {
                self.string.push(byte);
            }
            if self.string_bytes > JSON_TOKEN_BYTES {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            return Ok(());
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.string_bytes = 0;
                self.string.clear();
                self.string.push(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if !self.has_begun && !byte.is_ascii_whitespace() {
            if !matches!(byte, b'{' | b'[') {
                return Err(not_in_syntax("JSON, which begins with `{` or `[`"));
            }
            self.has_begun = true;
        }
        if self.depth > JSON_DEPTH {
            let message = format!("objects and arrays are nested more than {JSON_DEPTH} deep");
            return Err(Refused(message).into());
        }
        Ok(())
    }
}

/// Removes the dot segments of a base as it is written in JSON, with its first quote.
fn without_dots(base: &[u8]) -> Cow<'_, [u8]> {
    let text = base.get(1..).and_then(|text| str::from_utf8(text).ok());
    match text {
        // An escape, such as that of a slash, is left to the parser.
        Some(text) if !text.contains('\\') => match plain_base(text) {
            Cow::Borrowed(_) => Cow::Borrowed(base),
            Cow::Owned(plain) => Cow::Owned(format!("\"{plain}").into_bytes()),
        },
        _ => Cow::Borrowed(base),
    }
}

/// Returns why a JSON document that is read as a whole may not be given to the parser.
pub(crate) fn check_json(text: &[u8]) -> io::Result<()> {
    let mut guard = JsonGuard::default();
    text.iter().try_for_each(|byte| guard.step(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_bounded() {
        let json = |text: String| check_json(text.as_bytes());
        assert!(json("[".repeat(JSON_DEPTH)).is_ok());
        assert!(json("[{\"a\\\"\":".repeat(JSON_DEPTH)).is_err());
        assert!(json(format!("[\"{}\"", "[".repeat(JSON_DEPTH + 1))).is_ok());
    }

    #[test]
    fn dot_segments_of_a_base_are_removed_and_nothing_else_changes() {
        let passed = |text: &str, size: usize| {
            let (mut guard, mut out) = (JsonGuard::default(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                guard.pass(piece, &mut out).unwrap();
            }
            guard.end(&mut out);
            String::from_utf8(out).unwrap()
        };
        for (text, expected) in [
            (
                r#"{"@base" : "http://a/b/./c", "x": "http://a/b/./c"}"#,
                r#"{"@base" : "http://a/b/c", "x": "http://a/b/./c"}"#,
            ),
            (r#"{"@base":"#, r#"{"@base":"#),
            (r#"{"@base":"http://a/./b"#, r#"{"@base":"http://a/./b"#),
            (
                r#"{"@base":null,"a":"@base"}"#,
                r#"{"@base":null,"a":"@base"}"#,
            ),
            (r#"["@base","http://a/./b"]"#, r#"["@base","http://a/./b"]"#),
        ] {
            for size in [1, 3, 99] {
                assert_eq!(passed(text, size), expected);
            }
        }
    }
}
