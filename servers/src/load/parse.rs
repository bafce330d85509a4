//! One data file to batches of checked statements.

use std::io::BufRead;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::SyncSender;

use oxigraph::io::{RdfParseError, RdfParser, RdfSyntaxError};
use oxigraph::model::Quad;

use super::check::{BlankNodes, Fault, check};
use super::format::DataFormat;
use super::report::{Finding, FindingKind, LoadError};
use super::source::{LineByLine, ReadPosition};
use super::spelling::is_lost;

/// Statements handed on at once: enough that the hand-over costs nothing.
const BATCH: usize = 4096;

/// What the reading thread sends.
pub(super) enum Parsed {
    /// Statements to store, and how many of their literals lose their spelling.
    Quads(Vec<Quad>, u64),
    /// Something to report.
    Finding(Finding),
}

/// A file to read.
pub(super) struct Input<'a> {
    pub(super) path: &'a Path,
    pub(super) format: DataFormat,
    pub(super) base: &'a str,
}

/// The receiver has gone; there is nobody to read for.
struct Hangup;

/// Reads all of `source` and sends what comes out; ends early when nobody listens any more.
pub(super) fn parse(
    input: &Input<'_>,
    source: impl BufRead,
    out: &SyncSender<Parsed>,
) -> Result<(), LoadError> {
    let source = LineByLine::new(source);
    let place = source.place();
    let quads = RdfParser::from_format(input.format.rdf_format())
        .lenient()
        .with_base_iri(input.base)
        .map_err(|_| LoadError::BaseInvalid {
            iri: input.base.to_owned(),
        })?
        .for_reader(source);
    let mut sink = Sink {
        input,
        out,
        place,
        blank_nodes: BlankNodes::new(),
        batch: Vec::with_capacity(BATCH),
        spellings_lost: 0,
    };
    for quad in quads {
        let sent = match quad {
            Ok(quad) => sink.statement(quad),
            Err(RdfParseError::Syntax(error)) if input.format.recovers() => sink.skipped(&error),
            Err(RdfParseError::Syntax(error)) => {
                return Err(LoadError::Document(sink.document_error(&error)));
            }
            Err(RdfParseError::Io(source)) => {
                return Err(LoadError::Read {
                    path: input.path.to_owned(),
                    source,
                });
            }
        };
        if sent.is_err() {
            return Ok(());
        }
    }
    // A receiver that has gone has its own reason to report.
    let _ = sink.flush();
    Ok(())
}

struct Sink<'a> {
    input: &'a Input<'a>,
    out: &'a SyncSender<Parsed>,
    place: Rc<ReadPosition>,
    blank_nodes: BlankNodes,
    batch: Vec<Quad>,
    spellings_lost: u64,
}

impl Sink<'_> {
    fn statement(&mut self, mut quad: Quad) -> Result<(), Hangup> {
        let line = self.place.take_line();
        match check(&quad) {
            Ok(()) => {}
            Err(Fault::LanguageTag(message)) => {
                self.finding(Some(line), FindingKind::LanguageTagKept, message)?;
            }
            Err(Fault::Statement(message)) => {
                return self.finding(Some(line), FindingKind::StatementSkipped, message);
            }
        }
        self.spellings_lost += u64::from(is_lost(quad.object.as_ref()));
        self.blank_nodes.rename(&mut quad);
        self.batch.push(quad);
        if self.batch.len() == BATCH {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn skipped(&mut self, error: &RdfSyntaxError) -> Result<(), Hangup> {
        let line = error.location().map(|location| location.start.line + 1);
        self.finding(line, FindingKind::StatementSkipped, message(error))
    }

    fn finding(
        &mut self,
        line: Option<u64>,
        kind: FindingKind,
        message: String,
    ) -> Result<(), Hangup> {
        let file = self.input.path.to_owned();
        self.send(Parsed::Finding(Finding {
            file,
            line,
            kind,
            message,
        }))
    }

    fn document_error(&self, error: &RdfSyntaxError) -> String {
        let line = match error.location() {
            Some(location) => location.start.line + 1,
            None => self.place.take_line(),
        };
        format!("{}:{line}: {}", self.input.path.display(), message(error))
    }

    fn flush(&mut self) -> Result<(), Hangup> {
        let full = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let lost = std::mem::take(&mut self.spellings_lost);
        self.send(Parsed::Quads(full, lost))
    }

    fn send(&self, parsed: Parsed) -> Result<(), Hangup> {
        self.out.send(parsed).map_err(|_| Hangup)
    }
}

/// Drops the position that the parser puts before its message; ours stands before it already.
fn message(error: &RdfSyntaxError) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((position, rest)) if position.starts_with("Parser error") => rest.to_owned(),
        _ => text,
    }
}
