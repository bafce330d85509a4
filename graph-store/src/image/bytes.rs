//! The bytes of an image, and parts of them as numbers.
//!
//! The texts of terms come first. Parts begin at multiples of eight bytes, so that they are numbers as
//! they lie there. This needs no unsafe code: the casts check length and alignment.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zerocopy::{FromBytes, FromZeros, IntoBytes};

use super::both;
use super::error::{Fault, damaged};

/// The alignment of parts, in bytes.
pub(super) const ALIGN: usize = 8;

/// What a file begins with.
const MAGIC: &[u8; 8] = b"KGIMAGE1";
/// Bytes before the texts: what a file begins with, and the number of bytes of the texts.
pub(super) const HEAD: usize = 16;

/// Why parts are numbers.
const NUMBERS: &str = "parts of numbers are aligned, and their lengths were checked";

/// A part of some [`Bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Offset of the first byte behind the texts, a multiple of [`ALIGN`].
    pub(super) start: usize,
    /// Number of bytes.
    pub(super) length: usize,
}

/// The content of a file in memory: the texts of terms, which were found to be UTF-8 once, and all that lies behind them,
/// aligned to eight.
pub(super) struct Bytes {
    texts: String,
    words: Vec<u64>,
    /// Bytes of `words`.
    length: usize,
}

impl Bytes {
    /// Returns the texts of terms.
    #[inline]
    pub(super) fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns what lies behind the texts.
    pub(super) fn rest(&self) -> &[u8] {
        &self.words.as_bytes()[..self.length]
    }

    /// Returns the offset of the rest in the file.
    pub(super) fn rest_at(&self) -> usize {
        HEAD + self.texts.len().next_multiple_of(ALIGN)
    }

    /// Returns the number of bytes of the file.
    pub(super) fn len(&self) -> usize {
        self.rest_at() + self.length
    }

    /// Writes the file.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&head(self.texts.len() as u64))?;
        out.write_all(self.texts.as_bytes())?;
        let padding = self.texts.len().next_multiple_of(ALIGN) - self.texts.len();
        out.write_all(&[0; ALIGN][..padding])?;
        out.write_all(self.rest())
    }

    pub(super) fn part(&self, part: Part) -> &[u8] {
        &self.rest()[part.start..part.start + part.length]
    }

    /// Returns a part as numbers; its length was checked to be a multiple of four.
    #[inline]
    pub(super) fn u32s(&self, part: Part) -> &[u32] {
        <[u32]>::ref_from_bytes(self.part(part)).expect(NUMBERS)
    }

    /// Returns a part as numbers; its length was checked to be a multiple of eight.
    #[inline]
    pub(super) fn u64s(&self, part: Part) -> &[u64] {
        <[u64]>::ref_from_bytes(self.part(part)).expect(NUMBERS)
    }
}

/// Returns what a file with texts of some bytes begins with.
pub(super) fn head(texts: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(MAGIC);
    head[8..].copy_from_slice(&texts.to_ne_bytes());
    head
}

/// A file that is read or written into memory.
#[derive(Default)]
pub(super) struct BytesWriter {
    head: Vec<u8>,
    texts: Vec<u8>,
    /// Bytes of texts that the head tells of.
    of_texts: usize,
    /// Bytes that fill the texts up.
    padding: usize,
    words: Vec<u64>,
    length: usize,
}

impl BytesWriter {
    /// Reads a whole file, the texts at the same time as what lies behind them.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let mut read = BytesWriter::default();
        let mut head = Vec::with_capacity(HEAD);
        Read::take(&mut file, HEAD as u64).read_to_end(&mut head)?;
        read.push(&head);
        if read.of_texts > length {
            return Ok(BytesWriter::default());
        }
        let texts = read.of_texts.next_multiple_of(ALIGN);
        let left = length.saturating_sub(HEAD + texts);
        let mut behind = File::open(path)?;
        behind.seek(SeekFrom::Start((HEAD + texts) as u64))?;
        let (texts, words) = both(
            length,
            move || {
                let mut content = Vec::new();
                content.try_reserve_exact(texts).map_err(io::Error::other)?;
                Read::take(file, texts as u64).read_to_end(&mut content)?;
                io::Result::Ok(content)
            },
            || {
                let mut words = u64::new_vec_zeroed(left.div_ceil(ALIGN))
                    .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
                behind.read_exact(&mut words.as_mut_bytes()[..left])?;
                io::Result::Ok(words)
            },
        );
        read.texts = texts?;
        read.texts.truncate(read.of_texts);
        (read.words, read.length) = (words?, left);
        Ok(read)
    }

    /// Copies bytes.
    pub(super) fn copied(bytes: &[u8]) -> Self {
        let mut copy = BytesWriter::default();
        copy.push(bytes);
        copy
    }

    fn push(&mut self, mut bytes: &[u8]) {
        let mut next = |wanted: usize| {
            let (part, rest) = bytes.split_at(wanted.min(bytes.len()));
            bytes = rest;
            part
        };
        if self.head.len() < HEAD {
            self.head.extend(next(HEAD - self.head.len()));
            if let Some(texts) = self.head.last_chunk().filter(|_| self.head.len() == HEAD) {
                // More than there can be is more than follows.
                self.of_texts = usize::try_from(u64::from_ne_bytes(*texts)).unwrap_or(usize::MAX);
            }
        }
        let missing = self.of_texts - self.texts.len();
        self.texts.extend_from_slice(next(missing));
        if self.head.len() == HEAD && self.texts.len() == self.of_texts {
            let padding = self.of_texts.next_multiple_of(ALIGN) - self.of_texts;
            self.padding += next(padding - self.padding).len();
            let rest = next(usize::MAX);
            let end = self.length + rest.len();
            self.words.resize(end.div_ceil(ALIGN), 0);
            self.words.as_mut_bytes()[self.length..end].copy_from_slice(rest);
            self.length = end;
        }
    }

    /// Returns the whole; it must begin with a head and have all texts that this tells of.
    pub(super) fn finish(mut self) -> Result<Bytes, Fault> {
        let is_begun = self.head.starts_with(MAGIC) && self.head.len() == HEAD;
        if !is_begun || self.texts.len() != self.of_texts || self.length == 0 {
            return Err(Fault::NotAnImage);
        }
        self.texts.shrink_to_fit();
        self.words.shrink_to_fit();
        Ok(Bytes {
            texts: String::from_utf8(self.texts).map_err(|_| damaged("terms"))?,
            words: self.words,
            length: self.length,
        })
    }
}

impl Write for BytesWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{BytesWriter, head};

    #[test]
    fn pieces_make_the_same_whole() {
        let mut whole = head(5).to_vec();
        whole.extend(b"texts\0\0\0rest of the file");
        for length in 1..whole.len() {
            let mut pieces = BytesWriter::default();
            for piece in whole.chunks(length) {
                pieces.write_all(piece).unwrap();
            }
            let bytes = pieces.finish().unwrap();
            assert_eq!(bytes.texts(), "texts");
            assert_eq!(bytes.rest(), b"rest of the file");
            assert_eq!(bytes.len(), whole.len());
            let mut written = Vec::new();
            bytes.write(&mut written).unwrap();
            assert_eq!(written, whole);
        }
    }
}
