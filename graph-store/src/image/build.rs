//! Builds an image from quads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::iter::repeat;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use foldhash::HashMap;
use oxrdf::QuadRef;

use super::batch::QuadBatch;
use super::bytes::BytesWriter;
use super::columns::{BACKWARD, BITMAP, FORWARD, LIST, Sections, VARIOUS};
use super::dictionary::{Dictionary, Order};
use super::error::ImageError;
use super::format::{Kind, SectionWriter};
use super::graphs::DEFAULT;
use super::intern::{Interner, Numbers};
use super::keys::{self, Encoded};
use super::pieces::Pieces;
use super::{Image, io_of_memory, pipelined};
use crate::private_files;

/// Quads that become an image.
///
/// ```
/// use graph_store::image::ImageBuilder;
/// use oxrdf::{GraphNameRef, NamedNodeRef, QuadRef};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = NamedNodeRef::new("http://example.org/a")?;
/// let mut builder = ImageBuilder::new();
/// builder.add(QuadRef::new(node, node, node, GraphNameRef::DefaultGraph))?;
/// let image = builder.build()?;
/// assert_eq!(image.quads(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct ImageBuilder {
    terms: Interner,
    /// The quads of each property.
    quads: HashMap<u32, Quads>,
}

/// The numbers of subject, object and graph.
type Numbered = [u32; 3];

/// The quads of a property.
#[derive(Default)]
struct Quads {
    /// Subjects and objects.
    pairs: Pieces<[u32; 2]>,
    /// Their graphs; none as long as all are in the default graph.
    graphs: Pieces<u32>,
}

impl Quads {
    fn len(&self) -> usize {
        self.pairs.len()
    }

    fn push(&mut self, pair: [u32; 2], graph: u32) {
        if graph != DEFAULT || self.graphs.len() > 0 {
            while self.graphs.len() < self.pairs.len() {
                self.graphs.push(DEFAULT);
            }
            self.graphs.push(graph);
        }
        self.pairs.push(pair);
    }

    /// Moves all quads to a vector.
    fn move_to(self, all: &mut Vec<Numbered>) {
        all.reserve(self.len());
        let graphs = self.graphs.into_items().chain(repeat(DEFAULT));
        let quads = self.pairs.into_items().zip(graphs);
        all.extend(quads.map(|([subject, object], graph)| [subject, object, graph]));
    }
}

impl ImageBuilder {
    /// Creates a builder without quads.
    #[must_use]
    pub fn new() -> Self {
        ImageBuilder::default()
    }

    /// Adds a quad; one that was added already makes no difference.
    ///
    /// # Errors
    /// When there are more than 15 * 2^28 different terms, or one of them has 4 GiB.
    pub fn add(&mut self, quad: QuadRef<'_>) -> Result<(), ImageError> {
        let numbers = self.terms.intern_quad(quad)?;
        self.push(numbers);
        Ok(())
    }

    /// Adds the quads of a batch.
    ///
    /// # Errors
    /// Those of [`ImageBuilder::add`]. Some of the quads may have been added then.
    pub fn add_batch(&mut self, batch: &QuadBatch) -> Result<(), ImageError> {
        let places = self.terms.intern_all(&batch.terms)?;
        let place = |term: u32| places[term as usize];
        for numbers in &batch.quads {
            self.push(Numbers {
                subject: place(numbers.subject),
                property: place(numbers.property),
                object: place(numbers.object),
                graph: match numbers.graph {
                    DEFAULT => DEFAULT,
                    graph => place(graph),
                },
            });
        }
        Ok(())
    }

    fn push(&mut self, numbers: Numbers) {
        let quads = self.quads.entry(numbers.property).or_default();
        quads.push([numbers.subject, numbers.object], numbers.graph);
    }

    /// Builds the image in memory.
    ///
    /// # Errors
    /// When a property has 2^32 triples or more.
    pub fn build(self) -> Result<Image, ImageError> {
        let path = Path::new("in memory");
        let bytes = self.written(BytesWriter::default(), path)?;
        Image::of(bytes, path)
    }

    /// Writes the image to a file, which is replaced as a whole or not at all. It is written to a file with
    /// `.partial` behind its name first; two programs must not write the same image at once.
    ///
    /// # Errors
    /// When the file cannot be written, or a property has 2^32 triples or more.
    pub fn write(self, path: impl AsRef<Path>) -> Result<(), ImageError> {
        let path = path.as_ref();
        put(path, |out| self.written(out, path))
    }

