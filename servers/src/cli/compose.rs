//! `soml compose`.

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::{Args, ValueEnum};
use federation::compose::{
    ComposeOptions, Composed, CompositionError, CompositionHint, Place, SharedRootFields,
    SubgraphSource, compose,
};
use gateway_service::fetch_sdl;
use graphql_service::Location;
use reqwest::Url;
use serde_json::{Value, json};

use super::operation::read_file;
use super::output_file::{OutputFile, unwritten};
use super::store::runtime;
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Compose {
    /// Subgraph: its name, and a file with its schema or the address of its GraphQL endpoint.
    #[arg(long, value_name = "NAME=FILE|URL", required = true)]
    subgraph: Vec<Named>,
    /// Address at which a subgraph read from a file is served; can be repeated.
    #[arg(long, value_name = "NAME=URL")]
    url: Vec<Named>,
    /// Writes the supergraph to a file, which is replaced atomically, so a gateway can follow it
    /// (`gateway.supergraph.file`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Rejects root query fields of several subgraphs that are not `@shareable`, in Federation 1 subgraphs too.
    #[arg(long)]
    reject_shared_root_fields: bool,
    /// Composes again whenever a schema changes, and replaces the file of `--output` on success.
    #[arg(long, requires = "output")]
    watch: bool,
    /// Time between two requests to an endpoint with `--watch`; files are checked more often.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "watch",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    interval: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The supergraph, and errors in the style of a compiler.
    Text,
    /// One JSON document: the supergraph and the hints, or the errors.
    Json,
}

/// A name, and what is meant by it.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    value: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("it is not `NAME=VALUE`")?;
        if name.is_empty() || value.is_empty() {
            return Err("the name or the value is missing".to_owned());
        }
        Ok(Named {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Where the schema of a subgraph comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    File(PathBuf),
    /// The address of a GraphQL endpoint.
    Endpoint(String),
}

impl Origin {
    fn of(value: &str) -> Origin {
        if value.starts_with("http://") || value.starts_with("https://") {
            Origin::Endpoint(value.to_owned())
        } else {
            Origin::File(PathBuf::from(value))
        }
    }

    pub(super) async fn read(&self) -> Result<String, CliError> {
        match self {
            Origin::File(path) => read_file(path),
            Origin::Endpoint(address) => fetched(address).await,
        }
    }
}

/// What became of an attempt to compose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The supergraph is where it should be.
    Composed,
    /// The errors have been shown.
    Failed,
}

impl Compose {
    /// Prints the supergraph of some subgraphs, or why there is none.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        if let Some(unknown) = self
            .url
            .iter()
            .find(|url| self.subgraph.iter().all(|it| it.name != url.name))
        {
            return Err(CliError::Usage(format!(
                "--url names `{}`, and no --subgraph does",
                unknown.name
            )));
        }
        if self.watch {
            return self.watch(console);
        }
        let runtime = runtime()?;
        let origins = self.origins();
        let schemas = origins.iter().map(|origin| runtime.block_on(origin.read()));
        let sources = self.sources_of(schemas.collect::<Result<Vec<_>, _>>()?);
        match self.compose(&sources, console)? {
            Report::Composed => Ok(Exit::Success),
            Report::Failed => Ok(Exit::BadInput),
        }
    }

    pub(super) fn output(&self) -> Option<PathBuf> {
        self.output.clone()
    }

    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs(self.interval)
    }

    /// Returns where the schemas come from, in the order of the subgraphs.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let named = self.subgraph.iter();
        named.map(|named| Origin::of(&named.value)).collect()
    }

    /// Puts the schemas together with the names and addresses of their subgraphs.
    pub(super) fn sources_of(&self, schemas: Vec<String>) -> Vec<SubgraphSource> {
        let sources = self.subgraph.iter().zip(schemas).map(|(named, sdl)| {
            let given = self.url.iter().find(|url| url.name == named.name);
            let url = match (given, Origin::of(&named.value)) {
                (Some(url), _) => url.value.clone(),
                (None, Origin::Endpoint(address)) => address,
                (None, Origin::File(_)) => String::new(),
            };
            SubgraphSource {
                name: named.name.clone(),
                url,
                sdl,
            }
        });
        sources.collect()
    }

    /// Composes, and prints or writes the outcome.
    pub(super) fn compose(
        &self,
        sources: &[SubgraphSource],
        console: &mut Console<'_>,
    ) -> Result<Report, CliError> {
        let mut options = ComposeOptions::default();
        if self.reject_shared_root_fields {
            options.shared_root_fields = SharedRootFields::Reject;
        }
        match compose(sources, &options) {
            Ok(composed) => {
                self.print(&composed, sources, console)?;
                Ok(Report::Composed)
            }
            Err(errors) => {
                match self.format {
                    Format::Text => {
                        for error in &errors {
                            write!(console.err, "{}", self.shown(&Shown::from(error), sources))?;
                        }
                    }
                    Format::Json => {
                        let errors: Vec<_> = errors.iter().map(error_json).collect();
                        writeln!(console.out, "{:#}", json!({"errors": errors}))?;
                    }
                }
                Ok(Report::Failed)
            }
        }
    }

    fn print(
        &self,
        composed: &Composed,
        sources: &[SubgraphSource],
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let sdl = &composed.supergraph_sdl;
        if let Some(path) = &self.output {
            let mut file = OutputFile::create_shared(path)?;
            let written = file.write_all(sdl.as_bytes());
            written.map_err(unwritten(path))?;
            file.finish()?;
        }
        match self.format {
            Format::Text => {
                for hint in &composed.hints {
                    write!(console.err, "{}", self.shown(&Shown::from(hint), sources))?;
                }
                if self.output.is_none() {
                    write!(console.out, "{sdl}")?;
                }
            }
            Format::Json => {
                let hints: Vec<_> = composed.hints.iter().map(hint_json).collect();
                writeln!(
                    console.out,
                    "{:#}",
                    json!({"supergraph": sdl, "hints": hints})
                )?;
            }
        }
        Ok(())
    }

    /// Shows an error or a hint with the lines of the subgraphs.
    fn shown(&self, finding: &Shown<'_>, sources: &[SubgraphSource]) -> String {
        let renderer = Renderer::plain().decor_style(DecorStyle::Ascii);
        let title = finding.level.clone().primary_title(finding.message);
        let mut group = Group::with_title(title.id(finding.code));
        for place in finding.places {
            let source = sources.iter().find(|source| source.name == place.subgraph);
            let file = self
                .subgraph
                .iter()
                .find(|named| named.name == place.subgraph);
            if let (Some(source), Some(file), Some(location)) = (source, file, place.location) {
                let span = word_at(&source.sdl, location);
                let annotation = AnnotationKind::Primary
                    .span(span)
                    .label(format!("in `{}`", source.name));
                group = group.element(
                    Snippet::source(&source.sdl)
                        .path(&file.value)
                        .annotation(annotation),
                );
            }
        }
        if let Some(help) = finding.help {
            group = group.element(Level::HELP.message(help));
        }
        format!("{}\n\n", renderer.render(&[group]))
    }
}

