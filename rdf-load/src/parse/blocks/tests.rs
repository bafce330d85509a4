//! Texts in blocks of every size, beside the same texts as one sequence of statements.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::sync_channel;

use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};

use super::*;
use crate::contexts::Contexts;
use crate::format::DataFormat;
use crate::parse::{self, Input};
use crate::refusal::Refused;
use crate::report::Finding;

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
    b"<http://e/a> <http://e/p> \"x\ny\" .\n",
    b"<http://e/a> <http://e/p> \"x\ry\" .\n",
    b"<http://e/a> <http://e/\np> \"x\" .\n",
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
    b"<http://e/a> <http://e/p> \"x\"@en--ltr .\n",
    b"<http://e/a> <http://e/p> \"x\\\n",
    b"<http://e/a> <http://e/p> \"x\\u00\n",
    b"_:a \\<http://e/p> \"x\" .\n",
    b"_:a %<http://e/p> \"x\" .\n",
    b"\xef\xbb\xbf<http://e/a> <http://e/p> \"x\" .\n",
    b"<http://e/a> <http://e/p> <http://e/a-line-that-is-longer-than-any-small-block> .\n",
];

/// What comes out of a text.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    quads: Vec<String>,
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
            Parsed::Quads(quads) => {
                read.quads
                    .extend(quads.into_iter().map(|quad| labels.quad(quad)));
            }
            Parsed::Batch(batch) => {
                let quads = batch.iter().map(|quad| labels.quad(quad.into_owned()));
                read.quads.extend(quads);
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
fn in_blocks(format: DataFormat, source: impl BufRead + Send, options: BlockOptions) -> Outcome {
    let contexts = Contexts::new(&[]);
    let input = input(format, &contexts);
    let (sender, parts) = sync_channel(options.parts());
    thread::scope(|scope| {
        let input = &input;
        let reading = scope.spawn(move || parse::parse(input, source, options, &sender));
        let read = taken(parts.into_iter().flatten());
        let result = reading.join().unwrap();
        read.ended(result.err().map(|error| error.to_string()))
    })
}

/// Reads a text as one sequence of statements.
fn as_a_whole(format: DataFormat, source: impl BufRead + Send) -> Outcome {
    let contexts = Contexts::new(&[]);
    let input = input(format, &contexts);
    let file = FileParser::new(&input).unwrap();
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
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005) + 1;
        (self.0 >> 33) as usize % bound
    }

    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns a line with random terms, spaces and line end, or one of [`LINES`]; some of them damaged.
    fn line(&mut self) -> Vec<u8> {
        let mut line = match self.below(3) {
            0 => self.any(LINES).to_vec(),
            _ => self.well_formed(),
        };
        for _ in 0..self.any(&[0, 0, 0, 0, 1, 1, 2]) {
            let at = self.below(line.len());
            match self.below(4) {
                0 => drop(line.remove(at)),
                1 => line.insert(at, self.any(DAMAGE)),
                2 => line[at] = self.any(DAMAGE),
                _ => line.truncate(at),
            }
            if line.is_empty() {
                break;
            }
        }
        line
    }

    fn well_formed(&mut self) -> Vec<u8> {
        let number = self.below(20);
        let iri = format!("<http://e/{number}>");
        let blank = format!("_:b{number}");
        let node = [iri.as_str(), &blank];
        let tag = format!("\"é\"@{}", self.any(&["en", "de-CH", "EN-gb", "x-a"]));
        let typed = format!("\"{number}\"^^{}", self.any(&["<http://e/t>", INTEGER]));
        let plain = format!(
            "\"{}\"",
            self.any(&["", "a b", "日本語", "😀", "\\u00e9", "\\\""])
        );
        let object = [iri.as_str(), &blank, &tag, &typed, &plain];
        let parts = [
            self.any(&["", "", "", " ", "\t"]),
            self.any(&node),
            self.any(SPACES),
            "<http://e/p>",
            self.any(SPACES),
            self.any(&object),
            " ",
            self.any(&["", "", &iri, &blank]),
            self.any(SPACES),
            ".",
            self.any(&["", "", "", " ", " # note"]),
            self.any(&["\n", "\n", "\n", "\n", "\r\n", "\r"]),
        ];
        parts.concat().into_bytes()
    }

    fn text(&mut self) -> Vec<u8> {
        let lines = self.below(25);
        let mut text: Vec<u8> = (0..lines).flat_map(|_| self.line()).collect();
        if self.below(3) == 0 {
            text.truncate(self.below(text.len() + 1));
        }
        text
    }

    fn options(&mut self) -> BlockOptions {
        let bytes = self.any(&[1, 2, 3, 10, 50, 100, 500, BLOCK_BYTES]);
        let line_bytes = self.any(&[bytes, bytes + 60, 4_096]).max(bytes);
        options(bytes, line_bytes, 1 + self.below(4))
    }
}

