//! `soml infer`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use graph_store::CallContext;
use oxigraph::store::Store;
use soml_data::infer::{InferOptions, Inferred, infer};

use super::input::Reading;
use super::{CliError, Console, Exit};
use crate::load::{LoadError, thousands};

#[derive(Debug, Args)]
pub(super) struct Infer {
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, also gzipped.
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Identifier of the schema.
    #[arg(long, value_name = "ID", default_value_t = InferOptions::default().id)]
    id: String,
    /// Skips classes with fewer instances.
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().min_instances)]
    min_instances: u64,
    /// Keeps at most N classes, those with the most instances.
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().max_classes)]
    max_classes: usize,
    /// Writes to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Infer {
    /// Prints a SOML document for the data; what was read and found goes beside it.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let store = Store::new().map_err(LoadError::Store)?;
        let loaded = self.reading.load(&self.data, &store, console)?;
        writeln!(console.err, "{loaded}")?;
        let options = InferOptions {
            id: self.id,
            min_instances: self.min_instances,
            max_classes: self.max_classes,
        };
        let inferred = infer(&store, &options, &CallContext::new());
        let inferred = inferred.map_err(CliError::Infer)?;
        write_result(&inferred.yaml, self.output.as_deref(), console)?;
        writeln!(console.err, "{}", summary(&inferred))?;
        Ok(Exit::Success)
    }
}

/// What a schema made from data is called in messages.
pub(super) const INFERRED: &str = "the inferred schema";

/// Makes a schema from data that is loaded, for commands that were given none.
pub(super) fn from_data(store: &Store) -> Result<Inferred, CliError> {
    let options = InferOptions::default();
    infer(store, &options, &CallContext::new()).map_err(CliError::Infer)
}

/// Says what a schema made from data has.
pub(super) fn summary(inferred: &Inferred) -> String {
    let count = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", thousands(n as u64)),
    };
    let hint = match inferred.objects {
        0 => "; only IRIs with an `rdf:type` become objects",
        _ => "",
    };
    format!(
        "made a schema with {} and {}{hint}",
        count(inferred.objects, "object", "objects"),
        count(inferred.properties, "property", "properties"),
    )
}

fn write_result(
    text: &str,
    file: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Some(path) = file else {
        return Ok(console.out.write_all(text.as_bytes())?);
    };
    fs::write(path, text).map_err(|source| CliError::WriteFile {
        name: path.display().to_string(),
        source,
    })
}
