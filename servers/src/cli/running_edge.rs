//! The edge beside the services of `soml serve`, and announcing it.

use std::sync::Arc;

use edge_service::{EdgeApp, Hosted};
use gateway_service::GatewayApp;
use object_service::App;
use search_service::SearchApp;
use service_runtime::{Host, HostState, Server};

use super::running_service::{RunningService, base};
use super::{CliError, Console};
use crate::config::{Settings, Switch};
use crate::edge::OwnServices;

/// An edge that serves.
pub(super) struct RunningEdge {
    app: Arc<EdgeApp>,
    serving: RunningService,
    is_tls: bool,
}

/// Returns whether `soml serve` is to have an edge too.
pub(super) fn is_wanted(settings: &Settings, has_demo: bool) -> bool {
    match settings.edge.enabled {
        Switch::On => true,
        Switch::Off => false,
        Switch::Automatic => has_demo || settings.edge.given().next().is_some(),
    }
}

/// Serves the services of this process at one address, where there is to be such.
pub(super) async fn start(
    settings: &Settings,
    app: &Arc<App>,
    search: Option<&Arc<SearchApp>>,
    gateway: Option<&Arc<GatewayApp>>,
    has_demo: bool,
) -> Result<Option<RunningEdge>, CliError> {
    if !is_wanted(settings, has_demo) {
        return Ok(None);
    }
    let mut settings = settings.clone();
    "edge".clone_into(&mut settings.name);
    settings.port = settings.edge.port_beside(settings.port);
    let own = OwnServices {
        objects: Arc::new(Arc::clone(app)),
        has_provider: app.has_provider(),
        search: search.map(|search| Arc::new(Arc::clone(search)) as Arc<dyn Hosted>),
        gateway: gateway.map(|gateway| Arc::new(Arc::clone(gateway)) as Arc<dyn Hosted>),
    };
    let state = HostState::new(settings.edge_host_options()?, app.state().resources.clone());
    let state = settings.observed(state);
    let state = state
        .with_verifier(app.state().verifier.clone())
        .with_loading(Arc::clone(&app.state().loading));
    let routes = settings.edge_routes(Some(own))?;
    let edge = EdgeApp::new(state, &settings.edge_options(), routes)?;
    RunningEdge::listen(edge).await.map(Some)
}

impl RunningEdge {
    pub(super) async fn listen(app: EdgeApp) -> Result<Self, CliError> {
        let app = Arc::new(app);
        let is_tls = app.state().options.listener.tls.is_some();
        let server = Server::listen(Arc::clone(&app)).await?;
        let serving = RunningService::begin(server);
        Ok(RunningEdge {
            app,
            serving,
            is_tls,
        })
    }

    pub(super) fn announce(&self, console: &mut Console<'_>) -> Result<(), CliError> {
        let mut address = base(self.serving.address);
        if self.is_tls {
            address = address.replacen("http:", "https:", 1);
        }
        writeln!(console.out, "Edge:     {address}/")?;
        for (path, name) in self.app.routes() {
            writeln!(console.out, "Route:    {address}{path}  ({name})")?;
        }
        console.out.flush()?;
        Ok(())
    }

    pub(super) async fn end(self) {
        self.serving.end("the edge").await;
    }
}
