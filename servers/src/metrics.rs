//! The metrics of this process: a recorder for all of its services, and what they are written out by.

use std::fmt::Write;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;
use service_metrics::BOUNDS;
pub use service_metrics::{METRICS, Metric, MetricKind};
use service_runtime::Metrics;

/// How often samples of histograms are counted, so that they take no memory where no one asks for metrics.
const UPKEEP: Duration = Duration::from_secs(1);

/// The metrics of the process, whose recorder is there from the first use on.
static OF_PROCESS: LazyLock<Metrics> = LazyLock::new(begin);

/// Returns the metrics of the process, recorded from now on.
pub(crate) fn of_process() -> Metrics {
    OF_PROCESS.clone()
}

fn begin() -> Metrics {
    let handle = match recorder() {
        Ok(handle) => handle,
        Err(error) => {
            // A program that embeds services has metrics of its own.
            tracing::warn!(
                %error,
                "metrics are recorded by this program but not shown at `/metrics`"
            );
            return Metrics::Recorded;
        }
    };
    service_metrics::describe();
    let upkeep = handle.clone();
    let thread = thread::Builder::new().name("metrics".to_owned());
    let running = thread.spawn(move || {
        loop {
            thread::sleep(UPKEEP);
            upkeep.run_upkeep();
        }
    });
    if let Err(error) = running {
        tracing::warn!(%error, "samples of metrics are counted only when they are requested");
    }
    let process = Collector::default();
    Metrics::shown_by(move || {
        process.collect();
        handle.render()
    })
}

fn recorder() -> Result<PrometheusHandle, metrics_exporter_prometheus::BuildError> {
    let mut builder = PrometheusBuilder::new();
    for metric in METRICS.iter().filter(|it| it.kind == MetricKind::Histogram) {
        let name = Matcher::Full(metric.name.to_owned());
        builder = builder.set_buckets_for_metric(name, BOUNDS)?;
    }
    builder.install_recorder()
}

/// Returns the tables of metrics and labels for their page, in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text =
        String::from("| metric | kind | labels | of | what it measures |\n|---|---|---|---|---|\n");
    for metric in METRICS {
        let Metric {
            name,
            kind,
            reach,
            help,
            ..
        } = metric;
        let labels = metric
            .labels
            .iter()
            .map(|label| format!("`{}`", label.name));
        let labels = labels.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "| `{name}` | {kind} | {labels} | {reach} | {help} |");
    }
    text.push_str("\n| label | values |\n|---|---|\n");
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for label in METRICS.iter().flat_map(|metric| metric.labels) {
        match rows.iter_mut().find(|(name, _)| *name == label.name) {
            Some((_, values)) if values.contains(&label.values) => {}
            Some((_, values)) => values.push(label.values),
            None => rows.push((label.name, vec![label.values])),
        }
    }
    for (name, values) in rows {
        let _ = writeln!(text, "| `{name}` | {} |", values.join("; or "));
    }
    text
}
