//! The command line: `soml` with its subcommands, and `object-service`.
//!
//! Nothing here prints by itself; text goes to the [`Console`] that the binary hands in.

mod check;
mod config_args;
mod diff;
mod explain;
mod explain_query;
mod infer;
mod input;
mod json_schema;
mod operation;
mod progress;
mod query;
mod sdl;
mod serve;
mod store;
mod validate;

use std::error::Error;
use std::io::{self, Write};

use clap::{Parser, Subcommand};
use graph_store::StoreError;

use crate::config::ConfigError;
use crate::http::ServeError;
use crate::load::LoadError;
use crate::store::OpenError;

/// GraphQL over knowledge graphs: a SOML schema becomes a GraphQL API over RDF data.
#[derive(Debug, Parser)]
#[command(name = "soml", version, after_help = EXIT_CODES)]
pub struct Soml {
    #[command(subcommand)]
    command: Command,
}

/// Serves a GraphQL API over RDF data, as a SOML schema describes it.
#[derive(Debug, Parser)]
#[command(name = "object-service", version, after_help = EXIT_CODES)]
pub struct ObjectService {
    #[command(flatten)]
    serve: serve::Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves a GraphQL API over HTTP, with GraphiQL for browsers.
    Serve(Box<serve::Serve>),
    /// Checks SOML documents and prints what is wrong with them.
    Validate(validate::Validate),
    /// Prints the GraphQL schema made from a SOML document.
    Sdl(sdl::Sdl),
    /// Tells what changes for clients when one SOML document takes the place of another.
    Diff(diff::Diff),
    /// Writes a first SOML document for RDF data that has none.
    Infer(infer::Infer),
    /// Answers one GraphQL operation, without a server.
    Query(Box<query::Query>),
    /// Tells how one GraphQL operation is planned and answered, and what each step costs.
    ExplainQuery(Box<explain_query::ExplainQuery>),
    /// Lists where RDF data do not fit a SOML document.
    Check(Box<check::Check>),
    /// Explains the code of a finding or of an error.
    Explain(explain::Explain),
    /// Prints the JSON Schema of SOML documents, with which editors complete and check them.
    JsonSchema(json_schema::JsonSchema),
}

const EXIT_CODES: &str = "Exit codes:
   0  all went well
   1  the input is not right: an invalid schema, malformed data, an operation with errors and no data
   2  `soml diff` found a breaking change, `soml check` data that do not fit
   3  the system refused: a file cannot be read, a port is taken
  64  the arguments or the configuration are not right";

/// Where a command writes, and how.
pub struct Console<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Messages beside the results.
    pub err: &'a mut dyn Write,
    /// [`Console::out`] shows colours.
    pub coloured: bool,
    /// [`Console::err`] is a terminal, on which progress can be shown.
    pub interactive: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Success,
    /// The input is not right; what is wrong has been said.
    BadInput,
    /// The schemas differ in a way that breaks clients.
    Breaking,
    /// The data do not fit the schema.
    Misfit,
    /// The arguments or the configuration are not right.
    Usage,
    /// The system refused.
    System,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::BadInput => 1,
            Exit::Breaking | Exit::Misfit => 2,
            Exit::System => 3,
            Exit::Usage => 64,
        })
    }
}

/// Reads the arguments of the process; a request for help or the version, and what is wrong with
/// them, is printed and ends the command.
///
/// # Errors
///
/// Returns how the command ends when there is nothing to run.
pub fn arguments<C: Parser>() -> Result<C, Exit> {
    C::try_parse().map_err(|error| {
        // When even this cannot be written there is nobody to tell.
        let _ = error.print();
        if error.use_stderr() {
            Exit::Usage
        } else {
            Exit::Success
        }
    })
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("failed to read {name}")]
    Read { name: String, source: io::Error },
    #[error("failed to write the result")]
    Write(#[from] io::Error),
    #[error("failed to write {name}")]
    WriteFile { name: String, source: io::Error },
    #[error("failed to check the data")]
    Check(#[source] StoreError),
    #[error("failed to make a schema from the data")]
    Infer(#[source] StoreError),
    #[cfg(feature = "rocksdb")]
    #[error("failed to open the store in {folder}")]
    OpenStore {
        folder: std::path::PathBuf,
        source: oxigraph::store::StorageError,
    },
    #[error("{0}")]
    Input(String),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error("failed to start")]
    Start(#[source] io::Error),
}

impl CliError {
    fn exit(&self) -> Exit {
        match self {
            #[cfg(feature = "rocksdb")]
            CliError::OpenStore { .. } => Exit::System,
            CliError::Config(ConfigError::Read { .. })
            | CliError::Load(LoadError::Read { .. } | LoadError::Store(_))
            | CliError::Read { .. }
            | CliError::Write(_)
            | CliError::WriteFile { .. }
            | CliError::Check(_)
            | CliError::Infer(_)
            | CliError::Serve(_)
            | CliError::Store(OpenError::Embedded(_))
            | CliError::Start(_) => Exit::System,
            CliError::Config(_)
            | CliError::Usage(_)
            | CliError::Store(_)
            | CliError::Load(LoadError::FormatUnknown { .. } | LoadError::BaseInvalid { .. }) => {
                Exit::Usage
            }
            CliError::Load(_) | CliError::Input(_) => Exit::BadInput,
        }
    }
}

impl Soml {
    /// Runs the command.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = match self.command {
            Command::Serve(serve) => serve.run(console),
            Command::Validate(validate) => validate.run(console),
            Command::Sdl(sdl) => sdl.run(console),
            Command::Diff(diff) => diff.run(console),
            Command::Infer(infer) => infer.run(console),
            Command::Query(query) => query.run(console),
            Command::ExplainQuery(explain_query) => explain_query.run(console),
            Command::Check(check) => check.run(console),
            Command::Explain(explain) => explain.run(console),
            Command::JsonSchema(json_schema) => json_schema.run(console),
        };
        finish(result, console)
    }
}

impl ObjectService {
    /// Runs the service until it is told to stop.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = self.serve.run(console);
        finish(result, console)
    }
}

/// Reports an error with all its causes.
fn finish(result: Result<Exit, CliError>, console: &mut Console<'_>) -> Exit {
    let error = match result {
        Ok(exit) => return exit,
        // The reader of a pipe has seen enough.
        Err(CliError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Exit::Success;
        }
        Err(error) => error,
    };
    let mut text = format!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    // When even this cannot be written there is nobody to tell.
    let _ = writeln!(console.err, "{text}");
    error.exit()
}