/// An error or a hint as it is shown.
struct Shown<'f> {
    level: Level<'static>,
    code: &'static str,
    message: &'f str,
    places: &'f [Place],
    help: Option<&'f str>,
}

impl<'f> From<&'f CompositionError> for Shown<'f> {
    fn from(error: &'f CompositionError) -> Self {
        Shown {
            level: Level::ERROR,
            code: error.code.as_str(),
            message: &error.message,
            places: &error.places,
            help: error.help.as_deref(),
        }
    }
}

impl<'f> From<&'f CompositionHint> for Shown<'f> {
    fn from(hint: &'f CompositionHint) -> Self {
        Shown {
            level: Level::INFO.with_name("hint"),
            code: hint.code.as_str(),
            message: &hint.message,
            places: &hint.places,
            help: hint.help.as_deref(),
        }
    }
}

/// Asks a subgraph for its schema.
async fn fetched(address: &str) -> Result<String, CliError> {
    let failed = |error: String| CliError::Service(format!("{address}: {error}"));
    let url = Url::parse(address)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(|| {
            CliError::Usage(format!(
                "{address} is not an address such as http://localhost:9995/graphql"
            ))
        })?;
    let read = fetch_sdl(&url).await;
    read.map_err(|error| failed(error.to_string()))
}

/// Returns the word that begins at a place.
fn word_at(text: &str, location: Location) -> std::ops::Range<usize> {
    let lines = text
        .split_inclusive('\n')
        .take(location.line.saturating_sub(1));
    let line_start: usize = lines.map(str::len).sum();
    let line = text[line_start..].lines().next().unwrap_or_default();
    let columns = line.char_indices().nth(location.column.saturating_sub(1));
    let column = columns.map_or(line.len(), |(at, _)| at);
    let rest = &line[column..];
    let is_word = |c: char| c.is_alphanumeric() || "_@".contains(c);
    let length = rest
        .find(|c| !is_word(c))
        .unwrap_or(rest.len())
        .max(1)
        .min(rest.len());
    let start = line_start + column;
    start..start + length
}

fn error_json(error: &CompositionError) -> Value {
    json!({
        "code": error.code.as_str(),
        "message": error.message,
        "coordinate": error.coordinate,
        "places": error.places.iter().map(place_json).collect::<Vec<_>>(),
        "help": error.help,
    })
}

fn hint_json(hint: &CompositionHint) -> Value {
    json!({
        "code": hint.code.as_str(),
        "message": hint.message,
        "coordinate": hint.coordinate,
        "places": hint.places.iter().map(place_json).collect::<Vec<_>>(),
        "help": hint.help,
    })
}

fn place_json(place: &Place) -> Value {
    json!({
        "subgraph": place.subgraph,
        "line": place.location.map(|at| at.line),
        "column": place.location.map(|at| at.column),
    })
}
