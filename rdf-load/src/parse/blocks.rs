//! Lines of N-Triples and N-Quads, parsed in blocks by several threads.
//!
//! The thread that reads cuts the text at line ends. What comes out of a block is a part of its own, and parts
//! are handed on in the order of the file: results, findings and errors do not depend on the number of threads.

use std::io::{self, BufRead, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use super::{Ended, FileParser, Parsed, Part, part};
use crate::report::LoadError;

/// Bytes of a block: enough that most terms of a block are repeated in it.
const BLOCK_BYTES: usize = 1 << 20;

/// Maximum size of a line in a block. It keeps blocks below the maximum size of a token, and of what the
/// parsers buffer.
const LINE_BYTES: usize = 4 << 20;

/// Maximum number of threads: one thread cannot take what more of them parse.
const MAX_THREADS: usize = 8;

/// How lines are parsed in blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOptions {
    /// Bytes of a block, unless a line is longer.
    pub(crate) bytes: usize,
    /// Bytes from which on a line is parsed by the thread that reads.
    pub(crate) line_bytes: usize,
    /// Threads that parse blocks.
    pub(crate) threads: usize,
}

impl BlockOptions {
    /// Returns the options for the cores of this machine.
    pub(crate) fn for_machine() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        BlockOptions {
            bytes: BLOCK_BYTES,
            line_bytes: LINE_BYTES,
            threads: cores.min(MAX_THREADS),
        }
    }

    /// Returns how many parts may wait to be stored, which bounds the memory of a load.
    pub(crate) fn parts(self) -> usize {
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
/// The end of the text is parsed by this thread, so that small files need no other one, and so are long lines.
pub(super) fn parse(
    file: &FileParser<'_>,
    source: impl BufRead,
    options: BlockOptions,
    parts: &SyncSender<Part>,
) -> Result<(), Ended> {
    let (used, rooms) = channel();
    let mut cutter = Cutter {
        source,
        options,
        rest: Vec::new(),
        rooms,
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
                Cut::LongLine(text) => {
                    let text = Cursor::new(text).chain(&mut cutter.source);
                    let mut line = Line::new(text);
                    file.statements(&mut line, lines_before, &out)?;
                    lines_before += line.line_ends;
                    continue;
                }
                Cut::Last(text) => return file.block(&text, lines_before, &out),
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
                start(scope, file, options.threads, queue, &used);
            }
            jobs.send(job).map_err(|_| Ended::Hangup)?;
        }
    })
}

/// Starts the threads that parse blocks. They end with the queue, and the queue with them, so that no one waits
/// for a block that is not parsed.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    file: &'scope FileParser<'_>,
    threads: usize,
    queue: Receiver<Job>,
    used: &Sender<Vec<u8>>,
) {
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..threads {
        let (queue, used) = (Arc::clone(&queue), used.clone());
        scope.spawn(move || {
            work(&queue, file.path(), |text, lines_before, out| {
                let parsed = file.block(&text, lines_before, out);
                // All may have been read.
                let _ = used.send(text);
                parsed
            });
        });
    }
}

/// Has blocks parsed until there are no more, or no one takes what comes out.
fn work(
    queue: &Mutex<Receiver<Job>>,
    path: &Path,
    parse: impl Fn(Vec<u8>, u64, &SyncSender<Parsed>) -> Result<(), Ended>,
) {
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
        // A parser that panics fails in its place, so that the load ends there and not at the end of the file.
        let parsed = catch_unwind(AssertUnwindSafe(|| parse(text, lines_before, &out)))
            .unwrap_or_else(|_| {
                let path = path.to_owned();
                Err(Ended::Failed(LoadError::Parser { path }))
            });
        match parsed {
            Ok(()) => {}
            Err(Ended::Hangup) => return,
            // Whoever does not receive it has a reason of its own to end.
            Err(Ended::Failed(error)) => drop(out.send(Parsed::Failed(error))),
        }
    }
}

/// Returns the number of line ends: line feeds, carriage returns, or both together.
fn line_ends(text: &[u8]) -> u64 {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text)
        .filter(|at| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n'));
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
    /// Room of blocks that are parsed: an allocator gives memory back that is used again at once.
    rooms: Receiver<Vec<u8>>,
}

impl<R: BufRead> Cutter<R> {
    fn next(&mut self) -> Cut {
        let mut wanted = self.options.bytes;
        let mut text = self.rooms.try_recv().unwrap_or_default();
        text.clear();
        text.shrink_to(2 * wanted);
        text.append(&mut self.rest);
        text.reserve(wanted.saturating_sub(text.len()));
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

/// A text up to its first line feed.
struct Line<R> {
    text: R,
    is_over: bool,
    /// Line ends so far.
    line_ends: u64,
    after_return: bool,
}

impl<R: BufRead> Line<R> {
    fn new(text: R) -> Self {
        Line {
            text,
            is_over: false,
            line_ends: 0,
            after_return: false,
        }
    }
}

impl<R: BufRead> Read for Line<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Line<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_over {
            return Ok(&[]);
        }
        let text = self.text.fill_buf()?;
        let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
        Ok(&text[..end])
    }

    fn consume(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        // What is consumed has been read, so this neither reads nor fails.
        let text = self
            .text
            .fill_buf()
            .unwrap_or_default()
            .get(..length)
            .unwrap_or_default();
        let (first, last) = (text.first().copied(), text.last().copied());
        self.line_ends += line_ends(text);
        // Two pieces may have counted one line end.
        self.line_ends -= u64::from(self.after_return && first == Some(b'\n'));
        self.after_return = last == Some(b'\r');
        self.is_over = last == Some(b'\n');
        self.text.consume(length);
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
mod tests;
