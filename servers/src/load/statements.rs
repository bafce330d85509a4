//! The text of N-Triples, N-Quads, Turtle and TriG as the parsers are given it.
//!
//! The parsers go on after a malformed statement, but not always at the right place: a literal with
//! a malformed byte turns what is inside of literals into what is outside of them for the rest of the
//! file, and the graph that a statement stands in is forgotten. So they are given
//!
//! - nothing but whole tokens, so that none is read twice;
//! - one byte that begins no token in place of a token that is malformed;
//! - after a malformed statement, what brings them back to where statements begin, inside the same
//!   graph.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::source::{PIECE_BYTES, ReadPosition};
use super::tokens::{Part, Scanner};

/// Maximum size of a token; the buffers of the parsers hold 16 MiB.
pub(super) const TOKEN_BYTES: usize = 15 << 20;

/// From this length on a line is broken between two tokens, since the parsers keep a line whole.
const LINE_BYTES: usize = 512 << 10;

/// A byte that begins no token: the parsers fail at it, whatever they expect.
const NO_TOKEN: u8 = 0x01;

/// What is known of malformed statements, shared with whoever hears of them from the parser.
///
/// Offsets are those of the text that the parser was given.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// Where [`NO_TOKEN`] stands, in order, and for what: nothing where it resets the parser.
    replaced: VecDeque<(u64, Option<Malformed>)>,
    /// Where the statement is malformed that is being read.
    failed_at: Option<u64>,
    /// Where lines were broken that are not broken in the file.
    breaks: Vec<u64>,
    /// Bytes of malformed statements, each from its first error to its end.
    pub(super) unread: u64,
    /// Bytes of the statement that the file ends in.
    open: u64,
    /// The file seems to be cut off, if the parser finds its end malformed.
    pub(super) cut_off: Option<CutOff>,
}

/// A token that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: u64,
    pub(super) message: &'static str,
}

/// The end of a file inside a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutOff {
    /// Where the statement or its last token begins.
    pub(super) line: u64,
    /// Bytes from there on.
    pub(super) bytes: u64,
}

/// What an error of the parser means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The parser was reset, or the statement is known to be malformed.
    Nothing,
    /// A token was replaced.
    Token(Malformed),
    /// The parser has found it by itself, so many lines too far down.
    Found { extra_lines: u64 },
}

impl Recovery {
    /// Notes that the parser failed at `offset`, and tells what that means.
    pub(super) fn failed(&mut self, offset: u64) -> Meaning {
        while self.replaced.front().is_some_and(|(at, _)| *at < offset) {
            self.replaced.pop_front();
        }
        let replaced = match self.replaced.front() {
            Some((at, _)) if *at == offset => self.replaced.pop_front(),
            _ => None,
        };
        if let Some((_, None)) = replaced {
            return Meaning::Nothing;
        }
        if self.failed_at.is_some() {
            return Meaning::Nothing;
        }
        self.failed_at = Some(offset);
        // At the end of the file nobody counts them any more.
        self.unread += std::mem::take(&mut self.open);
        match replaced {
            Some((_, Some(malformed))) => Meaning::Token(malformed),
            _ => Meaning::Found {
                extra_lines: self.breaks.partition_point(|at| *at <= offset) as u64,
            },
        }
    }

    /// Tells whether the statement that is being read is malformed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed_at.is_some()
    }
}

/// Where statements stand.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Graph {
    /// Outside of graph blocks.
    None,
    /// In the block of the graph with this name, which is empty for the default graph.
    Named(Vec<u8>),
    /// In the block of a graph without a name, to which there is no way back.
    Anonymous,
}

