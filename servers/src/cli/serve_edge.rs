//! `soml edge`.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use edge_service::EdgeApp;
use service_runtime::HostState;

use super::config_args::{ConfigArgs, host_help, port_help};
use super::lines::Lines;
use super::running_edge::RunningEdge;
use super::serve::{run_to_end, start_logging, stop_signal, verifier};
use super::{CliError, Console, Exit, finish};
use crate::config::{EDGE_PORT, Settings, Switch, token_warnings};

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[arg(long, value_name = "ADDRESS", help = host_help())]
    host: Option<IpAddr>,
    #[arg(long, value_name = "PORT", help = port_help(EDGE_PORT))]
    port: Option<u16>,
    /// Allows listening on addresses other than loopback while requests need no token.
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    config: ConfigArgs,
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
        let mut defaults = Settings {
            name: "edge".to_owned(),
            port: EDGE_PORT,
            ..Settings::default()
        };
        // It stands before services that other machines reach by it alone.
        defaults.security.enabled = Switch::On;
        let named = (self.host, self.port);
        let (settings, mut warnings) = self.config.of_service(defaults, named)?;
        let verifier = verifier(&settings, self.insecure)?;
        if verifier.is_some() {
            let weak = token_warnings(&settings.security);
            warnings.extend(weak.into_iter().map(str::to_owned));
        }
        if settings.edge.enabled == Switch::Off {
            warnings.push(
                "`edge.enabled=false` only applies to `soml serve`: this command is always an edge"
                    .to_owned(),
            );
        }
        if settings.edge.given().next().is_none() {
            let message = "the edge has no routes: set `edge.route.0.path` and `edge.route.0.address` (EDGE_ROUTE_0_PATH \
                           and EDGE_ROUTE_0_ADDRESS), and more of them with other numbers";
            return Err(CliError::Usage(message.to_owned()));
        }
        let state = HostState::new(settings.edge_host_options()?, settings.resources());
        let state = settings
            .observed(state)
            .with_verifier(verifier.map(Arc::new));
        let app = EdgeApp::new(state, &settings.edge_options(), settings.edge_routes(None)?)?;
        let traces = start_logging(&settings, &warnings, lines, console)?;
        run_to_end(&traces, serve(app, console))
    }
}

async fn serve(app: EdgeApp, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let stop = pin!(stop_signal());
    let edge = RunningEdge::listen(app).await?;
    edge.announce(console)?;
    stop.await;
    edge.end().await;
    Ok(Exit::Success)
}
