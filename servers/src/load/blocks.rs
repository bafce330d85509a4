//! Lines of N-Triples and N-Quads, parsed in blocks by several threads.
//!
//! The thread that reads cuts the text at line ends. What comes out of a block is a part of its own, and parts
//! are handed on in the order of the file: results, findings and errors do not depend on the number of threads.

use std::io::{self, BufRead, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use super::parse::{Ended, FileParser, Parsed, Part, part};

/// Bytes of a block: enough that most terms of a block are repeated in it.
const BLOCK_BYTES: usize = 1 << 20;

/// Maximum size of a line in a block. It keeps blocks below the maximum size of a token, and of what the
/// parsers buffer.
const LINE_BYTES: usize = 4 << 20;

/// Maximum number of threads: one thread cannot take what more of them parse.
const MAX_THREADS: usize = 8;

/// How lines are parsed in blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockOptions {
    /// Bytes of a block, unless a line is longer.
    pub(super) bytes: usize,
    /// Bytes of a line from which on the rest of the text is parsed by the thread that reads it.
    pub(super) line_bytes: usize,
    /// Threads that parse blocks.
    pub(super) threads: usize,
}

impl BlockOptions {
    /// Returns the options for the cores of this machine.
    pub(super) fn for_machine() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        BlockOptions {
            bytes: BLOCK_BYTES,
            line_bytes: LINE_BYTES,
            threads: cores.min(MAX_THREADS),
        }
    }

    /// Returns how many parts may wait to be stored, which bounds the memory of a load.
    pub(super) fn parts(self) -> usize {
        self.threads + 2
    }
}

/// A block to parse.
struct Job {
    text: Vec<u8>,
    /// Lines of the file before the block.
    lines_before: u64,
    out: SyncSender<Parsed>,
}

/// Parses all lines of `source`.
///
/// The end of the text is parsed by this thread, so that small files need no other one.
pub(super) fn parse(
    file: &FileParser<'_>,
    source: impl BufRead,
    options: BlockOptions,
    parts: &SyncSender<Part>,
) -> Result<(), Ended> {
    let mut cutter = Cutter {
        source,
        options,
        rest: Vec::new(),
    };
    let mut lines_before = 0;
    thread::scope(|scope| {
        // The sender is gone before the scope waits for the threads, which ends them.
        let (jobs, queue) = channel();
        let mut queue = Some(queue);
        loop {
            let cut = cutter.next();
            let (out, part) = part();
            parts.send(part).map_err(|_| Ended::Hangup)?;
            let text = match cut {
                Cut::Block(text) => text,
                Cut::Last(text) => return file.block(text, lines_before, &out),
                Cut::LongLine(text) => {
                    let rest = Cursor::new(text).chain(cutter.source);
                    return file.statements(rest, lines_before, &out);
                }
                Cut::Unreadable(text, error) => {
                    let rest = Cursor::new(text).chain(Unreadable(Some(error)));
                    return file.statements(rest, lines_before, &out);
                }
            };
            let lines = line_ends(&text);
            let job = Job {
                text,
                lines_before,
                out,
            };
            lines_before += lines;
            if let Some(queue) = queue.take() {
                start(scope, file, options.threads, queue);
            }
            jobs.send(job).map_err(|_| Ended::Hangup)?;
        }
    })
}

/// Starts the threads that parse blocks. They end with the queue, and the queue with them, so that nobody waits
/// for a block that is not parsed.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    file: &'scope FileParser<'_>,
    threads: usize,
    queue: Receiver<Job>,
) {
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..threads {
        let queue = Arc::clone(&queue);
        scope.spawn(move || {
            loop {
                let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(Job {
                    text,
                    lines_before,
                    out,
                }) = job
                else {
                    return;
                };
                match file.block(text, lines_before, &out) {
                    Ok(()) => {}
                    Err(Ended::Hangup) => return,
                    // Whoever does not receive it has a reason of its own to end.
                    Err(Ended::Failed(error)) => drop(out.send(Parsed::Failed(error))),
                }
            }
        });
    }
}

/// Returns the number of line ends: line feeds, carriage returns, or both together.
fn line_ends(text: &[u8]) -> u64 {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text);
    let ends = ends.filter(|at| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n'));
    ends.count() as u64
}

