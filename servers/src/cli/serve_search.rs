//! `search-service`: the search service in a process of its own.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use graph_store::GraphStore;
use object_service::folder::DataFolder;
use schema_registry::{InMemorySchemaStore, SchemaStore};
use search_service::{Engines, ObjectServiceSchemas, SearchApp, SearchParts, Storage};
use service_auth::Verifier;

use super::config_args::{ConfigArgs, host_help, port_help};
use super::input::Input;
use super::lines::Lines;
use super::running_search::{self, RunningSearch};
use super::running_service::base;
use super::serve::{run_to_end, start_logging, stop_signal, verifier};
use super::startup_migration;
use super::{CliError, Console, Exit, background_load, finish};
use crate::config::{SEARCH_PORT, SearchRoles, Settings, Switch, token_warnings};
use crate::migration::Opened;
use crate::schemas;
use crate::store::DataStore;

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[arg(long, value_name = "ADDRESS", help = host_help())]
    host: Option<IpAddr>,
    #[arg(long, value_name = "PORT", help = port_help(SEARCH_PORT))]
    port: Option<u16>,
    /// Allows listening on addresses other than loopback while requests need no token.
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Where the data are that are indexed.
struct Source {
    store: Option<DataStore>,
    storage: Storage,
}

impl Serve {
    /// Serves until the process receives a stop signal.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let lines = Lines::start().map_err(CliError::Start)?;
        Ok(lines.with_console(console, |console| {
            let result = self.run_with(&lines, console);
            finish(result, console)
        }))
    }

    fn run_with(self, lines: &Lines, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let (settings, mut warnings) = self.settings()?;
        let verifier = verifier(&settings, self.insecure)?;
        if verifier.is_some() {
            let weak = token_warnings(&settings.security);
            warnings.extend(weak.into_iter().map(str::to_owned));
        }
        let traces = start_logging(&settings, &warnings, lines, console)?;
        run_to_end(&traces, self.serve(settings, verifier, lines, console))
    }

    fn settings(&self) -> Result<(Settings, Vec<String>), CliError> {
        let mut defaults = Settings {
            name: "search-service".to_owned(),
            port: SEARCH_PORT,
            ..Settings::default()
        };
        defaults.security.enabled = Switch::On;
        // As the interface says that it is.
        defaults.search.roles = SearchRoles::Ignored;
        let named = (self.host, self.port);
        let (mut settings, mut warnings) = self.config.of_service(defaults, named)?;
        self.input.check_against(&settings)?;
        self.input.check_against_migration(&settings)?;
        if settings.search.enabled == Switch::Off {
            warnings.push(
                "`search.enabled=false` only applies to `soml serve`: this program is always a \
                 search service"
                    .to_owned(),
            );
        }
        // Whoever starts this program has decided that searches are answered.
        settings.search.enabled = Switch::On;
        Ok((settings, warnings))
    }

    /// Opens the store of schemas that instances share, and the folder of the data if schemas are moved to it or from it.
    async fn opened(&self, settings: &Settings) -> Result<Opened, CliError> {
        Ok(Opened {
            shared: schemas::open_shared(settings).await?,
            folder: settings.migrated_folder()?,
        })
    }

    /// Returns where the data are; refuses to index where there are none.
    fn source(&self, settings: &Settings, folder: Option<&DataFolder>) -> Result<Source, CliError> {
        let has_own = self.input.has_data();
        self.input.check_against_stores(settings)?;
        let is_kept = settings.store.data_dir.is_some();
        let has_data = has_own || is_kept || !settings.sparql.addresses.is_empty();
        let is_on = match settings.search.indexing {
            Switch::On => true,
            Switch::Off => false,
            Switch::Automatic => has_own,
        };
        if is_on && !has_data {
            let message = "`indexer.indexingEnabled` is on, but there are no data to index: name a \
                           SPARQL server with `sparql.endpoint.address`, or files with --data";
            return Err(CliError::Usage(message.to_owned()));
        }
        if !is_on {
            tracing::info!(
                "existing indexes are searched, but none are built: `indexer.indexingEnabled` is \
                 not on"
            );
        }
        let store = match (is_on, folder) {
            (true, Some(folder)) if settings.sparql.addresses.is_empty() => {
                Some(DataStore::Embedded(Arc::clone(&folder.image)))
            }
            (true, _) => Some(DataStore::open(settings)?),
            (false, _) => None,
        };
        let storage = if has_own {
            Storage::Memory
        } else {
            settings.search_storage()
        };
        Ok(Source { store, storage })
    }

    /// Returns the schemas, with what keeps which of them is bound.
    async fn schemas(
        &self,
        settings: &Settings,
        storage: &Storage,
        shared: Option<Arc<dyn SchemaStore>>,
    ) -> Result<Arc<dyn SchemaStore>, CliError> {
        if let Some(shared) = shared {
            return match settings.search.object_service {
                None => Ok(shared),
                Some(_) => Err(CliError::Usage(
                    "`search.soml.address` names an object service with schemas, and `soml.storage.provider` a server \
                     that stores them: use only one of them"
                        .to_owned(),
                )),
            };
        }
        let schemas: Arc<dyn SchemaStore> = match &settings.search.object_service {
            Some(_) if self.input.has_schema() => {
                let message = "--schema names a file and `search.soml.address` an object service with \
                               schemas: use only one of them";
                return Err(CliError::Usage(message.to_owned()));
            }
            Some(address) => {
                let token = settings.search.object_service_token.clone();
                let schemas =
                    ObjectServiceSchemas::new(address.clone(), token, settings.max_schema_bytes);
                Arc::new(schemas.map_err(|error| CliError::Service(error.to_string()))?)
            }
            None => Arc::new(InMemorySchemaStore::default()),
        };
        let is_kept = settings.search.object_service.is_some();
        storage
            .keeping(schemas, is_kept)
            .await
            .map_err(CliError::Schemas)
    }

    async fn app(
        &self,
        settings: &Settings,
        verifier: Option<Verifier>,
        source: &Source,
        shared: Option<Arc<dyn SchemaStore>>,
    ) -> Result<SearchApp, CliError> {
        // A folder of indexes that another process uses is found before anything is changed beside it.
        let engines = Engines::open(&settings.engine_options(), &source.storage)?;
        let schemas = self.schemas(settings, &source.storage, shared).await?;
        let store = source.store.as_ref();
        Ok(SearchApp::new(SearchParts {
            host: settings.host().with_verifier(verifier.map(Arc::new)),
            options: settings.search_options(),
            schemas,
            data: store.map(|store| -> Arc<dyn GraphStore> { store.graph_store() }),
            engines,
            storage: source.storage.clone(),
        }))
    }

    async fn serve(
        self,
        settings: Settings,
        verifier: Option<Verifier>,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let mut stop = pin!(stop_signal());
        let opened = self.opened(&settings).await?;
        let source = self.source(&settings, opened.folder.as_ref())?;
        let schema = self.input.served_schema(false)?;
        if let Some(migration) = startup_migration::at_start(&settings, &opened).await? {
            // The service follows what is bound.
            startup_migration::run_in_background(migration, || async {});
        }
        let app = self
            .app(&settings, verifier, &source, opened.shared)
            .await?;
        let id = match &schema {
            Some((name, text)) => {
                let failed = |error| CliError::Input(format!("{name}: {error}"));
                Some(app.add_schema(text).await.map_err(failed)?)
            }
            None => None,
        };
        let search = RunningSearch::listen(app, &settings).await?;
        let work = self.begin(&search, &source, id.as_deref(), lines, console);
        let begun = tokio::select! {
            // The signal is listened to before anyone knows that the service is there.
            biased;
            () = &mut stop => None,
            begun = work => Some(begun),
        };
        if let Some(begun) = begun {
            begun?;
            running_search::announce(&search.app, &base(search.serving.address), console)?;
            console.out.flush()?;
            stop.await;
        }
        search.end().await;
        Ok(Exit::Success)
    }

    /// Loads the data, and binds the schema.
    async fn begin(
        &self,
        search: &RunningSearch,
        source: &Source,
        id: Option<&str>,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let data = self.input.data(console)?;
        let store = source.store.as_ref().and_then(DataStore::embedded);
        if let (Some(data), Some(store)) = (data, store) {
            let loading = search.app.loading();
            loading.begin(data.files().len().max(1));
            let (store, target) = (Arc::clone(store), lines.terminal());
            let summary = background_load::load(loading, store, data, console, target).await?;
            tracing::info!("{summary}");
            loading.end();
        }
        let query = self.input.demo.as_ref().map(|demo| demo.search_query);
        search.start(id, query, console).await
    }
}
