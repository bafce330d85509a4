//! The text of N-Triples, N-Quads, Turtle and TriG as the parsers are given it.
//!
//! The parsers are strict, and go on after a malformed statement, but not always at the right place. So they are given
//!
//! - nothing but whole tokens, so that none is read twice;
//! - one byte that begins no token in place of a token that is malformed, together with the name that
//!   it is written to without a space, so that no name is kept that was cut;
//! - a well-formed term in place of an IRI or a language tag that is malformed on its own
//!   ([`StandIns`](super::stand_ins::StandIns));
//! - no `VERSION`, since what it announces shows where it is used;
//! - after a malformed statement, what brings them back to where statements begin, inside the same
//!   graph.
//!
//! # Why the parsers do not do this alone
//!
//! oxttl 0.2 says where it fails, and looks for the next dot then. With that, and with a small scanner that finds the end
//! of a statement at which it fails, `docs/loading.md` would be wrong in these points, which
//! `servers/tests/all/malformed_data.rs` and `malformed_documents.rs` test:
//!
//! - It takes `( 2024-01-01 )` and `( 1.5.6 )` for lists of several numbers, without an error at which anything could
//!   begin.
//! - It gives out `e:AT` of `e:AT&T` and `"x"@en` of `"x"@en_US` before it fails.
//! - Its lenient mode is not limited to what costs no more than its triple, IRIs and language tags: it takes any escape
//!   in names, line ends in short literals and pairs of surrogates, too.
//! - Statements have no positions, while a finding about a term of one says the line.
//! - Behind a byte that is no UTF-8, a malformed escape or a missing quote it goes on inside of the literal, and behind
//!   `e:%` or `e:\` behind the quote that follows.
//! - It forgets in the block of which graph it is, and does not say it either.
//! - It takes the directive behind a `VERSION` for a part of it, and keeps dot segments of bases.
//! - It reads a token again from its beginning for each piece that arrives.
//!
//! Reading only such a statement once more, in another way, is no way out: a statement may be larger than the memory, such
//! as a list of all members or the block of a graph, and what its first part gave has been handed on. Lines of
//! N-Triples and N-Quads are read by a strict parser first, and come here in the blocks at which it fails.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use crate::bounds::{PIECE_BYTES, TOKEN_BYTES};
use crate::directives::{Declares, Directive, VERSIONS};
use crate::position::ReadPosition;
use crate::terms::{Terms, Written};
use crate::tokens::{NO_PUNCTUATION, Part, Scanner, is_word};

/// From this length on a line is broken between two tokens, since the parsers keep a line whole.
const LINE_BYTES: usize = 512 << 10;

/// A byte that begins no token: the parsers fail at it, whatever they expect.
const NO_TOKEN: u8 = 0x01;

/// What is known of malformed statements, shared with whoever hears of them from the parser.
///
/// Offsets are those of the text that the parser was given.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Where [`NO_TOKEN`] stands, in order, and for what: nothing where it resets the parser.
    replaced: VecDeque<(u64, Option<Malformed>)>,
    /// Where the statement is malformed that is being read.
    failed_at: Option<u64>,
    /// Where lines were broken that are not broken in the file.
    breaks: Vec<u64>,
    /// Bytes of malformed statements, each from its first error to its end.
    pub(crate) unread: u64,
    /// Bytes of the statement that the file ends in.
    open: u64,
    /// The file seems to be cut off, if the parser finds its end malformed.
    pub(crate) cut_off: Option<CutOff>,
}

/// A token that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: u64,
    pub(crate) message: &'static str,
}

/// The end of a file inside a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutOff {
    /// Where the statement or its last token begins.
    pub(crate) line: u64,
    /// Bytes from there on.
    pub(crate) bytes: u64,
}

/// What an error of the parser means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The parser was reset, or the statement is known to be malformed.
    Nothing,
    /// A token was replaced.
    Token(Malformed),
    /// The parser has found it by itself, so many lines too far down.
    Found { extra_lines: u64 },
}

impl Recovery {
    /// Notes that the parser failed at `offset`, and tells what that means.
    pub(crate) fn failed(&mut self, offset: u64) -> Meaning {
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
        // At the end of the file no one counts them any more.
        self.unread += std::mem::take(&mut self.open);
        match replaced {
            Some((_, Some(malformed))) => Meaning::Token(malformed),
            _ => Meaning::Found {
                extra_lines: self.breaks.partition_point(|at| *at <= offset) as u64,
            },
        }
    }

