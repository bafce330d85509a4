//! The schema and the data that a command works on.

use std::path::{Path, PathBuf};

use clap::Args;
use graphql_gen::typesystem::ApiOptions;
use oxigraph::store::Store;

use super::progress::Reporter;
use super::{CliError, Console};
use crate::config::Settings;
use crate::demo::Demo;
use crate::load::{DataFormat, LoadOptions, LoadSummary, load_embedded, load_files, read_text};
use crate::render::{self, Style};
use crate::schema::{UsableSchema, check_with, served_api};

#[derive(Debug, Args)]
#[command(next_help_heading = "Schema and data")]
pub(super) struct Input {
    /// Uses a built-in schema and data: `star-wars`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["schema", "data"])]
    pub(super) demo: Option<Demo>,
    /// SOML document; without one, a schema is inferred from the data.
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, also gzipped.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) data: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// How data files are read.
#[derive(Debug, Args)]
pub(super) struct Reading {
    /// Base IRI for relative IRIs in the data [default: the IRI of each file].
    #[arg(long, value_name = "IRI")]
    base: Option<String>,
    /// Syntax of the data [default: by the extension of each file].
    #[arg(long, value_name = "FORMAT")]
    data_format: Option<DataFormat>,
    /// Fails at the first malformed statement or language tag in the data.
    #[arg(long)]
    strict: bool,
}

impl Input {
    /// Refuses data to load when a server holds the data.
    pub(super) fn check_against(&self, settings: &Settings) -> Result<(), CliError> {
        let flag = match (&self.demo, self.data.as_slice()) {
            (Some(_), _) => "--demo",
            (None, [_, ..]) => "--data",
            (None, []) => return Ok(()),
        };
        if settings.sparql.addresses.is_empty() {
            return Ok(());
        }
        Err(CliError::Usage(format!(
            "{flag} loads data into the embedded store, and `sparql.endpoint.address` names a \
             server that holds the data: use only one of them"
        )))
    }

    /// Returns the text of the schema and a name for it, when there is one.
    pub(super) fn schema_text(&self) -> Result<Option<(String, String)>, CliError> {
        match (&self.demo, &self.schema) {
            (Some(demo), _) => Ok(Some((demo.name.to_owned(), demo.schema.to_owned()))),
            (None, Some(path)) => Ok(Some((path.display().to_string(), read_schema(path)?))),
            (None, None) => Ok(None),
        }
    }

    /// Tells whether data is named.
    pub(super) fn has_data(&self) -> bool {
        self.demo.is_some() || !self.data.is_empty()
    }

    /// Loads the data, when there is any.
    pub(super) fn load(
        &self,
        store: &Store,
        console: &mut Console<'_>,
    ) -> Result<Option<LoadSummary>, CliError> {
        match (&self.demo, self.data.as_slice()) {
            (Some(demo), _) => self.reading.load_demo(demo, store, console).map(Some),
            (None, []) => Ok(None),
            (None, files) => self.reading.load(files, store, console).map(Some),
        }
    }
}

impl Reading {
    /// Loads `files`; findings go to the console.
    pub(super) fn load(
        &self,
        files: &[PathBuf],
        store: &Store,
        console: &mut Console<'_>,
    ) -> Result<LoadSummary, CliError> {
        let mut reporter = Reporter::new(console, files);
        let summary = load_files(store, files, &self.options(), &mut reporter)?;
        reporter.finish()?;
        Ok(summary)
    }

    fn load_demo(
        &self,
        demo: &Demo,
        store: &Store,
        console: &mut Console<'_>,
    ) -> Result<LoadSummary, CliError> {
        let mut reporter = Reporter::new(console, &[]);
        let options = self.options();
        let summary = load_embedded(store, demo.data_name, demo.data, &options, &mut reporter)?;
        reporter.finish()?;
        Ok(summary)
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            base: self.base.clone(),
            format: self.data_format,
            strict: self.strict,
        }
    }
}

/// Reads a SOML document.
pub(super) fn read_schema(path: &Path) -> Result<String, CliError> {
    let name = path.display().to_string();
    read_text(path).map_err(|source| CliError::Read { name, source })
}

/// Checks a document; its errors, or its warnings when it has none, go to the console.
pub(super) fn usable(
    name: &str,
    text: &str,
    console: &mut Console<'_>,
) -> Result<UsableSchema, CliError> {
    usable_with(name, text, &served_api(), console)
}

/// Checks a document as [`usable`] does, for an API with other parts.
pub(super) fn usable_with(
    name: &str,
    text: &str,
    options: &ApiOptions,
    console: &mut Console<'_>,
) -> Result<UsableSchema, CliError> {
    let checked = check_with(text, options);
    let rendered = render::text(name, text, &checked, Style::Plain);
    console.err.write_all(rendered.as_bytes())?;
    checked
        .schema
        .ok_or_else(|| CliError::Input(format!("{name} has errors")))
}
