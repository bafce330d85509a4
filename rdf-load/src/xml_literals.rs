//! The bounds of XML literals in RDF/XML: the content of elements with `rdf:parseType="Literal"`.
//!
//! The parser gathers such content as a whole, and the elements directly in it take over the declarations of
//! all namespaces in scope, so that few bytes become many.
//!
//! Attributes are taken by their local name, whatever their prefix. A value of `rdf:parseType` that RDF
//! does not define means `Literal`.

use std::io;

use crate::bounds::TOKEN_BYTES;
use crate::refusal::Refused;
use crate::report::thousands;
use crate::xml_attributes::OpeningTag;

/// How many declarations of namespaces may be in scope; the parser compares each with all others for
/// every element that takes them over.
const NAMESPACES: usize = 1_000;

/// Bytes of declarations that all elements of a document may take over, whatever its size.
const TAKEN_OVER_BYTES: u64 = 64 << 20;

/// Bytes of declarations that they may take over, for each byte of the document.
const TAKEN_OVER_FACTOR: u64 = 50;

/// Bytes that a sign has when it is escaped, at most.
const ESCAPED: usize = "&quot;".len();

/// What names of namespace declarations begin with.
const XMLNS: &[u8] = b"xmlns";

/// Values of `rdf:parseType` for content that is no literal.
const NO_LITERAL: [&[u8]; 2] = [b"Resource", b"Collection"];

/// Counts the bytes of the XML literal that is open.
#[derive(Debug, Default)]
pub(crate) struct XmlLiterals {
    /// Bytes and line ends so far.
    bytes: u64,
    lines: u64,
    elements: Vec<Tag>,
    /// What all open elements declare.
    in_scope: Declared,
    taken_over: u64,
    open: Option<Open>,
}

/// Declarations of namespaces.
#[derive(Clone, Copy, Debug, Default)]
struct Declared {
    count: usize,
    bytes: usize,
}

/// What a tag says.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    begins_literal: bool,
    declared: Declared,
}

impl Tag {
    fn new(tag: &OpeningTag<'_>) -> Self {
        let mut says = Tag::default();
        for (name, value) in &tag.attributes {
            let key = tag.part(name);
            if key.starts_with(XMLNS) {
                says.declared.count += 1;
                // With the space, the sign and the quotes that it is written with.
                says.declared.bytes += name.len() + value.len() + 4;
            }
            let local = key.rsplit(|byte| *byte == b':').next();
            says.begins_literal |=
                local == Some(b"parseType") && !NO_LITERAL.contains(&tag.part(value));
        }
        says
    }
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
    pub(crate) fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.bytes += 1;
        self.lines += u64::from(byte == b'\n');
        self.grow(1)
    }

    /// Counts what is written of a byte of text beyond itself.
    pub(crate) fn in_text(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'<' | b'>' | b'&' | b'\'' | b'"' => self.grow(ESCAPED - 1),
            _ => Ok(()),
        }
    }

    /// Counts what is written of a literal beyond the bytes of the document.
    pub(crate) fn grow(&mut self, bytes: usize) -> io::Result<()> {
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

    /// Reads a tag that opens an element, within `depth` elements with its own.
    pub(crate) fn open(&mut self, depth: usize, opening: &OpeningTag<'_>) -> io::Result<()> {
        let tag = Tag::new(opening);
        let in_scope = Declared {
            count: self.in_scope.count + tag.declared.count,
            bytes: self.in_scope.bytes + tag.declared.bytes,
        };
        if in_scope.count > NAMESPACES {
            let most = thousands(NAMESPACES as u64);
            let message = format!("more than {most} namespaces are declared in one place");
            return Err(Refused(message).into());
        }
        if self
            .elements
            .last()
            .is_some_and(|parent| parent.begins_literal)
        {
            self.take_over(in_scope.bytes)?;
        }
        if opening.is_empty {
            // It is written with a closing tag.
            return self.grow(opening.name.len() + 2);
        }
        self.elements.push(tag);
        self.in_scope = in_scope;
        if tag.begins_literal && self.open.is_none() {
            self.open = Some(Open {
                depth,
                line: self.lines + 1,
                bytes: 0,
            });
        }
        Ok(())
    }

    /// Counts the declarations of namespaces that an element directly in a literal takes over.
    fn take_over(&mut self, bytes: usize) -> io::Result<()> {
        self.taken_over += bytes as u64;
        if self.taken_over > TAKEN_OVER_BYTES + TAKEN_OVER_FACTOR * self.bytes {
            let message = "elements of XML literals take over too many declarations of namespaces in \
                           relation to the size of the document";
            return Err(Refused(message.to_owned()).into());
        }
        self.grow(bytes)
    }

    /// Ends a tag that closes an element, within `depth` elements with its own.
    pub(crate) fn close(&mut self, depth: usize) {
        let closed = self.elements.pop().unwrap_or_default().declared;
        self.in_scope.count -= closed.count;
        self.in_scope.bytes -= closed.bytes;
        if self.open.as_ref().is_some_and(|open| open.depth == depth) {
            self.open = None;
        }
    }
}
