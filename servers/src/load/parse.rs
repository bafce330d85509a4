//! One data file to batches of checked statements.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::SyncSender;

use oxigraph::io::{RdfParseError, RdfParser, RdfSyntaxError, ReaderQuadParser};
use oxigraph::model::Quad;

use super::base::{Base, plain_base};
use super::check::{BlankNodes, Check, Fault};
use super::contexts::Contexts;
use super::documents::{Guard, JsonGuard};
use super::format::DataFormat;
use super::report::{Finding, FindingKind, LoadError, MAX_PREFIXES};
use super::source::{LineByLine, ReadPosition, Refused};
use super::spelling::is_lost;
use super::stand_ins::StandIns;
use super::statements::{Form, Meaning, Recovery, Statements};
use super::terms::Terms;
use super::xml::XmlGuard;

/// Statements handed on at once: enough that the hand-over costs nothing.
const BATCH: usize = 4096;

/// What the reading thread sends.
pub(super) enum Parsed {
    /// Statements to store, and how many of their literals lose their spelling.
    Quads(Vec<Quad>, u64),
    /// Something to report.
    Finding(Finding),
    /// Bytes that belong to malformed statements, once a file is read.
    Unread(u64),
    /// Prefixes that the file declares, with their namespaces, once it is read.
    Prefixes(Vec<(String, String)>),
}

/// A file to read.
pub(super) struct Input<'a> {
    pub(super) path: &'a Path,
    pub(super) format: DataFormat,
    /// Base of relative IRIs; without one they are malformed.
    pub(super) base: Option<&'a str>,
    /// Documents for remote contexts of JSON-LD.
    pub(super) contexts: &'a Contexts,
}

/// Why reading ends before the end of the file.
enum Ended {
    /// The receiver has gone; there is nobody to read for.
    Hangup,
    Failed(LoadError),
}

/// Reads all of `source` and sends what comes out; ends early when nobody listens any more.
///
/// With `looks_for_lost`, literals are counted that a store keeps by value.
pub(super) fn parse(
    input: &Input<'_>,
    source: impl BufRead,
    looks_for_lost: bool,
    out: &SyncSender<Parsed>,
) -> Result<(), LoadError> {
    let stand_ins = Rc::new(StandIns::new());
    let base = input.base.map(|base| {
        Base::new(base).map_err(|_| LoadError::BaseInvalid {
            iri: base.to_owned(),
        })
    });
    let base = base.transpose()?;
    let result = match input.format {
        DataFormat::JsonLd => {
            let text = LineByLine::new(source, Guard::Json(JsonGuard::default()));
            let mut sender = Sender::new(input, out, text.place());
            sender.looks_for_lost = looks_for_lost;
            let loader = input.contexts.loader();
            sender.read(parser(input)?.for_reader(text).with_document_loader(loader))
        }
        DataFormat::RdfXml => {
            let guard = XmlGuard::new(base, Rc::clone(&stand_ins));
            let text = LineByLine::new(source, Guard::Xml(Box::new(guard)));
            let mut sender = Sender::new(input, out, text.place());
            sender.looks_for_lost = looks_for_lost;
            sender.check.stand_ins = Some(stand_ins);
            sender.read(parser(input)?.for_reader(text))
        }
        _ => {
            let form = Form {
                terse: input.format.is_terse(),
                graphs: input.format.has_blocks(),
            };
            // Lines have no relative IRIs.
            let base = base.filter(|_| form.terse);
            let terms = Terms::new(Rc::clone(&stand_ins), base);
            let text = Statements::new(source, form, terms);
            let mut sender = Sender::new(input, out, text.place());
            sender.looks_for_lost = looks_for_lost;
            sender.check.stand_ins = Some(stand_ins);
            sender.recovery = Some(text.recovery());
            sender.read(parser(input)?.for_reader(text))
        }
    };
    match result {
        Err(Ended::Failed(error)) => Err(error),
        // A receiver that has gone has its own reason to report.
        Ok(()) | Err(Ended::Hangup) => Ok(()),
    }
}

/// Returns the parser of a file: a strict one, except for JSON-LD, whose strict parser refuses valid
/// documents for the order of their keys, and drops malformed IRIs and their triples without an error.
fn parser(input: &Input<'_>) -> Result<RdfParser, LoadError> {
    let parser = RdfParser::from_format(input.format.rdf_format());
    let is_json = input.format == DataFormat::JsonLd;
    let parser = if is_json { parser.lenient() } else { parser };
    let Some(base) = input.base else {
        return Ok(parser);
    };
    let given = match is_json {
        true => plain_base(base),
        false => base.into(),
    };
    parser
        .with_base_iri(given)
        .map_err(|_| LoadError::BaseInvalid {
            iri: base.to_owned(),
        })
}

struct Sender<'a> {
    input: &'a Input<'a>,
    out: &'a SyncSender<Parsed>,
    place: Rc<ReadPosition>,
    /// For syntaxes in which reading goes on after a malformed statement.
    recovery: Option<Rc<RefCell<Recovery>>>,
    check: Check,
    blank_nodes: BlankNodes,
    batch: Vec<Quad>,
    looks_for_lost: bool,
    spellings_lost: u64,
}

