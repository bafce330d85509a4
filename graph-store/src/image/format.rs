//! The file of an image: sections, a directory of them, and a footer.
//!
//! ```text
//! "KGIMAGE1"  bytes of the texts  texts of terms  sections, each at a multiple of 8  directory  footer
//! ```
//!
//! The directory has an entry of 32 bytes for each section, with its checksum (CRC-32). The footer is
//! written last; a file without one was never finished. All numbers are in the machine's order of bytes.
//! `docs/image-format.md` describes the content of sections.

use std::collections::HashMap;
use std::io::{self, Write};

use crc32fast::Hasher;
use zerocopy::IntoBytes;

use super::both;
use super::bytes::{ALIGN, Bytes, HEAD, Part, head};
use super::error::{Fault, damaged};

/// What a file ends with.
const TAIL: &[u8; 8] = b"KGIMGEND";
/// The version of the format; another one is not read.
pub(super) const VERSION: u32 = 1;
/// Reads as another number where bytes are in another order.
const ORDER: u32 = 0x0102_0304;
/// Bytes of a directory entry: kind, of, offset, length, checksum, nothing.
const ENTRY: usize = 32;
/// Bytes of the footer: order, version, offset of the directory, entries, checksum of the directory,
/// checksum of the footer so far, tail.
const FOOTER: usize = 40;

/// What a section holds. The numbers stand in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub(super) enum Kind {
    /// Counts that say how to read the rest.
    Counts = 1,
    /// The beginnings that IRIs share.
    Prefixes = 2,
    /// Language tags.
    Tags = 3,
    /// The texts of terms.
    Terms = 4,
    /// Where the text of each term begins, and its head.
    Entries = 5,
    /// The classes of literals, and the terms that they begin with.
    Classes = 6,
    /// Ranges of literals that are equal as values.
    Equal = 7,
    /// The properties, and how their columns are encoded.
    Properties = 8,
    /// Graphs that a triple can be in, as sets.
    GraphSets = 9,
    /// The set of graphs of each triple of a property.
    SetOf = 10,
    /// Subjects of a property.
    Subjects = 11,
    /// The number of subjects before each word of the subjects of a property.
    SubjectRanks = 12,
    /// Where the objects of each subject end.
    ObjectEnds = 13,
    /// Objects by subject.
    ObjectsOf = 14,
    /// Objects of a property.
    Objects = 15,
    /// The number of objects before each word of the objects of a property.
    ObjectRanks = 16,
    /// Where the subjects of each object end.
    SubjectEnds = 17,
    /// Subjects by object.
    SubjectsOf = 18,
    /// The datatypes of literals.
    Datatypes = 19,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counts => "counts",
            Kind::Prefixes => "prefixes",
            Kind::Tags => "tags",
            Kind::Terms => "terms",
            Kind::Entries => "entries of terms",
            Kind::Classes => "classes",
            Kind::Equal => "equal literals",
            Kind::Properties => "properties",
            Kind::GraphSets => "graph sets",
            Kind::SetOf => "graph set of triples",
            Kind::Subjects => "subjects",
            Kind::SubjectRanks => "ranks of subjects",
            Kind::ObjectEnds => "ends of objects",
            Kind::ObjectsOf => "objects by subject",
            Kind::Objects => "objects",
            Kind::ObjectRanks => "ranks of objects",
            Kind::SubjectEnds => "ends of subjects",
            Kind::SubjectsOf => "subjects by object",
            Kind::Datatypes => "datatypes",
        }
    }

    fn of_number(number: u32) -> Option<Kind> {
        ALL.into_iter().find(|kind| *kind as u32 == number)
    }
}

const ALL: [Kind; 19] = [
    Kind::Counts,
    Kind::Prefixes,
    Kind::Tags,
    Kind::Terms,
    Kind::Entries,
    Kind::Classes,
    Kind::Equal,
    Kind::Properties,
    Kind::GraphSets,
    Kind::SetOf,
    Kind::Subjects,
    Kind::SubjectRanks,
    Kind::ObjectEnds,
    Kind::ObjectsOf,
    Kind::Objects,
    Kind::ObjectRanks,
    Kind::SubjectEnds,
    Kind::SubjectsOf,
    Kind::Datatypes,
];

