//! What requests to subgraphs cost.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use federation::transport::TransportError;
use federation::{OpenSubscriptions, Savings};
use http::Method;
use metrics::{Counter, Histogram, SharedString};
use service_metrics::table::{
    OPERATIONS_JOINED, SCHEMA_SWITCHES, SUBGRAPH_DURATION, SUBGRAPH_ENTITIES, SUBGRAPH_EVENTS,
    SUBGRAPH_JOINED, SUBGRAPH_KNOWN, SUBGRAPH_RECEIVED, SUBGRAPH_SENT, SUBSCRIPTIONS,
};
use service_metrics::{Call, Peer, Watch, watch};

/// The outcomes of a request to a subgraph.
const OUTCOMES: [&str; 6] = [
    "answered",
    "failed",
    "refused",
    "timed_out",
    "too_large",
    "cancelled",
];

/// Position of a request that no one waits for any more.
const CANCELLED: usize = 5;

/// Returns the position of an outcome.
fn position(outcome: Result<(), &TransportError>) -> usize {
    match outcome {
        Ok(()) => 0,
        Err(TransportError::Status(401 | 403)) => 2,
        Err(TransportError::TimedOut(_) | TransportError::Deadline) => 3,
        Err(
            TransportError::TooLarge { .. }
            | TransportError::TooLargeTogether { .. }
            | TransportError::OutOfMemory,
        ) => 4,
        Err(_) => 1,
    }
}

/// What is counted of all subgraphs.
pub(crate) struct Metrics {
    service: SharedString,
    subgraphs: ArcSwap<BTreeMap<String, Arc<Counters>>>,
    switches: Counter,
    /// Requests of clients that were answered with others.
    joined: Counter,
    /// Has those who read metrics find how many subscriptions are open.
    _subscriptions: Watch,
}

struct Counters {
    durations: [Histogram; OUTCOMES.len()],
    sent: Counter,
    received: Counter,
    joined: Counter,
    entities: Counter,
    known: Counter,
    events: Counter,
}

/// A request that is being counted; one that is dropped before its end was cancelled.
pub(super) struct Counting {
    counters: Option<Arc<Counters>>,
    /// The same request, where it is one of HTTP.
    call: Option<Call>,
    outcome: usize,
    begun: Instant,
}

impl Metrics {
    pub(super) fn new<'a>(
        service: &str,
        names: impl IntoIterator<Item = &'a str>,
        subscriptions: OpenSubscriptions,
    ) -> Self {
        let service = SharedString::from(service.to_owned());
        let named = service.clone();
        let watched = watch(move |readings| {
            let open = subscriptions.count();
            readings.add(&SUBSCRIPTIONS, [named.clone()], open as f64);
        });
        let metrics = Metrics {
            switches: SCHEMA_SWITCHES.counter([service.clone()]),
            joined: OPERATIONS_JOINED.counter([service.clone()]),
            service,
            subgraphs: ArcSwap::default(),
            _subscriptions: watched,
        };
        metrics.count(names);
        metrics
    }

    /// Counts for these subgraphs from now on. What was counted of those that stay is kept.
    pub(super) fn count<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let before = self.subgraphs.load();
        let counters = names.into_iter().map(|name| {
            let known = before.get(name).cloned();
            let counters = known.unwrap_or_else(|| Arc::new(Counters::new(&self.service, name)));
            (name.to_owned(), counters)
        });
        self.subgraphs.store(Arc::new(counters.collect()));
    }

    /// Counts a request of some bytes to a subgraph, which is asked by HTTP where a peer is named.
    pub(super) fn begin(&self, subgraph: &str, bytes: usize, peer: Option<&Peer>) -> Counting {
        let counters = self.subgraphs.load().get(subgraph).cloned();
        if let Some(counters) = &counters {
            counters.sent.increment(bytes as u64);
        }
        Counting {
            counters,
            call: peer.map(|peer| peer.request(&Method::POST)),
            outcome: CANCELLED,
            begun: Instant::now(),
        }
    }

    /// Counts an event of some bytes of a subscription at a subgraph.
    pub(super) fn event(&self, subgraph: &str, bytes: usize) {
        if let Some(counters) = self.subgraphs.load().get(subgraph) {
            counters.events.increment(1);
            counters.received.increment(bytes as u64);
        }
    }

    /// Counts a switch to another composite schema.
    pub(super) fn switched(&self) {
        self.switches.increment(1);
    }
}

impl Savings for Metrics {
    fn subgraph_request(&self, subgraph: &str) {
        if let Some(counters) = self.subgraphs.load().get(subgraph) {
            counters.joined.increment(1);
        }
    }

    fn client_request(&self) {
        self.joined.increment(1);
    }

