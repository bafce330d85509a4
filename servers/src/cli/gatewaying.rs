//! The gateway of `soml serve` and of `federation-gateway`.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::searching::Searching;
use super::serve::base;
use super::{CliError, Console};
use crate::app::App;
use crate::config::{Settings, Switch};
use crate::demo::Demo;
use crate::gateway::{Extension, GatewayApp, GatewayParts, Subgraph};
use crate::http::GatewayServer;

/// What is said once the subgraphs are composed.
const COMPOSED: &str = "Composed: the subgraphs are served as one schema";

/// Makes a gateway beside an object service and a search service, where it is to be one.
pub(super) async fn beside(
    app: &Arc<App>,
    search: Option<&Searching>,
    demo: Option<&Demo>,
) -> Result<Option<Gatewaying>, CliError> {
    let is_on = match app.settings.gateway.enabled {
        Switch::On => true,
        Switch::Off => false,
        Switch::Automatic => demo.is_some() || !app.settings.gateway.subgraphs.is_empty(),
    };
    if !is_on {
        return Ok(None);
    }
    let mut local = vec![Subgraph::local("objects", Arc::clone(app) as _)];
    if let Some(search) = search {
        local.push(Subgraph::local("search", Arc::clone(&search.app) as _));
    }
    if demo.is_some() {
        local.push(Subgraph::local("extension", Arc::new(Extension::new())));
    }
    let mut settings = app.settings.clone();
    if settings.name == Settings::default().name {
        "federation-gateway".clone_into(&mut settings.name);
    }
    settings.port = settings.gateway.port_beside(settings.port);
    let query = demo
        .filter(|_| search.is_some())
        .map(|demo| demo.gateway_query.to_owned());
    let gateway = GatewayApp::new(GatewayParts {
        local,
        verifier: app.verifier.clone(),
        requires_tokens: app.requires_tokens(),
        logs_in: settings.gateway.idp.host.is_some(),
        resources: app.resources.clone(),
        query,
        settings,
    })?;
    Gatewaying::listen(gateway).await.map(Some)
}

/// A gateway that listens.
pub(super) struct Gatewaying {
    pub(super) app: Arc<GatewayApp>,
    pub(super) address: SocketAddr,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Gatewaying {
    /// Listens, and answers with 503 until [`GatewayApp::start`] has composed the subgraphs.
    pub(super) async fn listen(app: GatewayApp) -> Result<Self, CliError> {
        let app = Arc::new(app);
        let server = GatewayServer::listen(Arc::clone(&app)).await?;
        let address = server.address();
        let (end, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async {
            // Without a sender there is nothing to wait for either.
            let _ = ended.await;
        }));
        Ok(Gatewaying {
            app,
            address,
            end,
            serving,
        })
    }

    /// Ends the service.
    pub(super) async fn end(self) {
        drop(self.end);
        if let Err(error) = self.serving.await {
            tracing::error!(%error, "the gateway ended unexpectedly");
        }
    }
}

/// Composes the subgraphs, says so, and waits for the end.
pub(super) async fn compose_until(
    gateway: &Gatewaying,
    mut stop: Pin<&mut impl Future<Output = ()>>,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        started = gateway.app.start() => started?,
    }
    writeln!(console.out, "{COMPOSED}")?;
    console.out.flush()?;
    stop.await;
    Ok(())
}

/// Says where the gateway is, and what it is over.
pub(super) fn announce(gateway: &Gatewaying, console: &mut Console<'_>) -> Result<(), CliError> {
    let base = base(gateway.address);
    writeln!(console.out, "Gateway:  {base}/graphql")?;
    writeln!(
        console.out,
        "GraphiQL: {base}/  (open this in a browser: all subgraphs as one schema)"
    )?;
    for subgraph in gateway.app.subgraphs() {
        let place = match subgraph.address() {
            "" => "in this process",
            address => address,
        };
        writeln!(console.out, "Subgraph: {}  ({place})", subgraph.name())?;
    }
    Ok(())
}
