//! Loading RDF files into the embedded store.
//!
//! Files are streamed: a thread reads and parses while another collects what the store is built from; lines
//! of N-Triples and N-Quads are parsed by several. A load is all or nothing.
//! The treatment of malformed data is described in `docs/loading.md`.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Instant;

use crate::contexts::{ContextFile, Contexts};
use crate::format::DataFormat;
use crate::parse::{self, BlockOptions, Input, Parsed, Part};
use crate::report::{Finding, FindingKind, LoadError, LoadSummary};
use crate::sink::{LoadTarget, Sink};
use crate::source::{self, Meter};

/// How to read data files.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Base IRI for relative IRIs; by default the IRI of each file.
    pub base: Option<String>,
    /// Syntax of all files; by default given by the extension of each file.
    pub format: Option<DataFormat>,
    /// Files for the remote contexts of JSON-LD, which are never fetched.
    pub contexts: Vec<ContextFile>,
    /// Makes malformed statements and language tags fatal.
    pub strict: bool,
    /// Ends the load early with [`LoadError::Stopped`] once it is true.
    pub stop: Arc<AtomicBool>,
}

/// An observer of a load.
pub trait LoadObserver {
    /// Receives a finding.
    fn finding(&mut self, finding: &Finding);

    /// Receives the progress: bytes read and statements stored, over all files.
    fn progress(&mut self, bytes: u64, statements: u64);

    /// Is told of each file that has been read, with the number of those so far.
    fn file_read(&mut self, _files: usize) {}
}

/// Loads `files` into `store`; `-` is standard input.
///
/// # Errors
///
/// Fails on the first file that cannot be read or that is cut off, on a malformed JSON-LD or RDF/XML
/// document, where all statements of all files are malformed, and with [`LoadOptions::strict`] on the first
/// finding; the store is unchanged then.
pub fn load_files(
    store: &dyn LoadTarget,
    files: &[PathBuf],
    options: &LoadOptions,
    observer: &mut dyn LoadObserver,
) -> Result<LoadSummary, LoadError> {
    let contexts = Contexts::new(&options.contexts);
    let mut load = Load::begin(store, options, observer)?;
    for path in files {
        let format = options
            .format
            .or_else(|| DataFormat::from_path(path))
            .ok_or_else(|| LoadError::FormatUnknown { path: path.clone() })?;
        let base = match &options.base {
            Some(base) => Some(base.clone()),
            // What comes from elsewhere has no address.
            None if path.as_os_str() == source::STANDARD_INPUT => None,
            None => Some(file_iri(path).map_err(|e| unreadable(path, e))?),
        };
        let meter = load.meter.clone();
        load.read(
            &Input {
                path,
                format,
                base: base.as_deref(),
                contexts: &contexts,
            },
            move |path| source::open(path, meter),
        )?;
    }
    load.finish()
}

/// Loads built-in data; `name` is the file name in findings.
///
/// # Errors
///
/// As [`load_files`].
pub fn load_embedded(
    store: &dyn LoadTarget,
    name: &str,
    data: impl Read + Send + 'static,
    options: &LoadOptions,
    observer: &mut dyn LoadObserver,
) -> Result<LoadSummary, LoadError> {
    let path = Path::new(name);
    let format = options
        .format
        .or_else(|| DataFormat::from_path(path))
        .ok_or_else(|| LoadError::FormatUnknown {
            path: path.to_owned(),
        })?;
    let base = options
        .base
        .clone()
        .unwrap_or_else(|| format!("file:///{name}"));
    let mut load = Load::begin(store, options, observer)?;
    load.read(
        &Input {
            path,
            format,
            base: Some(&base),
            contexts: &Contexts::new(&options.contexts),
        },
        move |_| source::from_reader(data),
    )?;
    load.finish()
}

struct Load<'a> {
    sink: Box<dyn Sink + 'a>,
    observer: &'a mut dyn LoadObserver,
    strict: bool,
    meter: Meter,
    summary: LoadSummary,
    started: Instant,
}

impl<'a> Load<'a> {
    fn begin(
        store: &'a dyn LoadTarget,
        options: &LoadOptions,
        observer: &'a mut dyn LoadObserver,
    ) -> Result<Self, LoadError> {
        Ok(Load {
            sink: store.sink()?,
            observer,
            strict: options.strict,
            meter: Meter {
                stop: Arc::clone(&options.stop),
                ..Meter::default()
            },
            summary: LoadSummary::default(),
            started: Instant::now(),
        })
    }

