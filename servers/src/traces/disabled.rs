//! What there is of traces in builds without them: whoever asks for them is told so.

use service_log::SpanLayer;

use super::{TracesError, not_built};
use crate::config::TracesSettings;

/// What would send traces.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    /// The variable of OpenTelemetry that names an address, which has no effect.
    idle: Option<&'static str>,
}

impl Traces {
    /// Makes sure that no one counts on traces.
    ///
    /// # Errors
    /// When a property asks for them.
    pub(crate) fn new(_name: &str, settings: &TracesSettings) -> Result<Self, TracesError> {
        let idle = not_built::check(settings)?;
        Ok(Traces { idle })
    }

    /// Returns nothing.
    pub(crate) fn layer(&self) -> Option<SpanLayer> {
        None
    }

    /// Logs that a variable has no effect.
    pub(crate) async fn watch(self) {
        if let Some(name) = self.idle {
            tracing::warn!(
                "{name} has no effect: this build cannot send traces, one with the feature `otlp` can"
            );
        }
    }

    /// Does nothing.
    pub(crate) async fn end(&self) {}
}
