//! `soml dump`.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use async_trait::async_trait;
use clap::Args;
use graph_store::{CallContext, QuadSink};
use oxrdf::Quad;
use rdf_load::{DumpFormat, DumpWriter, Packed, thousands};

use super::config_args::ConfigArgs;
use super::input::{Reading, two_stores};
use super::output_file::{OutputFile, unwritten};
use super::progress::Counter;
use super::remote::{RemoteService, TokenArgs};
use super::store::{StoreArgs, runtime};
use super::{CliError, Console, Exit};
use crate::config::Settings;
use crate::store::{self, DataStore, OpenError};

#[derive(Debug, Args)]
pub(super) struct Dump {
    /// Writes to a new file instead of standard output. The extension selects the syntax, `.nq` or `.trig`; a further
    /// `.gz` selects gzip compression.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrites the file of `--output` if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Syntax: `nquads` or `trig` [default: by the extension of `--output`, else `nquads`].
    #[arg(long, value_name = "FORMAT")]
    format: Option<DumpFormat>,
    /// Compresses with gzip, whatever the name of the file.
    #[arg(long)]
    gzip: bool,
    #[command(flatten)]
    from: Source,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// What is dumped, in place of what the configuration names.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Source {
    /// Folder with data (`store.dataDir`), not in use by another process.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// URL of a SPARQL endpoint with the data (`sparql.endpoint.address`).
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Address of a running service, which dumps its data while it serves.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, optionally gzipped. A folder means all files in
    /// it, `-` means standard input.
    #[arg(long, value_name = "FILE|DIR|-", num_args = 1..)]
    data: Vec<PathBuf>,
}

impl Dump {
    /// Writes all quads of a store, or of a running service.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let form = Form {
            format: self.format()?,
            is_gzipped: self.is_gzipped(),
        };
        if self.from.data.is_empty() && self.reading.is_given() {
            let message = "--base, --data-format, --context and --strict apply to the files of \
                           --data";
            return Err(CliError::Usage(message.to_owned()));
        }
        if let Some(url) = &self.from.url {
            let service = RemoteService::new(url, &self.token)?;
            let counter = Counter::of_bytes(console.interactive);
            return self.write(console, |out| {
                runtime()?.block_on(download(&service, form, out, counter))
            });
        }
        let settings = self.config.told(console)?;
        let data = self.data(settings, console)?;
        let counter = Counter::of_quads(console.interactive, quads(&data));
        self.write(console, |out| {
            runtime()?.block_on(write_all(&data, form, out, counter))
        })
    }

    fn format(&self) -> Result<DumpFormat, CliError> {
        let Some(path) = &self.output else {
            return Ok(self.format.unwrap_or_default());
        };
        let shown = path.display();
        match (DumpFormat::from_path(path), self.format) {
            (Some(named), Some(format)) if named != format => Err(CliError::Usage(format!(
                "the extension of {shown} means {named}, but --format is {format}"
            ))),
            (_, Some(format)) | (Some(format), None) => Ok(format),
            (None, None) => Err(CliError::Usage(format!(
                "the extension of {shown} is not that of a syntax with named graphs: use `.nq` or \
                 `.trig`, or --format"
            ))),
        }
    }

    fn is_gzipped(&self) -> bool {
        let is_named = |path: &PathBuf| path.extension().is_some_and(|name| name == "gz");
        self.gzip || self.output.as_ref().is_some_and(is_named)
    }

    /// Opens the store that is named, or else the one that the settings name.
    fn data(
        &self,
        mut settings: Settings,
        console: &mut Console<'_>,
    ) -> Result<DataStore, CliError> {
        let Source {
            data_dir,
            store,
            data,
            ..
        } = &self.from;
        if let Some(folder) = data_dir {
            settings.store.data_dir = Some(folder.clone());
        }
        let is_configured =
            settings.store.data_dir.is_some() || !settings.sparql.addresses.is_empty();
        match (data.as_slice(), is_configured || store.is_some()) {
            ([], true) => StoreArgs::at(store.clone()).data_store(&settings, console),
            ([], false) => {
                let message = "what to dump is not named: use --data-dir DIR, --store URL, --url URL \
                               or --data FILE";
                Err(CliError::Usage(message.to_owned()))
            }
            ([_, ..], true) => Err(two_stores()),
            (files, false) => {
                let embedded = store::in_memory().map_err(OpenError::from)?;
                self.reading.load(files, embedded.as_ref(), console)?;
                Ok(DataStore::Embedded(embedded))
            }
        }
    }

    /// Lets `work` write to standard output, or to a file that is there as a whole or not at all.
    fn write(
        &self,
        console: &mut Console<'_>,
        work: impl FnOnce(&mut dyn Write) -> Result<String, Failure>,
    ) -> Result<Exit, CliError> {
        let Some(path) = &self.output else {
            work(console.out).map_err(|failure| failure.of(CliError::Write))?;
            return Ok(Exit::Success);
        };
        let mut file = OutputFile::create(path, self.force)?;
        let written = work(&mut file).map_err(|failure| failure.of(unwritten(path)))?;
        file.finish()?;
        writeln!(console.out, "wrote {written} to {}", path.display())?;
        Ok(Exit::Success)
    }
}