    /// Returns whether the statement that is being read is malformed.
    pub(crate) fn has_failed(&self) -> bool {
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

/// Which of the syntaxes the text is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Whether a dot ends a statement: Turtle and TriG.
    pub(crate) terse: bool,
    /// Whether statements stand in blocks of graphs: TriG.
    pub(crate) graphs: bool,
}

/// Gives the text statement by statement, and a statement line by line.
pub(crate) struct Statements<R> {
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
    terms: Terms,
    adjacent: Option<Adjacent>,
    graph: Graph,
    /// Leaves out everything up to the end of the graph block.
    skipping: bool,
    last_token: Vec<u8>,
    at_line_start: bool,
    is_done: bool,
}

/// The token that ends where the next part begins.
#[derive(Clone, Copy, Debug)]
struct Adjacent {
    /// Where it begins in the piece.
    start: usize,
    kind: Written,
}

const CUT_LITERAL: &str =
    "text follows a literal without a space; a quote inside a literal is written `\\\"`";
const CUT_TAG: &str = "malformed language tag: only letters, digits and hyphens are allowed";
const CUT_NAME: &str = "a language tag follows a name; a literal is written in quotes";
const NO_VERSION: &str = "VERSION is followed by \"1.1\", \"1.2\" or \"1.2-basic\"";

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
    /// Open parentheses.
    lists: u64,
    directive: Option<Directive>,
    /// Ends with the line, since its last token is not closed.
    ends_with_line: bool,
    /// The next byte belongs to another statement.
    is_over: bool,
}

