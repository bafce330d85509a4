//! The search service of `soml serve` and of `search-service`.

use std::sync::Arc;
use std::time::Duration;

use graph_store::GraphStore;
use object_service::App;
use object_service::folder::SEARCH;
use schema_registry::{Binding, SchemaStore, SchemaStoreError, ServiceKind};
use search_service::{
    Engines, SearchApp, SearchChangeError, SearchParts, Shown, Storage, not_allowed,
};
use service_runtime::schemas::ManagesSchemas;
use service_runtime::{Host, Server};
use soml_core::Schema;

use super::running_service::RunningService;
use super::{CliError, Console};
use crate::config::{Settings, StorageProvider, Switch};
use crate::render::{self, Style};

/// How long the start waits for the indexes before it says that the service is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// A search service that listens.
pub(super) struct RunningSearch {
    pub(super) app: Arc<SearchApp>,
    pub(super) serving: RunningService,
}

/// What an all-in-one has of a search service.
#[derive(Default)]
pub(super) struct InProcessSearch {
    /// The service, where there is one.
    pub(super) service: Option<RunningSearch>,
    /// The name of the schema to bind to it; what was bound before where there is none.
    pub(super) first: Option<String>,
    /// Nothing is bound in a store that other instances share.
    is_unbound: bool,
    /// What searches would show that no one has allowed, where that is why there is none.
    pub(super) refused: Option<Shown>,
}

impl InProcessSearch {
    /// Returns the service, unless what was bound to it was unbound: a gateway would wait for a schema.
    pub(super) async fn subgraph(&self) -> Option<&RunningSearch> {
        let service = self.service.as_ref()?;
        let waits_for_schema = match self.first {
            Some(_) => false,
            None => self.is_unbound || service.app.was_unbound().await,
        };
        (!waits_for_schema).then_some(service)
    }

    /// Binds the first schema, or what was bound before.
    pub(super) async fn start(
        &self,
        query: Option<&str>,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        match &self.service {
            Some(service) => service.start(self.first.as_deref(), query, console).await,
            None => Ok(()),
        }
    }
}

fn is_searched(soml: &Schema) -> bool {
    let mut objects = soml.objects.iter();
    objects.any(|object| object.search.as_ref().is_some_and(|search| search.index))
}

/// Makes a search service beside an object service, where it is to be one. `is_named` says whether the command line
/// names the schema that is bound to the object service.
pub(super) async fn start(
    settings: &Settings,
    app: &App,
    store: &Arc<dyn GraphStore>,
    keeps_data: bool,
    is_named: bool,
) -> Result<InProcessSearch, CliError> {
    let bound = app.bound_schema();
    let bound = bound
        .as_ref()
        .map(|(id, service)| (id.as_str(), service.api().soml()));
    let searched = bound.filter(|(_, soml)| is_searched(soml));
    if settings.search.enabled == Switch::Off {
        if searched.is_some() {
            tracing::info!(
                "the schema declares what is searchable, but `search.enabled` is `false`"
            );
        }
        return Ok(InProcessSearch::default());
    }
    let settings = settings_beside(settings);
    let storage = settings.search_storage();
    // Whoever searches nothing gets no folder for searches.
    let is_wanted = settings.search.enabled == Switch::On || searched.is_some();
    let schemas = schemas(&settings, app, &storage, keeps_data, is_wanted).await?;
    let is_shared = schemas.is_shared();
    let kept = kept_binding(schemas.as_ref(), is_named && searched.is_some()).await?;
    // What was unbound stays so, and what was bound stays bound, unless the command line names something that is
    // searched.
    let first = searched
        .filter(|_| is_named || kept == Binding::Unknown)
        .map(|(id, _)| id.to_owned());
    if settings.search.enabled == Switch::Automatic {
        let is_kept = first.is_none() && kept.id().is_some();
        // Another instance may bind something later.
        if searched.is_none() && !is_kept && !is_shared {
            return Ok(InProcessSearch::default());
        }
        let refused = match kept.id().filter(|_| is_kept) {
            Some(id) => refused_kept(&settings, app, schemas.as_ref(), id).await?,
            None => searched.and_then(|(_, soml)| refused(&settings, app, soml)),
        };
        if let Some(shown) = refused {
            tracing::warn!(
                "search is off because security is on: {shown}; `search.enabled=true` turns it on"
            );
            return Ok(InProcessSearch {
                refused: Some(shown),
                ..InProcessSearch::default()
            });
        }
    }
    let storage = if keeps_data { storage } else { Storage::Memory };
    let indexing = settings.search.indexing != Switch::Off;
    let data = indexing.then(|| Arc::clone(store));
    let search = search_app(app, data, schemas, storage, &settings)?;
    Ok(InProcessSearch {
        service: Some(RunningSearch::listen(search, &settings).await?),
        first,
        is_unbound: is_shared && kept.id().is_none(),
        refused: None,
    })
}

