//! What a run found, as data and as a table.

use std::fmt::Write as _;

use serde::Serialize;

use super::Turns;
use crate::measure::Summary;
use crate::workload::Template;

/// What a run found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Number of universities.
    pub universities: usize,
    /// Seed of the data and the instances.
    pub seed: u64,
    /// Number of triples.
    pub triples: usize,
    /// Templates, in their order.
    pub rows: Vec<Row>,
    /// Memory of the process at the end, in bytes.
    pub memory: Option<u64>,
    /// Most memory that the process had, in bytes.
    pub peak_memory: u64,
}

/// What was found for one template; times are in microseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Name of the template.
    pub template: &'static str,
    /// Values in an answer, on average.
    pub values: f64,
    /// The service in process.
    pub service: Summary,
    /// The service over HTTP, on one connection.
    pub http: Summary,
    /// The same at `logging.level=warn`; no samples where the service runs elsewhere.
    pub http_warn: Summary,
    /// The fastest form of SPARQL over HTTP, on one connection and in one request.
    pub direct_http: Summary,
    /// Median of the service over HTTP to median of SPARQL over HTTP.
    pub http_ratio: f64,
    /// The fastest form of SPARQL.
    pub form: &'static str,
    /// That form from its text.
    pub direct: Summary,
    /// That form, parsed before the clock runs; no samples where later queries depend on the first.
    pub prepared: Summary,
    /// Median of the service to median of SPARQL from its text.
    pub ratio: f64,
    /// Another program, where it can answer the template.
    pub peer: Summary,
    /// Connections that are kept busy together.
    pub loads: Vec<Connections>,
}

/// Connections that are kept busy together.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Connections {
    /// How many.
    pub connections: usize,
    /// Requests answered in a second.
    pub per_second: f64,
    /// Times of requests.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Row {
    pub(super) fn new(template: &Template, form: &'static str, values: f64) -> Self {
        Row {
            template: template.name,
            values,
            service: Summary::default(),
            http: Summary::default(),
            http_warn: Summary::default(),
            direct_http: Summary::default(),
            http_ratio: 0.0,
            form,
            direct: Summary::default(),
            prepared: Summary::default(),
            ratio: 0.0,
            peer: Summary::default(),
            loads: Vec::new(),
        }
    }

    pub(super) fn fill(&mut self, turns: &Turns) {
        self.service = turns.service.summary();
        self.direct = turns.direct.summary();
        self.prepared = turns.prepared.summary();
        self.http = turns.http.summary();
        self.http_warn = turns.warn.summary();
        self.direct_http = turns.direct_http.summary();
        self.ratio = self.service.median / self.direct.median;
        self.http_ratio = self.http.median / self.direct_http.median;
    }
}

/// Writes a report as Markdown tables.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} universities, {} triples, seed {}; microseconds\n\n\
         | template | values | in process | p95 | p99 | CPU | over HTTP | p95 | p99 | CPU \
         | logging.level=warn | SPARQL | p95 | form | parsed before | ratio | SPARQL over HTTP | p95 | ratio | peer | p95 |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
        report.universities, report.triples, report.seed
    );
    for row in &report.rows {
        let _ = write_row(&mut out, row);
    }
    let _ = writeln!(
        out,
        "\n| template | connections | requests per second | median | p95 | p99 | CPU |\n\
         |---|---:|---:|---:|---:|---:|---:|"
    );
    for row in &report.rows {
        for load in &row.loads {
            let s = &load.summary;
            let _ = writeln!(
                out,
                "| {} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
                row.template, load.connections, load.per_second, s.median, s.p95, s.p99, s.cpu
            );
        }
    }
    let memory = report.memory.unwrap_or(0) >> 20;
    let _ = writeln!(
        out,
        "\nMemory: {memory} MiB, at most {} MiB",
        report.peak_memory >> 20
    );
    out
}

fn write_row(out: &mut String, row: &Row) -> std::fmt::Result {
    let (s, h, d) = (&row.service, &row.http, &row.direct);
    writeln!(
        out,
        "| {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {} \
         | {:.0} | {:.0} | {} | {} | {:.2} | {} | {:.0} | {:.2} | {} | {} |",
        row.template,
        row.values,
        s.median,
        s.p95,
        s.p99,
        s.cpu,
        h.median,
        h.p95,
        h.p99,
        h.cpu,
        median(&row.http_warn),
        d.median,
        d.p95,
        row.form,
        median(&row.prepared),
        row.ratio,
        median(&row.direct_http),
        row.direct_http.p95,
        row.http_ratio,
        median(&row.peer),
        match row.peer.count {
            0 => String::new(),
            _ => format!("{:.0}", row.peer.p95),
        },
    )
}

fn median(summary: &Summary) -> String {
    match summary.count {
        0 => String::new(),
        _ => format!("{:.0}", summary.median),
    }
}
