//! The bytes of an image, and parts of them as numbers.
//!
//! Parts begin at multiples of eight bytes, so that they are numbers as they lie there. This needs no
//! unsafe code: the casts check length and alignment.

use std::fs::File;
use std::io::{self, Read, Write};

use zerocopy::{FromBytes, IntoBytes};

/// The alignment of parts, in bytes.
pub(super) const ALIGN: usize = 8;

/// Why parts are numbers.
const NUMBERS: &str = "parts of numbers are aligned, and their lengths were checked";

/// A part of some [`Bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Offset of the first byte, a multiple of [`ALIGN`].
    pub(super) start: usize,
    /// Number of bytes.
    pub(super) length: usize,
}

/// Bytes in memory, aligned to eight.
pub(super) struct Bytes {
    words: Vec<u64>,
    length: usize,
}

impl Bytes {
    /// Reads a whole file.
    pub(super) fn read(file: &mut File) -> io::Result<Self> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let mut words = Vec::new();
        let needed = length.div_ceil(ALIGN);
        words.try_reserve_exact(needed).map_err(io::Error::other)?;
        words.resize(needed, 0_u64);
        file.read_exact(&mut words.as_mut_bytes()[..length])?;
        Ok(Bytes { words, length })
    }

    /// Copies bytes.
    pub(super) fn copied(bytes: &[u8]) -> Self {
        let mut copy = BytesWriter::default();
        copy.push(bytes);
        copy.into_bytes()
    }

    pub(super) fn all(&self) -> &[u8] {
        &self.words.as_bytes()[..self.length]
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn part(&self, part: Part) -> &[u8] {
        &self.all()[part.start..part.start + part.length]
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

/// Bytes in memory under construction.
#[derive(Default)]
pub(super) struct BytesWriter {
    words: Vec<u64>,
    length: usize,
}

impl BytesWriter {
    fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        self.words.resize(end.div_ceil(ALIGN), 0);
        self.words.as_mut_bytes()[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }

    pub(super) fn into_bytes(mut self) -> Bytes {
        self.words.shrink_to_fit();
        Bytes {
            words: self.words,
            length: self.length,
        }
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
