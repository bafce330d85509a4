//! Who asks a build without traces for them.

use super::settings::TracesOptions;
use super::{ENDPOINTS, TracesError};

/// Refuses settings that ask for traces. Returns the variable of OpenTelemetry that names an address and has no effect:
/// it may be set for all programs of a machine, so it stops nothing.
pub(super) fn check(settings: &TracesOptions) -> Result<Option<&'static str>, TracesError> {
    match (settings.enabled, &settings.endpoint) {
        (Some(true), _) => Err(TracesError::NotBuilt("gateway.traces.enabled")),
        (None, Some(_)) => Err(TracesError::NotBuilt("gateway.traces.endpoint")),
        (Some(false), _) => Ok(None),
        (None, None) => Ok(settings.standard.first(&ENDPOINTS).map(|it| it.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_ask_for_traces_are_refused_and_variables_are_not() {
        let settings = |enabled, endpoint: &str| TracesOptions {
            enabled,
            endpoint: endpoint.parse().ok(),
            ..TracesOptions::default()
        };
        let address = "http://localhost:4318/v1/traces";
        for (enabled, endpoint, property) in [
            (Some(true), "", "gateway.traces.enabled"),
            (None, address, "gateway.traces.endpoint"),
        ] {
            let refused = check(&settings(enabled, endpoint)).unwrap_err();
            assert_eq!(refused, TracesError::NotBuilt(property));
            let text = refused.to_string();
            assert!(
                text.contains(property) && text.contains("--features otlp"),
                "{text}"
            );
        }
        assert_eq!(check(&settings(Some(false), address)), Ok(None));
        let mut standard = settings(None, "");
        assert_eq!(check(&standard), Ok(None));
        standard
            .standard
            .set("OTEL_EXPORTER_OTLP_ENDPOINT", address);
        assert_eq!(check(&standard), Ok(Some("OTEL_EXPORTER_OTLP_ENDPOINT")));
    }
}
