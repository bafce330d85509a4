//! `soml serve` and `object-service`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use graph_store::CallContext;
use graph_store::image::ImageStore;
use object_service::{App, SchemaChangeError};
use schema_registry::SchemaStoreError;
use service_auth::Verifier;
use service_log::start_beside;
use service_runtime::schemas::ManagesSchemas;
use service_runtime::{Host, Server};

use super::config_args::{ConfigArgs, host_help, port_help};
use super::infer::{INFERRED, from_data, summary};
use super::input::{Data, Input, usable_with};
use super::lines::Lines;
use super::opened_stores::{self, Stores, patiently};
use super::other_data::warn_in_background;
use super::running_edge::{self, RunningEdge};
use super::running_gateway::{self, GatewayPlan, RunningGateway};
use super::running_search::{self, InProcessSearch};
use super::running_service::{RunningService, base};
use super::serve_gateway;
use super::startup_migration;
use super::users::{self, Users};
use super::{CliError, Console, Exit, background_load, finish};
use crate::config::{CATALOGUE, SearchRoles, Settings, Switch, token_warnings};
use crate::log_levels;
use crate::schemas::place;
use crate::store::DataStore;
use crate::traces::Traces;

/// Time for work off the async workers to notice that it is cancelled.
const LAST_WORK: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[arg(long, value_name = "ADDRESS", help = host_help())]
    host: Option<IpAddr>,
    #[arg(long, value_name = "PORT", help = port_help(Settings::default().port))]
    port: Option<u16>,
    /// Allows listening on addresses other than loopback while requests need no token.
    #[arg(long)]
    insecure: bool,
    /// Requires users of the demo to log in; each has a different role.
    ///
    /// Their passwords are generated and printed at each start.
    #[arg(long, requires = "demo")]
    roles: bool,
    /// Keeps data and schemas in a folder across restarts (`store.dataDir`); `--data` is loaded only if the folder
    /// has no data yet.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Infers a schema from the data of a folder without stored schemas, then stores and binds it. With `--data`
    /// and without `--schema`, this happens anyway.
    #[arg(long, conflicts_with_all = ["schema", "demo"])]
    infer_schema: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

/// A program that serves objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// `soml serve`: a search service and a gateway may be in the same process.
    AllInOne,
    /// `object-service`: nothing else. The other services are programs of their own.
    ObjectService,
}

impl Program {
    /// Returns whether requests need a token where no source says so.
    fn security(self) -> Switch {
        match self {
            Program::AllInOne => Switch::Automatic,
            Program::ObjectService => Switch::On,
        }
    }
}

impl Serve {
    /// Serves until the process receives a stop signal.
    ///
    /// From the first line on no one waits for standard output or standard error, which may be full
    /// or stalled.
    pub(super) fn run(self, program: Program, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let lines = Lines::start().map_err(CliError::Start)?;
        Ok(lines.with_console(console, |console| {
            let result = self.run_with(program, &lines, console);
            finish(result, console)
        }))
    }

    fn run_with(
        self,
        program: Program,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let (mut settings, mut warnings) = self.settings(program)?;
        let (own, has_demo) = (self.own_service(&settings), self.input.demo.is_some());
        let place = match program {
            Program::AllInOne => running_gateway::place(&settings, own, has_demo)?,
            Program::ObjectService => GatewayPlan::NoGateway(None),
        };
        match place {
            GatewayPlan::NoGateway(idle) => warnings.extend(idle),
            GatewayPlan::WithObjectService => settings.federation = Switch::On,
            GatewayPlan::Standalone(_) if running_edge::is_wanted(&settings, has_demo) => {
                let message = "an edge is configured (`edge.enabled`, `edge.route.N`), but this process is only a \
                               gateway: start `soml edge` with a route to it";
                return Err(CliError::Usage(message.to_owned()));
            }
            GatewayPlan::Standalone(reason) => {
                let named = (self.host, self.port);
                let (insecure, config) = (self.insecure, self.config);
                let gateway = serve_gateway::Serve::in_place_of(named, insecure, config, reason);
                return gateway.run_with(lines, console);
            }
        }
        let users = Users::of(self.roles, &settings)?;
        let settings = match &users {
            Some(users) => users.secured(settings)?,
            None => settings,
        };
        let verifier = self.verifier(&settings, users.as_ref())?;
        if verifier.is_some() {
            let weak = token_warnings(&settings.security);
            warnings.extend(weak.into_iter().map(str::to_owned));
        }
        let traces = start_logging(&settings, &warnings, lines, console)?;
        if users.is_some() {
            users::log_key(&settings.provider);
        }
        run_to_end(
            &traces,
            self.serve(program, (settings, users, verifier), lines, console),
        )
    }

