//! How traces are sent, as the properties and the variables of OpenTelemetry say.
//!
//! The crates of OpenTelemetry read most of the variables themselves, and take the default where a value is not valid.
//! Here such values are refused before.

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};

use super::{ENDPOINTS, TracesError};
use crate::config::{StandardVariables, Switch, TracesEndpoint, TracesSettings};

/// The address where none is given.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318/v1/traces";

/// What is added to the path of an address for all signals.
const PATH: &str = "/v1/traces";

const TIMEOUTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];
const HEADERS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_HEADERS",
];
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
const COMPRESSIONS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
];
const QUEUE: &str = "OTEL_BSP_MAX_QUEUE_SIZE";
const BATCH: &str = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE";
const DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLER_ARGUMENT: &str = "OTEL_TRACES_SAMPLER_ARG";
const EXPORTER: &str = "OTEL_TRACES_EXPORTER";
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// Other variables that are read.
const OTHERS: [&str; 5] = [
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SERVICE_NAME",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_EVENT_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
];

/// How traces are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) endpoint: TracesEndpoint,
    /// Maximum time of one request to the collector.
    pub(super) timeout: Duration,
    /// Maximum number of ended spans that wait to be sent.
    pub(super) queue: usize,
    /// Variables of OpenTelemetry about traces that have no effect.
    pub(super) idle: Vec<String>,
}

impl Options {
    /// Returns how traces are sent; `None` if they are not.
    ///
    /// # Errors
    /// When a variable of OpenTelemetry has a value that cannot be used.
    pub(super) fn of(settings: &TracesSettings) -> Result<Option<Self>, TracesError> {
        let variables = Variables(&settings.standard);
        let is_on = match settings.enabled {
            Switch::On => true,
            Switch::Off => false,
            Switch::Automatic => {
                let has_address =
                    settings.endpoint.is_some() || settings.standard.first(&ENDPOINTS).is_some();
                has_address && variables.allow()?
            }
        };
        if !is_on {
            return Ok(None);
        }
        let endpoint = match &settings.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => variables.endpoint()?,
        };
        variables.check_headers()?;
        variables.one_of(&PROTOCOLS, &["http/protobuf"], "`http/protobuf`")?;
        variables.one_of(&COMPRESSIONS, &["gzip", "none"], "`gzip` or `none`")?;
        variables.check_sampler()?;
        variables.number(&[BATCH])?;
        variables.number(&[DELAY])?;
        let timeout = variables.number(&TIMEOUTS)?.unwrap_or(10_000);
        let queue = variables.number(&[QUEUE])?.unwrap_or(2_048);
        Ok(Some(Options {
            endpoint,
            timeout: Duration::from_millis(timeout),
            queue: usize::try_from(queue).unwrap_or(usize::MAX),
            idle: variables.idle(),
        }))
    }
}

struct Variables<'a>(&'a StandardVariables);

impl Variables<'_> {
    /// Returns whether traces are left on.
    fn allow(&self) -> Result<bool, TracesError> {
        self.one_of(&[EXPORTER], &["otlp", "none"], "`otlp` or `none`")?;
        self.one_of(&[DISABLED], &["true", "false"], "`true` or `false`")?;
        let is = |name, text: &str| {
            self.0
                .get(name)
                .is_some_and(|it| it.eq_ignore_ascii_case(text))
        };
        Ok(!is(EXPORTER, "none") && !is(DISABLED, "true"))
    }

    fn endpoint(&self) -> Result<TracesEndpoint, TracesError> {
        let [own, for_all] = ENDPOINTS;
        let read =
            |name: &str, text: &str| text.parse().map_err(|expected| refused(name, expected));
        if let Some(text) = self.0.get(own) {
            return read(own, text);
        }
        match self.0.get(for_all) {
            Some(text) => read(for_all, text).map(|base| base.below(PATH)),
            None => read(own, DEFAULT_ENDPOINT),
        }
    }

    fn check_headers(&self) -> Result<(), TracesError> {
        let Some((name, text)) = self.0.first(&HEADERS) else {
            return Ok(());
        };
        let is_header = |item: &str| {
            item.split_once('=').is_some_and(|(key, value)| {
                HeaderName::from_bytes(key.trim().as_bytes()).is_ok()
                    && !value.trim().is_empty()
                    && HeaderValue::from_str(value.trim()).is_ok()
            })
        };
        if text.split_terminator(',').all(is_header) {
            Ok(())
        } else {
            Err(refused(name, "headers such as `name=value,other=value`"))
        }
    }

    fn check_sampler(&self) -> Result<(), TracesError> {
        let known = [
            "always_on",
            "always_off",
            "traceidratio",
            "parentbased_always_on",
            "parentbased_always_off",
            "parentbased_traceidratio",
        ];
        let expected =
            "`always_on`, `always_off` or `traceidratio`, or one of these after `parentbased_`";
        match self.0.get(SAMPLER) {
            Some(name) if !known.contains(&name) => return Err(refused(SAMPLER, expected)),
            Some(name) if name.ends_with("traceidratio") => {}
            _ => return Ok(()),
        }
        let ratio = self.0.get(SAMPLER_ARGUMENT).map(str::parse::<f64>);
        match ratio {
            None => Ok(()),
            Some(Ok(ratio)) if (0.0..=1.0).contains(&ratio) => Ok(()),
            Some(_) => Err(refused(SAMPLER_ARGUMENT, "a number from 0 to 1")),
        }
    }

    fn one_of(
        &self,
        names: &[&str],
        known: &[&str],
        expected: &'static str,
    ) -> Result<(), TracesError> {
        match self.0.first(names) {
            Some((name, value)) if !known.iter().any(|it| it.eq_ignore_ascii_case(value)) => {
                Err(refused(name, expected))
            }
            _ => Ok(()),
        }
    }

    fn number(&self, names: &[&str]) -> Result<Option<u64>, TracesError> {
        let Some((name, text)) = self.0.first(names) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number @ 1..) => Ok(Some(number)),
            _ => Err(refused(name, "a positive integer")),
        }
    }

    /// Returns the variables about traces that no one reads.
    fn idle(&self) -> Vec<String> {
        let read = ENDPOINTS
            .iter()
            .chain(&TIMEOUTS)
            .chain(&HEADERS)
            .chain(&PROTOCOLS)
            .chain(&COMPRESSIONS)
            .chain(&OTHERS);
        let alone = [
            QUEUE,
            BATCH,
            DELAY,
            SAMPLER,
            SAMPLER_ARGUMENT,
            EXPORTER,
            DISABLED,
        ];
        let read: Vec<&str> = read.copied().chain(alone).collect();
        let others = ["_METRIC", "_LOG", "_BLRP_", "_PYTHON_", "_JAVA_", "_NODE_"];
        let names = self.0.names();
        let idle = names.filter(|name| !read.contains(name));
        idle.filter(|name| !others.iter().any(|other| name.contains(other)))
            .map(str::to_owned)
            .collect()
    }
}

