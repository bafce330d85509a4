//! An image: RDF data in a form made for reading, built once and opened from a file or kept in memory; and a
//! store over an image and changes.
//!
//! Terms are numbers in the order of IRIs and values. The triples of a property are two sorted columns,
//! objects by subject and subjects by object. So an image takes a fraction of the memory of a store that
//! can be written to in place, and reading a value is reading a number.
//!
//! An image never changes. `docs/image-format.md` describes its file. [`ImageStore`] answers requests from an
//! image and the changes that were committed since, which are merged into a new image when they are many.
//!
//! ```
//! use graph_store::image::{Image, ImageBuilder, ImageStore};
//! use oxrdfio::{RdfFormat, RdfParser};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("books.image");
//! let data = "<http://example.org/dune> <http://example.org/pages> 412 .";
//! let mut builder = ImageBuilder::new();
//! for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(data) {
//!     builder.add(quad?.as_ref())?;
//! }
//! builder.write(&path)?;
//!
//! let image = Image::open(&path)?;
//! assert_eq!(image.quads(), 1);
//! let store = ImageStore::new(image);
//! # Ok(())
//! # }
//! ```
//!
//! # The way of a change
//!
//! 1. `WriteStore::begin` waits in the queue of the store (`store/queue.rs`): turns are given in the order of
//!    arrival, and waiting needs no runtime. What the transaction applies is a `Pending` difference
//!    (`pattern/pending.rs`); its view and `Transaction::quads` read an `Overlay` of both (`pattern/overlay.rs`).
//!    Beneath lies the `Snapshot` of the transaction before, synced or not (`image/shared.rs`).
//! 2. `commit` applies the change to the `Delta` of that snapshot (`image/delta`), by number. In memory the new
//!    snapshot is published at once: readers load it from one `ArcSwap` and never wait.
//! 3. In a folder it waits for its sync, and the turn goes on before that. The thread of `image/sync.rs` writes all
//!    that waits in one transaction of the log (`image/log`), publishes the last snapshot and answers. If that
//!    fails, the store goes back to what is synced, and an `era` makes every transaction conflict that has read
//!    more.
//! 4. `image/merge.rs` then looks whether so much has changed that a new image should be built. It is built from
//!    what is synced; the changes since are applied to it, one transaction of the log makes its file valid
//!    (`image/folder.rs`), and it is published with the commits that wait applied to it.

mod backup;
mod batch;
mod build;
mod bytes;
mod columns;
mod delta;
mod dictionary;
mod error;
mod export;
mod files;
mod folder;
mod format;
mod graphs;
mod handles;
mod intern;
mod keys;
mod literal;
mod lock;
mod log;
mod merge;
mod order_file;
mod orders;
mod pieces;
mod quads;
mod search;
mod shared;
mod snapshot;
mod source;
mod statements;
mod store;
mod sync;
mod terms;
#[cfg(test)]
mod tests;
mod transaction;
mod values;
mod walk;
mod writer;

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::{io, panic, thread};

pub use backup::{UnfinishedFolder, remove_unfinished, unfinished};
pub use batch::QuadBatch;
pub use build::ImageBuilder;
use bytes::{Bytes, BytesWriter};
use columns::Property;
pub use error::{Fault, ImageError};
pub use files::{LOCK, LOG, UNFINISHED, check_folder_name};
pub use folder::{FolderOptions, Sync};
use format::{Directory, Kind};
use graphs::GraphSets;
pub use lock::FolderLock;
#[doc(hidden)]
pub use log::check_log_entry;
use oxrdf::vocab::rdf;
pub use snapshot::Snapshot;
pub use store::ImageStore;
use terms::Terms;
pub use walk::Columns;

/// Bytes of which reading or checking some takes longer than starting a thread.
const WORTH_A_THREAD: usize = 1 << 20;

/// Greatest number of classes that are found faster than other IRIs.
const MAX_CLASSES: usize = 4_096;

/// RDF data that can be read and never change.
pub struct Image {
    bytes: Bytes,
    terms: Terms,
    sets: GraphSets,
    properties: Vec<Property>,
    triples: u64,
    quads: u64,
    /// That of the directory of sections, which has theirs.
    checksum: u32,
}

