//! Files of lines that are larger than what one thread parses at once.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use graph_store::image::ImageStore;
use oxrdf::NamedOrBlankNode;
use rdf_load::{Finding, LoadError, LoadObserver, LoadOptions, LoadSummary, load_embedded};
use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::data_folder::Folder;
use crate::images;
use crate::loading::{Watch, load};

/// Lines of a document: some megabytes.
const LINES: usize = 50_000;

/// Labels of blank nodes, each of them in all parts of a document.
const LABELS: usize = 100;

/// Writes a document whose lines with these numbers, from 1, are malformed.
fn document(malformed: &[usize], line_end: &str) -> String {
    let line = |number| {
        let label = number % LABELS;
        if malformed.contains(&number) {
            format!("_:n{label} <http://e/p> <http://e/a b> .")
        } else {
            format!("_:n{label} <http://e/p> \"größer als {number}, und länger\"@de <http://e/g> .")
        }
    };
    let lines = (1..=LINES).flat_map(|number| [line(number), line_end.to_owned()]);
    lines.collect()
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Writes a file into a folder.
fn file(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn lines_of(findings: &[Finding]) -> Vec<usize> {
    let lines = findings.iter().filter_map(|finding| finding.line);
    lines.map(|line| line as usize).collect()
}

#[test]
fn findings_are_in_the_order_of_the_file_and_a_label_is_one_node_in_all_of_it() {
    let dir = TempDir::new().unwrap();
    let malformed = [2, 3, LINES / 3, LINES / 2, LINES - 1];
    let lines = document(&malformed, "\n");
    let windows = document(&malformed, "\r\n");
    let marked = format!("\u{feff}{}", windows.trim_end());
    for path in [
        file(&dir, "lines.nq", &lines),
        file(&dir, "marked.nq", marked),
        file(&dir, "packed.nq.gz", packed(&lines)),
        file(&dir, "returns.nq", document(&malformed, "\r")),
    ] {
        let loaded = load(std::slice::from_ref(&path), &LoadOptions::default()).unwrap();
        assert_eq!(lines_of(&loaded.findings), malformed, "{path:?}");
        let added = loaded.summary.added as usize;
        assert_eq!(added, LINES - malformed.len(), "{path:?}");
        assert_eq!(subjects(&loaded.store).len(), LABELS, "{path:?}");
    }
}

fn subjects(store: &ImageStore) -> HashSet<NamedOrBlankNode> {
    let snapshot = store.snapshot();
    snapshot.iter().map(|quad| quad.subject).collect()
}

#[test]
fn a_label_is_another_node_in_another_file() {
    let dir = TempDir::new().unwrap();
    let text = document(&[], "\n");
    let files = [file(&dir, "a.nq", &text), file(&dir, "b.nq", &text)];
    let loaded = load(&files, &LoadOptions::default()).unwrap();
    assert_eq!(subjects(&loaded.store).len(), 2 * LABELS);
}

#[test]
fn a_line_may_be_longer_than_what_is_parsed_at_once() {
    let dir = TempDir::new().unwrap();
    let long = format!("_:n1 <http://e/p> \"{}\" .\n", "é".repeat(5 << 19));
    let text = [document(&[7], "\n"), long, document(&[9], "\n")].concat();
    let path = file(&dir, "a.nq", text);
    let loaded = load(&[path], &LoadOptions::default()).unwrap();
    assert_eq!(lines_of(&loaded.findings), [7, LINES + 10]);
    assert_eq!(subjects(&loaded.store).len(), LABELS);
    assert_eq!(loaded.summary.statements as usize, 2 * LINES - 1);
}

#[test]
fn strict_stops_at_the_first_finding_of_the_file_and_leaves_no_folder() {
    let folder = Folder::new();
    let path = folder.file("a.nq", &document(&[LINES / 2, LINES / 2 + 1, LINES], "\n"));
    let options = LoadOptions {
        strict: true,
        ..LoadOptions::default()
    };
    let failed = load(&[path.clone().into()], &options).err().unwrap();
    let LoadError::Strict(finding) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(finding.line, Some(LINES as u64 / 2));
    let failed = soml(&[
        "load",
        &path,
        "--strict",
        "--data-dir",
        &folder.text("data"),
    ]);
    assert_eq!(code(&failed), Some(1));
    let line = format!("a.nq:{}:", LINES / 2);
    assert!(err(&failed).contains(&line), "{}", err(&failed));
    assert!(!folder.path("data").exists(), "nothing is left");
}

#[test]
fn a_large_file_that_is_cut_off_leaves_no_folder() {
    let folder = Folder::new();
    let text = document(&[], "\n");
    let cut_off = folder.file("a.nq", &text[..text.len() - 5]);
    let failed = folder.load(&cut_off);
    assert_eq!(code(&failed), Some(1));
    let line = format!("a.nq:{LINES}: the file ends in the middle of the statement");
    assert!(err(&failed).contains(&line), "{}", err(&failed));
    let packed = packed(&text);
    fs::write(folder.path("b.nq.gz"), &packed[..packed.len() / 2]).unwrap();
    let failed = folder.load(&folder.text("b.nq.gz"));
    assert_eq!(code(&failed), Some(1));
    assert!(
        err(&failed).contains("gzip data end early"),
        "{}",
        err(&failed)
    );
    assert!(!folder.path("data").exists(), "nothing is left");
}

/// The same line for ever, or until reading panics.
struct Endless {
    read: usize,
    panics_at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.read < self.panics_at, "on purpose");
        let line = b"<http://e/s> <http://e/p> \"o\" .\n";
        for (at, byte) in (self.read..).zip(buffer.iter_mut()) {
            *byte = line[at % line.len()];
        }
        self.read += buffer.len();
        Ok(buffer.len())
    }
}

fn load_endless(
    store: &ImageStore,
    panics_at: usize,
    options: &LoadOptions,
    observer: &mut dyn LoadObserver,
) -> Result<LoadSummary, LoadError> {
    let data = Endless { read: 0, panics_at };
    load_embedded(store, "a.nt", data, options, observer)
}

#[test]
fn a_reader_that_panics_ends_the_load_with_an_error() {
    for panics_at in [1, 5 << 20] {
        let store = images::empty();
        let options = LoadOptions::default();
        let failed = load_endless(&store, panics_at, &options, &mut Watch::default());
        assert!(
            matches!(failed, Err(LoadError::Parser { .. })),
            "{failed:?}"
        );
        assert!(store.is_empty());
    }
}

#[test]
fn a_load_that_is_stopped_ends_while_there_is_more_to_read() {
    /// Stops the load once something has been stored.
    struct Stopping(Arc<AtomicBool>);

    impl LoadObserver for Stopping {
        fn finding(&mut self, _: &Finding) {}

        fn progress(&mut self, _bytes: u64, statements: u64) {
            self.0.store(statements > 0, Ordering::Relaxed);
        }
    }

    let store = images::empty();
    let options = LoadOptions::default();
    let mut observer = Stopping(Arc::clone(&options.stop));
    let stopped = load_endless(&store, usize::MAX, &options, &mut observer);
    assert!(matches!(stopped, Err(LoadError::Stopped)), "{stopped:?}");
    assert!(store.is_empty());
}