fn refused(name: &str, expected: &'static str) -> TracesError {
    TracesError::Variable {
        name: name.to_owned(),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(enabled: Switch, endpoint: &str, variables: &[(&str, &str)]) -> TracesSettings {
        let mut settings = TracesSettings {
            enabled,
            endpoint: endpoint.parse().ok(),
            ..TracesSettings::default()
        };
        for (name, value) in variables {
            settings.standard.set(name, value);
        }
        settings
    }

    fn address(endpoint: &str, variables: &[(&str, &str)]) -> Option<String> {
        let settings = settings(Switch::Automatic, endpoint, variables);
        let options = Options::of(&settings).unwrap();
        options.map(|options| options.endpoint.url().to_string())
    }

    #[test]
    fn the_property_wins_over_the_variable_for_traces_and_that_over_the_one_for_all_signals() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://own:4318/");
        let is = |given: Option<String>, expected| assert_eq!(given.as_deref(), expected);
        is(address("", &[]), None);
        is(address("", &[all]), Some("http://all:4318/base/v1/traces"));
        is(address("", &[all, own]), Some("http://own:4318/"));
        is(address("http://p/x", &[all, own]), Some("http://p/x"));
        let off = ("OTEL_SDK_DISABLED", "TRUE");
        is(address("", &[all, off]), None);
        is(address("", &[all, ("OTEL_TRACES_EXPORTER", "none")]), None);
    }

    #[test]
    fn the_switch_wins_over_all_variables() {
        let off = [("OTEL_SDK_DISABLED", "true")];
        let on = Options::of(&settings(Switch::On, "", &off)).unwrap();
        assert_eq!(on.unwrap().endpoint.url().as_str(), DEFAULT_ENDPOINT);
        let off = settings(Switch::Off, "http://a/", &[]);
        assert_eq!(Options::of(&off), Ok(None));
    }

    #[test]
    fn values_that_cannot_be_used_are_refused_by_name_and_not_shown() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hidden@a/"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "hidden"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api key=hidden"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0"),
            ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
            ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
        ] {
            let settings = settings(Switch::On, "", &[(name, value)]);
            let text = Options::of(&settings).unwrap_err().to_string();
            assert!(text.contains(name) && !text.contains("hidden"), "{text}");
        }
        for ratio in ["1.5", "half", "NaN"] {
            let sampler = ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio");
            let settings = settings(Switch::On, "", &[sampler, (SAMPLER_ARGUMENT, ratio)]);
            let text = Options::of(&settings).unwrap_err().to_string();
            assert!(text.contains(SAMPLER_ARGUMENT), "{text}");
        }
    }

    #[test]
    fn variables_that_nobody_reads_are_named() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
            ("OTEL_METRICS_EXPORTER", "otlp"),
            ("OTEL_SERVICE_NAME", "a"),
            ("OTEL_TRACES_SAMPLER", "always_on"),
        ];
        let options = Options::of(&settings(Switch::On, "", &variables)).unwrap();
        assert_eq!(options.unwrap().idle, ["OTEL_EXPORTER_OTLP_CERTIFICATE"]);
    }
}
