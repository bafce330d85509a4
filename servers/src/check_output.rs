//! The output of `soml check`.

use std::fmt::Write as _;

use graph_store::remote::IsolationReport;
use rdf_load::thousands;
use serde_json::{Value, json};
use soml_data::check::{CheckCode, CheckFinding, CheckReport, CheckSeverity, Example};

/// Maximum number of details that are shown for one kind of finding at one place.
const MAX_DETAILS: usize = 8;

/// Returns a human-readable report: the number of objects, every kind of finding with its examples,
/// and the number of kinds.
#[must_use]
pub fn text(report: &CheckReport) -> String {
    let mut text = String::new();
    objects(&mut text, report);
    let told: Vec<&CheckFinding> = report.findings.iter().filter(|f| is_told(f)).collect();
    let same =
        |a: &&CheckFinding, b: &&CheckFinding| a.code == b.code && a.element() == b.element();
    let kinds: Vec<&[&CheckFinding]> = told.chunk_by(same).collect();
    for kind in &kinds {
        match kind {
            [finding] => alone(&mut text, finding),
            findings => together(&mut text, findings),
        }
    }
    for what in &report.not_checked {
        line(&mut text, format_args!("\nnot checked: {what}"));
    }
    line(&mut text, format_args!("\n{}", summary(&kinds)));
    text
}

/// Returns whether writers that raced were kept apart.
#[must_use]
pub fn races(races: IsolationReport) -> String {
    let rounds = match races.rounds {
        1 => "once".to_owned(),
        rounds => format!("{rounds} times"),
    };
    match races.broken {
        0 => format!("writers are isolated: two of them raced {rounds}, and never did both win"),
        broken => format!(
            "error[STORE_NOT_ISOLATED]: two writers raced {rounds}, and both won {broken} of the races: set \
             `sparql.endpoint.isolated` to false, so that nothing is written to this server"
        ),
    }
}

/// Lists how many objects of each type there are.
fn objects(text: &mut String, report: &CheckReport) {
    let width = report
        .objects
        .iter()
        .map(|o| o.name.chars().count())
        .max()
        .unwrap_or(0);
    for object in report.objects.iter().filter(|object| object.count > 0) {
        let (name, count) = (&object.name, thousands(object.count));
        let noun = if object.count == 1 {
            "object"
        } else {
            "objects"
        };
        line(text, format_args!("{name:width$}  {count:>12} {noun}"));
    }
    let empty: Vec<&str> = report
        .objects
        .iter()
        .filter(|object| object.count == 0)
        .map(|object| object.name.as_str())
        .collect();
    if !empty.is_empty() {
        line(text, format_args!("no objects of: {}", empty.join(", ")));
    }
}

/// Returns whether a finding is shown; types without instances are listed above the findings.
fn is_told(finding: &CheckFinding) -> bool {
    finding.code != CheckCode::NoInstances
}

/// Prints a finding with all its examples.
fn alone(text: &mut String, finding: &CheckFinding) {
    let detail = finding.detail.as_ref().map(|d| format!(" ({d})"));
    let heading = heading(finding, finding.count);
    line(
        text,
        format_args!("\n{heading}{}", detail.unwrap_or_default()),
    );
    for example in &finding.examples {
        line(text, format_args!("    {}", shown(example)));
    }
    let rest = finding.count - finding.examples.len() as u64;
    if rest > 0 && !finding.examples.is_empty() {
        line(text, format_args!("    and {} more", thousands(rest)));
    }
}

/// Prints findings that differ in detail, each with one example.
fn together(text: &mut String, findings: &[&CheckFinding]) {
    let total = findings.iter().map(|finding| finding.count).sum();
    line(text, format_args!("\n{}:", heading(findings[0], total)));
    let (told, rest) = findings.split_at(findings.len().min(MAX_DETAILS));
    for finding in told {
        let detail = finding.detail.as_deref().unwrap_or("other");
        line(
            text,
            format_args!("    {} {detail}", thousands(finding.count)),
        );
        for example in finding.examples.iter().take(1) {
            line(text, format_args!("        {}", shown(example)));
        }
    }
    if !rest.is_empty() {
        let count = rest.iter().map(|finding| finding.count).sum();
        line(
            text,
            format_args!("    and {} more with other details", thousands(count)),
        );
    }
}

fn shown(example: &Example) -> String {
    let subject = match example.subject.as_str() {
        blank if blank.starts_with("_:") => blank.to_owned(),
        iri => format!("<{iri}>"),
    };
    match &example.value {
        Some(value) => format!("{subject}  {value}"),
        None => subject,
    }
}

fn heading(finding: &CheckFinding, count: u64) -> String {
    let place = finding.element().map(|place| format!("{place}: "));
    format!(
        "{}[{}]: {}{} {}",
        finding.severity,
        finding.code.as_str(),
        place.unwrap_or_default(),
        thousands(count),
        finding.code.phrase(count),
    )
}

/// Summarises how many kinds of findings there are.
fn summary(kinds: &[&[&CheckFinding]]) -> String {
    let severities = [
        (CheckSeverity::Error, "error"),
        (CheckSeverity::Warning, "warning"),
        (CheckSeverity::Note, "note"),
    ];
    let counts = severities.map(|(severity, name)| {
        let of = |kind: &&&[&CheckFinding]| kind[0].severity == severity;
        match kinds.iter().filter(of).count() {
            1 => format!("1 kind of {name}"),
            n => format!("{n} kinds of {name}s"),
        }
    });
    counts.join(", ")
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("writing to a string");
}

/// Returns the report as JSON.
#[must_use]
pub fn json(report: &CheckReport) -> Value {
    let mut document = json!({
        "errors": report.count(CheckSeverity::Error),
        "warnings": report.count(CheckSeverity::Warning),
        "notes": report.count(CheckSeverity::Note),
    });
    let members = document.as_object_mut().expect("it is an object");
    let Value::Object(report) = json!(report) else {
        unreachable!("a report is an object");
    };
    members.extend(report);
    document
}

#[cfg(test)]
mod tests {
    use graph_store::remote::IsolationReport;

    use super::races;

    #[test]
    fn races_that_both_have_won_are_an_error() {
        let mut report = IsolationReport::default();
        (report.rounds, report.undecided) = (20, 1);
        assert!(races(report).starts_with("writers are isolated: two of them raced 20 times"));
        report.broken = 3;
        assert!(
            races(report).starts_with(
                "error[STORE_NOT_ISOLATED]: two writers raced 20 times, and both won 3"
            )
        );
    }
}
