//! Bounds on RDF/XML documents, whose parser has none.
//!
//! Markup is recognized exactly where the parser recognizes it, so that nothing hides from the bounds.

use std::io;
use std::rc::Rc;

use crate::base::Base;
use crate::bounds::TOKEN_BYTES;
use crate::refusal::{Refused, not_in_syntax};
use crate::stand_ins::StandIns;
use crate::xml_attributes::{Entities, Entity, OpeningTag};
use crate::xml_literals::XmlLiterals;
use crate::xml_tags::{ATTRIBUTES, LiteralTag, XmlTags, too_many_attributes};

/// How deep the elements of an XML document may be nested.
const XML_DEPTH: usize = 100_000;

/// Bytes that entities may stand for, whatever the size of the document.
const ENTITY_BYTES: u64 = 8 << 20;

/// Bytes that entities may stand for, for each byte of the document.
const ENTITY_FACTOR: u64 = 20;

/// Longest name of an entity.
const NAME_BYTES: usize = 256;

/// Longest declaration of an entity.
const DECLARATION_BYTES: usize = 64 << 10;

/// What a declaration of an entity begins with.
const ENTITY: &[u8] = b"!ENTITY";

/// Bounds the depth, the tokens, the attributes, the literals and the entities of an XML document, and hands
/// on its tags as [`XmlTags`] writes them.
#[derive(Debug)]
pub(crate) struct XmlGuard {
    depth: usize,
    /// Bytes since the last markup began or ended.
    token_bytes: usize,
    bytes: u64,
    expanded: u64,
    entities: Entities,
    literals: XmlLiterals,
    tags: XmlTags,
    /// The tag that is read, and how many attributes it has so far.
    tag: Vec<u8>,
    attributes: usize,
    /// The tag of an XML literal of which it is not known whether it is empty.
    held: Option<LiteralTag>,
    state: XmlState,
    /// What was read of a reference, a tag or a declaration.
    text: Vec<u8>,
    has_begun: bool,
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
    Instruction,
    CharacterData,
    /// In a document type, within so many further pairs of `<` and `>`.
    DocumentType(usize),
}

impl XmlGuard {
    pub(crate) fn new(base: Option<Base>, stand_ins: Rc<StandIns>) -> Self {
        XmlGuard {
            depth: 0,
            token_bytes: 0,
            bytes: 0,
            expanded: 0,
            entities: Entities::new(),
            literals: XmlLiterals::default(),
            tags: XmlTags::new(base, stand_ins),
            tag: Vec::new(),
            attributes: 0,
            held: None,
            state: XmlState::Text,
            text: Vec::new(),
            has_begun: false,
        }
    }

