//! One data file to batches of checked statements.

mod blocks;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use graph_store::image::QuadBatch;
use memchr::{memchr2, memmem};
use oxilangtag::LanguageTag;
use oxiri::Iri;
use oxrdf::{GraphName, Quad, Term, TermRef};
use oxrdfio::{RdfParseError, RdfParser, RdfSyntaxError, ReaderQuadParser};

pub(crate) use self::blocks::BlockOptions;
use crate::base::{Base, plain_base};
use crate::check::{BlankNodes, Check, Fault};
use crate::contexts::Contexts;
use crate::documents::{Guard, JsonGuard};
use crate::format::DataFormat;
use crate::position::ReadPosition;
use crate::refusal::Refused;
use crate::report::{Finding, FindingKind, LoadError, MAX_PREFIXES};
use crate::source::LineByLine;
use crate::stand_ins::StandIns;
use crate::statements::{Form, Malformed, Meaning, Recovery, Statements};
use crate::terms::Terms;
use crate::xml::XmlGuard;

/// Statements handed on at once: enough that the hand-over costs nothing.
const BATCH: usize = 4096;

/// Results of a part of a file that may wait to be stored; bounds the memory between the threads.
const QUEUE: usize = 4;

/// What the parser says of a line with two statements, before it writes a token as its code does.
const SECOND_STATEMENT: &str = "Only a single triple or quad can be written in a line";

/// Datatypes that no literal is written with.
const NEEDS_A_TAG: [&str; 2] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString",
];

/// What comes out of a file.
pub(crate) enum Parsed {
    /// Statements to store.
    Quads(Vec<Quad>),
    /// The same, with terms that are shared.
    Batch(QuadBatch),
    /// Something to report.
    Finding(Finding),
    /// Bytes that belong to malformed statements, once they are read.
    Unread(u64),
    /// Prefixes that the file declares, with their namespaces, once it is read.
    Prefixes(Vec<(String, String)>),
    /// The file cannot be read any further.
    Failed(LoadError),
}

/// What comes out of a part of a file. Parts are sent in the order of the file, and received one after another.
pub(crate) type Part = Receiver<Parsed>;

/// Returns both ends of a part.
pub(crate) fn part() -> (SyncSender<Parsed>, Part) {
    sync_channel(QUEUE)
}

/// A file to read.
pub(crate) struct Input<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: DataFormat,
    /// Base of relative IRIs; without one they are malformed.
    pub(crate) base: Option<&'a str>,
    /// Documents for remote contexts of JSON-LD.
    pub(crate) contexts: &'a Contexts,
}

/// Why reading ends before the end of the file.
pub(crate) enum Ended {
    /// The receiver has gone; there is no one to read for.
    Hangup,
    Failed(LoadError),
}

impl From<LoadError> for Ended {
    fn from(error: LoadError) -> Self {
        Ended::Failed(error)
    }
}

/// Reads all of `source` and sends its parts; ends early when no one listens any more.
pub(crate) fn parse(
    input: &Input<'_>,
    source: impl BufRead,
    options: BlockOptions,
    parts: &SyncSender<Part>,
) -> Result<(), LoadError> {
    let file = FileParser::new(input)?;
    let result = if input.format.has_lines() {
        blocks::parse(&file, source, options, parts)
    } else {
        file.whole(source, parts)
    };
    match result {
        Err(Ended::Failed(error)) => Err(error),
        // A receiver that has gone has its own reason to report.
        Ok(()) | Err(Ended::Hangup) => Ok(()),
    }
}

/// Parses the parts of a file.
pub(crate) struct FileParser<'a> {
    input: &'a Input<'a>,
    base: Option<Base>,
    blank_nodes: BlankNodes,
    /// Whether blocks are read by a strict parser at once.
    is_strict: AtomicBool,
}

