//! Traces of requests to the gateway, sent by OTLP in builds with the feature `otlp`.
//!
//! A request to `/graphql` is a span named after its operation. Below it are one for planning, where the plan was not
//! known, and one for each request to a subgraph. Spans have names, sizes and outcomes; neither documents nor
//! variables nor headers are in them.
//!
//! Nobody waits for the collector: ended spans go into a bounded queue, which a thread of its own sends. What is lost
//! is counted, and said in the log.

#[cfg(not(feature = "otlp"))]
mod absent;
mod error;
#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
mod losses;
#[cfg(any(test, not(feature = "otlp")))]
mod not_built;
#[cfg(feature = "otlp")]
mod options;
#[cfg(feature = "otlp")]
mod pipeline;
#[cfg(feature = "otlp")]
mod propagation;
#[cfg(feature = "otlp")]
mod request;
mod settings;
#[cfg(feature = "otlp")]
mod subgraphs;

#[cfg(not(feature = "otlp"))]
pub(crate) use absent::Traces;
pub use error::TracesError;
#[cfg(feature = "otlp")]
pub(crate) use pipeline::Traces;
pub use settings::{StandardVariables, TracesEndpoint, TracesOptions};

/// The variables of OpenTelemetry that say where traces go to, the most specific first.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
