//! What traces requests: a tracer, and the queue of the spans that it makes.

use std::sync::Arc;
use std::time::Duration;

use axum::middleware;
use federation::transport::SubgraphTransport;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use service_runtime::ServiceRouter;
use tokio::sync::oneshot;

use super::TracesError;
use super::exporter::Queue;
use super::losses::Counts;
use super::options::Options;
use super::request;
use super::settings::TracesOptions;
use super::subgraphs::Traced;

/// Time at the end for what waits to be sent.
const FLUSH: Duration = Duration::from_millis(1_800);

/// Time at the end for everything that traces need.
const END: Duration = Duration::from_secs(2);

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// What the name of a service begins with that has none.
const UNKNOWN: &str = "unknown_service";

/// What traces requests to a gateway; nothing does where that is off.
#[derive(Clone, Debug)]
pub(crate) struct Traces(Option<Arc<Pipeline>>);

/// A tracer, and where its spans go.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) tracer: SdkTracer,
    provider: SdkTracerProvider,
    counts: Arc<Counts>,
    options: Options,
}

impl Traces {
    /// Sets up what the options ask for, under the name of the service.
    ///
    /// # Errors
    /// When a variable of OpenTelemetry has a value that cannot be used, or requests cannot be sent.
    pub(crate) fn new(name: &str, traces: &TracesOptions) -> Result<Self, TracesError> {
        let Some(options) = Options::of(traces)? else {
            return Ok(Traces(None));
        };
        let counts = Arc::new(Counts::default());
        let queue = Queue::new(&options, Arc::clone(&counts))?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(name))
            .with_span_processor(queue)
            .build();
        let scope = InstrumentationScope::builder("federation-gateway");
        let scope = scope.with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Traces(Some(Arc::new(Pipeline {
            tracer: provider.tracer_with_scope(scope),
            provider,
            counts,
            options,
        }))))
    }

    /// Returns routes of which requests for GraphQL are traced.
    pub(crate) fn routes(&self, routes: ServiceRouter) -> ServiceRouter {
        match &self.0 {
            None => routes,
            Some(pipeline) => {
                let pipeline = Arc::clone(pipeline);
                let trace = middleware::from_fn_with_state(pipeline, request::trace);
                routes.within(|routes| routes.layer(trace))
            }
        }
    }

    /// Returns a transport of which requests to subgraphs are traced.
    pub(crate) fn transport(
        &self,
        transport: Arc<dyn SubgraphTransport>,
    ) -> Arc<dyn SubgraphTransport> {
        match &self.0 {
            None => transport,
            Some(_) => Arc::new(Traced(transport)),
        }
    }

    /// Says where traces go, and then what is lost of them.
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

    /// Returns what became of spans, in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let text = self.0.as_ref().map(|pipeline| pipeline.counts.text());
        text.unwrap_or_default()
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
