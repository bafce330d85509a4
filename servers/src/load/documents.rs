//! Bounds on documents in JSON-LD and RDF/XML, whose parsers have none.

use std::io;

use super::source::Refused;
use super::xml::XmlGuard;

/// How deep the objects and arrays of a JSON document may be nested; the parser calls itself for each
/// level, and twice as many overflow its stack.
const JSON_DEPTH: usize = 512;

/// Maximum size of a string in JSON; the parser's buffer holds 16 MiB and may be half full.
pub(super) const JSON_TOKEN_BYTES: usize = 7 << 20;

/// Looks at a document before its parser does.
#[derive(Debug)]
pub(super) enum Guard {
    None,
    Json(JsonGuard),
    Xml(Box<XmlGuard>),
}

impl Guard {
    pub(super) fn look(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Guard::None => Ok(()),
            Guard::Json(guard) => guard.look(text),
            Guard::Xml(guard) => guard.look(text),
        }
    }
}

/// Bounds the depth and the strings of a JSON document.
#[derive(Debug, Default)]
pub(super) struct JsonGuard {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    string_bytes: usize,
}

impl JsonGuard {
    fn look(&mut self, text: &[u8]) -> io::Result<()> {
        for byte in text {
            if self.in_string {
                let escapes = !self.is_escaped && *byte == b'\\';
                self.in_string = self.is_escaped || *byte != b'"';
                self.is_escaped = escapes;
                self.string_bytes += 1;
                if self.string_bytes > JSON_TOKEN_BYTES {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.string_bytes = 0;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > JSON_DEPTH {
                let message = format!("objects and arrays are nested more than {JSON_DEPTH} deep");
                return Err(Refused(message).into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_bounded() {
        let json = |text: String| JsonGuard::default().look(text.as_bytes());
        assert!(json("[".repeat(JSON_DEPTH)).is_ok());
        assert!(json("[{\"a\\\"\":".repeat(JSON_DEPTH)).is_err());
        assert!(json(format!("\"{}\"", "[".repeat(JSON_DEPTH + 1))).is_ok());
    }
}
