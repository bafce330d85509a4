//! Who asks a build without traces for them.

use super::{ENDPOINTS, TracesError};
use crate::config::{Switch, TracesSettings};

/// Refuses settings that ask for traces. Returns the variable of OpenTelemetry that names an address and has no effect:
/// it may be set for all programs of a machine, so it stops nothing.
pub(super) fn check(settings: &TracesSettings) -> Result<Option<&'static str>, TracesError> {
    match (settings.enabled, &settings.endpoint) {
        (Switch::On, _) => Err(TracesError::NotBuilt("traces.enabled")),
        (Switch::Automatic, Some(_)) => Err(TracesError::NotBuilt("traces.endpoint")),
        (Switch::Off, _) => Ok(None),
        (Switch::Automatic, None) => Ok(settings.standard.first(&ENDPOINTS).map(|it| it.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_ask_for_traces_are_refused_and_variables_are_not() {
        let settings = |enabled, endpoint: &str| TracesSettings {
            enabled,
            endpoint: endpoint.parse().ok(),
            ..TracesSettings::default()
        };
        let address = "http://localhost:4318/v1/traces";
        for (enabled, endpoint, property) in [
            (Switch::On, "", "traces.enabled"),
            (Switch::Automatic, address, "traces.endpoint"),
        ] {
            let refused = check(&settings(enabled, endpoint)).unwrap_err();
            assert_eq!(refused, TracesError::NotBuilt(property));
            let text = refused.to_string();
            assert!(
                text.contains(property) && text.contains("--features otlp"),
                "{text}"
            );
        }
        assert_eq!(check(&settings(Switch::Off, address)), Ok(None));
        let mut standard = settings(Switch::Automatic, "");
        assert_eq!(check(&standard), Ok(None));
        standard
            .standard
            .set("OTEL_EXPORTER_OTLP_ENDPOINT", address);
        assert_eq!(check(&standard), Ok(Some("OTEL_EXPORTER_OTLP_ENDPOINT")));
    }
}
