//! The store that a command works on: data files in memory, or a server.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use graph_store::GraphStore;
use graph_store::image::ImageStore;
use graph_store::remote::http::ConnectionOptions;
use graphql_service::{CallContext, RequestContext};
use object_service::folder::DataFolder;
use schema_registry::UsableSchema;
use schema_registry::{SchemaStore, SchemaStoreError, ServiceKind};
use service_log::LogOptions;
use tokio::runtime::Runtime;

use super::infer::{INFERRED, from_data, summary};
use super::input::{Input, usable};
use super::{CliError, Console};
use crate::config::Settings;
use crate::store::{DataStore, OpenError};

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

    /// For commands that name it in another way.
    pub(super) fn at(store: Option<String>) -> Self {
        StoreArgs { store }
    }

    /// Returns whether a store is named.
    pub(super) fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// Opens the store that is named, or else the one that the settings name.
    pub(super) fn data_store(
        &self,
        settings: &Settings,
        console: &Console<'_>,
    ) -> Result<DataStore, CliError> {
        let store = match &self.store {
            Some(address) => DataStore::connect(&ConnectionOptions {
                addresses: address
                    .parse()
                    .map_err(|error| CliError::Usage(format!("--store {address}: {error}")))?,
                ..settings.sparql.clone()
            })?,
            None => DataStore::open(settings)?,
        };
        if let DataStore::Remote(_) = &store {
            // What a server says when it fails is for whoever runs the command, not for clients.
            let quiet = LogOptions {
                level: "warn".to_owned(),
                ..settings.log_options(console.interactive)
            };
            service_log::start(&quiet).map_err(|error| CliError::Usage(error.to_string()))?;
        }
        Ok(store)
    }
}

/// A store with data.
pub(super) struct Opened {
    pub(super) store: Arc<dyn GraphStore>,
    /// The same store, as it is embedded or behind a server.
    pub(super) data: DataStore,
}

/// Prefixes with their namespaces.
type Prefixes = Vec<(String, String)>;

/// Opens the store that is named, or loads the data files into one in memory. Where there was either, the
/// prefixes that the files declare come with it.
fn open(
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(Opened, Option<Prefixes>), CliError> {
    if !args.is_given() {
        input.check_against_stores(settings)?;
    }
    let data = args.data_store(settings, console)?;
    let prefixes = match data.embedded() {
        Some(embedded) if settings.store.data_dir.is_none() => {
            let loaded = input.load(embedded, console)?;
            loaded.map(|loaded| loaded.prefixes)
        }
        Some(_) | None => Some(Vec::new()),
    };
    let store = data.graph_store();
    Ok((Opened { store, data }, prefixes))
}

/// Opens the folder that the settings name. What is served of it is what is bound there; where no schema is
/// stored, one is made from the data.
fn over_folder(
    path: &Path,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(UsableSchema, Opened), CliError> {
    let folder = DataFolder::open(path, &settings.folder_options())?;
    let embedded = Arc::clone(&folder.image);
    let schema = match runtime()?.block_on(bound_document(&folder))? {
        Some((id, text)) => {
            writeln!(
                console.err,
                "the schema `{id}` is bound in {}",
                path.display()
            )?;
            usable(&id, &text, console)?
        }
        None => inferred(&embedded, Vec::new(), console)?,
    };
    let data = DataStore::Embedded(embedded);
    let store = data.graph_store();
    Ok((schema, Opened { store, data }))
}

/// Returns the name and the text of the schema that is bound in a folder; fails where schemas are stored and none
/// is bound.
async fn bound_document(folder: &DataFolder) -> Result<Option<(String, Arc<str>)>, CliError> {
    let failed = |error: SchemaStoreError| CliError::Schemas(error);
    let schemas = &folder.schemas;
    if let Some(id) = schemas
        .binding(ServiceKind::Objects)
        .await
        .map_err(failed)?
        .into_id()
    {
        let stored = schemas.get(&id).await.map_err(failed)?;
        return Ok(stored.map(|stored| (id, stored.text)));
    }
    if schemas.list().await.map_err(failed)?.is_empty() {
        Ok(None)
    } else {
        Err(CliError::Usage(
        "the folder has stored schemas, but none of them is bound: name a document with --schema".to_owned(),
    ))
    }
}

/// Makes a schema from data.
fn inferred(
    embedded: &ImageStore,
    prefixes: Prefixes,
    console: &mut Console<'_>,
) -> Result<UsableSchema, CliError> {
    let inferred = from_data(embedded, prefixes)?;
    let made = summary(&inferred);
    writeln!(console.err, "{made}, since --schema names none")?;
    usable(INFERRED, &inferred.yaml, console)
}

/// Reads the schema and opens the store; where no schema is given one is made from the data.
pub(super) fn over_data(
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(UsableSchema, Opened), CliError> {
    let text = input.schema_text(false)?;
    over(text, input, args, settings, console)
}

/// Does as [`over_data`], with what a demo says of searches.
pub(super) fn over_served(
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(UsableSchema, Opened), CliError> {
    let text = input.served_schema(false)?;
    over(text, input, args, settings, console)
}

fn over(
    schema: Option<(String, String)>,
    input: &Input,
    args: &StoreArgs,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<(UsableSchema, Opened), CliError> {
    if let Some((name, text)) = schema {
        // Before the data, so that mistakes in the schema are known at once.
        let schema = usable(&name, &text, console)?;
        let (opened, _) = open(input, args, settings, console)?;
        return Ok((schema, opened));
    }
    if let Some(folder) = settings
        .store
        .data_dir
        .as_ref()
        .filter(|_| !args.is_given())
    {
        input.check_against_stores(settings)?;
        return if settings.sparql.addresses.is_empty() {
            over_folder(folder, settings, console)
        } else {
            Err(OpenError::TwoStores.into())
        };
    }
    let (opened, prefixes) = open(input, args, settings, console)?;
    let (embedded, prefixes) = match (opened.data.embedded(), prefixes) {
        (Some(embedded), Some(prefixes)) => (embedded, prefixes),
        (Some(_), None) => {
            let message = "a schema or data is needed: use --schema FILE, --data FILE, \
                           or --demo star-wars";
            return Err(CliError::Usage(message.to_owned()));
        }
        (None, _) => {
            let message =
                "a schema is needed: use --schema FILE; `soml infer` infers one from a server";
            return Err(CliError::Usage(message.to_owned()));
        }
    };
    let schema = inferred(embedded, prefixes, console)?;
    Ok((schema, opened))
}

/// Returns what surrounds the one request of a command.
pub(super) fn context(settings: &Settings) -> RequestContext {
    RequestContext::from(CallContext::new().with_timeout(settings.request_timeout))
}

/// Starts what async work of a command runs on.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Start)
}
