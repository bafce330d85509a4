//! `soml serve` and `object-service`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use graph_store::CallContext;
use graph_store::oxigraph::OxigraphStore;
use oxigraph::store::Store;

use super::config_args::ConfigArgs;
use super::infer::{INFERRED, from_data, summary};
use super::input::{Input, usable};
use super::{CliError, Console, Exit};
use crate::app::{App, SchemaChangeError};
use crate::config::{PROPERTIES, Settings};
use crate::http::Server;
use crate::load::LoadError;
use crate::logging;
use crate::schema_store::InMemorySchemaStore;
use crate::store::DataStore;

/// Time for work off the async workers to notice that it is cancelled.
const LAST_WORK: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address to listen on (`application.host`).
    #[arg(long, value_name = "ADDRESS")]
    host: Option<IpAddr>,
    /// Port to listen on, 0 for any free one (`application.port`).
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Allows listening on addresses other than loopback, although there is no authentication.
    #[arg(long)]
    insecure: bool,
    /// Keeps the data on disk: `--data` is loaded only if the folder is empty.
    ///
    /// Needs a build with `--features rocksdb`.
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    store_path: Option<PathBuf>,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Serve {
    /// Serves until the process receives a stop signal.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let (settings, warnings) = self.settings()?;
        logging::start(&settings, console.interactive)
            .map_err(|error| CliError::Usage(format!("`logging.level` is malformed: {error}")))?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        log_settings(&settings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        let result = runtime.block_on(self.serve(settings, console));
        // Work for clients that have gone must not keep the process.
        runtime.shutdown_timeout(LAST_WORK);
        result
    }

    fn settings(&self) -> Result<(Settings, Vec<String>), CliError> {
        let host = self.host.map(|host| format!("application.host={host}"));
        let port = self.port.map(|port| format!("application.port={port}"));
        let named: Vec<_> = host.into_iter().chain(port).collect();
        let defaults = Settings {
            // The demo is for looking around.
            explain: self.input.demo.is_some(),
            ..Settings::default()
        };
        let (settings, warnings) = self.config.settings(defaults, &named)?;
        self.input.check_against(&settings)?;
        if !settings.host.is_loopback() && !self.insecure {
            return Err(CliError::Usage(format!(
                "{} can be reached from other machines and there is no authentication; \
                 use --insecure to allow this",
                settings.host
            )));
        }
        Ok((settings, warnings))
    }

    async fn serve(self, settings: Settings, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let store = self.data_store(&settings)?;
        let schema = self.input.schema_text()?;
        let app = Arc::new(App::new(
            settings,
            store.graph_store(),
            Arc::new(InMemorySchemaStore::default()),
        ));
        // Before the data, so that a port that is taken is known at once.
        let server = Server::listen(Arc::clone(&app)).await?;
        // Before the data too, so that mistakes in the schema are known at once.
        if let Some((name, text)) = &schema {
            self.bind(&app, name, text, console).await?;
        }
        match store.embedded() {
            Some(store) => {
                self.fill(&app, store, schema.is_some(), console).await?;
                let store = Arc::clone(store);
                // Nobody waits for it: without its index the store answers too.
                drop(tokio::task::spawn_blocking(move || {
                    if let Err(error) = store.seal() {
                        tracing::warn!(%error, "failed to index inverse properties");
                    }
                }));
            }
            None => {
                let address = app.settings.sparql.addresses.to_string();
                tracing::info!(
                    address,
                    "data are read from a SPARQL server, schemas are kept in memory"
                );
                // What a request may choose is known once the server has answered.
                let context = CallContext::new().with_timeout(app.settings.request_timeout);
                if let Err(error) = store.graph_store().probe(&context).await {
                    tracing::warn!(%error, "the SPARQL server does not respond yet");
                }
            }
        }
        announce(&app, server.address(), console)?;
        server.run(stop_signal()).await;
        Ok(Exit::Success)
    }

    /// Opens the store on disk that is named, or the one that the settings name.
    fn data_store(&self, settings: &Settings) -> Result<DataStore, CliError> {
        match &self.store_path {
            None => Ok(DataStore::open(settings)?),
            Some(_) if !settings.sparql.addresses.is_empty() => Err(CliError::Usage(
                "--store-path keeps data in this process, and `sparql.endpoint.address` names a \
                 server that holds the data: use only one of them"
                    .to_owned(),
            )),
            #[cfg(feature = "rocksdb")]
            Some(folder) => OxigraphStore::open(folder)
                .map(|store| DataStore::Embedded(Arc::new(store)))
                .map_err(|source| CliError::OpenStore {
                    folder: folder.clone(),
                    source,
                }),
            #[cfg(not(feature = "rocksdb"))]
            Some(_) => Err(CliError::Usage(
                "this build keeps data in memory only; --store-path needs a build with \
                 `--features rocksdb`"
                    .to_owned(),
            )),
        }
    }

    /// Loads the data into the embedded store, and makes a schema of them where none is given.
    async fn fill(
        &self,
        app: &App,
        store: &OxigraphStore,
        has_schema: bool,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let (provider, store) = (store.provider(), store.inner());
        let has_data = !store.is_empty().map_err(LoadError::Store)?;
        if has_data && self.input.has_data() {
            tracing::warn!("the store already has data; --data is not loaded");
        } else if let Some(summary) = self.input.load(store, console)? {
            tracing::info!("{summary}");
        }
        if !has_schema && (has_data || self.input.has_data()) {
            self.bind_inferred(app, store, console).await?;
        }
        match &self.store_path {
            None => tracing::info!(
                provider,
                "schemas and data are kept in memory; `sparql.endpoint.address` is not set"
            ),
            Some(folder) => tracing::info!(
                provider,
                folder = %folder.display(),
                "data are kept on disk, schemas in memory"
            ),
        }
        Ok(())
    }

    async fn bind(
        &self,
        app: &App,
        name: &str,
        text: &str,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        usable(name, text, console)?;
        let unusable = |error: SchemaChangeError| CliError::Input(format!("{name}: {error}"));
        let (stored, _) = app.store_schema(text).await.map_err(unusable)?;
        let query = self.input.demo.as_ref().map(|demo| demo.query);
        app.bind(&stored.id, query).await.map_err(unusable)?;
        Ok(())
    }

    /// Serves data without a schema by one that is made from it.
    async fn bind_inferred(
        &self,
        app: &App,
        store: &Store,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let inferred = from_data(store)?;
        tracing::info!(
            "{}, since --schema names none; `soml infer` writes it to a file for you to refine",
            summary(&inferred)
        );
        self.bind(app, INFERRED, &inferred.yaml, console).await
    }
}

fn announce(app: &App, address: SocketAddr, console: &mut Console<'_>) -> Result<(), CliError> {
    let host = match address.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let port = address.port();
    writeln!(console.out, "GraphQL:  http://{host}:{port}/graphql")?;
    if app.has_schema() {
        writeln!(
            console.out,
            "GraphiQL: http://{host}:{port}/  (open this in a browser)"
        )?;
    } else {
        writeln!(
            console.out,
            "No schema is bound: POST one to http://{host}:{port}/soml"
        )?;
    }
    console.out.flush()?;
    Ok(())
}

fn log_settings(settings: &Settings) {
    let defaults = Settings::default();
    for property in PROPERTIES.iter() {
        let value = property.shown(settings);
        if value != property.shown(&defaults) {
            tracing::info!(property = property.key, value, "configured");
        }
    }
}

/// Completes when the process is asked to end.
async fn stop_signal() {
    let interrupt = async {
        // Without a handler the signal ends the process, which is as good.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
