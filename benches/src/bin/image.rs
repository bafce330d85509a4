//! Builds, writes and opens an image of university data, beside Oxigraph's bulk loader.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use benches::generator::{Config, Format, Generator};
use benches::measure::{cpu_time, peak_memory};
use clap::Parser;
use graph_store::image::{Image, ImageBuilder};
use oxigraph::store::Store;
use oxrdfio::RdfFormat;
use rdf_load::{
    DataFormat, Finding, ImageSink, LoadError, LoadObserver, LoadOptions, LoadTarget, Sink,
    load_files,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    let (format, syntax) = match arguments.format {
        Format::Nt => (DataFormat::NTriples, RdfFormat::NTriples),
        Format::Ttl => (DataFormat::Turtle, RdfFormat::Turtle),
    };
    let mut out = io::stdout().lock();
    let universities = arguments.universities;
    writeln!(out, "{universities} universities, {} MB\n", bytes >> 20)?;
    writeln!(
        out,
        "| | s | cores | triples/s | bytes a triple | peak, bytes a triple |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
    for _ in 0..arguments.rounds {
        let built = Cost::of(|| build(&data, format, &path))?.1;
        let (image, opened) = Cost::of(|| Image::open(&path))?;
        let (triples, size) = (image.triples() as f64, image.size() as f64);
        built.row(&mut out, "image: data to file", triples, size)?;
        opened.row(&mut out, "image: file to memory, checked", triples, size)?;
        drop(image);
        if !arguments.alone {
            let loaded = Cost::of(|| load(&data, syntax))?.1;
            loaded.row(&mut out, "Oxigraph: data to memory", triples, 0.0)?;
        }
    }
    std::fs::remove_file(&path)?;
    std::fs::remove_file(&data)?;
    Ok(())
}

/// What a piece of work takes.
struct Cost {
    took: Duration,
    cpu: Duration,
    /// Peak of the process until then, in bytes.
    peak: u64,
}

impl Cost {
    fn of<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Cost), E> {
        let (begun, cpu) = (Instant::now(), cpu_time());
        let made = work()?;
        let cost = Cost {
            took: begun.elapsed(),
            cpu: cpu_time() - cpu,
            peak: peak_memory(),
        };
        Ok((made, cost))
    }

    fn row(&self, out: &mut impl Write, name: &str, triples: f64, size: f64) -> io::Result<()> {
        let seconds = self.took.as_secs_f64();
        let cores = self.cpu.as_secs_f64() / seconds;
        let rate = triples / seconds;
        let (size, peak) = (size / triples, self.peak as f64 / triples);
        writeln!(
            out,
            "| {name} | {seconds:.2} | {cores:.2} | {rate:.0} | {size:.1} | {peak:.1} |"
        )
    }
}

fn load(data: &Path, format: RdfFormat) -> Result<Store, Box<dyn Error>> {
    let store = Store::new()?;
    let mut loader = store.bulk_loader();
    loader.load_from_reader(format, BufReader::new(File::open(data)?))?;
    loader.commit()?;
    Ok(store)
}

/// Makes an image of data as `soml load` does.
fn build(data: &Path, format: DataFormat, path: &Path) -> Result<(), LoadError> {
    let options = LoadOptions {
        format: Some(format),
        strict: true,
        ..LoadOptions::default()
    };
    let files = [data.to_owned()];
    load_files(&ImageFile(path), &files, &options, &mut NoObserver).map(drop)
}

/// The file of an image that is built.
struct ImageFile<'p>(&'p Path);

impl LoadTarget for ImageFile<'_> {
    fn sink(&self) -> Result<Box<dyn Sink + '_>, LoadError> {
        Ok(Box::new(ImageSink::new(ImageBuilder::new(), |builder| {
            builder.write(self.0)?;
            // The image has their number.
            Ok(0)
        })))
    }
}

/// Findings are fatal, and the time is taken here.
struct NoObserver;

impl LoadObserver for NoObserver {
    fn finding(&mut self, _: &Finding) {}

    fn progress(&mut self, _: u64, _: u64) {}
}
