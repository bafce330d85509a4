//! What became of spans, among the metrics.

use service_metrics::table::SPANS_TOTAL;
use service_metrics::{Watch, watch};

use super::traces::Traces;

/// Has what became of spans read with the metrics.
pub(super) fn watch_spans(traces: Traces) -> Watch {
    watch(move |_| {
        for line in traces.metrics().lines() {
            let counted = SPANS.iter().find_map(|outcome| {
                let series = format!("{}{{outcome=\"{outcome}\"}} ", SPANS_TOTAL.name);
                let count = line.strip_prefix(&series)?.parse::<u64>().ok()?;
                Some((*outcome, count))
            });
            if let Some((outcome, count)) = counted {
                SPANS_TOTAL.counter([outcome.into()]).absolute(count);
            }
        }
    })
}

/// What can become of a span.
const SPANS: [&str; 4] = ["sent", "dropped", "failed", "rejected"];
