//! The gateway of `soml serve` and of `federation-gateway`.

use std::pin::Pin;
use std::sync::Arc;

use gateway_service::{GatewayApp, GatewayParts, Subgraph};
use object_service::App;
use service_runtime::{Host, Server};

use super::running_search::RunningSearch;
use super::running_service::{RunningService, base};
use super::{CliError, Console};
use crate::config::{Settings, Switch, log_in_options};
use crate::demo::Demo;
use crate::demo_extension::Extension;

/// What is said once there is a composite schema.
const COMPOSED: &str = "Composed: the subgraphs are served as one schema";

/// What `soml serve` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GatewayPlan {
    /// An object service without a gateway; there may be something to say about that.
    NoGateway(Option<String>),
    /// An object service and a gateway of which it is a subgraph.
    WithObjectService,
    /// A gateway and nothing else, for a reason.
    Standalone(String),
}

/// Decides whether there is a gateway, and whether it is alone. `own` names what makes the process an object service,
/// whatever is configured of a gateway.
///
/// # Errors
/// When settings contradict each other.
pub(super) fn place(
    settings: &Settings,
    own: Option<&str>,
    has_demo: bool,
) -> Result<GatewayPlan, CliError> {
    let made_by = settings.gateway.made_by();
    if settings.gateway.enabled == Switch::Off {
        let idle = made_by.map(|name| {
            format!(
                "`gateway.enabled` is `false`, so there is no gateway, and {name} has no effect"
            )
        });
        return Ok(GatewayPlan::NoGateway(idle));
    }
    if !is_wanted(settings, has_demo) {
        let is_off = has_demo && settings.federation == Switch::Off;
        let idle = is_off.then(|| {
            "`graphql.federation.enabled` is `false`, so the demo is not a subgraph and there is no \
             gateway".to_owned()
        });
        return Ok(GatewayPlan::NoGateway(idle));
    }
    let is_subgraph = settings.federation == Switch::On;
    if let (Some(name), None, false) = (&made_by, own, is_subgraph) {
        return Ok(GatewayPlan::Standalone(format!(
            "{name} is set, and neither a schema nor data is named: this process is a gateway and nothing else, as \
             `federation-gateway` is"
        )));
    }
    if settings.gateway.supergraph_file.is_some() {
        let own = own.unwrap_or("an object service");
        return Err(CliError::Usage(format!(
            "`gateway.supergraph.file` needs a process that is only a gateway, but {own} makes this \
             process an object service: start `federation-gateway` with the file, or set \
             `gateway.enabled` to `false` here"
        )));
    }
    if settings.federation == Switch::Off {
        let name = made_by.unwrap_or_else(|| "`gateway.enabled`".to_owned());
        return Err(CliError::Usage(format!(
            "{name} asks for a gateway, of which this object service is a subgraph, and \
             `graphql.federation.enabled` is `false`: leave it out, or set `gateway.enabled` to `false`"
        )));
    }
    Ok(GatewayPlan::WithObjectService)
}

/// Returns whether there is to be a gateway, on its own or beside other services.
fn is_wanted(settings: &Settings, has_demo: bool) -> bool {
    match settings.gateway.enabled {
        Switch::On => true,
        Switch::Off => false,
        Switch::Automatic => {
            let is_demo = has_demo && settings.federation != Switch::Off;
            is_demo || settings.gateway.made_by().is_some()
        }
    }
}

/// Makes a gateway beside an object service and a search service, where it is to be one.
pub(super) async fn start(
    settings: &Settings,
    app: &Arc<App>,
    search: Option<&RunningSearch>,
    demo: Option<&Demo>,
) -> Result<Option<RunningGateway>, CliError> {
    if !is_wanted(settings, demo.is_some()) {
        return Ok(None);
    }
    let mut local = vec![Subgraph::hosted("objects", Arc::clone(app))];
    if let Some(search) = search {
        local.push(Subgraph::hosted("search", Arc::clone(&search.app)));
    }
    if demo.is_some() {
        local.push(Subgraph::local("extension", Arc::new(Extension::new())));
    }
    let mut settings = settings.clone();
    if settings.has_default_name() {
        "federation-gateway".clone_into(&mut settings.name);
    }
    settings.port = settings.gateway.port_beside(settings.port);
    let query = demo
        .filter(|_| search.is_some())
        .map(|demo| demo.gateway_query.to_owned());
    let idp = &settings.gateway.idp;
    let log_in = idp.host.is_some().then(|| log_in_options(idp));
    let host = settings.host_sharing(app.state().resources.clone());
    let gateway = GatewayApp::new(GatewayParts {
        host: host.with_verifier(app.state().verifier.clone()),
        options: settings.gateway_options(),
        local,
        requires_tokens: app.needs_tokens(),
        log_in: log_in.transpose()?,
        query,
    })?;
    RunningGateway::listen(gateway).await.map(Some)
}

/// A gateway that listens.
pub(super) struct RunningGateway {
    pub(super) app: Arc<GatewayApp>,
    pub(super) serving: RunningService,
}

impl RunningGateway {
    /// Listens, and answers with 503 until [`GatewayApp::start`] has composed the subgraphs.
    pub(super) async fn listen(app: GatewayApp) -> Result<Self, CliError> {
        let app = Arc::new(app);
        let server = Server::listen(Arc::clone(&app)).await?;
        let serving = RunningService::begin(server);
        Ok(RunningGateway { app, serving })
    }

    /// Ends the service.
    pub(super) async fn end(self) {
        self.serving.end("the gateway").await;
    }
}

/// Composes the subgraphs, says so, and waits for the end.
pub(super) async fn compose_until(
    gateway: &RunningGateway,
    mut stop: Pin<&mut impl Future<Output = ()>>,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        started = gateway.app.start() => started?,
    }
    if gateway.app.supergraph_file().is_some() {
        announce_subgraphs(gateway, console)?;
    }
    writeln!(console.out, "{COMPOSED}")?;
    console.out.flush()?;
    stop.await;
    Ok(())
}

/// Prints the address of the gateway and its subgraphs.
pub(super) fn announce(
    gateway: &RunningGateway,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let base = base(gateway.serving.address);
    writeln!(console.out, "Gateway:  {base}/graphql")?;
    writeln!(
        console.out,
        "GraphiQL: {base}/  (open this in a browser: all subgraphs as one schema)"
    )?;
    match gateway.app.supergraph_file() {
        Some(file) => writeln!(console.out, "Supergraph: {}", file.display())?,
        None => announce_subgraphs(gateway, console)?,
    }
    Ok(())
}

fn announce_subgraphs(gateway: &RunningGateway, console: &mut Console<'_>) -> Result<(), CliError> {
    for subgraph in gateway.app.subgraphs() {
        let (name, place) = (subgraph.name(), subgraph.place());
        writeln!(console.out, "Subgraph: {name}  ({place})")?;
    }
    Ok(())
}