/// Returns what is bound to the search service, as far as it is known.
async fn kept_binding(schemas: &dyn SchemaStore, names_another: bool) -> Result<Binding, CliError> {
    match schemas.binding(ServiceKind::Search).await {
        // It is known later.
        Err(error) if schemas.is_shared() => {
            tracing::warn!(%error, "the binding of the search service is not known yet");
            Ok(Binding::Unknown)
        }
        // No one needs a lost document in place of which another one is named.
        Err(SchemaStoreError::Missing { .. }) if names_another => Ok(Binding::Unknown),
        kept => kept.map_err(CliError::Schemas),
    }
}

/// Makes a search service beside an object service, which does not listen yet.
fn search_app(
    app: &App,
    data: Option<Arc<dyn GraphStore>>,
    schemas: Arc<dyn SchemaStore>,
    storage: Storage,
    settings: &Settings,
) -> Result<SearchApp, CliError> {
    let engines = Engines::open(&settings.engine_options(), &storage)?;
    let host = settings
        .host_sharing(app.state().resources.clone())
        .with_verifier(app.state().verifier.clone())
        .with_loading(Arc::clone(&app.state().loading));
    Ok(SearchApp::new(SearchParts {
        host,
        options: settings.search_options(),
        schemas,
        data,
        engines,
        storage,
    }))
}

/// Returns the settings of a search service beside an object service.
fn settings_beside(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if settings.has_default_name() {
        "search-service".clone_into(&mut settings.name);
    }
    // There are no plans of searches to show.
    settings.explain = false;
    let is_default = settings.search.location == Settings::default().search.location;
    if let Some(folder) = settings.store.data_dir.as_ref().filter(|_| is_default) {
        settings.search.location = folder.join(SEARCH).display().to_string();
    }
    settings.port = settings.search.port_beside(settings.port);
    settings
}

/// Returns the schemas of an object service as a store that keeps what is bound to searches too, where the data are
/// kept, and searches are wanted or there is something kept.
async fn schemas(
    settings: &Settings,
    app: &App,
    storage: &Storage,
    keeps_data: bool,
    is_wanted: bool,
) -> Result<Arc<dyn SchemaStore>, CliError> {
    let schemas = Arc::clone(app.schemas());
    if schemas.is_shared() {
        return Ok(schemas);
    }
    if settings.schema_provider() == StorageProvider::File {
        // It keeps both bindings.
        let adopted = storage.adopt(schemas.as_ref()).await;
        return adopted.map(|()| schemas).map_err(CliError::Schemas);
    }
    if !keeps_data || !(is_wanted || storage.has_kept()) {
        return Ok(schemas);
    }
    storage
        .keeping(schemas, false)
        .await
        .map_err(CliError::Schemas)
}

fn refused(settings: &Settings, app: &App, soml: &Schema) -> Option<Shown> {
    not_allowed(soml, &settings.search_options(), app.needs_tokens())
}

