//! University data as a stream: the same bytes for the same seed, one department in memory at a time.

mod department;
mod emit;
mod node;
mod syntax;
pub mod words;

use std::io::{self, Read};

pub use department::{
    Department, Graduate, Publication, Teacher, UNIVERSITIES, Undergraduate, departments,
};
pub use node::{Class, DATA, DepartmentId, Node, VOCABULARY};
pub use syntax::Format;

/// The SOML schema of the data.
pub const SCHEMA: &str = include_str!("../../university.yaml");

/// What data to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of universities with all that is in them, about 127,000 triples each.
    pub universities: usize,
    /// Whatever is drawn depends on it alone.
    pub seed: u64,
}

/// A configuration that cannot be generated.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("cannot generate {0} universities: the profile has from 1 to {UNIVERSITIES}")]
pub struct UniversitiesOutOfRange(usize);

impl Config {
    /// Checks and keeps the numbers.
    ///
    /// # Errors
    /// When there are no universities, or more than degrees can come from.
    pub fn new(universities: usize, seed: u64) -> Result<Self, UniversitiesOutOfRange> {
        if (1..=UNIVERSITIES).contains(&universities) {
            Ok(Config { universities, seed })
        } else {
            Err(UniversitiesOutOfRange(universities))
        }
    }
}

/// Generates a document piece by piece; also a [`Read`] of the whole of it.
#[derive(Debug)]
pub struct Generator {
    config: Config,
    format: Format,
    /// The department to come; `None` before the first piece.
    next: Option<DepartmentId>,
    piece: Vec<u8>,
    read: usize,
}

impl Generator {
    /// Begins a document.
    #[must_use]
    pub fn new(config: Config, format: Format) -> Self {
        Generator {
            config,
            format,
            next: None,
            piece: Vec::new(),
            read: 0,
        }
    }

    /// Returns the next piece of the document, or `None` at its end.
    pub fn piece(&mut self) -> Option<&[u8]> {
        self.fill().then_some(self.piece.as_slice())
    }

    /// Replaces the piece at hand by the next one; false at the end.
    fn fill(&mut self) -> bool {
        let Config { universities, seed } = self.config;
        self.piece.clear();
        self.read = 0;
        let Some(place) = self.next else {
            emit::universities(self.format, universities, &mut self.piece);
            self.next = Some(DepartmentId {
                university: 0,
                department: 0,
            });
            return true;
        };
        if place.university == universities {
            return false;
        }
        let department = Department::draw(seed, place);
        emit::department(self.format, seed, &department, &mut self.piece);
        let mut next = place;
        next.department += 1;
        if next.department == departments(seed, place.university) {
            next = DepartmentId {
                university: place.university + 1,
                department: 0,
            };
        }
        self.next = Some(next);
        true
    }
}

impl Read for Generator {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() && !self.fill() {
            return Ok(0);
        }
        let rest = &self.piece[self.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}