/// What comes next of a text.
enum Cut {
    /// Whole lines.
    Block(Vec<u8>),
    /// The last lines of the text, of which the last may be cut off.
    Last(Vec<u8>),
    /// The beginning of a line that is too long for a block.
    LongLine(Vec<u8>),
    /// All up to where the text cannot be read.
    Unreadable(Vec<u8>, io::Error),
}

/// Cuts a text into blocks.
struct Cutter<R> {
    source: R,
    options: BlockOptions,
    /// The beginning of a line, which was read with the block before it.
    rest: Vec<u8>,
}

impl<R: BufRead> Cutter<R> {
    fn next(&mut self) -> Cut {
        let mut wanted = self.options.bytes;
        let mut text = Vec::with_capacity(wanted.max(self.rest.len()));
        text.append(&mut self.rest);
        loop {
            let missing = wanted.saturating_sub(text.len());
            let mut source = self.source.by_ref().take(missing as u64);
            match source.read_to_end(&mut text) {
                Ok(read) if read < missing => return Cut::Last(text),
                Ok(_) => {}
                Err(error) => return Cut::Unreadable(text, error),
            }
            if let Some(end) = memchr::memrchr(b'\n', &text) {
                self.rest = text.split_off(end + 1);
                return Cut::Block(text);
            }
            if text.len() >= self.options.line_bytes {
                return Cut::LongLine(text);
            }
            wanted = (wanted * 2).min(self.options.line_bytes);
        }
    }
}

/// The end of a text that cannot be read.
struct Unreadable(Option<io::Error>);

impl Read for Unreadable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Unreadable {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;
    use std::sync::mpsc::sync_channel;