/// Gives the text statement by statement, and a statement line by line.
pub(super) struct Statements<R> {
    inner: R,
    /// Whether a dot ends a statement: Turtle and TriG. Otherwise the end of a line does.
    terse: bool,
    graphs: bool,
    scanner: Scanner,
    raw: Vec<u8>,
    /// Where the next part begins in `raw`.
    start: usize,
    ended: bool,
    piece: Vec<u8>,
    given: usize,
    /// Bytes in all pieces before this one.
    handed: u64,
    /// Bytes of the line that is being handed on.
    line_bytes: usize,
    line: u64,
    place: Rc<ReadPosition>,
    recovery: Rc<RefCell<Recovery>>,
    statement: Statement,
    graph: Graph,
    /// Leaves out everything up to the end of the graph block.
    skipping: bool,
    last_token: Vec<u8>,
    at_line_start: bool,
    is_done: bool,
}

/// The statement that is being read.
#[derive(Debug, Default)]
struct Statement {
    /// Bytes of the file.
    bytes: u64,
    line: u64,
    /// Tokens so far.
    tokens: u64,
    /// Open brackets and parentheses.
    depth: u64,
    /// Bytes of the file that the parser is not given.
    left_out: u64,
    /// Ends with its IRI.
    is_directive: bool,
    /// Ends with the line, since its last token is not closed.
    ends_with_line: bool,
    /// The next byte belongs to another statement.
    is_over: bool,
}

impl<R: BufRead> Statements<R> {
    pub(super) fn new(inner: R, terse: bool, graphs: bool) -> Self {
        Statements {
            inner,
            terse,
            graphs,
            scanner: Scanner::new(terse),
            raw: Vec::new(),
            start: 0,
            ended: false,
            piece: Vec::new(),
            given: 0,
            handed: 0,
            line_bytes: 0,
            line: 1,
            place: Rc::default(),
            recovery: Rc::default(),
            statement: Statement::default(),
            graph: Graph::None,
            skipping: false,
            last_token: Vec::new(),
            at_line_start: true,
            is_done: false,
        }
    }

    pub(super) fn place(&self) -> Rc<ReadPosition> {
        Rc::clone(&self.place)
    }

    pub(super) fn recovery(&self) -> Rc<RefCell<Recovery>> {
        Rc::clone(&self.recovery)
    }

    /// Makes the next piece; an empty one is the end.
    fn advance(&mut self) -> io::Result<()> {
        self.handed += self.piece.len() as u64;
        self.piece.clear();
        self.given = 0;
        if self.statement.is_over {
            self.end_statement();
        }
        let begins_line = self.at_line_start;
        let mut tokens = 0;
        let mut line = self.line;
        loop {
            let text = self.raw.get(self.start..).unwrap_or_default();
            let Some((length, part)) = self.scanner.next(text, self.ended) else {
                if self.ended {
                    self.end();
                    break;
                }
                if self.piece.len() >= PIECE_BYTES as usize {
                    break;
                }
                self.read_more()?;
                continue;
            };
            let is_token = !matches!(part, Part::LineEnd | Part::Blank | Part::Comment);
            let before = self.line;
            let is_complete = self.take(length, part)?;
            if is_token {
                tokens += 1;
                // The line may have ended with it.
                line = match part {
                    Part::Punctuation(_) => before,
                    _ => self.line,
                };
            }
            if is_complete {
                break;
            }
        }
        if !self.piece.is_empty() {
            let begins = begins_line.then_some(self.piece.as_slice());
            self.place.enter(line, begins, tokens > 0);
        }
        Ok(())
    }

