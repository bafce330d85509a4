//! What is said of a metric, and how a recorder learns it.

use std::fmt;

use metrics::{Counter, Gauge, Histogram, SharedString, Unit, counter, gauge, histogram};

/// What kind of values a metric has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A number that rises and falls.
    Gauge,
    /// Values that are counted by the bounds that they are within: [`BOUNDS`](crate::table::BOUNDS).
    Histogram,
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        })
    }
}

/// Where a metric is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricScope {
    /// Of each service, and of an edge in front of them.
    Servers,
    /// Of each GraphQL service.
    Services,
    /// Of search services.
    Search,
    /// Of gateways.
    Gateway,
    /// Of a process, whichever services are in it.
    Process,
}

impl fmt::Display for MetricScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MetricScope::Servers => "all services and the edge",
            MetricScope::Services => "all services",
            MetricScope::Search => "the search service",
            MetricScope::Gateway => "the gateway",
            MetricScope::Process => "the process",
        })
    }
}

/// A label of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// What its values are, as Markdown.
    pub values: &'static str,
}

/// A row of the table of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name, in the form of Prometheus.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: MetricKind,
    /// The unit of its values, where they have one.
    pub unit: Option<Unit>,
    /// Its labels, each of which every series has.
    pub labels: &'static [Label],
    /// Where it is found.
    pub reach: MetricScope,
    /// What it measures, as Markdown.
    pub help: &'static str,
}

impl Metric {
    /// Returns the counter with these values of the labels, in their order.
    pub fn counter(&self, values: impl IntoIterator<Item = SharedString>) -> Counter {
        debug_assert_eq!(self.kind, MetricKind::Counter, "{}", self.name);
        counter!(self.name, self.labelled(values))
    }

    /// Returns the gauge with these values of the labels, in their order.
    pub fn gauge(&self, values: impl IntoIterator<Item = SharedString>) -> Gauge {
        debug_assert_eq!(self.kind, MetricKind::Gauge, "{}", self.name);
        gauge!(self.name, self.labelled(values))
    }

    /// Returns the histogram with these values of the labels, in their order.
    pub fn histogram(&self, values: impl IntoIterator<Item = SharedString>) -> Histogram {
        debug_assert_eq!(self.kind, MetricKind::Histogram, "{}", self.name);
        histogram!(self.name, self.labelled(values))
    }

    fn labelled(&self, values: impl IntoIterator<Item = SharedString>) -> Vec<metrics::Label> {
        let values: Vec<SharedString> = values.into_iter().collect();
        debug_assert_eq!(values.len(), self.labels.len(), "{}", self.name);
        let labels = self
            .labels
            .iter()
            .zip(values)
            .map(|(label, value)| metrics::Label::new(label.name, value));
        labels.collect()
    }

    /// Returns what it measures as plain text, in one line.
    #[must_use]
    pub fn plain_help(&self) -> String {
        self.help.replace('`', "")
    }
}