    fn read(
        &mut self,
        input: &Input<'_>,
        open: impl FnOnce(&Path) -> io::Result<Box<dyn BufRead>> + Send,
    ) -> Result<(), LoadError> {
        let blocks = BlockOptions::for_machine();
        let (sender, parts) = sync_channel(blocks.parts());
        let before = self.summary.statements;
        let skipped_before = self.summary.statements_skipped;
        thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let source = open(input.path).map_err(|e| unopened(input.path, e))?;
                parse::parse(input, source, blocks, &sender)
            });
            let stored = self.store(parts);
            let read = reading.join().unwrap_or_else(|_| {
                Err(LoadError::Parser {
                    path: input.path.to_owned(),
                })
            });
            stored.and(read)
        })
        .map_err(|error| {
            if self.meter.stop.load(Ordering::Relaxed) {
                LoadError::Stopped
            } else {
                error
            }
        })?;
        self.summary.files += 1;
        if self.summary.statements == before {
            let message = match self.summary.statements_skipped - skipped_before {
                0 => "the file has no statements",
                _ => "nothing of the file could be read",
            };
            self.observer.finding(&Finding {
                file: input.path.to_owned(),
                line: None,
                kind: FindingKind::NoStatements,
                message: message.to_owned(),
            });
        }
        self.observer.file_read(self.summary.files);
        Ok(())
    }

    /// Takes all parts of a file. The receiver is gone at the first error, which ends reading.
    fn store(&mut self, parts: Receiver<Part>) -> Result<(), LoadError> {
        let mut parsed = parts.into_iter().flatten();
        parsed.try_for_each(|parsed| self.take(parsed))
    }

    fn take(&mut self, parsed: Parsed) -> Result<(), LoadError> {
        if self.meter.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Stopped);
        }
        match parsed {
            Parsed::Quads(quads) => {
                let count = quads.len();
                self.sink.add(quads)?;
                self.added(count);
            }
            Parsed::Batch(batch) => {
                let count = batch.len();
                self.sink.add_batch(batch)?;
                self.added(count);
            }
            Parsed::Finding(finding) if self.strict => return Err(LoadError::Strict(finding)),
            Parsed::Finding(finding) => {
                match finding.kind {
                    FindingKind::LanguageTagKept => self.summary.language_tags_kept += 1,
                    FindingKind::StatementSkipped => self.summary.statements_skipped += 1,
                    FindingKind::NoStatements => {}
                }
                self.observer.finding(&finding);
            }
            Parsed::Unread(bytes) => self.summary.bytes_not_read += bytes,
            Parsed::Prefixes(prefixes) => self.summary.add_prefixes(prefixes),
            Parsed::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn added(&mut self, statements: usize) {
        self.summary.statements += statements as u64;
        let bytes = self.meter.bytes.load(Ordering::Relaxed);
        self.observer.progress(bytes, self.summary.statements);
    }

    fn finish(self) -> Result<LoadSummary, LoadError> {
        let Load {
            sink,
            mut summary,
            started,
            meter,
            ..
        } = self;
        if meter.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Stopped);
        }
        if summary.statements == 0 && summary.statements_skipped > 0 {
            return Err(LoadError::NothingRead {
                statements: summary.statements_skipped,
            });
        }
        summary.added = sink.commit()?;
        summary.elapsed = started.elapsed();
        Ok(summary)
    }
}

/// Returns the error for a file that could not be opened or is not text.
fn unopened(path: &Path, source: io::Error) -> LoadError {
    if parse::is_refused(&source) {
        LoadError::Document(format!("{}: {source}", path.display()))
    } else {
        unreadable(path, source)
    }
}

fn unreadable(path: &Path, source: io::Error) -> LoadError {
    LoadError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Returns the `file:` IRI of `path`, its symbolic links resolved.
fn file_iri(path: &Path) -> io::Result<String> {
    let absolute = path.canonicalize()?;
    let mut iri = String::from("file://");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                iri.push(char::from(*byte));
            }
            _ => iri.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(iri)
}
