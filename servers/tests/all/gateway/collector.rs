//! A collector of traces: a server on a port of its own, which reads what it is sent by OTLP and remembers it.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1 as wire;
use prost::Message;
use tokio::runtime::Runtime;

use super::subgraph::served;
use crate::processes::PATIENCE;

/// What a collector does with what it is sent.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// Takes everything.
    Takes,
    /// Answers with a status.
    Answers(u16),
    /// Says that it has not kept so many spans.
    Rejects(i64),
    /// Answers nothing.
    Stalls,
}

/// A span as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace_id: String,
    pub(crate) id: String,
    /// Empty if it has none.
    pub(crate) parent: String,
    pub(crate) state: String,
    pub(crate) name: String,
    pub(crate) kind: wire::span::SpanKind,
    pub(crate) is_error: bool,
    pub(crate) nanoseconds: (u64, u64),
    pub(crate) attributes: BTreeMap<String, String>,
    /// What is said of the service.
    pub(crate) resource: BTreeMap<String, String>,
}

impl Span {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

#[derive(Default)]
struct Taken {
    spans: Vec<Span>,
    headers: Vec<HeaderMap>,
    /// Everything, as it was sent.
    bytes: Vec<u8>,
}

/// A running collector, which ends when this is dropped.
pub(crate) struct Collector {
    taken: Arc<Mutex<Taken>>,
    pub(crate) base: String,
    _runtime: Runtime,
}

impl Collector {
    pub(crate) fn start(manner: Manner) -> Self {
        let taken = Arc::<Mutex<Taken>>::default();
        let shared = Arc::clone(&taken);
        let take = move |headers: HeaderMap, body: Bytes| {
            let answer = shared.lock().unwrap().take(&headers, &body, manner);
            async move {
                match manner {
                    Manner::Stalls => std::future::pending().await,
                    _ => answer,
                }
            }
        };
        let routes = Router::new().route("/v1/traces", post(take));
        let (runtime, address) = served(routes);
        Collector {
            taken,
            base: format!("http://{address}"),
            _runtime: runtime,
        }
    }

    /// Waits until so many spans have arrived; returns all of them.
    pub(crate) fn spans(&self, at_least: usize) -> Vec<Span> {
        self.until(|spans| spans.len() >= at_least)
    }

    /// Waits until what was sent is as wanted, and returns it.
    pub(crate) fn until(&self, is_as_wanted: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let begun = Instant::now();
        loop {
            let spans = self.taken.lock().unwrap().spans.clone();
            if is_as_wanted(&spans) {
                return spans;
            }
            assert!(begun.elapsed() < PATIENCE, "{spans:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the headers of all requests.
    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.taken.lock().unwrap().headers.clone()
    }

    /// Returns everything that was sent, as text where it is some.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.taken.lock().unwrap().bytes).into_owned()
    }
}

impl Taken {
    fn take(&mut self, headers: &HeaderMap, body: &[u8], manner: Manner) -> (StatusCode, Vec<u8>) {
        let is_compressed = headers
            .get("content-encoding")
            .is_some_and(|encoding| encoding == "gzip");
        let mut text = Vec::new();
        if is_compressed {
            GzDecoder::new(body).read_to_end(&mut text).unwrap();
        } else {
            text.extend_from_slice(body)
        }
        let request = ExportTraceServiceRequest::decode(text.as_slice()).unwrap();
        self.headers.push(headers.clone());
        self.bytes.extend_from_slice(&text);
        self.spans.extend(spans(request));
        match manner {
            Manner::Answers(status) => (StatusCode::from_u16(status).unwrap(), Vec::new()),
            Manner::Rejects(rejected_spans) => {
                let partial_success = Some(ExportTracePartialSuccess {
                    rejected_spans,
                    error_message: "too many of them".to_owned(),
                });
                let answer = ExportTraceServiceResponse { partial_success };
                (StatusCode::OK, answer.encode_to_vec())
            }
            Manner::Takes | Manner::Stalls => (StatusCode::OK, Vec::new()),
        }
    }
}

fn spans(request: ExportTraceServiceRequest) -> impl Iterator<Item = Span> {
    request.resource_spans.into_iter().flat_map(|of_service| {
        let resource = attributes(&of_service.resource.unwrap().attributes);
        let scopes = of_service.scope_spans.into_iter();
        let spans = scopes.flat_map(|scope| scope.spans);
        spans.map(move |span| Span {
            kind: span.kind(),
            trace_id: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            state: span.trace_state,
            name: span.name,
            is_error: span
                .status
                .is_some_and(|status| status.code() == wire::status::StatusCode::Error),
            nanoseconds: (span.start_time_unix_nano, span.end_time_unix_nano),
            attributes: attributes(&span.attributes),
            resource: resource.clone(),
        })
    })
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| {
        let value = attribute.value.as_ref().and_then(|it| it.value.clone());
        match value {
            Some(any_value::Value::StringValue(text)) => text,
            Some(any_value::Value::IntValue(number)) => number.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let attributes = attributes.iter();
    attributes.map(|it| (it.key.clone(), text(it))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