    /// Returns for each term the first property that it is a value of, or more than any for one that is none.
    fn groups(&self, order: &Order) -> Vec<u32> {
        let mut groups = vec![u32::MAX; order.terms.len()];
        for (property, quads) in &self.quads {
            let property = order.places[*property as usize];
            for [_, object] in quads.pairs.iter() {
                let group = &mut groups[*object as usize];
                *group = property.min(*group);
            }
        }
        groups
    }

    fn written<W: Write>(mut self, out: W, path: &Path) -> Result<W, ImageError> {
        self.terms.close();
        let order = Order::of(&self.terms);
        let failed = |error| ImageError::io(path)(error);
        let dictionary =
            Dictionary::of(&self.terms, &order, || self.groups(&order)).map_err(failed)?;
        let mut out = SectionWriter::new(out, dictionary.texts()).map_err(failed)?;
        dictionary.write(&mut out).map_err(failed)?;
        drop(dictionary);
        drop(self.terms);
        let literals = order.terms.len() as u64 - u64::from(order.iris) - u64::from(order.blanks);
        let most = self.quads.values().map(Quads::len).max().unwrap_or(0);
        let mut columns = ColumnWriter {
            out: &mut out,
            sets: Sets::default(),
            records: Vec::new(),
            room: Room::of(most),
        };
        let place = |term: u32| match term {
            DEFAULT => DEFAULT,
            term => order.places[term as usize],
        };
        let mut properties: Vec<(u32, Quads)> = self.quads.into_iter().collect();
        properties.sort_unstable_by_key(|(property, _)| place(*property));
        let (mut triples, mut count) = (0, 0);
        let (used, rooms) = channel();
        let sorted = properties.into_iter().map(move |(property, quads)| {
            let mut sorted: Vec<Numbered> = rooms
                .try_recv()
                .unwrap_or_else(|_| Vec::with_capacity(most));
            quads.move_to(&mut sorted);
            for quad in &mut sorted {
                *quad = quad.map(place);
            }
            sorted.sort_unstable();
            sorted.dedup();
            (place(property), sorted)
        });
        let written = pipelined(
            most * size_of::<Numbered>(),
            sorted,
            |(property, mut sorted)| {
                count += sorted.len() as u64;
                columns.property(property, &mut sorted)?;
                triples += sorted.len() as u64;
                sorted.clear();
                // The other thread may have sorted all that there is.
                let _ = used.send(sorted);
                Ok(())
            },
        );
        written.map_err(failed)?;
        let ColumnWriter { sets, records, .. } = columns;
        let counts = [
            u64::from(order.iris),
            u64::from(order.blanks),
            literals,
            triples,
            count,
        ];
        let end = |mut out: SectionWriter<W>| {
            out.numbers(Kind::Properties, 0, &records)?;
            out.numbers(Kind::GraphSets, 0, &sets.ends)?;
            out.numbers(Kind::GraphSets, 1, &sets.graphs)?;
            out.numbers(Kind::Counts, 0, &counts)?;
            out.finish()
        };
        end(out).map_err(failed)
    }
}

impl Image {
    /// Writes the file of this image, as [`ImageBuilder::write`] does.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ImageError> {
        let path = path.as_ref();
        put(path, |mut out| {
            let written = self.write_to(&mut out);
            written.map_err(ImageError::io(path)).map(|()| out)
        })
    }
}

type Out = BufWriter<File>;

/// Puts a file in its place once it is written and synced.
fn put(path: &Path, write: impl FnOnce(Out) -> Result<Out, ImageError>) -> Result<(), ImageError> {
    let failed = |error| ImageError::io(path)(error);
    let beside = beside(path);
    let file = private_files::create(&beside).map_err(failed)?;
    let written = write(BufWriter::with_capacity(1 << 20, file));
    let moved = written.and_then(|out| {
        let file = out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        fs::rename(&beside, path).map_err(failed)?;
        synced_folder(path).map_err(failed)
    });
    if moved.is_err() {
        // What is left of it is of no use to anyone.
        let _ = fs::remove_file(&beside);
    }
    moved
}

