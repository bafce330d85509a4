//! `soml infer`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use graph_store::CallContext;
use graph_store::image::ImageStore;
use rdf_load::thousands;
use soml_data::infer::{InferOptions, Inferred, infer, infer_remote};

use super::config_args::ConfigArgs;
use super::input::{Reading, two_stores};
use super::store::{StoreArgs, runtime};
use super::{CliError, Console, Exit};
use crate::config::Settings;
use crate::store::DataStore;

#[derive(Debug, Args)]
pub(super) struct Infer {
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, optionally gzipped. A folder means all files in
    /// it, `-` means standard input.
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,
    /// URL of a SPARQL endpoint with the data, instead of files.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["data", "base", "data_format", "context", "strict"]
    )]
    store: Option<String>,
    /// Identifier of the schema.
    #[arg(long, value_name = "ID", default_value_t = InferOptions::default().id)]
    id: String,
    /// Skips classes with fewer instances.
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().min_instances)]
    min_instances: u64,
    /// Keeps only the N classes with the most instances.
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().max_classes)]
    max_classes: usize,
    /// Includes classes of `rdf:`, `rdfs:`, `owl:` and `sh:` even if the data have other classes.
    #[arg(long)]
    ontology_classes: bool,
    /// Writes to a new file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrites the file of `--output` if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Infer {
    /// Prints a SOML document for the data; what was read and found goes beside it.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        // Before the data, so that no one waits in vain.
        if let Some(path) = self.output.as_deref().filter(|path| self.spares(path)) {
            return Err(exists(path));
        }
        let settings = self.config.told(console)?;
        let inferred = self.infer(&settings, console)?;
        self.write(&inferred.yaml, console)?;
        writeln!(console.err, "{}", summary(&inferred))?;
        Ok(Exit::Success)
    }

    fn infer(&self, settings: &Settings, console: &mut Console<'_>) -> Result<Inferred, CliError> {
        let mut options = InferOptions {
            id: self.id.clone(),
            min_instances: self.min_instances,
            max_classes: self.max_classes,
            ontology_classes: self.ontology_classes,
            prefixes: Vec::new(),
        };
        let store = StoreArgs::at(self.store.clone()).data_store(settings, console)?;
        let context = CallContext::new();
        let is_kept = self.store.is_none() && settings.store.data_dir.is_some();
        let inferred = match (&store, self.data.as_slice()) {
            (DataStore::Embedded(store), []) if is_kept => {
                infer(store.snapshot().as_ref(), &options, &context)
            }
            (DataStore::Embedded(_), [_, ..]) if is_kept => return Err(two_stores()),
            (DataStore::Embedded(_), []) => {
                let message = "data are needed: name files, or a SPARQL endpoint with --store URL";
                return Err(CliError::Usage(message.to_owned()));
            }
            (DataStore::Remote(_), [_, ..]) => {
                let message = "files are loaded into the embedded store, but \
                               `sparql.endpoint.address` names a server that holds the data: use \
                               only one of them";
                return Err(CliError::Usage(message.to_owned()));
            }
            (DataStore::Embedded(store), files) => {
                let loaded = self.reading.load(files, store.as_ref(), console)?;
                writeln!(console.err, "{loaded}")?;
                options.prefixes = loaded.prefixes;
                infer(store.snapshot().as_ref(), &options, &context)
            }
            (DataStore::Remote(store), []) => {
                runtime()?.block_on(infer_remote(store.as_ref(), &options, &context))
            }
        };
        inferred.map_err(CliError::Infer)
    }

    /// Returns whether a file is there that must not be overwritten.
    fn spares(&self, path: &Path) -> bool {
        !self.force && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    fn write(&self, text: &str, console: &mut Console<'_>) -> Result<(), CliError> {
        let Some(path) = self.output.as_deref() else {
            return Ok(console.out.write_all(text.as_bytes())?);
        };
        if self.spares(path) {
            return Err(exists(path));
        }
        // Devices and pipes are there before; a file may have come since it was looked for.
        let is_new = !self.force && !path.exists();
        let file = if is_new {
            OpenOptions::new().write(true).create_new(true).open(path)
        } else {
            fs::File::create(path)
        };
        match file.and_then(|mut file| file.write_all(text.as_bytes())) {
            Err(error) if is_new && error.kind() == io::ErrorKind::AlreadyExists => {
                Err(exists(path))
            }
            written => written.map_err(|source| CliError::WriteFile {
                name: path.display().to_string(),
                source,
            }),
        }
    }
}

fn exists(path: &Path) -> CliError {
    CliError::Usage(format!("{} exists; --force overwrites it", path.display()))
}

/// What a schema made from data is called in messages.
pub(super) const INFERRED: &str = "the inferred schema";

/// Makes a schema from data that is loaded, for commands that were given none; prefixes are those that the
/// data declare.
pub(super) fn from_data(
    store: &ImageStore,
    prefixes: Vec<(String, String)>,
) -> Result<Inferred, CliError> {
    let options = InferOptions {
        prefixes,
        ..InferOptions::default()
    };
    infer(store.snapshot().as_ref(), &options, &CallContext::new()).map_err(CliError::Infer)
}

/// Summarises an inferred schema.
pub(super) fn summary(inferred: &Inferred) -> String {
    let count = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", thousands(n as u64)),
    };
    let hint = match inferred.objects {
        0 => "; only IRIs with an `rdf:type` become objects",
        _ => "",
    };
    let left_out = match inferred.ontology_classes {
        0 => String::new(),
        n => format!(
            "; {} of rdf:, rdfs:, owl: and sh: left out, which `soml infer --ontology-classes` \
             includes",
            count(n, "class", "classes")
        ),
    };
    format!(
        "inferred a schema with {} and {}{hint}{left_out}",
        count(inferred.objects, "object", "objects"),
        count(inferred.properties, "property", "properties"),
    )
}