impl Image {
    /// Opens the file of an image. It is read as a whole and checked: one that is torn or changed is
    /// never served.
    ///
    /// # Errors
    /// When the file cannot be read, was written by another version of the format, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        let path = path.as_ref();
        let bytes = BytesWriter::read(path).map_err(ImageError::io(path))?;
        Image::of(bytes, path)
    }

    /// Opens the content of such a file, which is copied.
    ///
    /// # Errors
    /// When the content was written by another version of the format, or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        Image::checked(BytesWriter::copied(bytes))
    }

    fn of(bytes: BytesWriter, path: &Path) -> Result<Self, ImageError> {
        Image::checked(bytes).map_err(|fault| ImageError::Unreadable {
            path: path.to_owned(),
            fault,
        })
    }

    fn checked(bytes: BytesWriter) -> Result<Self, Fault> {
        let bytes = bytes.finish()?;
        let directory = Directory::read(&bytes)?;
        let terms = Terms::open(&bytes, &directory)?;
        let columns = || {
            let sets = GraphSets::open(&bytes, &directory, &terms)?;
            let properties = columns::open(&bytes, &directory, &terms, sets.count())?;
            Ok((sets, properties))
        };
        let (checked, columns) = both(bytes.len(), || terms.check(&bytes), columns);
        checked?;
        let (sets, properties) = columns?;
        let counts = bytes.u64s(directory.numbers(Kind::Counts, 0, 8)?);
        let [_, _, _, triples, quads] = *counts else {
            return Err(error::damaged("counts"));
        };
        let lengths = properties
            .iter()
            .map(|property| property.forward.len() as u64);
        let in_graphs = properties
            .iter()
            .map(|property| property.quads(&bytes, &sets));
        if (lengths.sum::<u64>(), in_graphs.sum::<u64>()) != (triples, quads) {
            return Err(error::damaged("counts"));
        }
        let mut image = Image {
            bytes,
            terms,
            sets,
            properties,
            triples,
            quads,
            checksum: directory.checksum,
        };
        image.note_names();
        Ok(image)
    }

    /// Notes the IRIs of properties and classes, which every request names.
    fn note_names(&mut self) {
        let properties = self.properties.iter().map(|property| property.id);
        let mut names: Vec<u32> = properties.collect();
        let types = self.columns(rdf::TYPE);
        let classes = types.iter().flat_map(Columns::by_object);
        names.extend(classes.map(|(class, _)| class).take(MAX_CLASSES));
        self.terms.note(&self.bytes, names.into_iter());
    }

    /// Returns the number of triples: those in several graphs count once.
    #[must_use]
    pub fn triples(&self) -> u64 {
        self.triples
    }

    /// Returns the number of quads.
    #[must_use]
    pub fn quads(&self) -> u64 {
        self.quads
    }

    /// Returns a digest of the content: equal for images of the same quads.
    fn digest(&self) -> String {
        format!("{}-{:08x}", self.quads, self.checksum)
    }

    /// Returns the number of distinct terms, graphs and datatypes included.
    #[must_use]
    pub fn terms(&self) -> u64 {
        u64::from(self.terms.count)
    }

    /// Returns the number of bytes, in memory and as a file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Writes the content of the file of this image.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.bytes.write(out)
    }

    /// Returns a property by the number of its IRI.
    fn property(&self, id: u32) -> Option<&Property> {
        let found = self
            .properties
            .binary_search_by_key(&id, |property| property.id);
        found.ok().map(|at| &self.properties[at])
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image")
            .field("triples", &self.triples)
            .field("terms", &self.terms.count)
            .field("size", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// Does work on so many bytes on two threads, or on one where a thread takes longer than the work.
fn both<A: Send, B>(
    bytes: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if bytes < WORTH_A_THREAD {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        let one = one.join();
        (
            one.unwrap_or_else(|panic| panic::resume_unwind(panic)),
            other,
        )
    })
}

/// Takes all items of an iterator, which works at the next one on another thread where that is worth it for the bytes of
/// the largest.
fn pipelined<T: Send>(
    bytes: usize,
    mut items: impl Iterator<Item = T> + Send,
    take: impl FnMut(T) -> io::Result<()>,
) -> io::Result<()> {
    if bytes < WORTH_A_THREAD {
        return items.try_for_each(take);
    }
    thread::scope(|scope| {
        let (sender, taken) = sync_channel(0);
        // No one takes any more where taking has failed.
        scope.spawn(move || items.try_for_each(|item| sender.send(item)));
        taken.into_iter().try_for_each(take)
    })
}

fn io_of_memory(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, message)
}
