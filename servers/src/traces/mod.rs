//! Traces of the requests to all services of the process, sent by OTLP in builds with the feature `otlp`.
//!
//! What is a span, and what it is called, is in the crate `traces`. A layer makes spans of OpenTelemetry of these, whatever
//! the level of the log is, and without events of the log.
//!
//! No one waits for the collector: ended spans go into a bounded queue, which a thread of its own sends. What is lost
//! is counted, and said in the log.

#[cfg(not(feature = "otlp"))]
mod disabled;
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

#[cfg(not(feature = "otlp"))]
pub(crate) use disabled::Traces;
pub use error::TracesError;
#[cfg(feature = "otlp")]
pub(crate) use pipeline::Traces;

/// The variables of OpenTelemetry that say where traces go to, the most specific first.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
