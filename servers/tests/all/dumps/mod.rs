//! Dumps: what comes out of every kind of store, from commands and running services, and that loading it gives
//! the same data.

mod command;
mod contents;
mod format_1;
mod over_http;

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use async_trait::async_trait;
use flate2::read::GzDecoder;
use graph_store::image::ImageStore;
use graph_store::{CallContext, GraphStore, QuadSink};
use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Dataset, Quad};
use oxrdfio::RdfFormat;
use rdf_load::{DumpFormat, DumpWriter, Finding, LoadObserver, LoadOptions, load_files};

use crate::images;

/// All that a store lists, as text.
struct Text(DumpWriter<Vec<u8>>);

#[async_trait(?Send)]
impl QuadSink for Text {
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()> {
        self.0.write(&quads).unwrap();
        ControlFlow::Continue(())
    }
}

/// Writes a dump of a store.
fn dump(store: &dyn GraphStore, format: DumpFormat, is_gzipped: bool) -> Vec<u8> {
    let mut text = Text(DumpWriter::new(Vec::new(), format, is_gzipped));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let exporter = store.exporter().expect("the store lists its quads");
    let context = CallContext::new();
    let exported = runtime.block_on(exporter.export(&mut text, &context));
    exported.unwrap();
    text.0.finish().unwrap()
}

/// Nothing may be wrong with a dump.
struct Strict;

impl LoadObserver for Strict {
    fn finding(&mut self, finding: &Finding) {
        panic!("{finding}");
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

/// Loads a file into a new store.
fn loaded(path: &Path) -> ImageStore {
    let store = images::empty();
    load_files(
        &store,
        &[path.to_owned()],
        &LoadOptions::default(),
        &mut Strict,
    )
    .unwrap();
    store
}

/// Returns quads with labels of blank nodes that follow from what is said of them, in an order that does too.
fn canonical(quads: impl IntoIterator<Item = Quad>) -> Vec<String> {
    let mut dataset: Dataset = quads.into_iter().collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
    let mut lines: Vec<String> = dataset.iter().map(|quad| quad.to_string()).collect();
    lines.sort_unstable();
    lines
}

/// Reads the quads of a dump with a parser that is not the one of the loader.
fn parsed(text: &[u8], format: RdfFormat) -> Vec<Quad> {
    images::quads(format, text)
}

/// Reads a file that may be gzipped, as its name says.
fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_none_or(|name| name != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice())
        .read_to_end(&mut text)
        .unwrap();
    text
}
