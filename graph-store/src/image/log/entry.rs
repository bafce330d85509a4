//! What the log holds, as bytes: changes, change records, and the state of the folder. Each ends with a
//! checksum of itself and of the sequence that it belongs to.
//!
//! ```text
//! version (1 byte)  content  CRC-32 (4 bytes)
//! ```
//!
//! Numbers take 7 bits a byte; texts have their length before them. Terms are written as they are, so the
//! log can be read without the image that lay beneath when it was written.

use std::time::{Duration, SystemTime};

use foldhash::{HashMap, HashMapExt};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, TermRef};

use crate::image::terms::{varint, write_varint};
use crate::write::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord, QuadChange};

/// The version of the form. It is read for good: what is written in another form gets another version, and
/// both are read from then on.
const VERSION: u8 = 1;

/// Returns whether bytes are whole, and in a form that only later versions of the program read.
pub(in crate::image) fn is_newer(sequence: u64, bytes: &[u8]) -> bool {
    let whole = whole(sequence, bytes).and_then(|content| content.first());
    whole.is_some_and(|version| *version > VERSION)
}

// What a term begins with.
const IRI: u8 = 0;
const BLANK: u8 = 1;
const PLAIN: u8 = 2;
const TAGGED: u8 = 3;
const TYPED: u8 = 4;

/// Stands for no key of idempotency, and for a time after 1970; the other is 1.
const NO: u8 = 0;
const YES: u8 = 1;

/// Writes a change.
pub(in crate::image) fn write_change(sequence: u64, change: &QuadChange) -> Vec<u8> {
    let mut terms: HashMap<TermRef<'_>, u64> = HashMap::new();
    let (mut texts, mut quads) = (Vec::new(), Vec::new());
    for list in [&change.removed, &change.added] {
        write_varint(&mut quads, list.len() as u64);
        for quad in list {
            let graph: Option<TermRef<'_>> = match &quad.graph_name {
                GraphName::DefaultGraph => None,
                GraphName::NamedNode(graph) => Some(graph.into()),
                GraphName::BlankNode(graph) => Some(graph.into()),
            };
            let subject: TermRef<'_> = match &quad.subject {
                NamedOrBlankNode::NamedNode(node) => node.into(),
                NamedOrBlankNode::BlankNode(node) => node.into(),
            };
            let object = Term::as_ref(&quad.object);
            for term in [
                Some(subject),
                Some((&quad.predicate).into()),
                Some(object),
                graph,
            ] {
                let number = term.map_or(0, |term| {
                    let next = terms.len() as u64 + 1;
                    *terms.entry(term).or_insert_with(|| {
                        write_term(&mut texts, term);
                        next
                    })
                });
                write_varint(&mut quads, number);
            }
        }
    }
    let mut out = vec![VERSION];
    write_varint(&mut out, terms.len() as u64);
    out.extend(texts);
    out.extend(quads);
    sealed(out, sequence)
}

/// Reads a change; `None` if the bytes are not as they were written.
pub(in crate::image) fn read_change(sequence: u64, bytes: &[u8]) -> Option<QuadChange> {
    let mut input = Input::new(sequence, bytes)?;
    // Each term takes a byte or more, so a wrong number cannot ask for much memory.
    let count = input.count()?;
    let mut terms = Vec::with_capacity(count);
    for _ in 0..count {
        terms.push(input.term()?);
    }
    let removed = input.quads(&terms)?;
    let added = input.quads(&terms)?;
    input.end(QuadChange { removed, added })
}

/// Returns a checksum of a change, as it is written, and of the `history` of those before it. It tells changes from
/// others of the same number.
pub(in crate::image) fn history_after(history: u64, written: &[u8]) -> u64 {
    // FNV-1a: versions of data are compared with those that earlier versions of the program have noted.
    let mixed = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let before = history.to_le_bytes();
    let bytes = before.iter().chain(written);
    bytes.fold(0xcbf2_9ce4_8422_2325, mixed)
}

