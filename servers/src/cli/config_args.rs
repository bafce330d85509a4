//! Flags that change the configuration.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, Console};
use crate::config::{Settings, Sources, read};

#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct ConfigArgs {
    /// Reads properties from a .properties, .yaml or .toml file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Sets a property; can be repeated.
    ///
    /// Properties are also read from environment variables: KEY in capitals, with `_` instead of `.`. They are all
    /// listed in docs/configuration.md, which a running service serves at /docs/configuration;
    /// `soml explain KEY` explains one.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Returns the help of `--host`: what its default is in the program.
pub(super) fn host_help() -> String {
    let default = Settings::default().host;
    format!("Address to listen on (`application.host`) [default: {default}]")
}

/// Returns the help of `--port` in a program that listens on the port `default`.
pub(super) fn port_help(default: u16) -> String {
    format!("Port to listen on, 0 for any free one (`application.port`) [default: {default}]")
}

impl ConfigArgs {
    /// Reads all sources over `defaults`; flags with a name of their own come in `named` as
    /// `key=value`.
    pub(super) fn settings(
        &self,
        defaults: Settings,
        named: &[String],
    ) -> Result<(Settings, Vec<String>), CliError> {
        let flags: Vec<_> = self.set.iter().chain(named).cloned().collect();
        let environment = std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let file = self.config.as_deref();
        Ok(read(&Sources {
            defaults,
            file,
            environment,
            flags: &flags,
        })?)
    }

    /// Reads all sources over the defaults of a service, for which flags may say where it listens.
    pub(super) fn of_service(
        &self,
        defaults: Settings,
        (host, port): (Option<IpAddr>, Option<u16>),
    ) -> Result<(Settings, Vec<String>), CliError> {
        let host = host.map(|host| format!("application.host={host}"));
        let port = port.map(|port| format!("application.port={port}"));
        let named: Vec<_> = host.into_iter().chain(port).collect();
        let (mut settings, warnings) = self.settings(defaults, &named)?;
        name(&mut settings)?;
        Ok((settings, warnings))
    }

    /// Reads all sources over the defaults, and prints their warnings.
    pub(super) fn told(&self, console: &mut Console<'_>) -> Result<Settings, CliError> {
        self.told_over(Settings::default(), console)
    }

    /// Reads all sources over other defaults, and prints their warnings.
    pub(super) fn told_over(
        &self,
        defaults: Settings,
        console: &mut Console<'_>,
    ) -> Result<Settings, CliError> {
        let (settings, warnings) = self.settings(defaults, &[])?;
        print(warnings, console)?;
        Ok(settings)
    }

    /// Reads all sources as the service does that has this configuration, and prints their warnings.
    pub(super) fn told_as_service(
        &self,
        named: &[String],
        console: &mut Console<'_>,
    ) -> Result<Settings, CliError> {
        let (mut settings, warnings) = self.settings(Settings::default(), named)?;
        name(&mut settings)?;
        print(warnings, console)?;
        Ok(settings)
    }
}

fn print(warnings: Vec<String>, console: &mut Console<'_>) -> Result<(), CliError> {
    for warning in warnings {
        writeln!(console.err, "warning: {warning}")?;
    }
    Ok(())
}

/// Gives a service the name that is configured, in place of that of its program.
fn name(settings: &mut Settings) -> Result<(), CliError> {
    let application = &settings.application;
    if !application.uses_address_as_name {
        if let Some(name) = &application.name {
            settings.name.clone_from(name);
        }
        return Ok(());
    }
    match application.network_address(settings.host, settings.port) {
        Some(address) => settings.name = address,
        None => {
            let text = "`application.useNetworkAddressAsName` uses the address as the name, but no \
                        stable address is known: set `application.address`, and `application.port` \
                        if it has no port";
            return Err(CliError::Usage(text.to_owned()));
        }
    }
    Ok(())
}