/// How a dump is written.
#[derive(Clone, Copy)]
struct Form {
    format: DumpFormat,
    is_gzipped: bool,
}

/// Why a dump is not written.
enum Failure {
    Output(io::Error),
    Input(CliError),
}

impl Failure {
    fn of(self, output: impl FnOnce(io::Error) -> CliError) -> CliError {
        match self {
            Failure::Output(error) => output(error),
            Failure::Input(error) => error,
        }
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Failure::Input(error)
    }
}

/// Returns how many quads a store has, where it knows that.
fn quads(data: &DataStore) -> Option<u64> {
    match data {
        DataStore::Embedded(store) => Some(store.quads()),
        DataStore::Remote(_) => None,
    }
}

/// Writes all quads of a store.
async fn write_all(
    data: &DataStore,
    form: Form,
    out: &mut dyn Write,
    counter: Counter,
) -> Result<String, Failure> {
    let store = data.graph_store();
    let exporter = store.exporter().ok_or_else(|| {
        let message = "the store cannot list its data; dump it with its own tools";
        CliError::Input(message.to_owned())
    })?;
    let mut writing = Writing {
        writer: DumpWriter::new(out, form.format, form.is_gzipped),
        counter,
        failed: None,
    };
    let exported = exporter.export(&mut writing, &CallContext::new()).await;
    if let Some(error) = writing.failed {
        return Err(Failure::Output(error));
    }
    exported.map_err(CliError::Dump)?;
    let quads = writing.writer.quads();
    writing.writer.finish().map_err(Failure::Output)?;
    Ok(match quads {
        1 => "1 quad".to_owned(),
        quads => format!("{} quads", thousands(quads)),
    })
}

/// Writes quads to the output.
struct Writing<'o> {
    writer: DumpWriter<&'o mut dyn Write>,
    counter: Counter,
    failed: Option<io::Error>,
}

#[async_trait(?Send)]
impl QuadSink for Writing<'_> {
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()> {
        let written = self.writer.write(&quads);
        self.counter.set(self.writer.quads());
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// Writes what a running service dumps.
async fn download(
    service: &RemoteService,
    form: Form,
    out: &mut dyn Write,
    counter: Counter,
) -> Result<String, Failure> {
    let encoding = if form.is_gzipped { "gzip" } else { "identity" };
    let mut download = service
        .download("/dump", form.format.media_type(), encoding)
        .await?;
    // A proxy may have unpacked it.
    let is_packed_here = form.is_gzipped && !download.is_gzipped();
    let mut out = Packed::new(out, is_packed_here);
    let mut bytes = 0;
    while let Some(piece) = download.piece().await? {
        out.write_all(&piece).map_err(Failure::Output)?;
        bytes += piece.len() as u64;
        counter.set(bytes);
    }
    out.finish().map_err(Failure::Output)?;
    Ok(format!(
        "{} bytes of the data of the service",
        thousands(bytes)
    ))
}