/// Writes a change record, without its sequence.
pub(in crate::image) fn write_record(record: &ChangeRecord) -> Vec<u8> {
    let ChangeRecord { sequence, said } = record;
    let mut out = vec![VERSION];
    write_text(&mut out, &said.request);
    match &said.idempotency_key {
        None => out.push(NO),
        Some(key) => {
            out.push(YES);
            write_text(&mut out, key);
        }
    }
    write_text(&mut out, &said.digest);
    let (sign, span) = match said.time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(span) => (NO, span),
        Err(before) => (YES, before.duration()),
    };
    out.push(sign);
    write_varint(&mut out, span.as_secs());
    write_varint(&mut out, u64::from(span.subsec_nanos()));
    write_varint(&mut out, said.changes.len() as u64);
    for group in &said.changes {
        let kinds = ChangeKind::ALL.iter();
        let kind = kinds.take_while(|kind| **kind != group.kind).count();
        write_varint(&mut out, kind as u64);
        write_text(&mut out, &group.object_type);
        write_varint(&mut out, group.objects.len() as u64);
        for object in &group.objects {
            write_text(&mut out, object.as_str());
        }
    }
    sealed(out, *sequence)
}

/// Reads a change record; `None` if the bytes are not as they were written.
pub(in crate::image) fn read_record(sequence: u64, bytes: &[u8]) -> Option<ChangeRecord> {
    let mut input = Input::new(sequence, bytes)?;
    let request = input.text()?.to_owned();
    let idempotency_key = if input.flag()? {
        Some(input.text()?.to_owned())
    } else {
        None
    };
    let digest = input.text()?.to_owned();
    let is_before = input.flag()?;
    let seconds = input.number()?;
    let nanos = u32::try_from(input.number()?).ok()?;
    let span = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos.into()))?;
    let time = if is_before {
        SystemTime::UNIX_EPOCH.checked_sub(span)?
    } else {
        SystemTime::UNIX_EPOCH.checked_add(span)?
    };
    let mut changes = Vec::new();
    for _ in 0..input.count()? {
        changes.push(input.group()?);
    }
    let said = NewRecord {
        request,
        idempotency_key,
        digest,
        time,
        changes,
    };
    input.end(ChangeRecord { sequence, said })
}

/// Which image a folder is read from, and what the log has to say beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::image) struct State {
    /// The number of the image in its file name.
    pub(in crate::image) generation: u64,
    /// The sequence of the last transaction that the image holds.
    pub(in crate::image) base: u64,
}

impl State {
    pub(in crate::image) fn write(self) -> Vec<u8> {
        let mut out = vec![VERSION];
        write_varint(&mut out, self.generation);
        write_varint(&mut out, self.base);
        sealed(out, 0)
    }

    pub(in crate::image) fn read(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(0, bytes)?;
        let generation = input.number()?;
        let base = input.number()?;
        input.end(State { generation, base })
    }
}

/// What the changes were made to that a merge has put into the image, so that the same data have the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::image) struct Origin {
    /// What the first of them was made to.
    pub(in crate::image) source: String,
    /// What tells them from others, by [`history_after`].
    pub(in crate::image) history: u64,
}

impl Origin {
    /// Writes the origin of an image by its number.
    pub(in crate::image) fn write(&self, generation: u64) -> Vec<u8> {
        let mut out = vec![VERSION];
        write_text(&mut out, &self.source);
        write_varint(&mut out, self.history);
        sealed(out, generation)
    }

    /// Reads the origin of an image; `None` if it is that of another, after which earlier versions of the program have
    /// put one in place.
    pub(in crate::image) fn read(generation: u64, bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(generation, bytes)?;
        let source = input.text()?.to_owned();
        let history = input.number()?;
        input.end(Origin { source, history })
    }
}

/// Reads a content under a right checksum as everything that the log holds, to test that with what is not
/// written there.
///
/// # Panics
/// When something is read that is written and read as something else.
#[doc(hidden)]
pub fn check_log_entry(sequence: u64, content: &[u8]) {
    let bytes = sealed([&[VERSION], content].concat(), sequence);
    if let Some(change) = read_change(sequence, &bytes) {
        let again = write_change(sequence, &change);
        assert_eq!(read_change(sequence, &again), Some(change));
    }
    if let Some(record) = read_record(sequence, &bytes) {
        let again = write_record(&record);
        assert_eq!(read_record(sequence, &again), Some(record));
    }
    if let Some(state) = State::read(&bytes) {
        assert_eq!(State::read(&state.write()), Some(state));
    }
    if let Some(origin) = Origin::read(sequence, &bytes) {
        let again = origin.write(sequence);
        assert_eq!(Origin::read(sequence, &again), Some(origin));
    }
}

