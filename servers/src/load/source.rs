//! Bytes of a data file: opened, decompressed, and handed on line by line.
//!
//! RDF parsers do not tell the line of a statement. They ask for more input only when all they have
//! is used up, so a reader that gives one line at a time knows the line that a statement ended on.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const BUFFER_BYTES: usize = 64 * 1024;

/// Longest stretch handed on at once, so that a file without line ends stays bounded in memory.
const PIECE_BYTES: u64 = 64 * 1024;

/// Opens `path`, decompressing it when its first bytes are those of gzip.
///
/// `read` counts the bytes taken from the file, before decompression.
pub(super) fn open(path: &Path, read: Arc<AtomicU64>) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    from_reader(Counted { inner: file, read })
}

/// Wraps `inner`, decompressing it when its first bytes are those of gzip.
pub(super) fn from_reader(inner: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, inner);
    if reader.fill_buf()?.starts_with(GZIP_MAGIC) {
        let decoder = MultiGzDecoder::new(reader);
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)))
    } else {
        Ok(Box::new(reader))
    }
}

struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Where the reader is, shared with whoever looks at the statements that come out.
#[derive(Debug, Default)]
pub(super) struct ReadPosition {
    line: Cell<u64>,
    /// Line of the statement that the current line only closes, if it does.
    closes: Cell<Option<u64>>,
    /// Last line that was neither blank nor a comment.
    content: Cell<u64>,
}

impl ReadPosition {
    /// Returns the line of the statement that has just come out, counted from 1.
    ///
    /// A line that begins with `.`, `;` or the like closes the statement of an earlier line.
    pub(super) fn take_line(&self) -> u64 {
        self.closes.take().unwrap_or_else(|| self.line.get())
    }

    fn enter(&self, line: &[u8]) {
        self.line.set(self.line.get() + 1);
        let first = line.iter().copied().find(|b| !b.is_ascii_whitespace());
        let closing = matches!(first, Some(b'.' | b';' | b',' | b']' | b')' | b'}'));
        self.closes.set(closing.then(|| self.content.get().max(1)));
        if !matches!(first, None | Some(b'#')) {
            self.content.set(self.line.get());
        }
    }
}

/// A reader that never gives more than the rest of one line.
pub(super) struct LineByLine<R> {
    inner: R,
    place: Rc<ReadPosition>,
    piece: Vec<u8>,
    given: usize,
    at_line_start: bool,
}

impl<R: BufRead> LineByLine<R> {
    pub(super) fn new(inner: R) -> Self {
        LineByLine {
            inner,
            place: Rc::default(),
            piece: Vec::new(),
            given: 0,
            at_line_start: true,
        }
    }

    pub(super) fn place(&self) -> Rc<ReadPosition> {
        Rc::clone(&self.place)
    }
}

impl<R: BufRead> Read for LineByLine<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.piece.len() {
            self.piece.clear();
            self.given = 0;
            self.inner
                .by_ref()
                .take(PIECE_BYTES)
                .read_until(b'\n', &mut self.piece)?;
            if self.at_line_start && !self.piece.is_empty() {
                self.place.enter(&self.piece);
            }
            self.at_line_start = self.piece.ends_with(b"\n");
        }
        let n = (&self.piece[self.given..]).read(buffer)?;
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_closing_line_counts_for_the_line_before_it() {
        let mut reader = LineByLine::new("<s> <p> <o>\n\n# note\n ; <q> <r>\n".as_bytes());
        let place = reader.place();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((place.take_line(), place.take_line()), (1, 4));
    }

    #[test]
    fn gzip_is_recognized_by_its_bytes() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"hello").unwrap();
        let packed = io::Cursor::new(encoder.finish().unwrap());
        let mut text = String::new();
        from_reader(packed)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "hello");
    }
}
