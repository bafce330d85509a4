//! Edges between the crates of the workspace.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{Architecture, FILE, Row, Table};
use crate::finding::{Finding, Location};
use crate::graph::{self, Edges};
use crate::workspace::{Member, Workspace};

const DEPENDS: &str = "depends on";
const TESTS: &str = "in tests also on";

/// Compares the manifests with the table of crates.
#[must_use]
pub fn check(workspace: &Workspace, architecture: &Architecture) -> Vec<Finding> {
    let Some(table) = &architecture.crates else {
        return vec![no_table(workspace)];
    };
    let mut findings = Vec::new();
    for member in &workspace.members {
        match table.row(&member.name) {
            None => findings.push(no_row(table, member)),
            Some(row) => {
                for (column, edges) in [(DEPENDS, &member.normal), (TESTS, &member.dev)] {
                    findings.extend(compare(table, row, column, member, edges));
                }
            }
        }
    }
    let is_member = |row: &&Row| {
        workspace
            .members
            .iter()
            .all(|member| member.name != row.name)
    };
    findings.extend(table.rows.iter().filter(is_member).map(no_member));
    findings
}

fn compare(
    table: &Table,
    row: &Row,
    column: &str,
    member: &Member,
    edges: &BTreeMap<String, Location>,
) -> Vec<Finding> {
    let listed: BTreeSet<String> = table.listed(row, column).into_iter().collect();
    let help = |what: &str| {
        let line = line(table, member);
        format!("{what}, line {} of {FILE} becomes:\n{line}", row.line)
    };
    let added = edges.iter().filter(|(name, _)| !listed.contains(*name));
    let added = added.map(|(name, location)| Finding {
        message: format!(
            "`{}` depends on `{name}`, and {FILE} does not list that under “{column}”",
            member.name
        ),
        locations: vec![location.clone()],
        help: format!(
            "A new edge between crates is the most suspicious change there is: can what is needed\n\
             move down, or be given by a crate above? {}",
            help("If it is meant")
        ),
    });
    let gone = listed.iter().filter(|name| !edges.contains_key(*name));
    let gone = gone.map(|name| Finding {
        message: format!(
            "{FILE} lists `{name}` under “{column}” of `{}`, which does not depend on it",
            member.name
        ),
        locations: vec![in_document(row)],
        help: help("An edge less: well done. To keep it away"),
    });
    added.chain(gone).collect()
}

fn line(table: &Table, member: &Member) -> String {
    let names = |edges: &BTreeMap<String, Location>| edges.keys().cloned().collect();
    let (normal, dev): (BTreeSet<String>, BTreeSet<String>) =
        (names(&member.normal), names(&member.dev));
    table.line_for(&member.name, "…", &[(DEPENDS, &normal), (TESTS, &dev)])
}

fn no_row(table: &Table, member: &Member) -> Finding {
    Finding {
        message: format!(
            "the table of crates in {FILE} has no row for `{}`",
            member.name
        ),
        locations: vec![Location {
            file: member.manifest.clone(),
            line: 0,
            text: String::new(),
        }],
        help: format!(
            "Below the crates that it depends on, add:\n{}",
            line(table, member)
        ),
    }
}

fn no_member(row: &Row) -> Finding {
    Finding {
        message: format!(
            "{FILE} has a row for `{}`, which is no crate of the workspace",
            row.name
        ),
        locations: vec![in_document(row)],
        help: "remove the row".to_owned(),
    }
}

fn no_table(workspace: &Workspace) -> Finding {
    let table = Table::draft(&["crate", DEPENDS, TESTS, "why"]);
    let edges: Edges = workspace
        .members
        .iter()
        .map(|member| (member.name.clone(), member.normal.keys().cloned().collect()))
        .collect();
    let lines = graph::from_the_ground_up(&edges).into_iter().map(|name| {
        let member = workspace.members.iter().find(|member| member.name == name);
        line(&table, member.expect("the names are those of the members"))
    });
    let lines: Vec<String> = lines.collect();
    Finding {
        message: format!("{FILE} has no table of the crates"),
        locations: Vec::new(),
        help: format!("Add one:\n{}\n{}", table.header_lines(), lines.join("\n")),
    }
}

/// The line of a row.
fn in_document(row: &Row) -> Location {
    Location {
        file: FILE.to_owned(),
        line: row.line,
        text: String::new(),
    }
}
