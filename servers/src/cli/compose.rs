//! `soml compose`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::{Args, ValueEnum};
use federation::compose::{
    ComposeOptions, CompositionError, CompositionHint, Place, SharedRootFields, SubgraphSource,
    compose,
};
use graphql_service::Location;
use reqwest::Url;
use serde_json::{Value, json};

use super::operation::read_file;
use super::store::runtime;
use super::{CliError, Console, Exit};
use crate::gateway::{Client, read_sdl};

#[derive(Debug, Args)]
pub(super) struct Compose {
    /// Subgraph: its name, and a file with its schema or the address of its GraphQL endpoint.
    #[arg(long, value_name = "NAME=FILE|URL", required = true)]
    subgraph: Vec<Named>,
    /// Address under which a subgraph from a file is served; may be repeated.
    #[arg(long, value_name = "NAME=URL")]
    url: Vec<Named>,
    /// Writes the supergraph to a file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Refuses a query field of several subgraphs that is not `@shareable`, of federation 1 too.
    #[arg(long)]
    reject_shared_root_fields: bool,
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
        let (name, value) = text.split_once('=').ok_or("it is no `NAME=VALUE`")?;
        if name.is_empty() || value.is_empty() {
            return Err("the name or the value is missing".to_owned());
        }
        Ok(Named {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
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
        let sources = self.subgraph.iter().map(|named| self.source(named));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let mut options = ComposeOptions::default();
        if self.reject_shared_root_fields {
            options.shared_root_fields = SharedRootFields::Reject;
        }
        match compose(&sources, &options) {
            Ok(composed) => {
                self.print(&composed.supergraph_sdl, &composed.hints, console)?;
                Ok(Exit::Success)
            }
            Err(errors) => {
                match self.format {
                    Format::Text => {
                        for error in &errors {
                            write!(console.err, "{}", self.shown(error, &sources))?;
                        }
                    }
                    Format::Json => {
                        let errors: Vec<_> = errors.iter().map(error_json).collect();
                        writeln!(console.out, "{:#}", json!({"errors": errors}))?;
                    }
                }
                Ok(Exit::BadInput)
            }
        }
    }

    fn source(&self, named: &Named) -> Result<SubgraphSource, CliError> {
        let is_address = named.value.starts_with("http://") || named.value.starts_with("https://");
        let sdl = match is_address {
            true => fetched(named)?,
            false => read_file(Path::new(&named.value))?,
        };
        let given = self
            .url
            .iter()
            .find(|url| url.name == named.name)
            .map(|url| url.value.clone());
        let url = given.unwrap_or_else(|| {
            if is_address {
                named.value.clone()
            } else {
                String::new()
            }
        });
        Ok(SubgraphSource {
            name: named.name.clone(),
            url,
            sdl,
        })
    }

    fn print(
        &self,
        sdl: &str,
        hints: &[CompositionHint],
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        if let Some(path) = &self.output {
            std::fs::write(path, sdl).map_err(|source| CliError::WriteFile {
                name: path.display().to_string(),
                source,
            })?;
        }
        match self.format {
            Format::Text => {
                for hint in hints {
                    writeln!(console.err, "hint[{}]: {}", hint.code, hint.message)?;
                }
                if self.output.is_none() {
                    write!(console.out, "{sdl}")?;
                }
            }
            Format::Json => {
                let hints: Vec<_> = hints.iter().map(hint_json).collect();
                writeln!(
                    console.out,
                    "{:#}",
                    json!({"supergraph": sdl, "hints": hints})
                )?;
            }
        }
        Ok(())
    }

    /// Shows an error with the lines of the subgraphs.
    fn shown(&self, error: &CompositionError, sources: &[SubgraphSource]) -> String {
        let renderer = Renderer::plain().decor_style(DecorStyle::Ascii);
        let mut group = Group::with_title(
            Level::ERROR
                .primary_title(&error.message)
                .id(error.code.as_str()),
        );
        for place in &error.places {
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
        if let Some(help) = &error.help {
            group = group.element(Level::HELP.message(help));
        }
        format!("{}\n\n", renderer.render(&[group]))
    }
}

/// Asks a subgraph for its schema.
fn fetched(named: &Named) -> Result<String, CliError> {
    let address = Url::parse(&named.value).ok().filter(Url::has_host);
    let address = address.ok_or_else(|| {
        CliError::Usage(format!(
            "{} is no address such as http://localhost:9995/graphql",
            named.value
        ))
    })?;
    let failed = |error: String| CliError::Service(format!("{}: {error}", named.value));
    let client = Client::new([&address]).map_err(|error| failed(error.to_string()))?;
    let read = runtime()?.block_on(read_sdl(&client, &address, None));
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
    })
}

fn place_json(place: &Place) -> Value {
    json!({
        "subgraph": place.subgraph,
        "line": place.location.map(|at| at.line),
        "column": place.location.map(|at| at.column),
    })
}
