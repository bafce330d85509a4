//! What requests to subgraphs cost, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use federation::OpenSubscriptions;
use federation::transport::TransportError;

/// Upper bounds of the buckets of durations, in milliseconds.
const BOUNDS: [u64; 12] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/// The outcomes of a request to a subgraph.
const OUTCOMES: [&str; 6] = [
    "answered",
    "failed",
    "refused",
    "timed_out",
    "too_large",
    "cancelled",
];

/// Position of a request that nobody waits for any more.
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

/// Returns the name of the outcome of a request to a subgraph; `None` stands for one that nobody waits for any more.
#[cfg(feature = "otlp")]
pub(super) fn outcome_name(outcome: Option<Result<(), &TransportError>>) -> &'static str {
    OUTCOMES[outcome.map_or(CANCELLED, position)]
}

/// What was counted of all subgraphs.
#[derive(Debug)]
pub(crate) struct Metrics {
    subgraphs: ArcSwap<BTreeMap<String, Arc<Counters>>>,
    switches: AtomicU64,
    /// The subscriptions of clients that are open.
    subscriptions: OpenSubscriptions,
}

#[derive(Debug, Default)]
struct Counters {
    outcomes: [AtomicU64; OUTCOMES.len()],
    /// The last one is for what takes longer than all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    events: AtomicU64,
}

/// A request that is being counted; one that is dropped before its end was cancelled.
pub(super) struct Counting {
    counters: Option<Arc<Counters>>,
    begun: Instant,
}

