//! `federation-gateway`: the gateway in a process of its own.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use gateway_service::{GatewayApp, GatewayParts};
use service_auth::Verifier;

use super::config_args::{ConfigArgs, host_help, port_help};
use super::lines::Lines;
use super::running_gateway::{self, RunningGateway};
use super::serve::{run_to_end, start_logging, stop_signal};
use super::{CliError, Console, Exit, finish};
use crate::config::{GATEWAY_PORT, Settings, Switch, log_in_options};

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[arg(long, value_name = "ADDRESS", help = host_help())]
    host: Option<IpAddr>,
    #[arg(long, value_name = "PORT", help = port_help(GATEWAY_PORT))]
    port: Option<u16>,
    /// Allows listening on addresses other than loopback while the subgraphs require no token.
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    config: ConfigArgs,
    /// Why `soml serve` is nothing but a gateway.
    #[arg(skip)]
    reason: Option<String>,
}

impl Serve {
    /// Makes the gateway that `soml serve` is in place of other services, for a reason.
    pub(super) fn in_place_of(
        (host, port): (Option<IpAddr>, Option<u16>),
        insecure: bool,
        config: ConfigArgs,
        reason: String,
    ) -> Self {
        Serve {
            host,
            port,
            insecure,
            config,
            reason: Some(reason),
        }
    }

    /// Serves until the process receives a stop signal, or the subgraphs turn out not to fit together.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let lines = Lines::start().map_err(CliError::Start)?;
        Ok(lines.with_console(console, |console| {
            let result = self.run_with(&lines, console);
            finish(result, console)
        }))
    }

    /// Serves, with what writes lines without waiting.
    pub(super) fn run_with(
        self,
        lines: &Lines,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let (settings, warnings) = self.settings()?;
        let security = &settings.security;
        let verifier = if security.has_keys() {
            Some(Arc::new(Verifier::of(&security.verifier_options())?))
        } else {
            None
        };
        let is_guarded = security.enabled == Switch::On || verifier.is_some();
        if !settings.host.is_loopback() && !is_guarded && !self.insecure {
            return Err(CliError::Usage(format!(
                "{} can be reached from other machines and the subgraphs require no token; set \
                 SECURITY_ENABLED=true if they do, or use --insecure to allow this",
                settings.host
            )));
        }
        // Schemas from a file need no token.
        let logs_in = security.enabled == Switch::On && settings.gateway.supergraph_file.is_none();
        let log_in = logs_in
            .then(|| log_in_options(&settings.gateway.idp))
            .transpose()?;
        let app = GatewayApp::new(GatewayParts {
            host: settings.host().with_verifier(verifier),
            options: settings.gateway_options(),
            local: Vec::new(),
            requires_tokens: false,
            log_in,
            query: None,
        })?;
        let traces = start_logging(&settings, &warnings, lines, console)?;
        if let Some(reason) = &self.reason {
            tracing::info!("{reason}");
        }
        if settings.gateway.supergraph_file.is_some() && security.enabled == Switch::On {
            tracing::info!(
                "`gateway.supergraph.file` has the schemas, so the gateway does not log in to read \
                 those of the subgraphs"
            );
        }
        if settings.gateway.engine_api_key.is_some() {
            tracing::info!(
                "`engine.apiKey` is set; no subgraph is registered anywhere, the schemas are composed here"
            );
        }
        run_to_end(&traces, serve(app, console))
    }

    fn settings(&self) -> Result<(Settings, Vec<String>), CliError> {
        let mut defaults = Settings {
            name: "federation-gateway".to_owned(),
            port: GATEWAY_PORT,
            ..Settings::default()
        };
        defaults.security.enabled = Switch::Off;
        let named = (self.host, self.port);
        let (mut settings, warnings) = self.config.of_service(defaults, named)?;
        if self.reason.is_some() {
            // Who configures a gateway of `soml serve` says there where it listens.
            settings.port = settings.gateway.port.0.unwrap_or(settings.port);
        }
        Ok((settings, warnings))
    }
}

async fn serve(app: GatewayApp, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let stop = pin!(stop_signal());
    let gateway = RunningGateway::listen(app).await?;
    // The port is known before there is a composite schema: orchestrators ask it.
    running_gateway::announce(&gateway, console)?;
    console.out.flush()?;
    let ended = running_gateway::compose_until(&gateway, stop, console).await;
    gateway.end().await;
    ended.map(|()| Exit::Success)
}
