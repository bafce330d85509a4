//! Registers descriptions of the metrics with the recorder.

use metrics::Unit;

use crate::metric::MetricKind;
use crate::table::METRICS;

/// Describes each metric to the recorder of the process.
pub fn describe() {
    for metric in METRICS {
        let (unit, help) = (metric.unit.unwrap_or(Unit::Count), metric.plain_help());
        match metric.kind {
            MetricKind::Counter => metrics::describe_counter!(metric.name, unit, help),
            MetricKind::Gauge => metrics::describe_gauge!(metric.name, unit, help),
            MetricKind::Histogram => metrics::describe_histogram!(metric.name, unit, help),
        }
    }
}
