//! All quads of a store as text: N-Quads or TriG, gzipped or not.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use flate2::Compression;
use flate2::write::GzEncoder;
use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};

use crate::format::DataFormat;

/// Bytes that are collected before they are compressed or handed on.
const BUFFER: usize = 64 << 10;

/// The level of compression: higher ones take twice the time for a few percent.
const LEVEL: u32 = 5;

/// Prefixes of TriG: those of the vocabularies that nearly all data use.
const PREFIXES: [(&str, &str); 4] = [
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// A syntax that can hold all quads of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// N-Quads: a line for each quad.
    #[default]
    NQuads,
    /// TriG: Turtle with named graphs.
    TriG,
}

impl DumpFormat {
    /// Returns the name, which is also a file extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DumpFormat::NQuads => "nq",
            DumpFormat::TriG => "trig",
        }
    }

    /// Returns the media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            DumpFormat::NQuads => "application/n-quads",
            DumpFormat::TriG => "application/trig",
        }
    }

    /// Returns the syntax by the extension of a file; a trailing `.gz` is ignored.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        match DataFormat::from_path(path)? {
            DataFormat::NQuads => Some(DumpFormat::NQuads),
            DataFormat::TriG => Some(DumpFormat::TriG),
            _ => None,
        }
    }

    fn serializer(self) -> RdfSerializer {
        match self {
            DumpFormat::NQuads => RdfSerializer::from_format(RdfFormat::NQuads),
            DumpFormat::TriG => {
                let serializer = RdfSerializer::from_format(RdfFormat::TriG);
                PREFIXES.iter().fold(serializer, |serializer, (name, iri)| {
                    serializer
                        .with_prefix(*name, *iri)
                        .expect("the IRIs are well-formed")
                })
            }
        }
    }
}

impl fmt::Display for DumpFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DumpFormat::NQuads => "N-Quads",
            DumpFormat::TriG => "TriG",
        })
    }
}

/// The name is not that of a syntax for dumps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `nquads` or `trig`")]
pub struct UnknownDumpFormat;

impl FromStr for DumpFormat {
    type Err = UnknownDumpFormat;

    fn from_str(name: &str) -> Result<Self, UnknownDumpFormat> {
        match name {
            "nq" | "nquads" => Ok(DumpFormat::NQuads),
            "trig" => Ok(DumpFormat::TriG),
            _ => Err(UnknownDumpFormat),
        }
    }
}

/// Writes quads, in the memory of a buffer.
pub struct DumpWriter<W: Write> {
    serializer: WriterQuadSerializer<Packed<W>>,
    quads: u64,
}

impl<W: Write> DumpWriter<W> {
    /// Writes to `out`, gzipped or not.
    #[must_use]
    pub fn new(out: W, format: DumpFormat, is_gzipped: bool) -> Self {
        let out = Packed::new(out, is_gzipped);
        DumpWriter {
            serializer: format.serializer().for_writer(out),
            quads: 0,
        }
    }

    /// Writes further quads.
    ///
    /// # Errors
    ///
    /// Fails when the output does.
    pub fn write(&mut self, quads: &[Quad]) -> io::Result<()> {
        for quad in quads {
            self.serializer.serialize_quad(quad)?;
        }
        self.quads += quads.len() as u64;
        Ok(())
    }

    /// Returns how many quads were written.
    #[must_use]
    pub fn quads(&self) -> u64 {
        self.quads
    }

    /// Writes what ends the text, and returns the output.
    ///
    /// # Errors
    ///
    /// Fails when the output does.
    pub fn finish(self) -> io::Result<W> {
        self.serializer.finish()?.finish()
    }
}

/// Text on its way to the output, gzipped or as it is.
pub enum Packed<W: Write> {
    /// As it is.
    Plain(BufWriter<W>),
    /// Gzipped.
    Gzip(BufWriter<GzEncoder<W>>),
}

impl<W: Write> Packed<W> {
    /// Writes to `out`, gzipped or as it is.
    #[must_use]
    pub fn new(out: W, is_gzipped: bool) -> Self {
        if is_gzipped {
            let encoder = GzEncoder::new(out, Compression::new(LEVEL));
            Packed::Gzip(BufWriter::with_capacity(BUFFER, encoder))
        } else {
            Packed::Plain(BufWriter::with_capacity(BUFFER, out))
        }
    }

    /// Writes what is left, and returns the output.
    ///
    /// # Errors
    ///
    /// Fails when the output does.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Packed::Plain(out) => out.into_inner().map_err(io::IntoInnerError::into_error)?,
            Packed::Gzip(out) => {
                let encoder = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                encoder.finish()?
            }
        };
        out.flush()?;
        Ok(out)
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(out) => out.write(bytes),
            Packed::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.flush(),
            Packed::Gzip(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_the_syntax_by_its_extension() {
        let of = |name: &str| DumpFormat::from_path(Path::new(name));
        assert_eq!(of("a/b.nq"), Some(DumpFormat::NQuads));
        assert_eq!(of("b.trig.gz"), Some(DumpFormat::TriG));
        for name in ["b.nt", "b.ttl.gz", "b", "b.gz"] {
            assert_eq!(of(name), None, "{name}");
        }
        for format in [DumpFormat::NQuads, DumpFormat::TriG] {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("turtle".parse::<DumpFormat>(), Err(UnknownDumpFormat));
    }

    #[test]
    fn a_dump_without_quads_is_a_text_that_ends() {
        for (format, is_gzipped) in [(DumpFormat::NQuads, true), (DumpFormat::TriG, false)] {
            let writer = DumpWriter::new(Vec::new(), format, is_gzipped);
            let text = writer.finish().unwrap();
            assert_eq!(text.is_empty(), !is_gzipped, "{text:?}");
        }
    }
}
