//! What there is of traces in builds without them: whoever asks for them is told so.

use std::sync::Arc;

use federation::transport::SubgraphTransport;
use service_runtime::ServiceRouter;

use super::settings::TracesOptions;
use super::{TracesError, not_built};

/// What would trace requests to a gateway.
#[derive(Clone, Debug)]
pub(crate) struct Traces {
    /// The variable of OpenTelemetry that names an address, which has no effect.
    idle: Option<&'static str>,
}

impl Traces {
    /// Makes sure that nobody counts on traces.
    ///
    /// # Errors
    /// When a property of the gateway asks for them.
    pub(crate) fn new(_name: &str, traces: &TracesOptions) -> Result<Self, TracesError> {
        let idle = not_built::check(traces)?;
        Ok(Traces { idle })
    }

    /// Returns routes as they are.
    pub(crate) fn routes(&self, routes: ServiceRouter) -> ServiceRouter {
        routes
    }

    /// Returns a transport as it is.
    pub(crate) fn transport(
        &self,
        transport: Arc<dyn SubgraphTransport>,
    ) -> Arc<dyn SubgraphTransport> {
        transport
    }

    /// Logs that a variable has no effect.
    pub(crate) async fn watch(self) {
        if let Some(name) = self.idle {
            tracing::warn!(
                "{name} has no effect: this build of the gateway cannot send traces, one with the feature `otlp` can"
            );
        }
    }

    /// Does nothing.
    pub(crate) async fn end(&self) {}

    /// Returns nothing that was counted.
    pub(crate) fn metrics(&self) -> String {
        String::new()
    }
}