    fn entities(&self, subgraph: &str, count: usize) {
        if let Some(counters) = self.subgraphs.load().get(subgraph) {
            counters.known.increment(count as u64);
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Counters {
    fn new(service: &SharedString, subgraph: &str) -> Self {
        let name = SharedString::from(subgraph.to_owned());
        let labels = || [service.clone(), name.clone()];
        Counters {
            durations: OUTCOMES.map(|outcome| {
                SUBGRAPH_DURATION.histogram([service.clone(), name.clone(), outcome.into()])
            }),
            sent: SUBGRAPH_SENT.counter(labels()),
            received: SUBGRAPH_RECEIVED.counter(labels()),
            joined: SUBGRAPH_JOINED.counter(labels()),
            entities: SUBGRAPH_ENTITIES.counter(labels()),
            known: SUBGRAPH_KNOWN.counter(labels()),
            events: SUBGRAPH_EVENTS.counter(labels()),
        }
    }
}

impl Counting {
    /// Counts the entities that the subgraph is asked for.
    pub(super) fn ask_for(&self, entities: usize) {
        if let Some(counters) = &self.counters {
            counters.entities.increment(entities as u64);
        }
    }

    /// Counts how the request ended.
    pub(super) fn end(mut self, outcome: Result<usize, &TransportError>) {
        if let (Some(counters), Ok(bytes)) = (&self.counters, outcome) {
            counters.received.increment(bytes as u64);
        }
        self.outcome = position(outcome.map(|_| ()));
        if let Some(call) = &mut self.call {
            match outcome {
                Ok(_) => call.succeed(),
                Err(TransportError::Status(status)) => call.refuse(*status),
                Err(error) => call.fail(failure(error)),
            }
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Some(counters) = &self.counters {
            counters.durations[self.outcome].record(self.begun.elapsed());
        }
    }
}

/// Returns in a word why there is no answer.
fn failure(error: &TransportError) -> &'static str {
    match error {
        TransportError::NotConnected | TransportError::Connection(_) => "connect",
        TransportError::Broken(_) | TransportError::Closed { .. } => "lost",
        TransportError::TimedOut(_) | TransportError::Deadline => "timeout",
        TransportError::TooLarge { .. }
        | TransportError::TooLargeTogether { .. }
        | TransportError::OutOfMemory => "too_large",
        TransportError::NotJson
        | TransportError::NoEvents(_)
        | TransportError::Protocol(_)
        | TransportError::Encoding => "malformed",
        _ => service_metrics::table::OTHER,
    }
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn requests_are_counted_by_subgraph_and_outcome() {
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, || {
            let metrics = Metrics::new("g", ["a", "c"], OpenSubscriptions::default());
            let peer = Peer::new("localhost", 1);
            let counting = metrics.begin("a", 0, None);
            counting.ask_for(3);
            counting.end(Ok(5));
            metrics.count(["a", "b", "\"\n"]);
            metrics.event("a", 5);
            metrics.begin("a", 10, None).end(Ok(2));
            metrics
                .begin("a", 10, Some(&peer))
                .end(Err(&TransportError::Status(401)));
            drop(metrics.begin("b", 1, Some(&peer)));
            metrics.begin("unknown", 1, None).end(Ok(1));
            metrics.switched();
            metrics.subgraph_request("a");
            metrics.subgraph_request("unknown");
            metrics.client_request();
            metrics.client_request();
            metrics.entities("a", 2);
            service_metrics::refresh();
        });
        let text = recorder.handle().render();
        let labels = "service_name=\"g\",graphql_subgraph_name=\"a\"";
        let client = "http_request_method=\"POST\",server_address=\"localhost\",server_port=\"1\"";
        for line in [
            format!(
                "graphql_subgraph_request_duration_seconds_count{{{labels},graphql_subgraph_outcome=\"answered\"}} 2"
            ),
            format!(
                "graphql_subgraph_request_duration_seconds_count{{{labels},graphql_subgraph_outcome=\"refused\"}} 1"
            ),
            "graphql_subgraph_request_duration_seconds_count{service_name=\"g\",\
             graphql_subgraph_name=\"b\",graphql_subgraph_outcome=\"cancelled\"} 1"
                .to_owned(),
            "graphql_subgraph_events_total{service_name=\"g\",graphql_subgraph_name=\"\\\"\\n\"} 0"
                .to_owned(),
            format!("graphql_subgraph_sent_bytes_total{{{labels}}} 20"),
            format!("graphql_subgraph_received_bytes_total{{{labels}}} 12"),
            format!("graphql_subgraph_joined_requests_total{{{labels}}} 1"),
            format!("graphql_subgraph_entities_total{{{labels}}} 3"),
            format!("graphql_subgraph_known_entities_total{{{labels}}} 2"),
            "graphql_joined_operations_total{service_name=\"g\"} 2".to_owned(),
            format!("graphql_subgraph_events_total{{{labels}}} 1"),
            format!("http_client_request_duration_seconds_count{{{client},error_type=\"401\"}} 1"),
            format!(
                "http_client_request_duration_seconds_count{{{client},error_type=\"cancelled\"}} 1"
            ),
            "graphql_subscriptions_open{service_name=\"g\"} 0".to_owned(),
            "graphql_schema_switches_total{service_name=\"g\"} 1".to_owned(),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
        assert!(!text.contains("unknown"));
    }
}