/// Returns bytes with their checksum.
fn sealed(mut bytes: Vec<u8>, sequence: u64) -> Vec<u8> {
    let checksum = checksum(sequence, &bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// Returns the bytes before the checksum if it is theirs.
fn whole(sequence: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (content, wanted) = bytes.split_last_chunk::<4>()?;
    let is_whole = checksum(sequence, content) == u32::from_le_bytes(*wanted);
    is_whole.then_some(content)
}

fn checksum(sequence: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&sequence.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn write_term(out: &mut Vec<u8>, term: TermRef<'_>) {
    match term {
        TermRef::NamedNode(node) => {
            out.push(IRI);
            write_text(out, node.as_str());
        }
        TermRef::BlankNode(node) => {
            out.push(BLANK);
            write_text(out, node.as_str());
        }
        TermRef::Literal(literal) => match literal.language() {
            Some(tag) => {
                out.push(TAGGED);
                write_text(out, literal.value());
                write_text(out, tag);
            }
            None if literal.datatype() == xsd::STRING => {
                out.push(PLAIN);
                write_text(out, literal.value());
            }
            None => {
                out.push(TYPED);
                write_text(out, literal.value());
                write_text(out, literal.datatype().as_str());
            }
        },
        #[allow(
            unreachable_patterns,
            reason = "other kinds of terms are a feature of oxrdf"
        )]
        _ => unreachable!("triples about triples are refused where quads are applied"),
    }
}

/// Bytes that are read.
struct Input<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Input<'b> {
    /// Checks the checksum and the version.
    fn new(sequence: u64, bytes: &'b [u8]) -> Option<Self> {
        let content = whole(sequence, bytes)?;
        (*content.first()? == VERSION).then_some(Input {
            bytes: content,
            at: 1,
        })
    }

    /// Returns what was read if nothing is left.
    fn end<T>(&self, read: T) -> Option<T> {
        (self.at == self.bytes.len()).then_some(read)
    }

    fn number(&mut self) -> Option<u64> {
        varint(self.bytes, &mut self.at)
    }

    /// Reads how many things follow, each of which takes a byte or more.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len() - self.at).then_some(count)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            NO => Some(false),
            YES => Some(true),
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.count()?;
        let text = &self.bytes[self.at..self.at + length];
        self.at += length;
        std::str::from_utf8(text).ok()
    }

    fn term(&mut self) -> Option<Term> {
        let kind = self.byte()?;
        let text = self.text()?;
        Some(match kind {
            IRI => NamedNode::new_unchecked(text).into(),
            BLANK => BlankNode::new_unchecked(text).into(),
            PLAIN => Literal::new_simple_literal(text).into(),
            TAGGED => {
                let tag = self.text()?;
                Literal::new_language_tagged_literal_unchecked(text, tag).into()
            }
            TYPED => {
                let datatype = NamedNode::new_unchecked(self.text()?);
                Literal::new_typed_literal(text, datatype).into()
            }
            _ => return None,
        })
    }

    fn quads(&mut self, terms: &[Term]) -> Option<Vec<Quad>> {
        // Each quad takes four bytes or more.
        let count = self.count()?;
        if count > (self.bytes.len() - self.at) / 4 {
            return None;
        }
        let mut quads = Vec::with_capacity(count);
        for _ in 0..count {
            quads.push(self.quad(terms)?);
        }
        Some(quads)
    }

    fn quad(&mut self, terms: &[Term]) -> Option<Quad> {
        let mut term = || {
            let number = usize::try_from(self.number()?).ok()?;
            Some(match number.checked_sub(1) {
                None => None,
                Some(place) => Some(terms.get(place)?.clone()),
            })
        };
        let (subject, predicate, object, graph) = (term()?, term()?, term()?, term()?);
        let node = |term: Term| match term {
            Term::NamedNode(node) => Some(NamedOrBlankNode::from(node)),
            Term::BlankNode(node) => Some(NamedOrBlankNode::from(node)),
            _ => None,
        };
        let Some(Term::NamedNode(predicate)) = predicate else {
            return None;
        };
        let graph_name = match graph {
            None => GraphName::DefaultGraph,
            Some(graph) => match node(graph)? {
                NamedOrBlankNode::NamedNode(graph) => graph.into(),
                NamedOrBlankNode::BlankNode(graph) => graph.into(),
            },
        };
        Some(Quad {
            subject: node(subject?)?,
            predicate,
            object: object?,
            graph_name,
        })
    }

    fn group(&mut self) -> Option<ChangedObjects> {
        let kind = usize::try_from(self.number()?).ok()?;
        let object_type = self.text()?.to_owned();
        let mut objects = Vec::new();
        for _ in 0..self.count()? {
            objects.push(NamedNode::new_unchecked(self.text()?));
        }
        Some(ChangedObjects {
            kind: *ChangeKind::ALL.get(kind)?,
            object_type,
            objects,
        })
    }
}
