//! What sends spans: a layer that takes them, and the queue of those that have ended.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use service_log::SpanLayer;
use service_metrics::table::SPANS_TOTAL;
use tokio::sync::oneshot;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;

use super::TracesError;
use super::exporter::Queue;
use super::losses::Counts;
use super::options::Options;
use crate::config::TracesSettings;

/// Time at the end for what waits to be sent.
const FLUSH: Duration = Duration::from_millis(1_800);

/// Time at the end for everything that traces need.
const END: Duration = Duration::from_secs(2);

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// What the name of a service begins with that has none.
const UNKNOWN: &str = "unknown_service";

/// What sends traces of the process; nothing does where that is off.
#[derive(Clone, Debug)]
pub(crate) struct Traces(Option<Arc<Pipeline>>);

/// Where spans go.
#[derive(Debug)]
struct Pipeline {
    provider: SdkTracerProvider,
    counts: Arc<Counts>,
    options: Options,
}

impl Traces {
    /// Sets up what the settings ask for, under the name of the service.
    ///
    /// # Errors
    /// When a variable of OpenTelemetry has a value that cannot be used, or requests cannot be sent.
    pub(crate) fn new(name: &str, settings: &TracesSettings) -> Result<Self, TracesError> {
        let Some(options) = Options::of(settings)? else {
            return Ok(Traces(None));
        };
        let counts = Arc::new(Counts::default());
        let queue = Queue::new(&options, Arc::clone(&counts))?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(name))
            .with_span_processor(queue)
            .build();
        Ok(Traces(Some(Arc::new(Pipeline {
            provider,
            counts,
            options,
        }))))
    }

    /// Returns the layer that takes spans; none where they are not wanted, so that there are none.
    pub(crate) fn layer(&self) -> Option<SpanLayer> {
        let pipeline = self.0.as_ref()?;
        let scope = InstrumentationScope::builder("traces")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(pipeline.provider.tracer_with_scope(scope))
            // Parents are named, or those that the thread is in by `tracing`.
            .with_context_activation(false)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_threads(false)
            .with_level(false)
            .with_target(false);
        // Events of the log are none of spans: what they say of may be for no one else.
        let spans = Targets::new().with_target(traces::TARGET, LevelFilter::TRACE);
        Some(layer.with_filter(spans).boxed())
    }

    /// Logs where traces are sent, and then which are lost.
    pub(crate) async fn watch(self) {
        let Some(pipeline) = self.0 else { return };
        let address = pipeline.options.endpoint.url().as_str();
        tracing::info!(address, "traces are sent by OTLP");
        let idle = &pipeline.options.idle;
        if !idle.is_empty() {
            tracing::warn!(
                "variables of OpenTelemetry that have no effect here: {}",
                idle.join(", ")
            );
        }
        let counts = Arc::clone(&pipeline.counts);
        let _read = service_metrics::watch(move |_| {
            for (outcome, count) in counts.outcomes() {
                SPANS_TOTAL.counter([outcome.into()]).absolute(count);
            }
        });
        pipeline.counts.watch().await;
    }

    /// Sends what waits, and says what could not be sent. Waits for it for a bounded time.
    pub(crate) async fn end(&self) {
        let Some(pipeline) = &self.0 else { return };
        let provider = pipeline.provider.clone();
        let (done, ended) = oneshot::channel();
        let thread = std::thread::Builder::new().name("traces".to_owned());
        let flushing = thread.spawn(move || {
            // What became of the spans is counted.
            let _ = provider.shutdown_with_timeout(FLUSH);
            let _ = done.send(());
        });
        if flushing.is_ok() {
            let _ = tokio::time::timeout(END, ended).await;
        }
        pipeline.counts.end();
    }
}

/// Returns what all spans say of the service. Variables of OpenTelemetry come before its name in the settings.
fn resource(name: &str) -> Resource {
    let detected = || {
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        Resource::builder().with_attribute(version)
    };
    let resource = detected().build();
    let given = resource.get_ref(&SERVICE_NAME);
    match given {
        Some(given) if !given.as_str().starts_with(UNKNOWN) => resource,
        _ => detected().with_service_name(name.to_owned()).build(),
    }
}