    /// Looks at a piece of the document, and appends to `out` what the parser is given of it.
    pub(crate) fn pass(&mut self, text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        for byte in text {
            self.bytes += 1;
            self.token_bytes += 1;
            if self.token_bytes > TOKEN_BYTES {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.begin(*byte)?;
            self.release(*byte, out);
            self.literals.byte(*byte)?;
            let was_tag = self.in_tag();
            if was_tag || *byte == b'<' && self.state == XmlState::Text {
                self.tag.push(*byte);
            } else {
                out.push(*byte);
            }
            self.step(*byte, out)?;
            if !self.in_tag() {
                // What is no tag that opens an element, such as a comment.
                out.append(&mut self.tag);
            }
        }
        Ok(())
    }

    /// Appends what is left at the end of the document.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if let Some(mut held) = self.held.take() {
            out.append(&mut held.with_content);
        }
        out.append(&mut self.tag);
        Ok(())
    }

    /// Hands on the tag of a literal once the next bytes show whether it is empty.
    fn release(&mut self, byte: u8, out: &mut Vec<u8>) {
        let is_end = match self.tag.as_slice() {
            [] if byte == b'<' => return,
            [b'<'] => byte == b'/',
            _ => false,
        };
        if let Some(mut held) = self.held.take() {
            out.append(if is_end {
                &mut held.if_empty
            } else {
                &mut held.with_content
            });
        }
    }

    fn in_tag(&self) -> bool {
        matches!(self.state, XmlState::Markup | XmlState::Value(_))
    }

    /// Refuses what does not begin as XML.
    fn begin(&mut self, byte: u8) -> io::Result<()> {
        if !self.has_begun && !byte.is_ascii_whitespace() {
            if byte != b'<' {
                return Err(not_in_syntax("XML, which begins with `<`"));
            }
            self.has_begun = true;
        }
        Ok(())
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) -> io::Result<()> {
        match self.state {
            XmlState::Text if byte == b'<' => {
                self.attributes = 0;
                self.enter(XmlState::Markup);
            }
            XmlState::Text => {
                self.literals.in_text(byte)?;
                self.reference(byte)?;
            }
            XmlState::Comment => self.until(byte, b"-->"),
            XmlState::Instruction => self.until(byte, b"?>"),
            XmlState::CharacterData => {
                self.literals.in_text(byte)?;
                self.until(byte, b"]]>");
            }
            XmlState::Value(quote) if byte == quote => self.state = XmlState::Markup,
            XmlState::Value(_) => self.reference(byte)?,
            XmlState::Markup => self.markup(byte, out)?,
            XmlState::DocumentType(pairs) => self.document_type(byte, pairs)?,
        }
        Ok(())
    }

    fn enter(&mut self, state: XmlState) {
        self.state = state;
        self.token_bytes = 0;
        self.text.clear();
    }

    fn markup(&mut self, byte: u8, out: &mut Vec<u8>) -> io::Result<()> {
        match byte {
            b'"' | b'\'' => {
                self.state = XmlState::Value(byte);
                self.attributes += 1;
                if self.attributes > ATTRIBUTES {
                    return Err(too_many_attributes());
                }
                // Only what a tag begins and ends with matters.
                self.text.truncate(1);
            }
            b'>' => {
                self.end_tag(out)?;
                self.enter(XmlState::Text);
            }
            _ => {
                if self.text.len() >= NAME_BYTES {
                    self.text.truncate(1);
                }
                self.text.push(byte);
                match self.text.as_slice() {
                    b"?" => self.enter(XmlState::Instruction),
                    b"!--" => self.enter(XmlState::Comment),
                    b"![CDATA[" => self.enter(XmlState::CharacterData),
                    b"!D" | b"!d" => self.enter(XmlState::DocumentType(0)),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn end_tag(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.text.first() {
            None | Some(b'!') => {}
            Some(b'/') => {
                self.literals.close(self.depth);
                self.tags.close();
                self.depth = self.depth.saturating_sub(1);
            }
            Some(_) => {
                let tag = std::mem::take(&mut self.tag);
                let tag = OpeningTag::new(&tag);
                self.literals.open(self.depth + 1, &tag)?;
                self.depth += usize::from(!tag.is_empty);
                let literal = self.tags.open(&tag, &self.entities, out)?;
                match literal {
                    Some(mut literal) if tag.is_empty => out.append(&mut literal.if_empty),
                    literal => self.held = literal,
                }
            }
        }
        if self.depth > XML_DEPTH {
            let message = format!("elements are nested more than {XML_DEPTH} deep");
            return Err(Refused(message).into());
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
                let name = self
                    .text
                    .get(1..)
                    .and_then(|name| str::from_utf8(name).ok());
                let entity = name.and_then(|name| self.entities.get(name));
                let length = entity.map_or(0, |entity| entity.bytes);
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
        self.literals
            .grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        if self.expanded > ENTITY_BYTES + ENTITY_FACTOR * self.bytes {
            let message =
                "entities stand for too much text in relation to the size of the document";
            return Err(Refused(message.to_owned()).into());
        }
        Ok(())
    }

    /// Reads a document type as the parser does: it ends where its signs are balanced, whatever is quoted
    /// or a comment, and each `<!ENTITY` declares one.
    fn document_type(&mut self, byte: u8, pairs: usize) -> io::Result<()> {
        match byte {
            b'<' => {
                self.declare()?;
                self.text.clear();
                self.state = XmlState::DocumentType(pairs + 1);
            }
            b'>' if pairs == 0 => {
                self.declare()?;
                self.enter(XmlState::Text);
            }
            _ => {
                if byte == b'>' {
                    self.state = XmlState::DocumentType(pairs - 1);
                }
                if self.text.len() < ENTITY.len() || self.text.starts_with(ENTITY) {
                    self.text.push(byte);
                }
                if self.text.len() > DECLARATION_BYTES {
                    let message = format!("an entity is longer than {DECLARATION_BYTES} bytes");
                    return Err(Refused(message).into());
                }
            }
        }
        Ok(())
    }

    /// Takes in the declaration that was read, if it is one of an entity.
    fn declare(&mut self) -> io::Result<()> {
        let text = self.text.strip_prefix(ENTITY);
        let text = text.and_then(|text| str::from_utf8(text).ok());
        let Some((name, entity)) = text.and_then(|text| declared(text, &self.entities)) else {
            return Ok(());
        };
        if name.len() > NAME_BYTES {
            let message = format!("the name of an entity is longer than {NAME_BYTES} bytes");
            return Err(Refused(message).into());
        }
        let name = name.to_owned();
        self.expand(entity.bytes)?;
        self.entities.insert(name, entity);
        Ok(())
    }
}

/// Returns the name that a declaration declares, and what it stands for.
fn declared<'t>(text: &'t str, known: &Entities) -> Option<(&'t str, Entity)> {
    let text = text.trim_start();
    let text = text.strip_prefix('%').unwrap_or(text).trim_start();
    let (name, text) = text.split_once(|c: char| c.is_ascii_whitespace())?;
    let value = text.split('"').nth(1)?;
    Some((name, Entity::new(value, known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xml(text: &str) -> Result<(), String> {
        // In pieces, as it is read.
        let mut guard = XmlGuard::new(None, Rc::new(StandIns::new()));
        let mut out = Vec::new();
        text.as_bytes()
            .chunks(7)
            .try_for_each(|piece| guard.pass(piece, &mut out))
            .map_err(|error| error.to_string())?;
        guard.end(&mut out).unwrap();
        // Nothing here needs another form.
        assert!(out == text.as_bytes());
        Ok(())
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
    fn entities_count_wherever_the_parser_finds_them() {
        let declarations = entities(8);
        let (_, declarations) = declarations.split_once('[').unwrap();
        let (declarations, _) = declarations.split_once(']').unwrap();
        for (what, text) in [
            ("a comment", format!("<!-- {declarations} -->")),
            ("an instruction", format!("<?x {declarations} ?>")),
            ("a name behind a sign", declarations.replace("Y a", "Y %a")),
            ("another space", declarations.replace("Y a", "Y \u{2003}a")),
        ] {
            let refused = xml(&format!("<!doctype r [{text}]>"));
            assert!(refused.unwrap_err().contains("entities"), "{what}");
        }
        let name = "n".repeat(NAME_BYTES + 1);
        let refused = xml(&format!("<!DOCTYPE r [<!ENTITY {name} \"x\">]>"));
        assert!(refused.unwrap_err().contains("name of an entity"));
    }

    #[test]
    fn nothing_hides_elements() {
        let deep = "<a>".repeat(XML_DEPTH + 1);
        for hiding in [
            "<!DOCTYPE r [ <!-- > ]> >",
            "<!DOCTYPE r [ <!ELEMENT \"> ]>",
            "<?x it's ?>",
            "<b c='<!--'/>",
            "<b <!-- />",
        ] {
            let refused = xml(&format!("{hiding}{deep}"));
            assert!(refused.unwrap_err().contains("deep"), "{hiding}");
        }
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
    }
}
