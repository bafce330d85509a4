//! Stores over an image of a few quads.

use graph_store::image::{ImageBuilder, ImageStore};
use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfParser};

/// Returns a store without data.
pub fn empty() -> ImageStore {
    of(&[])
}

/// Returns a store of the quads of a Turtle document.
pub fn from_turtle(text: impl AsRef<[u8]>) -> ImageStore {
    from_text(RdfFormat::Turtle, text)
}

/// Returns a store of the quads of a document in some syntax.
pub fn from_text(format: RdfFormat, text: impl AsRef<[u8]>) -> ImageStore {
    of(&quads(format, text))
}

/// Returns a store of quads.
pub fn of<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> ImageStore {
    ImageStore::new(builder(quads).build().expect("an image"))
}

/// Returns what becomes an image of quads.
pub fn builder<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for quad in quads {
        builder.add(quad.as_ref()).expect("room for a few quads");
    }
    builder
}

/// Returns the quads of a document.
pub fn quads(format: RdfFormat, text: impl AsRef<[u8]>) -> Vec<Quad> {
    let parser = RdfParser::from_format(format);
    let quads: Result<_, _> = parser.for_slice(text.as_ref()).collect();
    quads.expect("the data are valid")
}
