//! The store that a command works on: data files in memory, or a server.

use std::sync::Arc;

use clap::Args;
use graph_store::GraphStore;
use graph_store::oxigraph::OxigraphStore;
use graph_store::remote::http::ConnectionOptions;
use graphql_service::RequestContext;
use tokio::runtime::Runtime;

use super::infer::{INFERRED, from_data, summary};
use super::input::{Input, usable};
use super::{CliError, Console};
use crate::config::Settings;
use crate::logging;
use crate::schema::UsableSchema;
use crate::store::DataStore;

/// A store in place of data files.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// URL of a SPARQL endpoint with the data, instead of `--data`.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["data", "demo"],
        help_heading = "Schema and data"
    )]
    store: Option<String>,
}

impl StoreArgs {
    /// For commands that work on data files alone.
    pub(super) fn none() -> Self {
        StoreArgs { store: None }
    }

    /// Tells whether a store is named.
    pub(super) fn is_given(&self) -> bool {
        self.store.is_some()
    }
}

/// A store with data.
pub(super) struct Opened {
    pub(super) store: Arc<dyn GraphStore>,
    /// The same store, where it is the embedded one, which shows all its statements.
    pub(super) embedded: Option<Arc<OxigraphStore>>,
}

/// Opens the store that is named, or loads the data files into one in memory; the flag tells whether
/// there was either.
fn open(
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(Opened, bool), CliError> {
    let store = match &args.store {
        Some(address) => DataStore::connect(&ConnectionOptions {
            addresses: address
                .parse()
                .map_err(|error| CliError::Usage(format!("--store {address}: {error}")))?,
            ..settings.sparql.clone()
        })?,
        None => DataStore::open(settings)?,
    };
    let has_data = match store.embedded() {
        Some(embedded) => input.load(embedded.inner(), console)?.is_some(),
        None => {
            // What a server says when it fails is for whoever runs the command, not for clients.
            let quiet = Settings {
                log_level: "warn".to_owned(),
                ..settings.clone()
            };
            logging::start(&quiet, console.interactive)
                .map_err(|error| CliError::Usage(error.to_string()))?;
            true
        }
    };
    let opened = Opened {
        store: store.graph_store(),
        embedded: store.embedded().cloned(),
    };
    Ok((opened, has_data))
}

/// Reads the schema and opens the store; where no schema is given one is made from the data.
pub(super) fn over_data(
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(UsableSchema, Opened), CliError> {
    if let Some((name, text)) = input.schema_text()? {
        // Before the data, so that mistakes in the schema are known at once.
        let schema = usable(&name, &text, console)?;
        let (opened, _) = open(input, args, settings, console)?;
        return Ok((schema, opened));
    }
    let (opened, has_data) = open(input, args, settings, console)?;
    let embedded = match (&opened.embedded, has_data) {
        (Some(embedded), true) => embedded,
        (Some(_), false) => {
            let message = "a schema or data is needed: use --schema FILE, --data FILE, \
                           or --demo star-wars";
            return Err(CliError::Usage(message.to_owned()));
        }
        (None, _) => {
            let message = "a schema is needed: use --schema FILE";
            return Err(CliError::Usage(message.to_owned()));
        }
    };
    let inferred = from_data(embedded.inner())?;
    let made = summary(&inferred);
    writeln!(console.err, "{made}, since --schema names none")?;
    let schema = usable(INFERRED, &inferred.yaml, console)?;
    Ok((schema, opened))
}

/// Returns what surrounds the one request of a command.
pub(super) fn context(settings: &Settings) -> RequestContext {
    RequestContext::new().with_timeout(settings.request_timeout)
}

/// Starts what async work of a command runs on.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Start)
}