    fn read_more(&mut self) -> io::Result<()> {
        self.raw.drain(..self.start);
        self.start = 0;
        if self.raw.len() > TOKEN_BYTES {
            self.place.at(self.line);
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let mut piece = self.inner.by_ref().take(PIECE_BYTES);
        self.ended = piece.read_until(b'\n', &mut self.raw)? == 0;
        Ok(())
    }

    /// Takes the next part; tells whether the piece is complete.
    fn take(&mut self, length: usize, part: Part) -> io::Result<bool> {
        let from = self.start;
        self.start += length;
        self.statement.bytes += length as u64;
        if part == Part::LineEnd {
            self.end_line();
            return Ok(true);
        }
        self.at_line_start = false;
        match part {
            Part::LineEnd | Part::Comment => {}
            Part::CutOff => {
                self.recovery.borrow_mut().cut_off = Some(CutOff {
                    line: self.line,
                    bytes: length as u64,
                });
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Part::Blank => self.hand_on(from),
            _ if self.skipping && part != Part::Punctuation(b'}') => self.leave_out(from),
            Part::Punctuation(byte) => return Ok(self.punctuation(byte, from)),
            Part::Text => {
                self.break_line(length);
                self.directive(from);
                self.token(from);
                return Ok(self.statement.is_over);
            }
            Part::Malformed(message) => self.malformed(from, message),
            Part::Unclosed(message) => {
                self.malformed(from, message);
                self.statement.ends_with_line |= self.statement.depth == 0;
            }
        }
        Ok(false)
    }

    fn end_line(&mut self) {
        self.piece.push(b'\n');
        self.line += 1;
        self.line_bytes = 0;
        self.at_line_start = true;
        self.statement.is_over |= !self.terse || self.statement.ends_with_line;
    }

    /// Handles a token that is not text; tells whether the piece is complete.
    fn punctuation(&mut self, byte: u8, from: usize) -> bool {
        let begins_block = byte == b'{' && self.graphs && self.graph == Graph::None;
        let name = begins_block.then(|| match self.statement.tokens {
            0 => Vec::new(),
            _ => std::mem::take(&mut self.last_token),
        });
        match self.skipping {
            true => self.leave_out(from),
            false => self.token(from),
        }
        self.skipping &= byte != b'}';
        match byte {
            b'.' => {}
            b'(' | b'[' => self.statement.depth += 1,
            b')' | b']' => self.statement.depth = self.statement.depth.saturating_sub(1),
            b'}' => self.graph = Graph::None,
            _ => {}
        }
        if let Some(name) = name {
            self.graph = match name.as_slice() {
                b"]" => Graph::Anonymous,
                _ => Graph::Named(name),
            };
            // What follows is a statement of its own.
            self.statement.tokens = 0;
        }
        if !self.terse || !matches!(byte, b'.' | b'}') {
            return false;
        }
        self.statement.is_over = true;
        // The parser looks one byte ahead.
        self.piece.push(b' ');
        let rest = self.raw.get(self.start..).unwrap_or_default();
        if let Some(end) = line_end(rest) {
            self.start += end;
            self.end_line();
        }
        true
    }

    /// Hands a token on.
    fn token(&mut self, from: usize) {
        self.begin_token();
        let token = self.raw.get(from..self.start).unwrap_or_default();
        if self.graphs && self.graph == Graph::None {
            self.last_token.clear();
            self.last_token.extend_from_slice(token);
        }
        if matches!(token.first(), Some(b'"' | b'\'')) {
            self.line += line_feeds(token) as u64;
        }
        self.hand_on(from);
    }

    /// Notices directives that end without a dot, as SPARQL has them.
    fn directive(&mut self, from: usize) {
        let token = self.raw.get(from..self.start).unwrap_or_default();
        let is_name = |name: &&[u8]| token.eq_ignore_ascii_case(name);
        if self.statement.tokens == 0 {
            self.statement.is_directive = [&b"prefix"[..], b"base"].iter().any(is_name);
        }
        let is_iri = token.first() == Some(&b'<');
        self.statement.is_over |= self.terse && self.statement.is_directive && is_iri;
    }

    /// Ends a line that becomes too long with the next token.
    fn break_line(&mut self, length: usize) {
        if self.terse && self.line_bytes > 0 && self.line_bytes + length > LINE_BYTES {
            let offset = self.offset();
            self.recovery.borrow_mut().breaks.push(offset);
            self.piece.push(b'\n');
            self.line_bytes = 0;
        }
    }

    fn begin_token(&mut self) {
        if self.statement.tokens == 0 {
            self.statement.line = self.line;
        }
        self.statement.tokens += 1;
    }

    /// Hands on a byte at which the parser fails, in place of a token.
    fn malformed(&mut self, from: usize, message: &'static str) {
        self.begin_token();
        let offset = self.offset();
        let line = self.line;
        let malformed = Malformed { line, message };
        let mut recovery = self.recovery.borrow_mut();
        recovery.replaced.push_back((offset, Some(malformed)));
        drop(recovery);
        self.piece.push(NO_TOKEN);
        self.leave_out(from);
        self.statement.left_out -= 1;
    }

    /// Leaves out a token, but not its line feeds, so that lines keep their numbers.
    fn leave_out(&mut self, from: usize) {
        let token = self.raw.get(from..self.start).unwrap_or_default();
        let breaks = line_feeds(token);
        self.piece.resize(self.piece.len() + breaks, b'\n');
        self.line += breaks as u64;
        self.statement.left_out += (token.len() - breaks) as u64;
    }

    fn hand_on(&mut self, from: usize) {
        let text = self.raw.get(from..self.start).unwrap_or_default();
        self.line_bytes += text.len();
        self.piece.extend_from_slice(text);
    }

    fn offset(&self) -> u64 {
        self.handed + self.piece.len() as u64
    }

    /// Counts what was not read of the last statement, and brings the parser to where it can read
    /// the next one.
    fn end_statement(&mut self) {
        let has_failed = self.count();
        self.statement = Statement::default();
        let mut recovery = self.recovery.borrow_mut();
        recovery.failed_at = None;
        if !has_failed || !self.terse {
            return;
        }
        recovery.replaced.push_back((self.handed, None));
        drop(recovery);
        self.piece.extend_from_slice(&[NO_TOKEN, b' ', b'.', b' ']);
        match &self.graph {
            Graph::None => {}
            Graph::Named(name) => {
                self.piece.extend_from_slice(name);
                self.piece.extend_from_slice(b" { ");
            }
            Graph::Anonymous => self.skipping = true,
        }
    }

    /// Counts what was not read of the statement, and tells whether it is malformed.
    fn count(&mut self) -> bool {
        let offset = self.offset();
        let mut recovery = self.recovery.borrow_mut();
        let left_out = self.statement.left_out;
        match recovery.failed_at {
            Some(failed_at) => recovery.unread += offset.saturating_sub(failed_at) + left_out,
            // Statements of a graph to which there is no way back.
            None => recovery.unread += left_out,
        }
        recovery.failed_at.is_some()
    }

    /// Looks at the end of the file whether a statement is open.
    fn end(&mut self) {
        if self.is_done {
            return;
        }
        self.is_done = true;
        self.count();
        let statement = &self.statement;
        if statement.tokens == 0 && self.graph == Graph::None || statement.is_over {
            return;
        }
        let mut recovery = self.recovery.borrow_mut();
        recovery.open = statement.bytes;
        // A file that was written to its end has one at its last line too.
        if !self.at_line_start {
            recovery.cut_off = Some(CutOff {
                line: statement.line.max(1),
                bytes: statement.bytes,
            });
        }
    }
}

fn line_feeds(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the length up to the end of the line, when nothing but blanks comes before it.
fn line_end(text: &[u8]) -> Option<usize> {
    let blank = text
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
    let blank = blank.count();
    (text.get(blank) == Some(&b'\n')).then_some(blank + 1)
}

impl<R: BufRead> Read for Statements<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A piece may be without bytes where all of it is left out.
        while self.given == self.piece.len() && !self.is_done {
            self.advance()?;
        }
        let n = self
            .piece
            .get(self.given..)
            .unwrap_or_default()
            .read(buffer)?;
        self.given += n;
        Ok(n)
    }
}
