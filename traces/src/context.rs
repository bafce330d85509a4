//! The context of a trace in headers, as W3C Trace Context has it.

use http::{HeaderMap, HeaderName};
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_http::HeaderInjector;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const PARENT: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// Length of `traceparent` in the version that is known.
const LENGTH: usize = 55;

/// Bytes of `tracestate` that are passed on, and that spans hold.
const MAX_STATE: usize = 512;

/// Puts a span that has not begun below that of the caller.
pub(crate) fn continue_trace(span: &Span, headers: &HeaderMap) {
    // A subscriber without OpenTelemetry has no use for it.
    let _ = span.set_parent(of_caller(headers));
}

/// Writes the context of a span to headers, in place of any other.
pub(crate) fn inject(span: &Span, headers: &mut HeaderMap) {
    let context = span.context();
    if !context.span().span_context().is_valid() {
        return;
    }
    headers.remove(PARENT);
    headers.remove(STATE);
    TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
    if headers.get(STATE).is_some_and(|state| state.is_empty()) {
        headers.remove(STATE);
    }
}

pub(crate) fn trace_id(span: &Span) -> Option<String> {
    let context = span.context();
    let span = context.span();
    let context = span.span_context();
    context.is_valid().then(|| context.trace_id().to_string())
}

/// Gives a span that may have begun another name.
pub(crate) fn rename(span: &Span, name: String) {
    span.context().span().update_name(name);
}

/// Returns the context that a caller has sent along. What is not well-formed is as good as nothing.
fn of_caller(headers: &HeaderMap) -> Context {
    let mut parents = headers.get_all(PARENT).iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else {
        return Context::new();
    };
    let parent = parent.to_str().ok().filter(|text| is_strict(text));
    let Some(parent) = parent else {
        return Context::new();
    };
    let caller = Caller {
        parent,
        state: state(headers),
    };
    TraceContextPropagator::new().extract_with_context(&Context::new(), &caller)
}

/// Returns the list in `tracestate`, which may be in several headers: as many of the first members as may be kept, which
/// are the newest. The propagator reads one header, of any length.
fn state(headers: &HeaderMap) -> String {
    let lists: Result<Vec<&str>, _> = headers
        .get_all(STATE)
        .iter()
        .map(|value| value.to_str())
        .collect();
    let lists = lists.unwrap_or_default();
    let mut state = String::new();
    for member in lists.iter().flat_map(|list| list.split(',')) {
        let member = member.trim();
        if member.is_empty() {
            continue;
        }
        if state.len() + 1 + member.len() > MAX_STATE {
            break;
        }
        if !state.is_empty() {
            state.push(',');
        }
        state.push_str(member);
    }
    state
}

/// Returns whether `traceparent` has nothing that the propagator takes and the specification does not: a version that is
/// not two digits, and more after what version `00` has. Later versions may have more.
fn is_strict(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let Some((known, rest)) = bytes.split_at_checked(LENGTH) else {
        return false;
    };
    let version = &known[..2];
    version.iter().all(is_digit)
        && known[52] == b'-'
        && known[53..].iter().all(is_digit)
        && (rest.is_empty() || version != b"00" && rest[0] == b'-')
}

/// The headers of a caller.
struct Caller<'h> {
    parent: &'h str,
    state: String,
}

