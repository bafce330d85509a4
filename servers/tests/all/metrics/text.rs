//! The text format of Prometheus, as far as the tests read it.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use servers::metrics::{METRICS, Metric, MetricKind};

/// A series with its value.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

impl Series {
    /// Returns the row of its metric.
    pub(super) fn metric(&self) -> Option<&'static Metric> {
        metric_of(&self.name)
    }
}

/// Returns the row of the metric that a name is about: of histograms there are several.
pub(super) fn metric_of(name: &str) -> Option<&'static Metric> {
    let parts = ["_bucket", "_sum", "_count"];
    METRICS.iter().find(|metric| match metric.kind {
        MetricKind::Histogram => parts
            .iter()
            .any(|part| name.strip_suffix(part) == Some(metric.name)),
        _ => metric.name == name,
    })
}

/// Reads all series, and checks what is said of them.
pub(super) fn series(text: &str) -> Vec<Series> {
    let label = Regex::new(r#"([a-zA-Z_]+)="((?:[^"\\]|\\.)*)""#).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = lines.map(|line| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let name = series.split('{').next().unwrap().to_owned();
        let labels = label.captures_iter(series);
        let labels = labels.map(|found| (found[1].to_owned(), found[2].to_owned()));
        let value = value.parse().unwrap();
        Series {
            name,
            labels: labels.collect(),
            value,
        }
    });
    read.collect()
}

/// Checks that a text has nothing but metrics of the table, each as the table says it; returns their names.
pub(super) fn check(text: &str) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for series in series(text) {
        let metric = series.metric();
        let metric = metric.unwrap_or_else(|| panic!("{} is not documented", series.name));
        let found: BTreeSet<&str> = series.labels.keys().map(String::as_str).collect();
        let mut expected: BTreeSet<&str> = metric.labels.iter().map(|it| it.name).collect();
        if series.name.ends_with("_bucket") {
            expected.insert("le");
        }
        assert_eq!(found, expected, "{}", series.name);
        names.insert(metric.name);
    }
    for name in &names {
        let metric = METRICS.iter().find(|metric| metric.name == *name).unwrap();
        for line in [
            format!("# TYPE {name} {}", metric.kind),
            format!("# HELP {name} {}", metric.plain_help()),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}");
        }
    }
    names
}