impl<'a> Sender<'a> {
    fn new(input: &'a Input<'a>, out: &'a SyncSender<Parsed>, place: Rc<ReadPosition>) -> Self {
        Sender {
            input,
            out,
            place,
            recovery: None,
            check: Check { stand_ins: None },
            blank_nodes: BlankNodes::new(),
            batch: Vec::with_capacity(BATCH),
            looks_for_lost: false,
            spellings_lost: 0,
        }
    }

    fn read<R: io::Read>(&mut self, mut quads: ReaderQuadParser<R>) -> Result<(), Ended> {
        let mut prefixes = BTreeMap::new();
        let mut is_first = true;
        while let Some(quad) = quads.next() {
            if is_first {
                // At the end of an XML document, those of its root are no longer known.
                note_prefixes(&quads, &mut prefixes);
                is_first = false;
            }
            match quad {
                Ok(quad) => self.statement(quad)?,
                Err(RdfParseError::Syntax(error)) => self.malformed(&error)?,
                Err(RdfParseError::Io(error)) => return Err(Ended::Failed(self.unreadable(error))),
            }
        }
        self.flush()?;
        note_prefixes(&quads, &mut prefixes);
        self.send(Parsed::Prefixes(prefixes.into_iter().collect()))?;
        let Some(recovery) = &self.recovery else {
            return Ok(());
        };
        let recovery = recovery.borrow();
        match (recovery.has_failed(), self.cut_off(&recovery)) {
            (true, Some(error)) => Err(Ended::Failed(error)),
            _ => self.send(Parsed::Unread(recovery.unread)),
        }
    }

    fn statement(&mut self, mut quad: Quad) -> Result<(), Ended> {
        let line = self.place.take_line();
        match self.check.check(&mut quad) {
            Ok(()) => {}
            Err(Fault::LanguageTag(message)) => {
                self.finding(Some(line), FindingKind::LanguageTagKept, message)?;
            }
            Err(Fault::Statement(message)) => {
                return self.finding(Some(line), FindingKind::StatementSkipped, message);
            }
        }
        let is_lost = self.looks_for_lost && is_lost(quad.object.as_ref());
        self.spellings_lost += u64::from(is_lost);
        self.blank_nodes.rename(&mut quad);
        self.batch.push(quad);
        if self.batch.len() == BATCH {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn malformed(&mut self, error: &RdfSyntaxError) -> Result<(), Ended> {
        let Some(recovery) = self.recovery.clone() else {
            let error = LoadError::Document(self.document_error(error));
            return Err(Ended::Failed(error));
        };
        let start = error.location().map(|location| location.start);
        let meaning = match &start {
            Some(start) => recovery.borrow_mut().failed(start.offset),
            None => Meaning::Found { extra_lines: 0 },
        };
        let (line, message) = match meaning {
            Meaning::Nothing => return Ok(()),
            Meaning::Token(malformed) => (Some(malformed.line), malformed.message.to_owned()),
            Meaning::Found { extra_lines } => {
                let line = start.map(|start| start.line + 1 - extra_lines);
                (line, message(error))
            }
        };
        match self.cut_off(&recovery.borrow()) {
            Some(error) => Err(Ended::Failed(error)),
            None => self.finding(line, FindingKind::StatementSkipped, message),
        }
    }

    fn cut_off(&self, recovery: &Recovery) -> Option<LoadError> {
        recovery.cut_off.map(|cut_off| LoadError::CutOff {
            path: self.input.path.to_owned(),
            line: cut_off.line,
            bytes: cut_off.bytes,
        })
    }

    fn unreadable(&self, source: io::Error) -> LoadError {
        let path = self.input.path.to_owned();
        let cut_off = |recovery: &Rc<RefCell<Recovery>>| self.cut_off(&recovery.borrow());
        if let Some(error) = self.recovery.as_ref().and_then(cut_off) {
            return error;
        }
        let line = self.place.take_line().max(1);
        match source.kind() {
            io::ErrorKind::OutOfMemory => LoadError::TokenTooLong {
                path,
                line,
                limit: self.input.format.token_bytes(),
            },
            _ if is_refused(&source) => {
                LoadError::Document(format!("{}:{line}: {source}", path.display()))
            }
            _ => LoadError::Read { path, source },
        }
    }

    fn finding(
        &mut self,
        line: Option<u64>,
        kind: FindingKind,
        message: String,
    ) -> Result<(), Ended> {
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

    fn flush(&mut self) -> Result<(), Ended> {
        let full = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let lost = std::mem::take(&mut self.spellings_lost);
        self.send(Parsed::Quads(full, lost))
    }

    fn send(&self, parsed: Parsed) -> Result<(), Ended> {
        self.out.send(parsed).map_err(|_| Ended::Hangup)
    }
}

/// Adds the prefixes that are known now to those that were known before, up to a bound.
fn note_prefixes<R: io::Read>(
    quads: &ReaderQuadParser<R>,
    prefixes: &mut BTreeMap<String, String>,
) {
    for (prefix, namespace) in quads.prefixes() {
        if !prefixes.contains_key(prefix) {
            prefixes.insert(prefix.to_owned(), namespace.to_owned());
        }
    }
    while prefixes.len() > MAX_PREFIXES {
        prefixes.pop_last();
    }
}

/// Returns whether the text was refused, and not unreadable.
pub(super) fn is_refused(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<Refused>())
}

/// Drops the position that the parser puts before its message; ours stands before it already.
fn message(error: &RdfSyntaxError) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((position, rest)) if position.starts_with("Parser error") => rest.to_owned(),
        _ => text,
    }
}