impl Extractor for Caller<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(self.parent),
            "tracestate" => Some(&self.state),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Method};
    use opentelemetry::trace::TracerProvider;
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::{Exchange, Peer, operation, record_operation};

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn headers(entries: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in entries {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    /// Returns the spans that some work leaves, in the order of their ends.
    fn exported(work: impl FnOnce()) -> Vec<SpanData> {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("test"))
            .with_context_activation(false);
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, work);
        exporter.get_finished_spans().unwrap()
    }

    /// Returns the headers of a request that is sent on behalf of one with some headers.
    fn sent_on(entries: &[(&'static str, &str)]) -> HeaderMap {
        let mut sent = headers(&[("authorization", "a"), ("traceparent", "other")]);
        exported(|| {
            let served = Exchange::server(&Method::GET, "http", "/", &headers(entries));
            served.inject(&mut sent);
        });
        sent
    }

    fn state_of(headers: &HeaderMap) -> Option<&str> {
        headers.get("tracestate").map(|it| it.to_str().unwrap())
    }

    #[test]
    fn a_context_is_taken_with_its_state_and_written_in_place_of_any_other() {
        let sent = sent_on(&[
            ("traceparent", VALID),
            ("tracestate", "a=1 , b=2"),
            ("tracestate", "c=3"),
        ]);
        assert_eq!(sent["authorization"], "a");
        assert_eq!(state_of(&sent), Some("a=1,b=2,c=3"));
        assert_eq!(sent.get_all("traceparent").iter().count(), 1);
        let parent = sent["traceparent"].to_str().unwrap();
        assert!(parent.starts_with(&VALID[..36]) && parent.ends_with("-01"));
        assert_ne!(parent, VALID);
    }

    #[test]
    fn a_state_that_is_not_valid_is_dropped_and_the_parent_kept() {
        let sent = sent_on(&[("traceparent", VALID), ("tracestate", "no list")]);
        let parent = sent["traceparent"].to_str().unwrap();
        assert!(parent.starts_with(&VALID[..36]));
        assert_eq!(state_of(&sent), None);
    }

    #[test]
    fn of_a_long_state_the_first_members_are_kept() {
        let member = |key: char| format!("{key}={}", "x".repeat(200));
        let states = [member('a'), format!("{},{}", member('b'), member('c'))];
        let sent = sent_on(&[
            ("traceparent", VALID),
            ("tracestate", &states[0]),
            ("tracestate", &states[1]),
        ]);
        let expected = format!("{},{}", member('a'), member('b'));
        assert_eq!(state_of(&sent), Some(expected.as_str()));
    }

    #[test]
    fn what_is_not_well_formed_is_as_good_as_nothing() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        for parent in [
            String::new(),
            "00".to_owned(),
            format!("00-{id}-00f067aa0ba902b7"),
            format!("00-{id}-00f067aa0ba902b7-01-"),
            format!("00-{id}-00f067aa0ba902b7-01-more"),
            format!("ff-{id}-00f067aa0ba902b7-01"),
            format!("0-{id}0-00f067aa0ba902b7-01"),
            format!("+0-{id}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", id.to_uppercase()),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{id}-0000000000000000-01"),
            format!("00-{id}-00f067aa0ba902b7-0g"),
            format!("00-{id}-00f067aa0ba902b7-+1"),
            format!("00_{id}_00f067aa0ba902b7_01"),
            format!("00-{id}0-0f067aa0ba902b7-01"),
            format!("01-{id}-00f067aa0ba902b7-01more"),
        ] {
            let context = of_caller(&headers(&[("traceparent", &parent)]));
            assert!(!context.span().span_context().is_valid(), "{parent}");
        }
        let twice = headers(&[("traceparent", VALID), ("traceparent", VALID)]);
        assert!(!of_caller(&twice).span().span_context().is_valid());
        let later = format!("01{}-more", &VALID[2..]);
        let context = of_caller(&headers(&[("traceparent", &later)]));
        assert!(
            context.span().span_context().is_sampled(),
            "a later version"
        );
    }

    #[test]
    fn spans_have_names_kinds_and_outcomes_and_lead_to_their_parents() {
        use http::StatusCode;
        use opentelemetry::trace::{SpanKind, Status};

        let mut sent = HeaderMap::new();
        let spans = exported(|| {
            let mut served = Exchange::server(
                &Method::POST,
                "http",
                "/graphql",
                &headers(&[("traceparent", VALID)]),
            );
            assert_eq!(
                crate::trace_id(served.span()).as_deref(),
                Some(&VALID[3..35])
            );
            served.route(&Method::POST, "/graphql");
            let operation = operation(served.span());
            record_operation(&operation, "query", Some("Films"));
            let peer = Peer {
                address: "store",
                port: Some(7200),
            };
            let mut asked = Exchange::store(&operation, "graphdb", "query", &Method::POST, peer);
            sent = asked.headers();
            asked.answered(StatusCode::NOT_FOUND);
            drop(asked);
            drop(Exchange::client(served.span(), &Method::GET, peer));
            served.answered(StatusCode::NOT_FOUND);
        });
        let names: Vec<&str> = spans.iter().map(|span| span.name.as_ref()).collect();
        assert_eq!(
            names,
            ["query store:7200", "GET", "query Films", "POST /graphql"]
        );
        let [store, client, operation, served] = spans.try_into().unwrap();
        let of = |span: &SpanData, name: &str| {
            let mut attributes = span.attributes.iter();
            let found = attributes.find(|it| it.key.as_str() == name);
            found.map(|it| it.value.to_string())
        };
        assert_eq!(served.parent_span_id.to_string(), "00f067aa0ba902b7");
        assert_eq!(operation.parent_span_id, served.span_context.span_id());
        assert_eq!(store.parent_span_id, operation.span_context.span_id());
        assert_eq!(client.parent_span_id, served.span_context.span_id());
        assert_eq!(store.span_kind, SpanKind::Client);
        assert_eq!(operation.span_kind, SpanKind::Internal);
        assert_eq!(served.span_kind, SpanKind::Server);
        assert_eq!(of(&store, "error.type").as_deref(), Some("404"));
        assert_eq!(store.status, Status::error(""));
        assert_eq!(of(&client, "error.type").as_deref(), Some("cancelled"));
        assert_eq!(
            of(&served, "error.type"),
            None,
            "it is the caller's mistake"
        );
        assert_eq!(of(&served, "http.route").as_deref(), Some("/graphql"));
        let id = store.span_context.span_id().to_string();
        assert!(sent["traceparent"].to_str().unwrap().contains(&id));
    }
}