impl<'a> FileParser<'a> {
    pub(crate) fn new(input: &'a Input<'a>) -> Result<Self, LoadError> {
        let base = input.base.map(|base| {
            Base::new(base).map_err(|_| LoadError::BaseInvalid {
                iri: base.to_owned(),
            })
        });
        Ok(FileParser {
            input,
            base: base.transpose()?,
            blank_nodes: BlankNodes::new(),
            is_strict: AtomicBool::new(false),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.input.path
    }

    /// Parses a file as one part.
    fn whole(&self, source: impl BufRead, parts: &SyncSender<Part>) -> Result<(), Ended> {
        let (out, part) = part();
        parts.send(part).map_err(|_| Ended::Hangup)?;
        match self.input.format {
            DataFormat::JsonLd => {
                let text = LineByLine::new(source, Guard::Json(JsonGuard::default()));
                let mut sender = Sender::new(self, &out, text.place());
                let loader = self.input.contexts.loader();
                let parser = parser(self.input)?;
                sender.read(parser.for_reader(text).with_document_loader(loader))
            }
            DataFormat::RdfXml => {
                let stand_ins = Rc::new(StandIns::new());
                let guard = XmlGuard::new(self.base.clone(), Rc::clone(&stand_ins));
                let text = LineByLine::new(source, Guard::Xml(Box::new(guard)));
                let mut sender = Sender::new(self, &out, text.place());
                sender.check.stand_ins = Some(stand_ins);
                sender.read(parser(self.input)?.for_reader(text))
            }
            _ => self.statements(source, 0, &out),
        }
    }

    /// Parses statements of N-Triples, N-Quads, Turtle or TriG, of which some may be malformed.
    pub(crate) fn statements(
        &self,
        source: impl BufRead,
        lines_before: u64,
        out: &SyncSender<Parsed>,
    ) -> Result<(), Ended> {
        let stand_ins = Rc::new(StandIns::new());
        let form = Form {
            terse: self.input.format.is_terse(),
            graphs: self.input.format.has_blocks(),
        };
        // Lines have no relative IRIs.
        let base = self.base.clone().filter(|_| form.terse);
        let terms = Terms::new(Rc::clone(&stand_ins), base);
        let text = Statements::new(source, form, terms);
        let mut sender = Sender::new(self, out, text.place());
        sender.lines_before = lines_before;
        sender.check.stand_ins = Some(stand_ins);
        sender.recovery = Some(text.recovery());
        sender.read(parser(self.input)?.for_reader(text))
    }

    /// Parses whole lines, of which only the last one may lack its end.
    ///
    /// Well-formed ones, which are nearly all, take half the time without the search for what is malformed.
    pub(crate) fn block(
        &self,
        text: &[u8],
        lines_before: u64,
        out: &SyncSender<Parsed>,
    ) -> Result<(), Ended> {
        let mut read = None;
        if !self.is_strict.load(Ordering::Relaxed) {
            read = self.well_formed(text, Reading::Fast)?;
        }
        if read.is_none() {
            // What one block has, others most likely have, too.
            self.is_strict.store(true, Ordering::Relaxed);
            read = self.well_formed(text, Reading::Strict)?;
        }
        let Some(batch) = read else {
            return self.statements(text, lines_before, out);
        };
        out.send(Parsed::Batch(batch)).map_err(|_| Ended::Hangup)
    }

    /// Returns the statements of lines; `None` if a line may be malformed.
    fn well_formed(&self, text: &[u8], reading: Reading) -> Result<Option<QuadBatch>, Ended> {
        let mut batch = QuadBatch::new();
        let mut parser = parser(self.input)?;
        if reading == Reading::Fast {
            if has_surrogates(text) {
                return Ok(None);
            }
            parser = parser.lenient();
        }
        for quad in parser.for_slice(text) {
            let Some(mut quad) = quad.ok().filter(|quad| !may_be_cut(quad)) else {
                return Ok(None);
            };
            self.blank_nodes.rename(&mut quad);
            batch.push(quad.as_ref()).map_err(LoadError::Image)?;
        }
        let is_well_formed = reading == Reading::Strict || batch.terms().all(is_well_formed);
        Ok(is_well_formed.then_some(batch))
    }
}

/// How lines are read that are expected to be well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// By a lenient parser. Each distinct term is checked behind it: checking IRIs at each occurrence would take
    /// a quarter of the time of a load.
    Fast,
    /// By a strict parser.
    Strict,
}

/// Returns whether a text may have a character that is written as two, which only a lenient parser reads.
fn has_surrogates(text: &[u8]) -> bool {
    let has = |escape: &[u8]| memmem::find(text, escape).is_some();
    has(br"\ud") || has(br"\uD")
}

/// Returns whether a strict parser reads a term that a lenient one has read; `false` where that is not known.
fn is_well_formed(term: TermRef<'_>) -> bool {
    match term {
        TermRef::NamedNode(node) => Iri::parse(node.as_str()).is_ok(),
        TermRef::Literal(literal) => {
            let tag = literal.language();
            // The end of a line may have been written as such.
            memchr2(b'\n', b'\r', literal.value().as_bytes()).is_none()
                && tag.is_none_or(|tag| LanguageTag::parse(tag).is_ok())
                && (tag.is_some() || !NEEDS_A_TAG.contains(&literal.datatype().as_str()))
        }
        _ => true,
    }
}

/// Returns whether a graph may be a part of a language tag: the parser reads `"x"@en_:g` as `"x"@en _:g`.
fn may_be_cut(quad: &Quad) -> bool {
    let is_tagged = matches!(&quad.object, Term::Literal(literal) if literal.language().is_some());
    is_tagged && matches!(quad.graph_name, GraphName::BlankNode(_))
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
    let given = if is_json {
        plain_base(base)
    } else {
        base.into()
    };
    parser
        .with_base_iri(given)
        .map_err(|_| LoadError::BaseInvalid {
            iri: base.to_owned(),
        })
}

struct Sender<'a> {
    file: &'a FileParser<'a>,
    out: &'a SyncSender<Parsed>,
    /// Lines of the file before those that are read here.
    lines_before: u64,
    place: Rc<ReadPosition>,
    /// For syntaxes in which reading goes on after a malformed statement.
    recovery: Option<Rc<RefCell<Recovery>>>,
    check: Check,
    batch: Vec<Quad>,
}