    fn settings(&self, program: Program) -> Result<(Settings, Vec<String>), CliError> {
        let mut defaults = Settings {
            // The demo is for looking around.
            explain: self.input.demo.is_some(),
            describe_arguments: self.input.demo.is_some(),
            // It is a subgraph, also of a gateway elsewhere.
            federation: match self.input.demo {
                Some(_) => Switch::On,
                None => Switch::Automatic,
            },
            ..Settings::default()
        };
        defaults.security.enabled = program.security();
        let (mut settings, warnings) = self.config.of_service(defaults, (self.host, self.port))?;
        if let Some(folder) = &self.data_dir {
            settings.store.data_dir = Some(folder.clone());
        }
        self.input.check_against(&settings)?;
        self.input.check_against_migration(&settings)?;
        if self.infer_schema && !settings.sparql.addresses.is_empty() {
            let message = "--infer-schema infers from the embedded store, but `sparql.endpoint.address` names a server \
                           that holds the data: use `soml infer` to infer a schema from a server";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok((settings, warnings))
    }

    /// Returns what makes this an object service, whatever is configured of a gateway.
    fn own_service(&self, settings: &Settings) -> Option<&'static str> {
        let reasons = [
            (self.input.demo.is_some(), "--demo"),
            (self.input.has_schema(), "--schema"),
            (self.input.has_data(), "--data"),
            (self.infer_schema, "--infer-schema"),
            (settings.store.data_dir.is_some(), "`store.dataDir`"),
            (settings.shares_schemas(), "`soml.storage.provider`"),
            (
                settings.storage.migration.enabled,
                "`soml.storage.migration.enabled`",
            ),
            (
                !settings.sparql.addresses.is_empty(),
                "`sparql.endpoint.address`",
            ),
            (settings.search.enabled == Switch::On, "`search.enabled`"),
            (
                settings.provider.provisioning.is_some(),
                "`security.provisioning.file`",
            ),
        ];
        let mut reasons = reasons.into_iter();
        reasons.find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns what verifies tokens; `None` where requests need none.
    fn verifier(
        &self,
        settings: &Settings,
        users: Option<&Users>,
    ) -> Result<Option<Verifier>, CliError> {
        let security = &settings.security;
        if let Some(users) = users {
            let keys = users.keys()?;
            return Ok(Some(
                Verifier::of(&security.verifier_options())?.with_keys(keys),
            ));
        }
        verifier(settings, self.insecure)
    }

    /// Makes the search service, the gateway and the edge beside the object service, where there are to be such.
    async fn beside(
        &self,
        program: Program,
        settings: &Settings,
        app: &Arc<App>,
        store: &DataStore,
    ) -> Result<OtherServices, CliError> {
        if program == Program::ObjectService {
            warn_of_other_programs(settings);
            return Ok(OtherServices::default());
        }
        let has_folder = settings.store.data_dir.is_some();
        let keeps_data = store.embedded().is_none()
            // One that cannot be written to keeps no indexes either.
            || (has_folder && app.store().writer().is_some());
        let (graph, is_named) = (store.graph_store(), self.input.has_schema());
        let search = running_search::start(settings, app, &graph, keeps_data, is_named).await?;
        let subgraph = search.subgraph().await;
        let gateway =
            running_gateway::start(settings, app, subgraph, self.input.demo.as_ref()).await?;
        let search_app = search.service.as_ref().map(|search| &search.app);
        let gateway_app = gateway.as_ref().map(|gateway| &gateway.app);
        let has_demo = self.input.demo.is_some();
        let edge = running_edge::start(settings, app, search_app, gateway_app, has_demo).await?;
        Ok(OtherServices {
            search,
            gateway,
            edge,
        })
    }

    async fn serve(
        self,
        program: Program,
        (settings, users, verifier): (Settings, Option<Users>, Option<Verifier>),
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let mut stop = pin!(stop_signal());
        let stores = Stores::open(&settings).await?;
        let migration = startup_migration::at_start(&settings, &stores.opened()).await?;
        let schema = self.input.served_schema(self.roles)?;
        let data = self.input.data(console)?;
        let app = stores.app(&settings, verifier);
        let Stores { data: store, .. } = stores;
        let app = Arc::new(match &users {
            Some(users) => app.with_provider(users.provider()),
            None => app,
        });
        if let Some(migration) = migration {
            let app = Arc::clone(&app);
            // It ends with the service, and goes on at the next start.
            startup_migration::run_in_background(migration, move || async move {
                app.follow_now().await
            });
        }
        // Before the data, so that a port that is taken is known at once.
        let server = Server::listen(Arc::clone(&app)).await?;
        // Before the data too, so that mistakes in the schema are known at once.
        match &schema {
            Some((name, text)) => self.bind(&settings, &app, name, text, console).await?,
            None if app.schemas().is_shared() => app.follow_now().await,
            None => opened_stores::bind_kept(&app, console).await?,
        }
        if let Some(data) = &data {
            app.loading().begin(data.files().len().max(1));
        }
        let OtherServices {
            search,
            gateway,
            edge,
        } = self.beside(program, &settings, &app, &store).await?;
        let mut serving = RunningService::begin(server);
        let address = serving.address;
        let work = async {
            self.fill(&settings, &app, &store, data, lines, console)
                .await?;
            app.loaded();
            let query = self.input.demo.as_ref().map(|demo| demo.search_query);
            search.start(query, console).await?;
            Ok::<_, CliError>(())
        };
        let filled = tokio::select! {
            // The signal is listened to before anyone knows that the service is there.
            biased;
            () = &mut stop => None,
            filled = work => Some(filled),
        };
        if let Some(filled) = filled {
            filled?;
            announce(
                &settings,
                &app,
                address,
                &search,
                gateway.is_some(),
                console,
            )
            .await?;
            if let Some(gateway) = &gateway {
                running_gateway::announce(gateway, console)?;
                console.out.flush()?;
            }
            if let Some(edge) = &edge {
                edge.announce(console)?;
            }
            if let Some(users) = users {
                users.announce(&base(address), console)?;
            }
            // Subgraphs elsewhere may take long to come.
            match &gateway {
                Some(gateway) => running_gateway::compose_until(gateway, stop, console).await?,
                None => stop.await,
            }
        }
        // What is in front of the others first.
        if let Some(edge) = edge {
            edge.end().await;
        }
        if let Some(gateway) = gateway {
            gateway.end().await;
        }
        serving.stop();
        if let Some(search) = search.service {
            search.end().await;
        }
        serving.end("the server").await;
        Ok(Exit::Success)
    }

    /// Makes the data ready to be served.
    async fn fill(
        &self,
        settings: &Settings,
        app: &Arc<App>,
        store: &DataStore,
        data: Option<Data>,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        match store.embedded() {
            Some(store) => {
                self.fill_embedded(settings, app, store, data, lines, console)
                    .await?;
                opened_stores::log(settings, app);
            }
            None => {
                let address = settings.sparql.addresses.to_string();
                tracing::info!(
                    address,
                    "data are read from a SPARQL server, schemas are kept {}",
                    place(settings)
                );
                // What a request may choose is known once the server has answered.
                let context = CallContext::new().with_timeout(settings.request_timeout);
                if let Err(error) = store.graph_store().probe(&context).await {
                    tracing::warn!(%error, "the SPARQL server does not respond yet");
                }
            }
        }
        warn_in_background(app, store);
        Ok(())
    }

    /// Loads the data into the embedded store, and makes a schema of them where none is given.
    async fn fill_embedded(
        &self,
        settings: &Settings,
        app: &Arc<App>,
        store: &Arc<ImageStore>,
        data: Option<Data>,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let is_named = data.is_some();
        let has_data = !store.is_empty();
        let mut prefixes = Vec::new();
        match data {
            Some(_) if has_data => {
                tracing::warn!("the store already has data; --data is not loaded");
            }
            Some(data) => {
                let (store, target) = (Arc::clone(store), lines.terminal());
                let summary =
                    background_load::load(app.loading(), store, data, console, target).await?;
                tracing::info!("{summary}");
                prefixes = summary.prefixes;
            }
            None => {}
        }
        if !app.has_schema() && (has_data || is_named || self.infer_schema) {
            let has_data = !store.is_empty();
            if self.infers(settings, app, is_named, has_data).await? {
                self.bind_inferred(settings, app, store, prefixes, console)
                    .await?;
            }
        } else if self.infer_schema {
            tracing::info!("a schema is bound, so --infer-schema infers none");
        }
        Ok(())
    }

    /// Returns whether a schema is to be inferred while none is bound: where the command line asks for it, and
    /// no schema is stored. Otherwise it says in the log how to go on.
    async fn infers(
        &self,
        settings: &Settings,
        app: &App,
        is_named: bool,
        has_data: bool,
    ) -> Result<bool, CliError> {
        let stored = patiently(settings, SchemaStoreError::is_transient, async || {
            app.schemas().list().await
        })
        .await;
        let stored = stored.map_err(CliError::Schemas)?;
        let is_asked = is_named || self.infer_schema;
        if settings.storage.migration.runs_beside() {
            tracing::warn!("schemas are being moved from another store, so none is inferred");
            return Ok(false);
        }
        if !stored.is_empty() {
            let names = stored
                .iter()
                .map(|entry| entry.id.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            tracing::warn!(
                stored = names,
                "no schema is bound, and none is inferred because schemas are stored: bind one with \
                 `PUT /soml/ID/objects`, or name a document with --schema"
            );
            return Ok(false);
        }
        if !is_asked {
            tracing::warn!(
                "no schema is bound or stored: name a document with --schema, or infer one from the data with \
                 --infer-schema"
            );
        } else if !is_named && !has_data {
            tracing::warn!("there are no data to infer a schema from (--infer-schema)");
            return Ok(false);
        }
        Ok(is_asked)
    }

    /// Stores the schema that the service is started with, in place of the one with its name, and binds it.
    async fn bind(
        &self,
        settings: &Settings,
        app: &App,
        name: &str,
        text: &str,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let usable = usable_with(name, text, &app.api_options(), console)?;
        let query = self.input.demo.as_ref().map(|demo| demo.query);
        let is_transient = |error: &SchemaChangeError| matches!(error, SchemaChangeError::Store(error) if error.is_transient());
        let served = patiently(settings, is_transient, async || {
            app.serve_schema(&usable, text, query).await
        })
        .await;
        served.map_err(|error| match error {
            SchemaChangeError::Store(error) if app.schemas().is_shared() => {
                CliError::Schemas(error)
            }
            error => CliError::Input(format!("{name}: {error}")),
        })
    }

    /// Serves data without a schema by one that is made from it.
    async fn bind_inferred(
        &self,
        settings: &Settings,
        app: &App,
        store: &Arc<ImageStore>,
        prefixes: Vec<(String, String)>,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let store = Arc::clone(store);
        let inferred = tokio::task::spawn_blocking(move || from_data(&store, prefixes))
            .await
            .expect("inferring a schema does not panic")?;
        tracing::info!(
            "{}, since --schema names none; `soml infer` writes it to a file for you to refine",
            summary(&inferred)
        );
        self.bind(settings, app, INFERRED, &inferred.yaml, console)
            .await
    }
}

/// What `soml serve` has beside the object service.
#[derive(Default)]
struct OtherServices {
    search: InProcessSearch,
    gateway: Option<RunningGateway>,
    edge: Option<RunningEdge>,
}

/// Warns about properties of services that other programs provide.
fn warn_of_other_programs(settings: &Settings) {
    if settings.search.enabled == Switch::On {
        tracing::warn!(
            "`search.enabled` is `true`, but object-service has no search service: start \
             search-service or soml serve"
        );
    }
    if settings.edge.enabled == Switch::On || settings.edge.given().next().is_some() {
        tracing::warn!(
            "an edge is configured (`edge.enabled`, `edge.route.N`), but object-service has none: \
             start soml edge or soml serve"
        );
    }
    if settings.gateway.enabled == Switch::On || settings.gateway.made_by().is_some() {
        tracing::warn!(
            "a gateway is configured (`gateway.enabled`, GRAPHQL_SERVICE_N, \
             `gateway.supergraph.file`), but object-service has none and is only a subgraph: start \
             federation-gateway or soml serve"
        );
    }
}

/// Logs from now on, first of all what is configured. Returns what sends traces.
pub(super) fn start_logging(
    settings: &Settings,
    warnings: &[String],
    lines: &Lines,
    console: &Console<'_>,
) -> Result<Traces, CliError> {
    let traces = Traces::new(&settings.name, &settings.traces)?;
    let options = settings.log_options(console.interactive);
    let levels = start_beside(&options, &lines.err, traces.layer())
        .map_err(|error| CliError::Usage(format!("`logging.level` is malformed: {error}")))?;
    log_levels::begin(options.level, levels);
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    log_settings(settings);
    Ok(traces)
}

/// Runs a service in a runtime of its own, and then sends the traces that are left.
pub(super) fn run_to_end(
    traces: &Traces,
    service: impl Future<Output = Result<Exit, CliError>>,
) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Start)?;
    runtime.spawn(traces.clone().watch());
    let result = runtime.block_on(async {
        let result = service.await;
        traces.end().await;
        result
    });
    // Work for clients that have gone must not keep the process.
    runtime.shutdown_timeout(LAST_WORK);
    result
}

