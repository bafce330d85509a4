//! The dashboard asks for nothing but what is documented.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use super::text::metric_of;

/// Words of PromQL and variables of the dashboard.
const WORDS: &[&str] = &[
    "avg",
    "by",
    "clamp_min",
    "histogram_quantile",
    "increase",
    "label_values",
    "max",
    "rate",
    "sum",
    "time",
    "topk",
];

/// Returns all values of members with some names, wherever they are.
fn members<'v>(value: &'v Value, name: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if key == name
                    && let Some(text) = value.as_str()
                {
                    found.push(text);
                }
                members(value, name, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, name, found)),
        _ => {}
    }
}

#[test]
fn every_expression_of_the_dashboard_names_documented_metrics_and_labels() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/grafana/soml.json");
    let text = std::fs::read_to_string(path).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let (mut expressions, mut legends) = (Vec::new(), Vec::new());
    members(&dashboard, "expr", &mut expressions);
    members(&dashboard, "query", &mut expressions);
    members(&dashboard, "legendFormat", &mut legends);
    expressions.retain(|text| *text != "prometheus");
    assert!(expressions.len() >= 20, "{expressions:?}");
    let left_out = Regex::new(r#""[^"]*"|\[[^\]]*\]|\$\w+"#).unwrap();
    let name = Regex::new("[a-zA-Z_][a-zA-Z0-9_]*").unwrap();
    let mut labels = BTreeSet::from(["le"]);
    let mut shown = BTreeSet::new();
    for expression in &expressions {
        let plain = left_out.replace_all(expression, " ");
        let names: Vec<&str> = name.find_iter(&plain).map(|found| found.as_str()).collect();
        let metrics: Vec<_> = names.iter().filter_map(|name| metric_of(name)).collect();
        assert!(!metrics.is_empty(), "{expression}");
        let known: BTreeSet<&str> = metrics
            .iter()
            .flat_map(|metric| metric.labels.iter().map(|label| label.name))
            .chain(["le"])
            .collect();
        for name in names {
            let is_known =
                WORDS.contains(&name) || known.contains(name) || metric_of(name).is_some();
            assert!(is_known, "`{name}` in {expression}");
        }
        labels.extend(known);
        shown.extend(metrics.iter().map(|metric| metric.name));
    }
    let quoted = Regex::new(r"\{\{\s*(\w+)\s*\}\}").unwrap();
    for legend in legends {
        for found in quoted.captures_iter(legend) {
            let label = found.get(1).unwrap().as_str();
            assert!(labels.contains(label), "`{label}` in {legend}");
        }
    }
    assert!(shown.len() >= 20, "{shown:?}");
}