/// Returns what searches over a stored schema would show that no one has allowed.
async fn refused_kept(
    settings: &Settings,
    app: &App,
    schemas: &dyn SchemaStore,
    id: &str,
) -> Result<Option<Shown>, CliError> {
    let stored = schemas.get(id).await.map_err(CliError::Schemas)?;
    // What is not there, or not valid, is not served either.
    let Some(stored) = stored else {
        return Ok(None);
    };
    let load = move || soml_core::load(&stored.text).schema;
    let soml = tokio::task::spawn_blocking(load).await.ok().flatten();
    Ok(soml.and_then(|soml| refused(settings, app, &soml)))
}

impl RunningSearch {
    /// Listens and answers from now on.
    pub(super) async fn listen(app: SearchApp, settings: &Settings) -> Result<Self, CliError> {
        let app = Arc::new(app);
        log_engine(&app, settings);
        let server = Server::listen(Arc::clone(&app)).await?;
        let serving = RunningService::begin(server);
        Ok(RunningSearch { app, serving })
    }

    /// Binds a stored schema, or what was bound before; waits a moment for the indexes.
    pub(super) async fn start(
        &self,
        schema: Option<&str>,
        query: Option<&str>,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let started = match schema {
            Some(id) => self.app.start_with(id, query).await,
            None => self.app.start_with_kept().await.map(drop),
        };
        match started {
            // Someone has bound or unbound a schema since the service listens.
            Ok(()) | Err(SearchChangeError::Superseded) => {}
            Err(SearchChangeError::Store(error)) => return Err(CliError::Schemas(error)),
            Err(error) => return Err(self.unusable(error, schema, console).await?),
        }
        self.app.settled(PATIENCE).await;
        Ok(())
    }

    /// Returns why a schema cannot be bound; what is wrong with it goes to the console.
    async fn unusable(
        &self,
        error: SearchChangeError,
        schema: Option<&str>,
        console: &mut Console<'_>,
    ) -> Result<CliError, CliError> {
        if let (SearchChangeError::Invalid(checked), Some(id)) = (&error, schema) {
            let stored = self.app.schemas().get(id).await.ok().flatten();
            let text = stored.map(|stored| stored.text).unwrap_or_default();
            let rendered = render::text(id, &text, checked, Style::Plain);
            console.err.write_all(rendered.as_bytes())?;
        }
        let name = schema.unwrap_or("what was bound before");
        Ok(CliError::Input(format!(
            "{name} cannot be bound to the search service: {error}; `search.enabled=false` starts \
             without it"
        )))
    }

    /// Ends the service.
    pub(super) async fn end(self) {
        self.serving.end("the search service").await;
    }
}

/// Prints the addresses of the search service.
pub(super) fn announce(
    app: &SearchApp,
    base: &str,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    if app.has_schema() {
        writeln!(
            console.out,
            "Search:   {base}/graphql\nGraphiQL: {base}/  (for searches)"
        )?
    } else {
        writeln!(
            console.out,
            "Search:   {base}/graphql  (no schema is bound: PUT {base}/soml/<id>/search)"
        )?
    }
    Ok(())
}

/// Prints that there is no search service, and what would start one.
pub(super) fn announce_refused(shown: &Shown, console: &mut Console<'_>) -> Result<(), CliError> {
    writeln!(
        console.out,
        "Search:   off because security is on: {shown} (search.enabled=true turns it on)"
    )?;
    Ok(())
}

fn log_engine(app: &SearchApp, settings: &Settings) {
    let search = &settings.search;
    if !search.is_embedded() {
        let (searched, written) = (search.searched_nodes(), search.written_nodes());
        tracing::info!(%searched, %written, "the search engine is OpenSearch");
        return;
    }
    match app.keeps() {
        Some(folder) => tracing::info!(
            folder = %folder.display(),
            "the search engine is embedded and keeps its indexes; neither `indexer.host` nor \
             `indexer.rest.uris` is set"
        ),
        None => tracing::info!(
            "the search engine is embedded, and indexes and bindings are kept in memory only; \
             neither `indexer.host` nor `indexer.rest.uris` is set"
        ),
    }
}
