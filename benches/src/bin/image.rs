//! Builds, writes and opens an image of university data, beside Oxigraph's bulk loader.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use benches::generator::{Config, Format, Generator};
use benches::measure::peak_memory;
use clap::Parser;
use graph_store::image::{Image, ImageBuilder};
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::store::Store;
use oxrdf::Quad;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Quads that one thread passes to the other at once.
const BATCH: usize = 4_096;
/// Batches that may wait.
const QUEUE: usize = 8;

/// Times how university data become an image, and what it takes.
///
/// Memory is the peak of the process, so it is right for what comes first: the image.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities, from 1 to 1000.
    #[arg(long, default_value_t = 10)]
    universities: usize,
    /// Syntax of the data: N-Triples or Turtle.
    #[arg(long, value_enum, default_value_t = Format::Nt)]
    format: Format,
    /// Turns that are measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Leaves Oxigraph out, which takes ten times the memory.
    #[arg(long)]
    alone: bool,
    /// Folder for the data and the image, which are removed at the end.
    #[arg(long, default_value = "target/image")]
    folder: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.folder)?;
    let data = arguments.folder.join("university.rdf");
    let path = arguments.folder.join("university.image");
    let config = Config::new(arguments.universities, 42)?;
    let mut generator = Generator::new(config, arguments.format);
    let mut out = BufWriter::new(File::create(&data)?);
    while let Some(piece) = generator.piece() {
        out.write_all(piece)?;
    }
    let bytes = out.into_inner()?.metadata()?.len();
    let format = match arguments.format {
        Format::Nt => RdfFormat::NTriples,
        _ => RdfFormat::Turtle,
    };
    let mut out = io::stdout().lock();
    let universities = arguments.universities;
    writeln!(out, "{universities} universities, {} MB\n", bytes >> 20)?;
    writeln!(
        out,
        "| | s | triples/s | bytes a triple | peak, bytes a triple |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|")?;
    for _ in 0..arguments.rounds {
        let begun = Instant::now();
        read(&data, format)?.write(&path)?;
        let built = begun.elapsed();
        let peak = peak_memory();
        let begun = Instant::now();
        let image = Image::open(&path)?;
        let opened = begun.elapsed();
        let triples = image.triples() as f64;
        let mut row = |name: &str, took: Duration, size: f64, peak: u64| {
            let seconds = took.as_secs_f64();
            let (rate, size, peak) = (triples / seconds, size / triples, peak as f64 / triples);
            writeln!(
                out,
                "| {name} | {seconds:.2} | {rate:.0} | {size:.1} | {peak:.1} |"
            )
        };
        let size = image.size() as f64;
        row("image: data to file", built, size, peak)?;
        row(
            "image: file to memory, checked",
            opened,
            size,
            peak_memory(),
        )?;
        drop(image);
        if !arguments.alone {
            let begun = Instant::now();
            load(&data, format)?;
            row(
                "Oxigraph: data to memory",
                begun.elapsed(),
                0.0,
                peak_memory(),
            )?;
        }
    }
    std::fs::remove_file(&path)?;
    std::fs::remove_file(&data)?;
    Ok(())
}

fn load(data: &Path, format: RdfFormat) -> Result<Store, Box<dyn Error>> {
    let store = Store::new()?;
    let mut loader = store.bulk_loader();
    loader.load_from_reader(format, BufReader::new(File::open(data)?))?;
    loader.commit()?;
    Ok(store)
}

/// Parses on one thread and collects on another.
fn read(data: &Path, format: RdfFormat) -> Result<ImageBuilder, Box<dyn Error>> {
    let file = BufReader::with_capacity(1 << 20, File::open(data)?);
    let (sender, receiver) = sync_channel::<Vec<Quad>>(QUEUE);
    thread::scope(|scope| {
        let parsing = scope.spawn(move || {
            let mut batch = Vec::with_capacity(BATCH);
            for quad in RdfParser::from_format(format).for_reader(file) {
                batch.push(quad.map_err(|error| error.to_string())?);
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    if sender.send(full).is_err() {
                        return Ok(());
                    }
                }
            }
            // Nobody receives any more where the other thread has failed.
            let _ = sender.send(batch);
            Ok::<(), String>(())
        });
        let mut builder = ImageBuilder::new();
        for quad in receiver.into_iter().flatten() {
            builder.add(quad.as_ref())?;
        }
        let parsed = parsing.join().map_err(|_| "the parser panicked")?;
        parsed?;
        Ok(builder)
    })
}