impl Metrics {
    pub(super) fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        subscriptions: OpenSubscriptions,
    ) -> Self {
        let metrics = Metrics {
            subgraphs: ArcSwap::default(),
            switches: AtomicU64::new(0),
            subscriptions,
        };
        metrics.count(names);
        metrics
    }

    /// Counts for these subgraphs from now on. What was counted of those that stay is kept.
    pub(super) fn count<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let before = self.subgraphs.load();
        let counters = names.into_iter().map(|name| {
            let known = before.get(name).cloned();
            (name.to_owned(), known.unwrap_or_default())
        });
        self.subgraphs.store(Arc::new(counters.collect()));
    }

    /// Counts a request of some bytes to a subgraph.
    pub(super) fn begin(&self, subgraph: &str, bytes: usize) -> Counting {
        let counters = self.subgraphs.load().get(subgraph).cloned();
        if let Some(counters) = &counters {
            counters.sent.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        Counting {
            counters,
            begun: Instant::now(),
        }
    }

    /// Counts an event of some bytes of a subscription at a subgraph.
    pub(super) fn event(&self, subgraph: &str, bytes: usize) {
        if let Some(counters) = self.subgraphs.load().get(subgraph) {
            counters.events.fetch_add(1, Ordering::Relaxed);
            counters.received.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Counts a switch to another composite schema.
    pub(super) fn switched(&self) {
        self.switches.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns everything that was counted.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let subgraphs = self.subgraphs.load();
        let subgraphs = subgraphs.iter().map(|(name, it)| (escaped(name), it));
        let subgraphs: Vec<(String, &Arc<Counters>)> = subgraphs.collect();
        head(
            &mut out,
            "requests_total",
            "counter",
            "Requests to subgraphs, by outcome.",
        );
        for (name, counters) in &subgraphs {
            for (outcome, count) in OUTCOMES.iter().zip(&counters.outcomes) {
                let count = count.load(Ordering::Relaxed);
                let _ = writeln!(
                    out,
                    "{PREFIX}requests_total{{subgraph=\"{name}\",outcome=\"{outcome}\"}} {count}"
                );
            }
        }
        let help = "How long requests to subgraphs take, cancelled ones left out.";
        head(&mut out, "request_duration_seconds", "histogram", help);
        for (name, counters) in &subgraphs {
            counters.histogram(name, &mut out);
        }
        let counts = |out: &mut String, metric: &str, of: fn(&Counters) -> &AtomicU64| {
            for (name, counters) in &subgraphs {
                let count = of(counters).load(Ordering::Relaxed);
                let _ = writeln!(out, "{PREFIX}{metric}{{subgraph=\"{name}\"}} {count}");
            }
        };
        head(
            &mut out,
            "sent_bytes_total",
            "counter",
            "Bytes of requests to subgraphs.",
        );
        counts(&mut out, "sent_bytes_total", |it| &it.sent);
        head(
            &mut out,
            "received_bytes_total",
            "counter",
            "Bytes of answers of subgraphs.",
        );
        counts(&mut out, "received_bytes_total", |it| &it.received);
        let help = "Events of subscriptions at subgraphs.";
        head(&mut out, "events_total", "counter", help);
        counts(&mut out, "events_total", |it| &it.events);
        let open = self.subscriptions.count();
        let _ = writeln!(
            out,
            "# HELP gateway_subscriptions_open Subscriptions of clients that are open.\n\
             # TYPE gateway_subscriptions_open gauge\ngateway_subscriptions_open {open}"
        );
        let switches = self.switches.load(Ordering::Relaxed);
        let _ = writeln!(
            out,
            "# HELP gateway_schema_switches_total Composite schemas that took the place of another one.\n\
             # TYPE gateway_schema_switches_total counter\ngateway_schema_switches_total {switches}"
        );
        out
    }
}

/// Returns a name as the value of a label: those of a supergraph can have any characters.
fn escaped(name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    name.replace('\n', "\\n")
}

const PREFIX: &str = "gateway_subgraph_";

fn head(out: &mut String, metric: &str, kind: &str, help: &str) {
    let _ = writeln!(
        out,
        "# HELP {PREFIX}{metric} {help}\n# TYPE {PREFIX}{metric} {kind}"
    );
}

impl Counters {
    fn histogram(&self, name: &str, out: &mut String) {
        let metric = format!("{PREFIX}request_duration_seconds");
        let mut sum = 0;
        for (position, bucket) in self.buckets.iter().enumerate() {
            sum += bucket.load(Ordering::Relaxed);
            let bound = BOUNDS.get(position).map(|ms| Duration::from_millis(*ms));
            let bound = bound.map_or_else(|| "+Inf".to_owned(), |it| it.as_secs_f64().to_string());
            let _ = writeln!(
                out,
                "{metric}_bucket{{subgraph=\"{name}\",le=\"{bound}\"}} {sum}"
            );
        }
        let taken = Duration::from_micros(self.microseconds.load(Ordering::Relaxed));
        let _ = writeln!(
            out,
            "{metric}_sum{{subgraph=\"{name}\"}} {}\n{metric}_count{{subgraph=\"{name}\"}} {sum}",
            taken.as_secs_f64()
        );
    }
}

impl Counting {
    /// Counts how the request ended.
    pub(super) fn end(mut self, outcome: Result<usize, &TransportError>) {
        let Some(counters) = self.counters.take() else {
            return;
        };
        if let Ok(bytes) = outcome {
            counters.received.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        let position = position(outcome.map(|_| ()));
        counters.outcomes[position].fetch_add(1, Ordering::Relaxed);
        let taken = self.begun.elapsed();
        let is_within = |bound: &u64| taken <= Duration::from_millis(*bound);
        let bucket = BOUNDS.iter().position(is_within).unwrap_or(BOUNDS.len());
        counters.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let taken = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        counters.microseconds.fetch_add(taken, Ordering::Relaxed);
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Some(counters) = self.counters.take() {
            counters.outcomes[CANCELLED].fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_subgraph_and_outcome() {
        let metrics = Metrics::new(["a", "c"], OpenSubscriptions::default());
        metrics.begin("a", 0).end(Ok(5));
        metrics.count(["a", "b", "\"\\\n"]);
        metrics.event("a", 5);
        metrics.begin("a", 10).end(Ok(2));
        metrics
            .begin("a", 10)
            .end(Err(&TransportError::Status(401)));
        drop(metrics.begin("b", 1));
        metrics.begin("unknown", 1).end(Ok(1));
        let text = metrics.text();
        for line in [
            "gateway_subgraph_requests_total{subgraph=\"a\",outcome=\"answered\"} 2",
            "gateway_subgraph_requests_total{subgraph=\"\\\"\\\\\\n\",outcome=\"answered\"} 0",
            "gateway_subgraph_requests_total{subgraph=\"a\",outcome=\"refused\"} 1",
            "gateway_subgraph_requests_total{subgraph=\"b\",outcome=\"cancelled\"} 1",
            "gateway_subgraph_request_duration_seconds_count{subgraph=\"a\"} 3",
            "gateway_subgraph_request_duration_seconds_bucket{subgraph=\"a\",le=\"0.025\"} 3",
            "gateway_subgraph_request_duration_seconds_bucket{subgraph=\"a\",le=\"+Inf\"} 3",
            "gateway_subgraph_sent_bytes_total{subgraph=\"a\"} 20",
            "gateway_subgraph_received_bytes_total{subgraph=\"a\"} 12",
            "gateway_subgraph_events_total{subgraph=\"a\"} 1",
            "gateway_subscriptions_open 0",
            "gateway_schema_switches_total 0",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
    }
}