/// Random texts of a test.
const SEEDS: u64 = 500;

const INTEGER: &str = "<http://www.w3.org/2001/XMLSchema#integer>";

const SPACES: &[&str] = &["", " ", " ", " ", "\t", "  "];

/// Bytes that mean something, or nothing at all.
const DAMAGE: &[u8] = b"<>\"\\.@^_:#{}()-ux0a \t\r\n\r\n\x00\xff\xc3\xa9";

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
fn random_texts_read_the_same_in_blocks() {
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let text = random.text();
        for format in [DataFormat::NTriples, DataFormat::NQuads] {
            let wanted = as_a_whole(format, text.as_slice());
            for options in [random.options(), random.options()] {
                let read = in_blocks(format, text.as_slice(), options);
                let text = String::from_utf8_lossy(&text);
                assert_eq!(read, wanted, "{seed}: {format} by {options:?}: {text:?}");
            }
        }
    }
}

#[test]
fn random_texts_that_cannot_be_read_give_what_comes_before() {
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let text = random.text();
        let options = random.options();
        let wanted = as_a_whole(DataFormat::NQuads, failing(&text));
        let read = in_blocks(DataFormat::NQuads, failing(&text), options);
        let text = String::from_utf8_lossy(&text);
        assert!(read.error.is_some());
        assert_eq!(read, wanted, "{seed}: by {options:?}: {text:?}");
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
    let file = FileParser::new(&input).unwrap();
    for (text, is_well_formed) in [(LINES[0], true), (LINES[14], false)] {
        let (out, part) = part();
        assert!(file.block(text, 0, &out).is_ok());
        drop(out);
        let is_batch = part
            .iter()
            .any(|parsed| matches!(parsed, Parsed::Batch(..)));
        assert_eq!(is_batch, is_well_formed);
    }
}

#[test]
fn after_a_long_line_blocks_go_on() {
    let contexts = Contexts::new(&[]);
    let input = input(DataFormat::NTriples, &contexts);
    let long = format!("<http://e/a> <http://e/p> \"{}\" .\n", "x".repeat(500));
    let text = [LINES[0], long.as_bytes(), &LINES[0].repeat(20)].concat();
    let options = options(60, 120, 2);
    let (sender, parts) = sync_channel(options.parts());
    let kinds: Vec<bool> = thread::scope(|scope| {
        let (input, text) = (&input, text.as_slice());
        scope.spawn(move || parse::parse(input, text, options, &sender).is_ok());
        let quads = parts
            .into_iter()
            .flatten()
            .filter_map(|parsed| match parsed {
                Parsed::Batch(..) => Some(true),
                Parsed::Quads(..) => Some(false),
                _ => None,
            });
        quads.collect()
    });
    let one_by_one = kinds.iter().filter(|is_batch| !**is_batch);
    assert_eq!(one_by_one.count(), 1, "{kinds:?}");
    assert_eq!(kinds.first(), Some(&true));
    assert_eq!(kinds.last(), Some(&true));
}

/// Gives some bytes, and fails then.
fn failing(text: &[u8]) -> impl BufRead {
    text.chain(Unreadable(Some(
        Refused("the data end early".to_owned()).into(),
    )))
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
fn a_parser_that_panics_fails_in_its_place() {
    let (jobs, queue) = channel();
    let parts: Vec<Part> = [0, 1, 2]
        .map(|lines_before| {
            let (out, part) = part();
            let text = LINES[0].to_vec();
            let job = Job {
                text,
                lines_before,
                out,
            };
            jobs.send(job).unwrap();
            part
        })
        .into();
    drop(jobs);
    work(
        &Mutex::new(queue),
        Path::new("a"),
        |_, lines_before, out| {
            assert_ne!(lines_before, 1);
            out.send(Parsed::Unread(lines_before))
                .map_err(|_| Ended::Hangup)
        },
    );
    let came: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(|parsed| match parsed {
            Parsed::Unread(bytes) => bytes.to_string(),
            Parsed::Failed(error) => error.to_string(),
            _ => panic!("something else came"),
        })
        .collect();
    let failed = "failed to read a: the parser stopped unexpectedly";
    assert_eq!(came, ["0", failed, "2"]);
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
        let reading = scope.spawn(move || parse::parse(input, source, options, &sender));
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