/// Returns the place of a file while it is written.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Makes a new name in a folder survive the end of the machine.
pub(super) fn synced_folder(path: &Path) -> io::Result<()> {
    match path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

/// Distinct sets of graphs.
#[derive(Default)]
struct Sets {
    numbers: HashMap<Vec<u32>, u32>,
    /// The set that is looked up, kept for its memory.
    wanted: Vec<u32>,
    ends: Vec<u32>,
    graphs: Vec<u32>,
}

impl Sets {
    /// Returns the number of the set of the graphs of some quads.
    fn number(&mut self, quads: &[Numbered]) -> io::Result<u32> {
        self.wanted.clear();
        self.wanted.extend(quads.iter().map(|quad| quad[2]));
        if let Some(number) = self.numbers.get(self.wanted.as_slice()) {
            return Ok(*number);
        }
        let graphs = self.wanted.clone();
        let too_many = |_| io_of_memory("there are too many sets of graphs");
        let number = u32::try_from(self.ends.len()).map_err(too_many)?;
        self.graphs.extend(&graphs);
        self.ends
            .push(u32::try_from(self.graphs.len()).map_err(too_many)?);
        self.numbers.insert(graphs, number);
        Ok(number)
    }
}

/// Room for the triples of any one property, which is used again for the next: an allocator gives back late what it was given
/// back.
struct Room {
    /// The set of graphs of each triple, where they differ.
    sets: Vec<u32>,
    keys: Vec<u32>,
    ends: Vec<u32>,
    values: Vec<u32>,
}

impl Room {
    fn of(triples: usize) -> Self {
        let numbers = || Vec::with_capacity(triples);
        Room {
            sets: Vec::new(),
            keys: numbers(),
            ends: numbers(),
            values: numbers(),
        }
    }
}

/// Writes the columns of properties.
struct ColumnWriter<'o, W> {
    out: &'o mut SectionWriter<W>,
    sets: Sets,
    records: Vec<u32>,
    room: Room,
}

/// Returns whether two quads are of one triple.
fn is_same(a: &Numbered, b: &Numbered) -> bool {
    a[..2] == b[..2]
}

impl<W: Write> ColumnWriter<'_, W> {
    /// Writes the quads of a property, which are sorted; leaves one of each triple, in the order of objects.
    fn property(&mut self, property: u32, quads: &mut Vec<Numbered>) -> io::Result<()> {
        let set = self.set(property, quads)?;
        quads.dedup_by(|b, a| is_same(a, b));
        let subjects = self.column(property, quads, FORWARD)?;
        for quad in &mut *quads {
            quad.swap(0, 1);
        }
        quads.sort_unstable();
        let objects = self.column(property, quads, BACKWARD)?;
        self.records.push(property);
        self.records.extend(subjects);
        self.records.extend(objects);
        self.records.push(set);
        Ok(())
    }

    /// Returns the set of graphs of all triples of a property; writes the set of each where they differ.
    fn set(&mut self, property: u32, quads: &[Numbered]) -> io::Result<u32> {
        let each = &mut self.room.sets;
        each.clear();
        let (mut first, mut alike) = (None, 0);
        for same in quads.chunk_by(is_same) {
            let set = self.sets.number(same)?;
            let first = *first.get_or_insert(set);
            if each.is_empty() {
                if set == first {
                    alike += 1;
                    continue;
                }
                each.resize(alike, first);
            }
            each.push(set);
        }
        if each.is_empty() {
            // Only quads make a property.
            return Ok(first.unwrap_or_default());
        }
        self.out.numbers(Kind::SetOf, property, each)?;
        Ok(VARIOUS)
    }

    /// Writes one direction of sorted triples: of each, its first number leads to its second. Returns the form of the keys.
    fn column(
        &mut self,
        property: u32,
        triples: &[Numbered],
        sections: Sections,
    ) -> io::Result<[u32; 2]> {
        let Room {
            keys, ends, values, ..
        } = &mut self.room;
        keys.clear();
        ends.clear();
        let mut end = 0_usize;
        for of_key in triples.chunk_by(|a, b| a[0] == b[0]) {
            end += of_key.len();
            keys.push(of_key[0][0]);
            let end = u32::try_from(end);
            ends.push(end.map_err(|_| io_of_memory("a property has too many triples"))?);
        }
        if keys.len() < triples.len() {
            self.out.numbers(sections.ends, property, ends)?;
        }
        values.clear();
        values.extend(triples.iter().map(|[_, value, _]| *value));
        self.out.numbers(sections.values, property, values)?;
        match keys::encode(keys) {
            Encoded::List => {
                self.out.numbers(sections.keys.numbers, property, keys)?;
                Ok([LIST, 0])
            }
            Encoded::Bitmap {
                first,
                words,
                ranks,
            } => {
                self.out.numbers(sections.keys.numbers, property, &words)?;
                self.out.numbers(sections.keys.ranks, property, &ranks)?;
                Ok([BITMAP, first])
            }
        }
    }
}
