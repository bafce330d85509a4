//! Flags that change the configuration.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, Console};
use crate::config::{Settings, Sources, help, read};

#[derive(Debug, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct ConfigArgs {
    /// Reads properties from a .properties, .yaml or .toml file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Sets a property; can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", long_help = set_help())]
    set: Vec<String>,
}

fn set_help() -> String {
    format!("Sets a property; can be repeated.\n\n{}", help())
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
        self.settings(defaults, &named)
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
        for warning in warnings {
            writeln!(console.err, "warning: {warning}")?;
        }
        Ok(settings)
    }
}