/// Writes the sections of an image one after the other.
pub(super) struct SectionWriter<W> {
    out: W,
    at: u64,
    directory: Vec<u8>,
    entries: u32,
}

impl<W: Write> SectionWriter<W> {
    /// Begins a file; the texts of terms, of so many bytes, are to be its first section.
    pub(super) fn new(mut out: W, texts: u64) -> io::Result<Self> {
        out.write_all(&head(texts))?;
        Ok(SectionWriter {
            out,
            at: HEAD as u64,
            directory: Vec::new(),
            entries: 0,
        })
    }

    /// Writes a section; `of` tells sections of one kind apart.
    pub(super) fn section(&mut self, kind: Kind, of: u32, content: &[u8]) -> io::Result<()> {
        let mut section = self.begin(kind, of);
        section.push(content)?;
        section.end()
    }

    /// Begins a section that is written piece by piece.
    pub(super) fn begin(&mut self, kind: Kind, of: u32) -> Section<'_, W> {
        Section {
            writer: self,
            kind,
            of,
            length: 0,
            checksum: Hasher::new(),
        }
    }

    /// Writes a section of numbers.
    pub(super) fn numbers<T>(&mut self, kind: Kind, of: u32, numbers: &[T]) -> io::Result<()>
    where
        [T]: IntoBytes + zerocopy::Immutable,
    {
        self.section(kind, of, numbers.as_bytes())
    }

    /// Writes the directory and the footer.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let directory_at = self.at;
        let directory = std::mem::take(&mut self.directory);
        self.padded(&directory)?;
        let mut footer = Vec::with_capacity(FOOTER);
        footer.extend(ORDER.to_ne_bytes());
        footer.extend(VERSION.to_ne_bytes());
        footer.extend(directory_at.to_ne_bytes());
        footer.extend(self.entries.to_ne_bytes());
        footer.extend(crc32fast::hash(&directory).to_ne_bytes());
        footer.extend(0_u32.to_ne_bytes());
        footer.extend(crc32fast::hash(&footer).to_ne_bytes());
        footer.extend(TAIL);
        self.out.write_all(&footer)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn padded(&mut self, content: &[u8]) -> io::Result<()> {
        self.out.write_all(content)?;
        self.pad(content.len() as u64)
    }

    /// Fills up what was written so that the next section is aligned.
    fn pad(&mut self, written: u64) -> io::Result<()> {
        let padded = written.next_multiple_of(ALIGN as u64);
        let padding = (padded - written) as usize;
        self.out.write_all(&[0; ALIGN][..padding])?;
        self.at += padded;
        Ok(())
    }
}

/// A section that is being written.
pub(super) struct Section<'w, W> {
    writer: &'w mut SectionWriter<W>,
    kind: Kind,
    of: u32,
    length: u64,
    checksum: Hasher,
}

impl<W: Write> Section<'_, W> {
    /// Writes a piece of the section.
    pub(super) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.length += piece.len() as u64;
        self.checksum.update(piece);
        self.writer.out.write_all(piece)
    }

    /// Ends the section; one that is not ended leaves a file that no one opens.
    pub(super) fn end(self) -> io::Result<()> {
        let writer = self.writer;
        let entry = [
            &(self.kind as u32).to_ne_bytes()[..],
            &self.of.to_ne_bytes(),
            &writer.at.to_ne_bytes(),
            &self.length.to_ne_bytes(),
            &self.checksum.finalize().to_ne_bytes(),
            &0_u32.to_ne_bytes(),
        ];
        writer.directory.extend(entry.concat());
        writer.entries += 1;
        writer.pad(self.length)
    }
}

/// Where the sections of an image lie.
pub(super) struct Directory {
    parts: HashMap<(Kind, u32), Part>,
    /// That of the directory itself, which has those of all sections.
    pub(super) checksum: u32,
}

