//! Registers descriptions of the metrics with the recorder.

use metrics::Unit;

use crate::metric::Kind;
use crate::table::METRICS;

/// Describes each metric to the recorder of the process.
pub fn describe() {
    for metric in METRICS {
        let (unit, help) = (metric.unit.unwrap_or(Unit::Count), metric.plain_help());
        match metric.kind {
            Kind::Counter => metrics::describe_counter!(metric.name, unit, help),
            Kind::Gauge => metrics::describe_gauge!(metric.name, unit, help),
            Kind::Histogram => metrics::describe_histogram!(metric.name, unit, help),
        }
    }
}
