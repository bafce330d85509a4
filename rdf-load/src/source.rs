//! Bytes of a data file: opened, decompressed, and handed on line by line.
//!
//! RDF parsers do not tell the line of a statement. They ask for more input only when all they have
//! is used up, so a reader that gives one line at a time knows the line that a statement ended on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::bounds::PIECE_BYTES;
use crate::documents::Guard;
use crate::position::ReadPosition;
use crate::refusal::Refused;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const BUFFER_BYTES: usize = 64 * 1024;

/// Longest stretch of a long line that is read at once.
const MAX_PIECE_BYTES: u64 = 16 << 20;

/// The name of standard input in place of a file.
pub(crate) const STANDARD_INPUT: &str = "-";

/// Bytes that no RDF text begins with, and what they say of the file.
const FOREIGN: &[(&[u8], &str)] = &[
    (&[0xff, 0xfe], UTF_16),
    (&[0xfe, 0xff], UTF_16),
    (
        &[0x28, 0xb5, 0x2f, 0xfd],
        "the file is compressed by zstd; unpack it, or use gzip",
    ),
    (
        &[0xfd, b'7', b'z', b'X', b'Z', 0],
        "the file is compressed by xz; unpack it, or use gzip",
    ),
    (
        b"BZh91AY",
        "the file is compressed by bzip2; unpack it, or use gzip",
    ),
    (b"PK\x03\x04", "the file is a ZIP archive; unpack it"),
    (
        b"version https://git-lfs.github.com/spec/",
        "the file is a Git LFS pointer, not the data; fetch the data with `git lfs pull`",
    ),
];

const UTF_16: &str = "the file is in UTF-16; convert it to UTF-8";
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// As many bytes as tell what a file is.
const HEAD_BYTES: u64 = 64;

/// How far reading is, shared between the threads of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// Bytes taken from files, before decompression.
    pub(crate) bytes: Arc<AtomicU64>,
    /// Set to stop.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Opens `path`, or standard input, decompressing it when its first bytes are those of gzip.
pub(crate) fn open(path: &Path, meter: Meter) -> io::Result<Box<dyn BufRead>> {
    if path.as_os_str() == STANDARD_INPUT {
        return from_reader(Metered {
            inner: io::stdin(),
            meter,
        });
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    from_reader(Metered { inner: file, meter })
}

/// Wraps `inner`, decompressing it when its first bytes are those of gzip, and skipping a byte order
/// mark.
///
/// Other encodings are refused, which would give nothing but malformed statements.
pub(crate) fn from_reader(inner: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let (head, packed) = peeked(inner)?;
    if head.starts_with(GZIP_MAGIC) {
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, packed));
        let (head, text) = peeked(Unpacked(decoder))?;
        as_text(&head, text)
    } else {
        as_text(&head, packed)
    }
}

fn as_text(head: &[u8], mut text: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let foreign = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some((_, message)) = foreign {
        return Err(Refused((*message).to_owned()).into());
    }
    // No text of any syntax has zero bytes; the other half of a character in UTF-16 is one.
    if head.iter().take(2).any(|byte| *byte == 0) {
        return Err(Refused(UTF_16.to_owned()).into());
    }
    if head.starts_with(BYTE_ORDER_MARK) {
        text.read_exact(&mut [0; BYTE_ORDER_MARK.len()])?;
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, text)))
}

/// A reader whose first bytes have been read already.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// Returns the first bytes, and a reader that gives them once more.
fn peeked<R: Read>(mut inner: R) -> io::Result<(Vec<u8>, Whole<R>)> {
    let mut head = Vec::new();
    inner.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(inner)))
}

/// Replaces the error for compressed data that end early by one that names the cause.
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Refused("the gzip data end early: the file seems to be truncated".to_owned()).into()
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Refused(format!("the gzip data are malformed: {error}")).into()
            }
            _ => error,
        })
    }
}

struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.meter.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("the load was stopped"));
        }
        let n = self.inner.read(buffer)?;
        self.meter.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A reader of documents that never gives more than the rest of one line.
pub(crate) struct LineByLine<R> {
    inner: R,
    guard: Guard,
    line: u64,
    piece_bytes: u64,
    place: Rc<ReadPosition>,
    /// The line as it is in the file.
    text: Vec<u8>,
    /// What is handed on of it.
    piece: Vec<u8>,
    given: usize,
    at_line_start: bool,
    has_ended: bool,
}

impl<R: BufRead> LineByLine<R> {
    pub(crate) fn new(inner: R, guard: Guard) -> Self {
        LineByLine {
            inner,
            guard,
            line: 0,
            piece_bytes: PIECE_BYTES,
            place: Rc::default(),
            text: Vec::new(),
            piece: Vec::new(),
            given: 0,
            at_line_start: true,
            has_ended: false,
        }
    }

    pub(crate) fn place(&self) -> Rc<ReadPosition> {
        Rc::clone(&self.place)
    }
}

impl<R: BufRead> LineByLine<R> {
    fn advance(&mut self) -> io::Result<()> {
        self.piece.clear();
        self.text.clear();
        self.given = 0;
        let mut text = self.inner.by_ref().take(self.piece_bytes);
        if text.read_until(b'\n', &mut self.text)? == 0 {
            self.has_ended = true;
            return self.guard.end(&mut self.piece);
        }
        self.line += u64::from(self.at_line_start);
        let begins = self.at_line_start.then_some(self.text.as_slice());
        let first = self.text.iter().find(|byte| !byte.is_ascii_whitespace());
        let has_content = !matches!(first, None | Some(b'#'));
        self.place.enter(self.line, begins, has_content);
        self.guard.pass(&self.text, &mut self.piece)?;
        self.at_line_start = self.text.ends_with(b"\n");
        // Parsers read a token again whenever more of it arrives.
        self.piece_bytes = if self.at_line_start {
            PIECE_BYTES
        } else {
            (self.piece_bytes * 2).min(MAX_PIECE_BYTES)
        };
        Ok(())
    }
}

impl<R: BufRead> Read for LineByLine<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A tag is handed on when it is whole, so that a line may leave nothing to hand on.
        while self.given == self.piece.len() && !self.has_ended {
            self.advance()?;
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
        let text = "<s> <p> <o>\n\n# note\n ; <q> <r>\n".as_bytes();
        let mut reader = LineByLine::new(text, Guard::None);
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
