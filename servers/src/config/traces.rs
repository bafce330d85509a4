//! Whether and where to traces are sent.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use gateway_service::is_plain;
use outbound::Secret;
use reqwest::Url;
use service_config::Setting;

use super::security::Switch;
use super::setting::Programs;

/// Whether and where to traces are sent (`traces.*` and the variables of OpenTelemetry).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracesSettings {
    /// Whether they are; where it is not said, they are if there is an address (`traces.enabled`).
    pub enabled: Switch,
    /// Where to; where nothing is named, the variables of OpenTelemetry count (`traces.endpoint`).
    pub endpoint: Option<TracesEndpoint>,
    /// The variables of OpenTelemetry that are set.
    pub standard: StandardVariables,
}

/// Address that traces are sent to: HTTP or HTTPS, without a user and a query. It is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracesEndpoint(Url);

/// The variables of the environment that OpenTelemetry gives a meaning (`OTEL_*`), as far as they are set to
/// something. Their values can be secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandardVariables(BTreeMap<String, Secret>);

impl TracesEndpoint {
    /// Returns the address of what has a path below the one of this.
    #[must_use]
    pub fn below(mut self, path: &str) -> Self {
        let path = format!("{}{path}", self.0.path().trim_end_matches('/'));
        self.0.set_path(&path);
        self
    }

    /// Returns the address.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }
}

impl StandardVariables {
    /// Takes a variable. One that is empty counts as not set, as OpenTelemetry has it.
    pub fn set(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), Secret::new(value));
        }
    }

    /// Returns the value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::reveal)
    }

    /// Returns the first of some variables that is set, with its value.
    #[must_use]
    pub fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &str)> {
        let mut set = names
            .iter()
            .filter_map(|name| Some((*name, self.get(name)?)));
        set.next()
    }

    /// Returns the names of the variables that are set.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromStr for TracesEndpoint {
    /// What is expected instead.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            "an address such as http://localhost:4318/v1/traces, without user, query and fragment";
        let url = Url::parse(text).map_err(|_| expected)?;
        let is_fit =
            matches!(url.scheme(), "http" | "https") && is_plain(&url) && url.query().is_none();
        is_fit.then_some(TracesEndpoint(url)).ok_or(expected)
    }
}

impl fmt::Display for TracesEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_nothing_that_could_be_secret() {
        for text in ["http://localhost:4318/v1/traces", "https://a.example/otlp"] {
            assert!(TracesEndpoint::from_str(text).is_ok(), "{text}");
        }
        for text in [
            "localhost:4318",
            "grpc://a:4317",
            "http://u:p@a/",
            "http://a/?token=t",
            "http://a/#x",
        ] {
            assert!(TracesEndpoint::from_str(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_standard_variables_are_not_shown_and_empty_ones_are_not_set() {
        let mut variables = StandardVariables::default();
        variables.set("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hidden");
        variables.set("OTEL_SERVICE_NAME", "");
        assert_eq!(variables.get("OTEL_SERVICE_NAME"), None);
        let names = ["OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_HEADERS"];
        let first = variables.first(&names);
        assert_eq!(first, Some((names[1], "api-key=hidden")));
        let shown = format!("{variables:?}");
        assert!(
            shown.contains(names[1]) && !shown.contains("hidden"),
            "{shown}"
        );
    }
}
