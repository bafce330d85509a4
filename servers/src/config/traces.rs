//! Whether and where to the gateway sends traces.

use gateway_service::{StandardVariables, TracesEndpoint};
use service_config::Setting;

use super::security::Switch;
use super::setting::Programs;

/// Whether and where to the gateway sends traces (`gateway.traces.*` and the variables of OpenTelemetry).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracesSettings {
    /// Whether it does (`gateway.traces.enabled`).
    pub enabled: Switch,
    /// Where to (`gateway.traces.endpoint`).
    pub endpoint: Option<TracesEndpoint>,
    /// The variables of OpenTelemetry that are set.
    pub standard: StandardVariables,
}

impl Setting<Programs> for Option<TracesEndpoint> {
    const TYPE: &'static str = "address or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => text.parse().map(Some),
        }
    }

    fn show(&self) -> String {
        match self {
            Some(endpoint) => endpoint.to_string(),
            None => "none".to_owned(),
        }
    }
}
