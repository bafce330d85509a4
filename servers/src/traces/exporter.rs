//! The way of ended spans to the collector: a bounded queue, batches, and requests, each of which is counted.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::Context;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor,
};
use outbound::{Body, BodyError, causes};
use prost::Message;
use tokio::runtime::{Builder, Runtime};

use super::TracesError;
use super::losses::Counts;
use super::options::Options;

/// Maximum size of an answer of a collector.
const MAX_ANSWER: u64 = 1 << 20;

/// Sends ended spans in batches, on a thread of its own. Spans for which the queue has no room are dropped.
#[derive(Debug)]
pub(super) struct Queue {
    batches: BatchSpanProcessor,
    length: usize,
    counts: Arc<Counts>,
}

impl Queue {
    pub(super) fn new(options: &Options, counts: Arc<Counts>) -> Result<Self, TracesError> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(options, Arc::clone(&counts))?)
            .with_endpoint(options.endpoint.url().as_str())
            .with_timeout(options.timeout)
            .build()
            .map_err(|error| TracesError::Setup(error.to_string()))?;
        let counted = Counted {
            exporter,
            counts: Arc::clone(&counts),
        };
        // Other variables of batches are read there.
        let batches = BatchConfigBuilder::default().with_max_queue_size(options.queue);
        let batches = BatchSpanProcessor::builder(counted).with_batch_config(batches.build());
        Ok(Queue {
            batches: batches.build(),
            length: options.queue,
            counts,
        })
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.counts.enqueue(self.length) {
            self.batches.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// An exporter of which it is counted what it sends.
#[derive(Debug)]
struct Counted<E> {
    exporter: E,
    counts: Arc<Counts>,
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let sent = self.exporter.export(batch).await;
        self.counts.dequeue(spans, sent.is_ok());
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends requests to the collector, with the HTTP client that everything here has. What it does runs on the thread
/// of whoever calls it, and on no async worker.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    runtime: Runtime,
    counts: Arc<Counts>,
}

impl Client {
    fn new(options: &Options, counts: Arc<Counts>) -> Result<Self, TracesError> {
        let setup = |error: String| TracesError::Setup(error);
        let tls = outbound::tls::config_for([options.endpoint.url()])
            .map_err(|error| setup(error.to_string()))?;
        let http = outbound::client(tls)
            .timeout(options.timeout)
            // Between two batches no one would notice that the other side has closed a connection.
            .pool_max_idle_per_host(0);
        let http = http.build().map_err(|error| setup(causes(error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Client {
            http,
            runtime: runtime.map_err(|error| setup(error.to_string()))?,
            counts,
        })
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let (parts, body) = request.into_parts();
        let request = self
            .http
            .request(parts.method, parts.uri.to_string())
            .headers(parts.headers)
            .body(body);
        let mut response = request.send().await?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let answer = match Body::of(response).limited(MAX_ANSWER).all().await {
            Err(BodyError::Broken(error)) => return Err(error),
            // What is too long to be read says nothing.
            answer => answer.unwrap_or_default(),
        };
        let mut taken = Response::new(answer);
        *taken.status_mut() = status;
        *taken.headers_mut() = headers;
        Ok(taken)
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self
            .runtime
            .block_on(self.exchange(request))
            .map_err(|error| {
                let reason = causes(error);
                self.counts.explain(reason.clone());
                reason
            })?;
        if !answer.status().is_success() {
            let status = answer.status();
            self.counts
                .explain(format!("the collector answers {status}"));
            return Ok(answer);
        }
        // An answer that cannot be read says nothing of spans that were not kept.
        let read = ExportTraceServiceResponse::decode(answer.body().clone());
        let partial = read.ok().and_then(|answer| answer.partial_success);
        if let Some(partial) = partial {
            match u64::try_from(partial.rejected_spans) {
                Ok(spans @ 1..) => self.counts.reject(spans, &partial.error_message),
                _ if partial.error_message.is_empty() => {}
                _ => tracing::debug!(message = ?partial.error_message, "the collector says"),
            }
        }
        Ok(answer)
    }
}
