//! The search service of `soml serve` and of `search-service`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use graph_store::GraphStore;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{CliError, Console};
use crate::app::App;
use crate::config::{Settings, Switch};
use crate::data_folder::SEARCH;
use crate::http::SearchServer;
use crate::render::{self, Style};
use crate::search::{Engines, SearchApp, SearchChangeError, SearchParts, Storage};

/// How long the start waits for the indexes before it says that the service is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// A search service that listens.
pub(super) struct Searching {
    pub(super) app: Arc<SearchApp>,
    pub(super) address: SocketAddr,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// Tells whether the bound schema says what is searched.
pub(super) fn is_searched(app: &App) -> bool {
    app.bound().is_some_and(|bound| {
        let soml = bound.service.api().soml();
        let mut objects = soml.objects.iter();
        objects.any(|object| object.search.as_ref().is_some_and(|search| search.index))
    })
}

/// Makes a search service beside an object service, where it is to be one.
pub(super) async fn beside(
    app: &App,
    store: &Arc<dyn GraphStore>,
    keeps_data: bool,
) -> Result<Option<Searching>, CliError> {
    let is_on = match app.settings.search.enabled {
        Switch::On => true,
        Switch::Off => false,
        Switch::Automatic => is_searched(app),
    };
    if !is_on {
        if is_searched(app) {
            tracing::info!("the schema says what is searched, and `search.enabled` is `false`");
        }
        return Ok(None);
    }
    let mut settings = app.settings.clone();
    if settings.name == Settings::default().name {
        "search-service".clone_into(&mut settings.name);
    }
    // There are no plans of searches to show.
    settings.explain = false;
    let is_default = settings.search.location == Settings::default().search.location;
    if let Some(folder) = settings.store.data_dir.as_ref().filter(|_| is_default) {
        settings.search.location = folder.join(SEARCH).display().to_string();
    }
    settings.port = settings.search.port_beside(settings.port);
    let indexing = settings.search.indexing != Switch::Off;
    let storage = match keeps_data {
        true => Storage::of(&settings),
        false => Storage::Memory,
    };
    let engines = Engines::open(&settings, &storage)?;
    let search = SearchApp::new(SearchParts {
        schemas: Arc::clone(&app.schemas),
        data: indexing.then(|| Arc::clone(store)),
        engines,
        storage,
        verifier: app.verifier.clone(),
        resources: app.resources.clone(),
        loading: Arc::clone(&app.loading),
        settings,
    });
    Searching::listen(search).await.map(Some)
}

impl Searching {
    /// Listens and answers from now on.
    pub(super) async fn listen(app: SearchApp) -> Result<Self, CliError> {
        let app = Arc::new(app);
        log_engine(&app);
        let server = SearchServer::listen(Arc::clone(&app)).await?;
        let address = server.address();
        let (end, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async {
            // Without a sender there is nothing to wait for either.
            let _ = ended.await;
        }));
        Ok(Searching {
            app,
            address,
            end,
            serving,
        })
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
        if let Err(error) = started {
            return Err(self.unusable(error, schema, console).await?);
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
            let stored = self.app.schemas.get(id).await.ok().flatten();
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
        drop(self.end);
        if let Err(error) = self.serving.await {
            tracing::error!(%error, "the search service ended unexpectedly");
        }
    }
}

/// Says where searches go.
pub(super) fn announce(
    app: &SearchApp,
    base: &str,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    match app.has_schema() {
        true => writeln!(
            console.out,
            "Search:   {base}/graphql\nGraphiQL: {base}/  (for searches)"
        )?,
        false => writeln!(
            console.out,
            "Search:   {base}/graphql  (no schema is bound: PUT {base}/soml/<id>/search)"
        )?,
    }
    Ok(())
}

fn log_engine(app: &SearchApp) {
    let search = &app.settings.search;
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
            "the search engine is embedded, and indexes and what is bound are kept in memory only; \
             neither `indexer.host` nor `indexer.rest.uris` is set"
        ),
    }
}