impl<R: BufRead> Statements<R> {
    pub(crate) fn new(inner: R, form: Form, terms: Terms) -> Self {
        let Form { terse, graphs } = form;
        Statements {
            inner,
            terse,
            graphs,
            terms,
            adjacent: None,
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

    pub(crate) fn place(&self) -> Rc<ReadPosition> {
        Rc::clone(&self.place)
    }

    pub(crate) fn recovery(&self) -> Rc<RefCell<Recovery>> {
        Rc::clone(&self.recovery)
    }

    /// Makes the next piece; an empty one is the end.
    fn advance(&mut self) -> io::Result<()> {
        self.handed += self.piece.len() as u64;
        self.piece.clear();
        self.given = 0;
        self.adjacent = None;
        if self.statement.is_over {
            self.end_statement();
        }
        // Without dots that end statements, each line is one.
        let begins_line = self.at_line_start && self.terse;
        let mut tokens = 0;
        let mut line = self.line;
        loop {
            let text = self.raw.get(self.start..).unwrap_or_default();
            let Some((length, part)) = self.scanner.next(text, self.ended) else {
                if self.ended {
                    self.end();
                    break;
                }
                if self.piece.len() >= PIECE_BYTES as usize && self.adjacent.is_none() {
                    break;
                }
                self.read_more()?;
                continue;
            };
            if self.may_end_before(length, part) {
                // It is read once more.
                break;
            }
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

    /// Returns whether the piece is full and may end before the next part: not where that might take
    /// back the token that it is written to.
    fn may_end_before(&self, length: usize, part: Part) -> bool {
        if self.piece.len() < PIECE_BYTES as usize {
            return false;
        }
        let Some(adjacent) = self.adjacent else {
            return true;
        };
        let token = self
            .raw
            .get(self.start..self.start + length)
            .unwrap_or_default();
        match token.first() {
            _ if part != Part::Text => false,
            Some(b'"' | b'\'') => true,
            Some(b'@') => adjacent.kind == Written::Tag && self.terms.read(token).0 == Written::Tag,
            _ => false,
        }
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
            if !self.terse && self.declares(Declares::Version) && self.statement.tokens == 1 {
                self.no_version(self.start);
            }
            self.end_line();
            return Ok(true);
        }
        self.at_line_start = false;
        let adjacent = self.adjacent.take();
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
            Part::Punctuation(b'^') if matches!(adjacent, Some(of) if of.kind != Written::Literal) =>
            {
                self.malformed(from, NO_PUNCTUATION, adjacent);
            }
            _ if self.is_in_version(part) => {
                self.version(from);
                self.statement.ends_with_line |= matches!(part, Part::Unclosed(_));
                return Ok(self.statement.is_over);
            }
            Part::Punctuation(byte) => return Ok(self.punctuation(byte, from)),
            Part::Text => {
                self.text(from, adjacent);
                return Ok(self.statement.is_over);
            }
            Part::Malformed(message) => self.malformed(from, message, adjacent),
            Part::Unclosed(message) => {
                self.malformed(from, message, adjacent);
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
        let is_left_out = self.declares(Declares::Version) && byte == b'.';
        match self.skipping {
            true => self.leave_out(from),
            false if is_left_out && self.statement.tokens == 1 => {
                self.malformed(from, NO_VERSION, None);
            }
            false if is_left_out => {}
            false => {
                self.token(from);
            }
        }
        self.skipping &= byte != b'}';
        let Statement { depth, lists, .. } = &mut self.statement;
        match byte {
            b'(' | b'[' => *depth += 1,
            b')' | b']' => *depth = depth.saturating_sub(1),
            b'}' => self.graph = Graph::None,
            _ => {}
        }
        match byte {
            b'(' => *lists += 1,
            b')' => *lists = lists.saturating_sub(1),
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

    /// Takes a token that is well-formed on its own.
    fn text(&mut self, from: usize, adjacent: Option<Adjacent>) {
        if self.statement.tokens == 0 {
            let token = self.raw.get(from..self.start).unwrap_or_default();
            self.statement.directive = Directive::new(token);
        }
        if self.declares(Declares::Version) {
            return self.version(from);
        }
        if let Some(fault) = self.cut(from, adjacent) {
            return self.malformed(from, fault, adjacent);
        }
        if adjacent.is_none() {
            self.break_line(self.start - from);
        }
        let start = self.piece.len();
        let kind = self.token(from);
        self.adjacent = match kind {
            Written::Malformed(message) => return self.malformed(from, message, adjacent),
            Written::Iri => None,
            kind => Some(Adjacent { start, kind }),
        };
        let directive = self.statement.directive;
        let ends_directive = self.terse && directive.is_some_and(|directive| directive.is_sparql);
        self.statement.is_over |= ends_directive && kind == Written::Iri;
    }

    fn declares(&self, what: Declares) -> bool {
        let directive = self.statement.directive;
        directive.is_some_and(|directive| directive.declares == what)
    }

    /// Returns whether a token that is no text is a part of a directive that announces a version: any
    /// but those that end statements.
    fn is_in_version(&self, part: Part) -> bool {
        let may_be = match part {
            Part::Punctuation(byte) => !matches!(byte, b'.' | b'}'),
            Part::Malformed(_) | Part::Unclosed(_) => true,
            _ => false,
        };
        may_be && self.declares(Declares::Version)
    }

    /// Returns what is wrong where the token and the one before it have no space between them: the
    /// parser would keep the first, which is a part of something else.
    fn cut(&self, from: usize, adjacent: Option<Adjacent>) -> Option<&'static str> {
        let token = self.raw.get(from..self.start).unwrap_or_default();
        let begins_word = token.first().is_some_and(|byte| is_word(*byte));
        match adjacent?.kind {
            // In a list, a space may be missing there.
            Written::Literal if self.statement.lists > 0 || token.starts_with(b"_:") => None,
            Written::Literal if begins_word => Some(CUT_LITERAL),
            Written::Tag if begins_word => Some(CUT_TAG),
            Written::Name if token.first() == Some(&b'@') => Some(CUT_NAME),
            _ => None,
        }
    }

    /// Takes a token of a directive that announces a version, which the parser does not know.
    fn version(&mut self, from: usize) {
        let token = self.raw.get(from..self.start).unwrap_or_default();
        let version = match token {
            [b'"', version @ .., b'"'] | [b'\'', version @ .., b'\''] => Some(version),
            _ => None,
        };
        let is_sparql = self
            .statement
            .directive
            .is_some_and(|directive| directive.is_sparql);
        match (self.statement.tokens, version) {
            (0, _) => self.begin_token(),
            (1, Some(version)) if VERSIONS.contains(&version) => {
                self.begin_token();
                self.statement.is_over |= self.terse && is_sparql;
            }
            (1, _) if is_sparql && self.statement.line < self.line => self.no_version(from),
            (tokens, _) => {
                self.malformed(from, NO_VERSION, None);
                self.statement.ends_with_line |= is_sparql && tokens == 1;
            }
        }
    }

    /// Ends a directive that lacks its version; what begins at `from` is read next.
    fn no_version(&mut self, from: usize) {
        self.statement.bytes -= (self.start - from) as u64;
        self.start = from;
        self.statement.left_out += b"VERSION".len() as u64;
        self.malformed(from, NO_VERSION, None);
        // The parser looks one byte ahead.
        self.piece.push(b' ');
        self.statement.is_over = true;
    }

    /// Hands a token on, or what the parser reads in its place.
    fn token(&mut self, from: usize) -> Written {
        let token = self.raw.get(from..self.start).unwrap_or_default();
        let is_first = self.statement.tokens == 0;
        let (kind, other) = if is_first && token.first() == Some(&b'@') {
            (Written::Name, None)
        } else {
            self.terms.read(token)
        };
        if matches!(kind, Written::Malformed(_)) {
            return kind;
        }
        if kind == Written::Iri && self.declares(Declares::Base) {
            self.terms.set_base(token);
        }
        let handed = other.as_deref().unwrap_or(token);
        if self.graphs && self.graph == Graph::None {
            self.last_token.clear();
            self.last_token.extend_from_slice(handed);
        }
        self.line_bytes += handed.len();
        self.piece.extend_from_slice(handed);
        let breaks = line_feeds(token) as u64;
        self.begin_token();
        if kind == Written::Literal {
            self.line += breaks;
        }
        kind
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

    /// Hands on a byte at which the parser fails, in place of a token and of the one that it is written
    /// to.
    fn malformed(&mut self, from: usize, message: &'static str, adjacent: Option<Adjacent>) {
        self.begin_token();
        if let Some(Adjacent { start, .. }) = adjacent {
            self.statement.left_out += (self.piece.len() - start) as u64;
            self.piece.truncate(start);
        }
        let offset = self.offset();
        let line = match message {
            // It may be noticed on another line.
            NO_VERSION => self.statement.line,
            _ => self.line,
        };
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::BufReader;

    use super::*;
    use crate::stand_ins::StandIns;

    /// A statement that goes on with the same text for ever; counts what is read of it.
    struct Endless {
        start: &'static [u8],
        text: &'static [u8],
        count: Rc<Cell<usize>>,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let from = self.count.get();
            for (at, byte) in (from..).zip(buffer.iter_mut()) {
                *byte = match self.start.get(at) {
                    Some(byte) => *byte,
                    None => self.text[(at - self.start.len()) % self.text.len()],
                };
            }
            self.count.set(from + buffer.len());
            Ok(buffer.len())
        }
    }

    #[test]
    fn tokens_without_spaces_are_handed_on_before_the_next_ones_are_read() {
        const BYTES: usize = 1 << 20;
        const PIECE: usize = PIECE_BYTES as usize;
        for (text, terse) in [
            ("\"a\"", false),
            ("\"a\"", true),
            ("'a'\"\"\"b\"\"\"", true),
            ("\"a\"@en", true),
            ("@en", true),
            ("_:a\"x\"", true),
            ("<http://e/o>", true),
        ] {
            let count = Rc::new(Cell::new(0));
            let source = Endless {
                start: b"<http://e/s> <http://e/p> ",
                text: text.as_bytes(),
                count: Rc::clone(&count),
            };
            let form = Form {
                terse,
                graphs: false,
            };
            let terms = Terms::new(Rc::new(StandIns::new()), None);
            let mut statements = Statements::new(BufReader::new(source), form, terms);
            let mut given = vec![0; BYTES];
            statements.read_exact(&mut given).unwrap();
            assert!(count.get() < BYTES + 4 * PIECE, "{text}: {}", count.get());
            let lines = given.split(|byte| *byte == b'\n');
            let longest = lines.map(<[u8]>::len).max().unwrap();
            assert!(
                !terse || longest < LINE_BYTES + 4 * PIECE,
                "{text}: {longest}"
            );
        }
    }
}
