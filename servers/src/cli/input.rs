//! The schema and the data that a command works on.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use clap::Args;
use graph_store::image::ImageStore;
use graphql_gen::typesystem::ApiOptions;
use indicatif::ProgressDrawTarget;
use rdf_load::{
    ContextFile, DataFiles, DataFormat, LoadError, LoadObserver, LoadOptions, LoadSummary,
    LoadTarget, data_files, load_embedded, load_files, read_text,
};
use schema_registry::{UsableSchema, check_with, served_api};

use super::progress::Reporter;
use super::{CliError, Console};
use crate::config::Settings;
use crate::demo::Demo;
use crate::render::{self, Style};

#[derive(Debug, Args)]
#[command(next_help_heading = "Schema and data")]
pub(super) struct Input {
    /// Uses a built-in schema and data: `star-wars`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["schema", "data"])]
    pub(super) demo: Option<Demo>,
    /// SOML document; without one, a schema is inferred from the data.
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, optionally gzipped. A folder means all files in
    /// it, `-` means standard input.
    #[arg(long, value_name = "FILE|DIR|-", num_args = 1..)]
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
    /// File for a remote `@context` of JSON-LD, which is never fetched; can be repeated.
    #[arg(long, value_name = "URL=FILE")]
    context: Vec<ContextFile>,
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
            "{flag} loads data into the embedded store, but `sparql.endpoint.address` names a \
             server that holds the data: use only one of them"
        )))
    }

    /// Refuses a schema to store while others are moved to the same place, for services.
    pub(super) fn check_against_migration(&self, settings: &Settings) -> Result<(), CliError> {
        let has_schema = self.demo.is_some() || self.schema.is_some();
        if has_schema && settings.storage.migration.runs_beside() {
            return Err(CliError::Usage(
                "a schema that is named is stored at once, and `soml.storage.migration.async` would move no schemas to a \
                 store that has one then: name none, or set `soml.storage.migration.async` to `false`"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Refuses data to load when a server or a folder holds the data, for commands that keep nothing.
    pub(super) fn check_against_stores(&self, settings: &Settings) -> Result<(), CliError> {
        self.check_against(settings)?;
        if settings.store.data_dir.is_some() && self.has_data() {
            Err(two_stores())
        } else {
            Ok(())
        }
    }

    /// Returns the text of the schema and a name for it, when there is one. That of a demo has further
    /// roles where they are asked for.
    pub(super) fn schema_text(
        &self,
        with_roles: bool,
    ) -> Result<Option<(String, String)>, CliError> {
        match (&self.demo, &self.schema) {
            (Some(demo), _) if with_roles => {
                Ok(Some((demo.name.to_owned(), demo.schema_with_roles())))
            }
            (Some(demo), _) => Ok(Some((demo.name.to_owned(), demo.whole_schema()))),
            (None, Some(path)) => Ok(Some((path.display().to_string(), read_schema(path)?))),
            (None, None) => Ok(None),
        }
    }

    /// Returns the text of the schema for a service: that of a demo says what is searched too.
    pub(super) fn served_schema(
        &self,
        with_roles: bool,
    ) -> Result<Option<(String, String)>, CliError> {
        match &self.demo {
            Some(demo) if !with_roles => Ok(Some((demo.name.to_owned(), demo.searched_schema()))),
            _ => self.schema_text(with_roles),
        }
    }

    /// Returns whether a schema is named.
    pub(super) fn has_schema(&self) -> bool {
        self.demo.is_some() || self.schema.is_some()
    }

    /// Returns whether data is named.
    pub(super) fn has_data(&self) -> bool {
        self.demo.is_some() || !self.data.is_empty()
    }

    /// Finds the data, when there is any.
    pub(super) fn data(&self, console: &mut Console<'_>) -> Result<Option<Data>, CliError> {
        match (&self.demo, self.data.as_slice()) {
            (Some(demo), _) => Ok(Some(Data {
                source: Source::Demo(*demo),
                options: self.reading.options(),
            })),
            (None, []) => Ok(None),
            (None, paths) => self.reading.data(paths, console).map(Some),
        }
    }

    /// Loads the data, when there is any.
    pub(super) fn load(
        &self,
        store: &ImageStore,
        console: &mut Console<'_>,
    ) -> Result<Option<LoadSummary>, CliError> {
        match self.data(console)? {
            Some(data) => data.load_watched(store, console).map(Some),
            None => Ok(None),
        }
    }
}

/// Data to load.
#[derive(Clone, Debug)]
pub(super) struct Data {
    source: Source,
    pub(super) options: LoadOptions,
}

#[derive(Clone, Debug)]
enum Source {
    Demo(Demo),
    Files(Vec<PathBuf>),
}

impl Data {
    /// Returns the files, of which built-in data have none.
    pub(super) fn files(&self) -> &[PathBuf] {
        match &self.source {
            Source::Demo(_) => &[],
            Source::Files(files) => files,
        }
    }

    /// Loads the data into what is no store yet, or is one.
    pub(super) fn load(
        &self,
        target: &dyn LoadTarget,
        observer: &mut dyn LoadObserver,
    ) -> Result<LoadSummary, LoadError> {
        match &self.source {
            Source::Demo(demo) => {
                let data = Cursor::new(demo.whole_data());
                load_embedded(target, demo.data_name, data, &self.options, observer)
            }
            Source::Files(files) => load_files(target, files, &self.options, observer),
        }
    }

    /// Loads the data; findings and progress go to the console.
    fn load_watched(
        &self,
        target: &dyn LoadTarget,
        console: &mut Console<'_>,
    ) -> Result<LoadSummary, CliError> {
        let mut reporter = Reporter::new(console, self.files(), ProgressDrawTarget::stderr());
        let summary = self.load(target, &mut reporter)?;
        reporter.finish()?;
        Ok(summary)
    }
}

impl Reading {
    /// Returns whether anything is said of how data are read.
    pub(super) fn is_given(&self) -> bool {
        let Reading {
            base,
            data_format,
            context,
            strict,
        } = self;
        base.is_some() || data_format.is_some() || !context.is_empty() || *strict
    }

    /// Loads `paths` into what is no store yet, or is one; findings go to the console.
    pub(super) fn load(
        &self,
        paths: &[PathBuf],
        target: &dyn LoadTarget,
        console: &mut Console<'_>,
    ) -> Result<LoadSummary, CliError> {
        self.data(paths, console)?.load_watched(target, console)
    }

    /// Finds the files that `paths` stand for; what is left out of folders goes to the console.
    fn data(&self, paths: &[PathBuf], console: &mut Console<'_>) -> Result<Data, CliError> {
        let standard_input = paths.iter().filter(|path| path.as_os_str() == "-");
        match (standard_input.count(), self.data_format) {
            (0, _) | (1, Some(_)) => {}
            (1, None) => {
                let message = "data from standard input need --data-format, since there is no file \
                               name that tells their syntax";
                return Err(CliError::Usage(message.to_owned()));
            }
            _ => {
                let message = "standard input can be read once; name `-` only once";
                return Err(CliError::Usage(message.to_owned()));
            }
        }
        let DataFiles { files, skipped } = data_files(paths, self.data_format)?;
        for path in skipped {
            let path = path.display();
            writeln!(
                console.err,
                "warning: {path} is not loaded: its extension is not that of an RDF syntax, or it \
                 links to a folder"
            )?;
        }
        Ok(Data {
            source: Source::Files(files),
            options: self.options(),
        })
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            base: self.base.clone(),
            format: self.data_format,
            contexts: self.context.clone(),
            strict: self.strict,
            ..LoadOptions::default()
        }
    }
}

/// Returns the error for data in two places.
pub(super) fn two_stores() -> CliError {
    let message = "files are loaded into memory, but `store.dataDir` names a folder that holds the \
                   data: use only one of them; `soml load` adds files to a folder";
    CliError::Usage(message.to_owned())
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
