//! RDF syntaxes that can be loaded, and their file extensions.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use oxrdfio::{JsonLdProfileSet, RdfFormat};

use crate::bounds::{JSON_TOKEN_BYTES, TOKEN_BYTES};

/// A syntax of RDF data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// Turtle.
    Turtle,
    /// TriG: Turtle with named graphs.
    TriG,
    /// N-Triples.
    NTriples,
    /// N-Quads.
    NQuads,
    /// JSON-LD; a remote `@context` is read from a file, and never fetched.
    JsonLd,
    /// RDF/XML.
    RdfXml,
}

/// Every syntax with its names: the first is the usual one, all are also file extensions.
const NAMES: &[(DataFormat, &[&str])] = &[
    (DataFormat::Turtle, &["ttl", "turtle"]),
    (DataFormat::TriG, &["trig"]),
    (DataFormat::NTriples, &["nt", "ntriples"]),
    (DataFormat::NQuads, &["nq", "nquads"]),
    (DataFormat::JsonLd, &["jsonld", "json"]),
    (DataFormat::RdfXml, &["rdf", "xml", "owl"]),
];

impl DataFormat {
    /// Returns the syntax by the extension of `path`; a trailing `.gz` is ignored.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        name.rsplit_once('.')?.1.parse().ok()
    }

    /// Returns all names that [`FromStr`] knows, for help texts.
    #[must_use]
    pub fn names() -> String {
        NAMES
            .iter()
            .map(|(_, names)| names[0])
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns whether a dot ends a statement, on whatever line.
    pub(crate) fn is_terse(self) -> bool {
        matches!(self, DataFormat::Turtle | DataFormat::TriG)
    }

    /// Returns whether each line is read on its own.
    pub(crate) fn has_lines(self) -> bool {
        matches!(self, DataFormat::NTriples | DataFormat::NQuads)
    }

    /// Returns whether statements stand in blocks of graphs.
    pub(crate) fn has_blocks(self) -> bool {
        self == DataFormat::TriG
    }

    /// Returns the maximum size of a token.
    pub(crate) fn token_bytes(self) -> usize {
        match self {
            DataFormat::JsonLd => JSON_TOKEN_BYTES,
            _ => TOKEN_BYTES,
        }
    }

    pub(crate) fn rdf_format(self) -> RdfFormat {
        match self {
            DataFormat::Turtle => RdfFormat::Turtle,
            DataFormat::TriG => RdfFormat::TriG,
            DataFormat::NTriples => RdfFormat::NTriples,
            DataFormat::NQuads => RdfFormat::NQuads,
            DataFormat::JsonLd => RdfFormat::JsonLd {
                profile: JsonLdProfileSet::empty(),
            },
            DataFormat::RdfXml => RdfFormat::RdfXml,
        }
    }
}

/// The name is not one of a known syntax.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown data format `{0}`; the formats are {known}", known = DataFormat::names())]
pub struct UnknownFormat(String);

impl FromStr for DataFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|n| n.eq_ignore_ascii_case(name)))
            .map(|(format, _)| *format)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataFormat::Turtle => "Turtle",
            DataFormat::TriG => "TriG",
            DataFormat::NTriples => "N-Triples",
            DataFormat::NQuads => "N-Quads",
            DataFormat::JsonLd => "JSON-LD",
            DataFormat::RdfXml => "RDF/XML",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_tells_the_syntax_with_and_without_gz() {
        let format = |name: &str| DataFormat::from_path(Path::new(name));
        assert_eq!(format("a/b.ttl"), Some(DataFormat::Turtle));
        assert_eq!(format("b.nq.gz"), Some(DataFormat::NQuads));
        assert_eq!(format("x.y.JSONLD"), Some(DataFormat::JsonLd));
        assert_eq!(format("x.csv"), None);
        assert_eq!(format("ttl"), None);
    }
}