    use oxigraph::model::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};

    use super::super::contexts::Contexts;
    use super::super::format::DataFormat;
    use super::super::parse::{self, Input};
    use super::super::report::Finding;
    use super::*;

    /// Lines, some of them awkward to cut or malformed.
    const LINES: &[&[u8]] = &[
        b"<http://e/a> <http://e/p> \"1\" .\n",
        b"<http://e/a> <http://e/p> \"1\"^^<http://e/t> <http://e/g> .\n",
        b"_:a <http://e/p> _:b.\n",
        b"_:b<http://e/p>_:a.#note\n",
        b"_:a <http://e/p> \"x\"@en _:g .\n",
        b"_:a <http://e/p> \"x\"@en_:g .\n",
        "<http://e/é> <http://e/p> \"größer 日本語 😀\"@de-AT .\n".as_bytes(),
        b"<http://e/a> <http://e/p> \"01\"^^<http://www.w3.org/2001/XMLSchema#integer> .\r\n",
        b"<http://e/a> <http://e/p> \"\\u00e9\\n\\\"\" .\r",
        b"\n",
        b"\r\n",
        b" \t\n",
        b"# a comment\rwith two lines\n",
        b"# \xff\n",
        b"<http://e/a> <http://e/p> \"x\"@zh-classical .\n",
        b"<http://e/a b> <http://e/p> \"x\" .\n",
        b"<a> <http://e/p> \"x\" .\n",
        b"<http://e/a> <http://e/p> \"\\ud83d\\ude00\" .\n",
        b"<http://e/a> <http://e/p> \"open .\n",
        b"<http://e/a> <http://e/p> <http://e/open .\n",
        b"<http://e/a> <http://e/p> \"a\xffb\" .\n",
        b"<http://e/a> <http://e/p>\n",
        b"<http://e/a> <http://e/p> \"1\"\n",
        b"<http://e/a> <http://e/p> \"1\" . <http://e/a> <http://e/p> \"2\" .\n",
        b"<http://e/a> <http://e/p> <<( <http://e/a> <http://e/p> \"2\" )>> .\n",
        b"<http://e/a> <http://e/p> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .\n",
        b"VERSION \"1.2\"\n",
        b"VERSION\n",
        b"a\\\n",
        b". .\n",
        b"\x01 <http://e/p> \"x\"\"y\" .\n",
        b"<http://e/a> <http://e/p> <http://e/a-line-that-is-longer-than-any-small-block> .\n",
    ];

    /// What comes out of a text.
    #[derive(Debug, Default, PartialEq)]
    struct Outcome {
        quads: Vec<String>,
        lost: u64,
        findings: Vec<Finding>,
        unread: u64,
        error: Option<String>,
    }

    impl Outcome {
        /// What was read does not count once reading has failed.
        fn ended(self, error: Option<String>) -> Self {
            match self.error.or(error) {
                None => Outcome {
                    error: None,
                    ..self
                },
                error => Outcome {
                    error,
                    findings: self.findings,
                    ..Outcome::default()
                },
            }
        }
    }

    /// Gives blank nodes the numbers of their first occurrence.
    #[derive(Default)]
    struct Labels(HashMap<BlankNode, usize>);

    impl Labels {
        fn label(&mut self, node: &BlankNode) -> BlankNode {
            let next = self.0.len();
            let number = *self.0.entry(node.clone()).or_insert(next);
            BlankNode::new_unchecked(format!("n{number}"))
        }

        fn quad(&mut self, mut quad: Quad) -> String {
            if let NamedOrBlankNode::BlankNode(node) = &mut quad.subject {
                *node = self.label(node);
            }
            if let Term::BlankNode(node) = &mut quad.object {
                *node = self.label(node);
            }
            if let GraphName::BlankNode(node) = &mut quad.graph_name {
                *node = self.label(node);
            }
            quad.to_string()
        }
    }

    fn taken(parts: impl Iterator<Item = Parsed>) -> Outcome {
        let mut read = Outcome::default();
        let mut labels = Labels::default();
        for parsed in parts {
            match parsed {
                Parsed::Quads(quads, lost) => {
                    read.quads
                        .extend(quads.into_iter().map(|quad| labels.quad(quad)));
                    read.lost += lost;
                }
                Parsed::Batch(batch, lost) => {
                    let quads = batch.iter().map(|quad| labels.quad(quad.into_owned()));
                    read.quads.extend(quads);
                    read.lost += lost;
                }
                Parsed::Finding(finding) => read.findings.push(finding),
                Parsed::Unread(bytes) => read.unread += bytes,
                Parsed::Prefixes(prefixes) => assert!(prefixes.is_empty()),
                Parsed::Failed(error) => read.error = Some(error.to_string()),
            }
        }
        read
    }

    fn input<'a>(format: DataFormat, contexts: &'a Contexts) -> Input<'a> {
        Input {
            path: Path::new("a"),
            format,
            base: None,
            contexts,
        }
    }

    /// Reads a text in blocks.
    fn in_blocks(
        format: DataFormat,
        source: impl BufRead + Send,
        options: BlockOptions,
    ) -> Outcome {
        let contexts = Contexts::new(&[]);
        let input = input(format, &contexts);
        let (sender, parts) = sync_channel(options.parts());
        thread::scope(|scope| {
            let input = &input;
            let reading = scope.spawn(move || parse::parse(input, source, true, options, &sender));
            let read = taken(parts.into_iter().flatten());
            let result = reading.join().unwrap();
            read.ended(result.err().map(|error| error.to_string()))
        })
    }

    /// Reads a text as one sequence of statements.
    fn as_a_whole(format: DataFormat, source: impl BufRead + Send) -> Outcome {
        let contexts = Contexts::new(&[]);
        let input = input(format, &contexts);
        let file = FileParser::new(&input, true).unwrap();
        let (out, part) = part();
        thread::scope(|scope| {
            let file = &file;
            let reading = scope.spawn(move || file.statements(source, 0, &out));
            let read = taken(part.into_iter());
            read.ended(match reading.join().unwrap() {
                Err(Ended::Failed(error)) => Some(error.to_string()),
                _ => None,
            })
        })
    }

    fn options(bytes: usize, line_bytes: usize, threads: usize) -> BlockOptions {
        BlockOptions {
            bytes,
            line_bytes,
            threads,
        }
    }

    /// Checks that a text reads the same in blocks of any size, parsed by any number of threads.
    fn check(text: &[u8]) {
        for format in [DataFormat::NTriples, DataFormat::NQuads] {
            let wanted = as_a_whole(format, text);
            for options in [
                options(1, 4_096, 3),
                options(7, 4_096, 1),
                options(64, 4_096, 3),
                // Lines of some texts are too long.
                options(40, 80, 2),
                options(BLOCK_BYTES, LINE_BYTES, 2),
            ] {
                let read = in_blocks(format, text, options);
                let text = String::from_utf8_lossy(text);
                assert_eq!(read, wanted, "{format} by {options:?}: {text:?}");
            }
        }
    }

    /// A sequence of numbers that look random.
    fn numbers(seed: u64) -> impl Iterator<Item = usize> {
        let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005) + 1);
        std::iter::successors(Some(seed), next)
            .skip(3)
            .map(|state| (state >> 33) as usize)
    }

    #[test]
    fn each_line_reads_the_same_in_blocks() {
        for line in LINES {
            let text = [LINES[0], LINES[2], line, LINES[2], LINES[7]].concat();
            check(&text);
            check(line);
            // The end of a file, with and without its line end.
            check(&text[..text.len() - 2]);
            check(&[LINES[0], line.trim_ascii_end()].concat());
            check(&[LINES[0], &line[..line.len() / 2]].concat());
        }
        check(b"");
    }

    #[test]
    fn texts_read_the_same_in_blocks() {
        for seed in 1..40 {
            let lines = numbers(seed).take(seed as usize);
            let text: Vec<&[u8]> = lines.map(|number| LINES[number % LINES.len()]).collect();
            check(&text.concat());
        }
    }

    #[test]
    fn findings_come_in_the_order_of_the_file_with_their_lines() {
        let good = LINES[0].repeat(5);
        let tag = LINES[14];
        let iri = LINES[15];
        let text = [&good, tag, &good, iri, &good, iri, tag].concat();
        let read = in_blocks(DataFormat::NTriples, text.as_slice(), options(1, 4_096, 4));
        let lines: Vec<_> = read
            .findings
            .iter()
            .filter_map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [6, 12, 18, 19]);
        assert_eq!(read.quads.len(), 17);
    }

    #[test]
    fn well_formed_blocks_become_batches() {
        let contexts = Contexts::new(&[]);
        let input = input(DataFormat::NTriples, &contexts);
        let file = FileParser::new(&input, false).unwrap();
        for (text, is_well_formed) in [(LINES[0], true), (LINES[14], false)] {
            let (out, part) = part();
            assert!(file.block(text.to_vec(), 0, &out).is_ok());
            drop(out);
            let is_batch = part
                .iter()
                .any(|parsed| matches!(parsed, Parsed::Batch(..)));
            assert_eq!(is_batch, is_well_formed);
        }
    }

    /// Gives some bytes, and fails then.
    fn failing(text: &[u8]) -> impl BufRead {
        text.chain(Unreadable(Some(io::Error::other("the disk is gone"))))
    }

    #[test]
    fn a_text_that_cannot_be_read_gives_what_comes_before() {
        let text = [LINES[0], LINES[14], LINES[2], LINES[15], &LINES[0][..20]].concat();
        let wanted = as_a_whole(DataFormat::NTriples, failing(&text));
        assert_eq!(wanted.findings.len(), 2);
        assert!(wanted.error.is_some());
        for bytes in [1, 50, BLOCK_BYTES] {
            let options = options(bytes, LINE_BYTES, 2);
            let read = in_blocks(DataFormat::NTriples, failing(&text), options);
            assert_eq!(read, wanted, "{bytes}");
        }
    }

    #[test]
    fn reading_ends_when_nobody_receives_any_more() {
        let contexts = Contexts::new(&[]);
        let input = input(DataFormat::NTriples, &contexts);
        let source = io::BufReader::new(Endless::default());
        let options = options(100, 1_000, 2);
        let (sender, parts) = sync_channel(options.parts());
        thread::scope(|scope| {
            let input = &input;
            let reading = scope.spawn(move || parse::parse(input, source, false, options, &sender));
            assert!(parts.recv().unwrap().recv().is_ok());
            drop(parts);
            assert!(reading.join().unwrap().is_ok());
        });
    }

    /// The same line for ever.
    #[derive(Default)]
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = LINES[0];
            for (at, byte) in buffer.iter_mut().enumerate() {
                *byte = line[(self.0 + at) % line.len()];
            }
            self.0 += buffer.len();
            Ok(buffer.len())
        }
    }
}