impl<'a> Sender<'a> {
    fn new(file: &'a FileParser<'a>, out: &'a SyncSender<Parsed>, place: Rc<ReadPosition>) -> Self {
        Sender {
            file,
            out,
            lines_before: 0,
            place,
            recovery: None,
            check: Check { stand_ins: None },
            batch: Vec::with_capacity(BATCH),
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
        let line = self.line();
        match self.check.check(&mut quad) {
            Ok(()) => {}
            Err(Fault::LanguageTag(message)) => {
                self.finding(Some(line), FindingKind::LanguageTagKept, message)?;
            }
            Err(Fault::Statement(message)) => {
                return self.finding(Some(line), FindingKind::StatementSkipped, message);
            }
        }
        self.file.blank_nodes.rename(&mut quad);
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
            Meaning::Token(Malformed { line, message }) => {
                (Some(self.lines_before + line), message.to_owned())
            }
            Meaning::Found { extra_lines } => {
                let line = start.map(|start| self.lines_before + start.line + 1 - extra_lines);
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
            path: self.path(),
            line: self.lines_before + cut_off.line,
            bytes: cut_off.bytes,
        })
    }

    fn unreadable(&self, source: io::Error) -> LoadError {
        let path = self.path();
        let cut_off = |recovery: &Rc<RefCell<Recovery>>| self.cut_off(&recovery.borrow());
        if let Some(error) = self.recovery.as_ref().and_then(cut_off) {
            return error;
        }
        let line = self.line().max(1);
        match source.kind() {
            io::ErrorKind::OutOfMemory => LoadError::TokenTooLong {
                path,
                line,
                limit: self.file.input.format.token_bytes(),
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
        self.send(Parsed::Finding(Finding {
            file: self.path(),
            line,
            kind,
            message,
        }))
    }

    fn document_error(&self, error: &RdfSyntaxError) -> String {
        let line = match error.location() {
            Some(location) => location.start.line + 1,
            None => self.line(),
        };
        format!("{}:{line}: {}", self.path().display(), message(error))
    }

    /// Returns the line of the statement that has just come out.
    fn line(&self) -> u64 {
        self.lines_before + self.place.take_line()
    }

    fn path(&self) -> PathBuf {
        self.file.path().to_owned()
    }

    fn flush(&mut self) -> Result<(), Ended> {
        let full = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.send(Parsed::Quads(full))
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
pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<Refused>())
}

/// Drops the position that the parser puts before its message, since ours stands before it already, and the token
/// that it puts behind one, which may be a stand-in.
fn message(error: &RdfSyntaxError) -> String {
    let text = error.to_string();
    let text = match text.split_once(": ") {
        Some((position, rest)) if position.starts_with("Parser error") => rest,
        _ => &text,
    };
    let is_second = text.starts_with(SECOND_STATEMENT);
    if is_second { SECOND_STATEMENT } else { text }.to_owned()
}