impl Directory {
    /// Reads the directory and compares all checksums.
    pub(super) fn read(bytes: &Bytes) -> Result<Self, Fault> {
        let (entries, directory, checksum) = directory(bytes)?;
        if crc(directory) != checksum {
            return Err(damaged("directory"));
        }
        let mut parts = HashMap::with_capacity(entries);
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for entry in directory.chunks_exact(ENTRY) {
            let kind = Kind::of_number(u32_at(entry, 0)).ok_or(damaged("directory"))?;
            let offset = size_at(entry, 8).ok_or(damaged("directory"))?;
            let length = size_at(entry, 16).ok_or(damaged("directory"))?;
            let (content, start) = match kind {
                Kind::Terms => {
                    let texts = bytes.texts().as_bytes();
                    let is_right = (offset, length) == (HEAD, texts.len());
                    (is_right.then_some(texts), Some(0))
                }
                _ => {
                    let start = offset.checked_sub(bytes.rest_at());
                    let start = start.filter(|start| start.is_multiple_of(ALIGN));
                    let end = start.and_then(|start| start.checked_add(length));
                    let range = start.zip(end);
                    (
                        range.and_then(|(start, end)| bytes.rest().get(start..end)),
                        start,
                    )
                }
            };
            let (content, start) = content.zip(start).ok_or(damaged("directory"))?;
            let unchecked = match kind {
                Kind::Terms => &mut texts,
                _ => &mut others,
            };
            unchecked.push((kind, content, u32_at(entry, 24)));
            parts.insert((kind, u32_at(entry, 4)), Part { start, length });
        }
        let check = |sections: &[(Kind, &[u8], u32)]| {
            let mut sections = sections.iter();
            let wrong = sections.find(|(_, content, checksum)| crc(content) != *checksum);
            wrong.map_or(Ok(()), |(kind, ..)| Err(damaged(kind.name())))
        };
        let (texts, others) = both(bytes.len(), || check(&texts), || check(&others));
        texts.and(others)?;
        Ok(Directory { parts, checksum })
    }

    /// Returns a section of which there may be none.
    pub(super) fn optional(&self, kind: Kind, of: u32) -> Option<Part> {
        self.parts.get(&(kind, of)).copied()
    }

    pub(super) fn get(&self, kind: Kind, of: u32) -> Result<Part, Fault> {
        self.optional(kind, of).ok_or(damaged(kind.name()))
    }

    /// Returns a section of numbers of `width` bytes.
    pub(super) fn numbers(&self, kind: Kind, of: u32, width: usize) -> Result<Part, Fault> {
        let part = self.get(kind, of)?;
        if part.length.is_multiple_of(width) {
            Ok(part)
        } else {
            Err(damaged(kind.name()))
        }
    }
}

/// Returns the number of entries, the directory, and its checksum as the footer says it.
fn directory(bytes: &Bytes) -> Result<(usize, &[u8], u32), Fault> {
    let rest = bytes.rest();
    let footer_at = rest.len().checked_sub(FOOTER).ok_or(Fault::NotAnImage)?;
    let (before, footer) = rest.split_at(footer_at);
    if !footer.ends_with(TAIL) {
        return Err(Fault::NotAnImage);
    }
    let order = u32_at(footer, 0);
    if order == ORDER.swap_bytes() {
        return Err(Fault::ByteOrder);
    }
    if order != ORDER || crc(&footer[..28]) != u32_at(footer, 28) {
        return Err(damaged("footer"));
    }
    let found = u32_at(footer, 4);
    if found != VERSION {
        return Err(Fault::Version {
            found,
            known: VERSION,
        });
    }
    let start = size_at(footer, 8)
        .and_then(|start| start.checked_sub(bytes.rest_at()))
        .ok_or(damaged("footer"))?;
    let entries = u32_at(footer, 16) as usize;
    let end = entries
        .checked_mul(ENTRY)
        .and_then(|length| start.checked_add(length));
    let directory = end
        .and_then(|end| before.get(start..end))
        .ok_or(damaged("footer"))?;
    Ok((entries, directory, u32_at(footer, 20)))
}

/// Checksums of long contents are worked out by the machine's instructions, in parts.
fn crc(content: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(content);
    hasher.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_ne_bytes(bytes.expect("four bytes"))
}

fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes[at..at + 8].try_into();
    usize::try_from(u64::from_ne_bytes(bytes.expect("eight bytes"))).ok()
}
