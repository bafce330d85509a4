//! The bound of XML literals in RDF/XML, the content of elements with `rdf:parseType="Literal"`, which
//! the parser gathers as a whole.
//!
//! Attributes are taken by their local name, whatever their prefix. A value of `rdf:parseType` that RDF
//! does not define means `Literal`.

use std::io;

use super::report::thousands;
use super::source::Refused;
use super::statements::TOKEN_BYTES;

/// Most bytes of the name of an attribute that are kept: the first [`HEAD`] and the last ones.
const NAME_BYTES: usize = 64;
const HEAD: usize = XMLNS.len();

/// What names of namespace declarations begin with.
const XMLNS: &[u8] = b"xmlns";

/// Values of `rdf:parseType` for content that is no literal.
const NO_LITERAL: [&[u8]; 2] = [b"Resource", b"Collection"];

/// As many bytes of a value as tell it from those of [`NO_LITERAL`].
const VALUE_BYTES: usize = 16;

/// Counts the bytes of the XML literal that is open.
#[derive(Debug, Default)]
pub(super) struct XmlLiterals {
    /// Line ends so far.
    lines: u64,
    attribute: Attribute,
    tag: Tag,
    /// Bytes that each open element declares namespaces with, and all of them.
    declared: Vec<usize>,
    in_scope: usize,
    open: Option<Open>,
}

/// The attribute that is read.
#[derive(Debug, Default)]
struct Attribute {
    name: Vec<u8>,
    /// Whether white space stands behind the name.
    has_ended: bool,
    value: Vec<u8>,
    bytes: usize,
}

/// What the attributes of the tag that is read say.
#[derive(Debug, Default)]
struct Tag {
    begins_literal: bool,
    declared: usize,
}

/// The literal that is open.
#[derive(Debug)]
struct Open {
    /// The number of elements around its content.
    depth: usize,
    line: u64,
    bytes: usize,
}

impl XmlLiterals {
    /// Counts a byte of the document.
    pub(super) fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.lines += u64::from(byte == b'\n');
        self.grow(1)
    }

    /// Counts what the document makes of a literal beyond its bytes.
    pub(super) fn grow(&mut self, bytes: usize) -> io::Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.bytes = open.bytes.saturating_add(bytes);
        if open.bytes <= TOKEN_BYTES {
            return Ok(());
        }
        let message = format!(
            "the XML literal that begins on line {} has more than {} bytes",
            open.line,
            thousands(TOKEN_BYTES as u64)
        );
        Err(Refused(message).into())
    }

    /// Reads a byte of a tag outside of values.
    pub(super) fn in_tag(&mut self, byte: u8) {
        let attribute = &mut self.attribute;
        match byte {
            b'=' => {}
            byte if byte.is_ascii_whitespace() => attribute.has_ended = true,
            byte => {
                if std::mem::take(&mut attribute.has_ended) {
                    attribute.name.clear();
                    attribute.bytes = 0;
                }
                if attribute.name.len() == NAME_BYTES {
                    attribute.name.remove(HEAD);
                }
                attribute.name.push(byte);
                attribute.bytes += 1;
            }
        }
    }

    /// Reads a byte of the value of an attribute.
    pub(super) fn in_value(&mut self, byte: u8) {
        let attribute = &mut self.attribute;
        attribute.bytes += 1;
        if attribute.value.len() < VALUE_BYTES {
            attribute.value.push(byte);
        }
    }

    /// Ends the value of an attribute.
    pub(super) fn end_value(&mut self) {
        let Attribute {
            name, value, bytes, ..
        } = std::mem::take(&mut self.attribute);
        if name.starts_with(XMLNS) {
            // With the space, the sign and the quotes that it is written with.
            self.tag.declared += bytes + 4;
        }
        let local = name.rsplit(|byte| *byte == b':').next();
        self.tag.begins_literal |=
            local == Some(b"parseType") && !NO_LITERAL.contains(&value.as_slice());
    }

    /// Ends a tag that opens an element, within `depth` elements with its own.
    pub(super) fn open(&mut self, depth: usize, is_empty: bool) -> io::Result<()> {
        let tag = self.end_tag();
        let in_scope = self.in_scope + tag.declared;
        if !is_empty {
            self.declared.push(tag.declared);
            self.in_scope = in_scope;
        }
        match &self.open {
            // The elements directly in a literal declare all namespaces that they stand in.
            Some(open) if open.depth + 1 == depth => self.grow(in_scope),
            None if tag.begins_literal && !is_empty => {
                self.open = Some(Open {
                    depth,
                    line: self.lines + 1,
                    bytes: 0,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends a tag that closes an element, within `depth` elements with its own.
    pub(super) fn close(&mut self, depth: usize) {
        self.end_tag();
        self.in_scope -= self.declared.pop().unwrap_or_default();
        if self.open.as_ref().is_some_and(|open| open.depth == depth) {
            self.open = None;
        }
    }

    fn end_tag(&mut self) -> Tag {
        self.attribute = Attribute::default();
        std::mem::take(&mut self.tag)
    }
}