/// Returns what verifies tokens; `None` where requests need none, which is for this machine alone unless
/// `insecure` allows more.
pub(super) fn verifier(settings: &Settings, insecure: bool) -> Result<Option<Verifier>, CliError> {
    let security = &settings.security;
    if security.is_on() {
        return if security.has_keys() {
            Ok(Some(Verifier::of(&security.verifier_options())?))
        } else {
            Err(CliError::TokenKeysMissing)
        };
    }
    if settings.search.roles == SearchRoles::Said(Switch::On) {
        return Err(CliError::RolesWithoutSecurity);
    }
    if !settings.host.is_loopback() && !insecure {
        return Err(CliError::Usage(format!(
            "{} can be reached from other machines and requests need no token; set \
             `security.secret` or `security.jwks.url`, or use --insecure to allow this",
            settings.host
        )));
    }
    Ok(None)
}

async fn announce(
    settings: &Settings,
    app: &App,
    address: SocketAddr,
    search: &InProcessSearch,
    has_gateway: bool,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let base = base(address);
    writeln!(console.out, "GraphQL:  {base}/graphql")?;
    if app.has_schema() {
        let page = if has_gateway {
            "for objects"
        } else {
            "open this in a browser"
        };
        writeln!(console.out, "GraphiQL: {base}/  ({page})")?;
    } else {
        opened_stores::announce_unbound(settings, app, &base, console).await?;
    }
    let security = if app.needs_tokens() {
        "on; requests need a token"
    } else {
        "off; anyone who can reach this address may use the API (set security.secret or \
         security.jwks.url to require tokens)"
    };
    writeln!(console.out, "Security: {security}")?;
    if let Some(writing) = opened_stores::writing(settings, app) {
        writeln!(console.out, "Writing:  {writing}")?;
    }
    if let Some(search) = &search.service {
        running_search::announce(&search.app, &self::base(search.serving.address), console)?;
    }
    if let Some(shown) = &search.refused {
        running_search::announce_refused(shown, console)?;
    }
    console.out.flush()?;
    Ok(())
}

fn log_settings(settings: &Settings) {
    let defaults = Settings::default();
    for property in &CATALOGUE.properties {
        let value = property.shown(settings);
        if value != property.shown(&defaults) {
            tracing::info!(property = property.key, value, "configured");
        }
    }
    for (name, value) in settings.loggers.iter() {
        tracing::info!(
            property = format!("logging.level.{name}"),
            value,
            "configured"
        );
    }
}

/// Completes when the process is asked to end.
pub(super) async fn stop_signal() {
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
