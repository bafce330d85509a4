//! Bounds on JSON-LD and RDF/XML documents, whose parsers have none.

use std::collections::HashMap;
use std::io;

use super::source::Refused;
use super::statements::TOKEN_BYTES;

/// How deep the objects and arrays of a JSON document may be nested; the parser calls itself for each
/// level, and twice as many overflow its stack.
const JSON_DEPTH: usize = 512;

/// Maximum size of a string in JSON; the parser's buffer holds 16 MiB and may be half full.
pub(super) const JSON_TOKEN_BYTES: usize = 7 << 20;

/// How deep the elements of an XML document may be nested.
const XML_DEPTH: usize = 100_000;

/// Bytes that entities may stand for, whatever the size of the document.
const ENTITY_BYTES: u64 = 8 << 20;

/// Bytes that entities may stand for, for each byte of the document.
const ENTITY_FACTOR: u64 = 20;

/// Looks at a document before its parser does.
#[derive(Debug)]
pub(super) enum Guard {
    None,
    Json(JsonGuard),
    Xml(XmlGuard),
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

/// Bounds the depth, the tokens and the entities of an XML document.
#[derive(Debug, Default)]
pub(super) struct XmlGuard {
    depth: usize,
    /// Bytes since the last markup began or ended.
    token_bytes: usize,
    bytes: u64,
    expanded: u64,
    entities: HashMap<Vec<u8>, u64>,
    state: XmlState,
    /// What was read of a reference, a tag or a declaration.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum XmlState {
    #[default]
    Text,
    /// Between `<` and `>`.
    Markup,
    /// In an attribute value with this quote.
    Value(u8),
    Comment,
    CharacterData,
    /// In `<!ENTITY`; whether in its value.
    Entity(bool),
}

/// Longest name of an entity that is looked for.
const NAME_BYTES: usize = 256;

/// Longest declaration of an entity.
const DECLARATION_BYTES: usize = 64 << 10;

impl XmlGuard {
    fn look(&mut self, text: &[u8]) -> io::Result<()> {
        for byte in text {
            self.bytes += 1;
            self.token_bytes += 1;
            if self.token_bytes > TOKEN_BYTES {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.step(*byte)?;
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> io::Result<()> {
        match self.state {
            XmlState::Text if byte == b'<' => self.enter(XmlState::Markup),
            XmlState::Text => self.reference(byte)?,
            XmlState::Comment => self.until(byte, b"-->"),
            XmlState::CharacterData => self.until(byte, b"]]>"),
            XmlState::Value(quote) if byte == quote => self.state = XmlState::Markup,
            XmlState::Value(_) => self.reference(byte)?,
            XmlState::Markup => self.markup(byte)?,
            XmlState::Entity(in_value) => self.declaration(byte, in_value)?,
        }
        Ok(())
    }

    fn enter(&mut self, state: XmlState) {
        self.state = state;
        self.token_bytes = 0;
        self.text.clear();
    }

    fn markup(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'"' | b'\'' if !self.text.starts_with(b"!") => {
                self.state = XmlState::Value(byte);
                // Only what a tag begins and ends with matters.
                self.text.truncate(1);
            }
            b'>' => {
                let closes = self.text.first() == Some(&b'/');
                let is_element = !matches!(self.text.first(), Some(b'!' | b'?' | b'/') | None);
                let is_empty = self.text.last() == Some(&b'/');
                if closes {
                    self.depth = self.depth.saturating_sub(1);
                } else if is_element && !is_empty {
                    self.depth += 1;
                }
                self.enter(XmlState::Text);
                if self.depth > XML_DEPTH {
                    let message = format!("elements are nested more than {XML_DEPTH} deep");
                    return Err(Refused(message).into());
                }
            }
            // The declarations of a document type are markup inside of markup.
            b'<' => self.text.clear(),
            _ => {
                if self.text.len() >= NAME_BYTES {
                    self.text.truncate(1);
                }
                self.text.push(byte);
                match self.text.as_slice() {
                    b"!--" => self.enter(XmlState::Comment),
                    b"![CDATA[" => self.enter(XmlState::CharacterData),
                    b"!ENTITY" => self.enter(XmlState::Entity(false)),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn until(&mut self, byte: u8, end: &[u8]) {
        if self.text.len() >= end.len() {
            self.text.remove(0);
        }
        self.text.push(byte);
        if self.text == end {
            self.enter(XmlState::Text);
        }
    }

    /// Reads `&name;` where one may stand.
    fn reference(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'&' => {
                self.text.clear();
                self.text.push(byte);
            }
            b';' if self.text.first() == Some(&b'&') => {
                let length = self.text.get(1..).and_then(|name| self.entities.get(name));
                let length = length.copied().unwrap_or_default();
                self.text
                    .truncate(usize::from(matches!(self.state, XmlState::Value(_))));
                self.expand(length)?;
            }
            _ if self.text.first() == Some(&b'&') && self.text.len() <= NAME_BYTES => {
                self.text.push(byte);
            }
            _ => {}
        }
        Ok(())
    }

    fn expand(&mut self, bytes: u64) -> io::Result<()> {
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded > ENTITY_BYTES + ENTITY_FACTOR * self.bytes {
            let message =
                "entities stand for too much text in relation to the size of the document";
            return Err(Refused(message.to_owned()).into());
        }
        Ok(())
    }

    fn declaration(&mut self, byte: u8, in_value: bool) -> io::Result<()> {
        match byte {
            b'"' if in_value => {
                let declared = declared(&self.text, &self.entities);
                // A document type goes on behind it.
                self.enter(XmlState::Markup);
                self.text.push(b'!');
                if let Some((name, length)) = declared {
                    self.expand(length)?;
                    self.entities.insert(name, length);
                }
            }
            b'>' if !in_value => {
                self.enter(XmlState::Markup);
                self.text.push(b'!');
            }
            _ if self.text.len() > DECLARATION_BYTES => {
                let message = format!("an entity is longer than {DECLARATION_BYTES} bytes");
                return Err(Refused(message).into());
            }
            _ => {
                self.text.push(byte);
                self.state = XmlState::Entity(in_value || byte == b'"');
            }
        }
        Ok(())
    }
}

/// Returns the name that a declaration without its last quote declares, and how many bytes it
/// stands for.
fn declared(text: &[u8], known: &HashMap<Vec<u8>, u64>) -> Option<(Vec<u8>, u64)> {
    let mut halves = text.splitn(2, |byte| *byte == b'"');
    let mut words = halves.next()?.split(u8::is_ascii_whitespace);
    let name = words.find(|word| !word.is_empty() && *word != b"%")?;
    let value = halves.next()?;
    let mut length = value.len() as u64;
    for reference in value.split(|byte| *byte == b'&').skip(1) {
        let name = reference.split(|byte| *byte == b';').next()?;
        length = length.saturating_add(known.get(name).copied().unwrap_or_default());
    }
    Some((name.to_vec(), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xml(text: &str) -> Result<(), String> {
        // In pieces, as it is read.
        let mut guard = XmlGuard::default();
        text.as_bytes()
            .chunks(7)
            .try_for_each(|piece| guard.look(piece))
            .map_err(|error| error.to_string())
    }

    fn entities(levels: usize) -> String {
        let mut text = String::from("<!DOCTYPE r [<!ENTITY a0 \"ha\">");
        for level in 1..=levels {
            let value = format!("&a{};", level - 1).repeat(10);
            text.push_str(&format!("\n<!ENTITY a{level} \"{value}\">"));
        }
        text + "]>"
    }

    #[test]
    fn entities_that_multiply_are_refused_where_they_are_declared_and_where_they_are_used() {
        assert_eq!(xml(&entities(3)), Ok(()));
        assert!(xml(&entities(8)).unwrap_err().contains("entities"));
        let uses = |n: usize| format!("{}<r a=\"x\">{}</r>", entities(4), "&a4;".repeat(n));
        assert_eq!(xml(&uses(10)), Ok(()));
        assert!(xml(&uses(1_000)).unwrap_err().contains("entities"));
        let uses = format!("{}<r a=\"{}\"/>", entities(4), "&a4;".repeat(1_000));
        assert!(xml(&uses).unwrap_err().contains("entities"));
    }

    #[test]
    fn ordinary_documents_pass() {
        let namespaces =
            "<!DOCTYPE rdf:RDF [\n  <!ENTITY owl \"http://www.w3.org/2002/07/owl#\" >\n]>";
        let element =
            "<a b='1' c=\"&owl;Class > x\"/><!-- < > \" ' & --><d/><![CDATA[ <e> ]]><f>x</f>\n";
        assert_eq!(
            xml(&format!("{namespaces}<r>{}</r>", element.repeat(5_000))),
            Ok(())
        );
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(
            xml(&("<a>".repeat(XML_DEPTH) + &"</a>".repeat(XML_DEPTH)).repeat(2)),
            Ok(())
        );
        assert!(
            xml(&"<a b='/'>".repeat(XML_DEPTH + 1))
                .unwrap_err()
                .contains("deep")
        );
        let json = |text: String| JsonGuard::default().look(text.as_bytes());
        assert!(json("[".repeat(JSON_DEPTH)).is_ok());
        assert!(json("[{\"a\\\"\":".repeat(JSON_DEPTH)).is_err());
        assert!(json(format!("\"{}\"", "[".repeat(JSON_DEPTH + 1))).is_ok());
    }
}
