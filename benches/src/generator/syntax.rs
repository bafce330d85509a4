//! Writes statements as N-Triples or Turtle.

use std::fmt::Display;
use std::io::Write as _;

use super::node::{DATA, Node, VOCABULARY};

/// A syntax of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// N-Triples, which is N-Quads too.
    Nt,
    /// Turtle.
    Ttl,
}

/// Appends statements, one subject after the other, to a buffer.
pub(super) struct Statements<'a> {
    format: Format,
    out: &'a mut Vec<u8>,
    subject: String,
}

/// Every write here goes to memory.
const INFALLIBLE: &str = "writing to memory does not fail";

impl<'a> Statements<'a> {
    pub(super) fn new(format: Format, out: &'a mut Vec<u8>) -> Self {
        Statements {
            format,
            out,
            subject: String::new(),
        }
    }

    /// Writes what stands once at the beginning of a document.
    pub(super) fn begin(&mut self) {
        if self.format == Format::Ttl {
            writeln!(self.out, "@base <{DATA}> .\n@prefix v: <{VOCABULARY}> .").expect(INFALLIBLE);
        }
    }

    /// Begins the statements of a subject and says its class; [`Statements::end`] ends them.
    pub(super) fn subject(&mut self, node: Node, class: &str) {
        match self.format {
            Format::Nt => {
                self.subject = format!("<{DATA}{node}>");
                self.class(class);
            }
            Format::Ttl => write!(self.out, "<{node}> a v:{class}").expect(INFALLIBLE),
        }
    }

    /// Says a further class of the subject.
    pub(super) fn class(&mut self, class: &str) {
        match self.format {
            Format::Nt => writeln!(
                self.out,
                "{} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{VOCABULARY}{class}> .",
                self.subject
            ),
            Format::Ttl => write!(self.out, " ;\n  a v:{class}"),
        }
        .expect(INFALLIBLE);
    }

    /// Says that a property leads to a node.
    pub(super) fn link(&mut self, property: &str, node: Node) {
        match self.format {
            Format::Nt => self.line(property, format_args!("<{DATA}{node}>")),
            Format::Ttl => self.line(property, format_args!("<{node}>")),
        }
    }

    /// Says that a property has a text, which holds nothing that needs an escape.
    pub(super) fn text(&mut self, property: &str, text: impl Display) {
        self.line(property, format_args!("\"{text}\""));
    }

    /// Says that a property has a number.
    pub(super) fn integer(&mut self, property: &str, number: usize) {
        match self.format {
            Format::Nt => self.line(
                property,
                format_args!("\"{number}\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
            ),
            Format::Ttl => self.line(property, number),
        }
    }

    /// Ends the statements of the subject.
    pub(super) fn end(&mut self) {
        if self.format == Format::Ttl {
            self.out.extend_from_slice(b" .\n");
        }
    }

    fn line(&mut self, property: &str, object: impl Display) {
        match self.format {
            Format::Nt => writeln!(
                self.out,
                "{} <{VOCABULARY}{property}> {object} .",
                self.subject
            ),
            Format::Ttl => write!(self.out, " ;\n  v:{property} {object}"),
        }
        .expect(INFALLIBLE);
    }
}
