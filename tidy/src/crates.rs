//! Edges between the crates of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::finding::{Finding, Location};
use crate::graph::{self, Edges};
use crate::rules::{Forbidden, Rules};
use crate::workspace::{Member, Workspace};

/// The document that describes each crate.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// Where the layers are.
const LAYERS: &str = "tidy/src/rules.rs";

/// Holds the manifests to the rules, and the document to the crates.
#[must_use]
pub fn check(workspace: &Workspace, rules: &Rules) -> Vec<Finding> {
    let layers = layers(rules);
    let mut findings = Vec::new();
    for member in &workspace.members {
        match layers.get(member.name.as_str()) {
            None => findings.push(homeless(member)),
            Some(layer) => findings.extend(climbs(member, *layer, &layers)),
        }
    }
    let names: BTreeSet<&str> = workspace.members.iter().map(|it| &*it.name).collect();
    let gone = layers.keys().filter(|name| !names.contains(*name));
    findings.extend(gone.map(|name| Finding {
        message: format!("{LAYERS} has a place for `{name}`, which is no crate of the workspace"),
        locations: Vec::new(),
        help: "remove it there".to_owned(),
    }));
    let edges = edges(workspace);
    let forbidden = rules.forbidden.iter();
    findings.extend(forbidden.filter_map(|rule| leads_to(&edges, rule)));
    findings.extend(undescribed(workspace));
    findings
}

/// Returns the table of crates, from the ground up.
#[must_use]
pub fn table(workspace: &Workspace) -> String {
    let mut text = String::from("| crate | depends on | in tests also on |\n|---|---|---|\n");
    for name in graph::from_the_ground_up(&edges(workspace)) {
        let member = workspace.members.iter().find(|it| it.name == name);
        let Some(member) = member else { continue };
        let (normal, dev) = (member.normal.keys(), member.dev.keys());
        text += &format!("| `{name}` | {} | {} |\n", listed(normal), listed(dev));
    }
    text
}

/// Returns names as code, or a dash.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return "–".to_owned();
    }
    names.join(", ")
}

fn layers(rules: &Rules) -> BTreeMap<&'static str, usize> {
    let layers = rules.layers.iter().enumerate();
    let places = layers.flat_map(|(layer, names)| names.iter().map(move |name| (*name, layer)));
    places.collect()
}

fn edges(workspace: &Workspace) -> Edges {
    let members = workspace.members.iter();
    let edges = members.map(|it| (it.name.clone(), it.normal.keys().cloned().collect()));
    edges.collect()
}

fn homeless(member: &Member) -> Finding {
    Finding {
        message: format!("`{}` has no layer", member.name),
        locations: vec![whole(&member.manifest)],
        help: format!("Give it a place in {LAYERS}, above all that it depends on."),
    }
}

/// Returns the edges of a crate that do not lead down.
fn climbs(member: &Member, layer: usize, layers: &BTreeMap<&str, usize>) -> Vec<Finding> {
    let is_below = |name: &str| layers.get(name).is_none_or(|below| *below < layer);
    let climbing = member.normal.iter().filter(|(name, _)| !is_below(name));
    let findings = climbing.map(|(name, location)| Finding {
        message: format!(
            "`{}` depends on `{name}`, which does not stand below it",
            member.name
        ),
        locations: vec![location.clone()],
        help: format!(
            "A new edge between crates is the most suspicious change there is: can what is needed\n\
             move down, or be given by a crate above? If it is meant, move the crates in {LAYERS}."
        ),
    });
    findings.collect()
}

/// Returns how a crate leads to one that it must not lead to.
fn leads_to(edges: &Edges, rule: &Forbidden) -> Option<Finding> {
    let way = graph::way(edges, rule.from, rule.to)?;
    Some(Finding {
        message: format!("`{}` leads to `{}`: {}", rule.from, rule.to, rule.why),
        locations: Vec::new(),
        help: format!("It does so by `{}`.", way.join("` → `")),
    })
}

/// Returns the crates that the document does not name.
fn undescribed(workspace: &Workspace) -> Vec<Finding> {
    let path: &Path = &workspace.root;
    let text = match std::fs::read_to_string(path.join(DOCUMENT)) {
        Ok(text) => text,
        Err(error) => return vec![Finding::unreadable(DOCUMENT, 0, error)],
    };
    let members = workspace.members.iter();
    let unnamed = members.filter(|it| !text.contains(&format!("`{}`", it.name)));
    let findings = unnamed.map(|member| Finding {
        message: format!("{DOCUMENT} does not say what `{}` is for", member.name),
        locations: vec![whole(&member.manifest)],
        help: "Describe it there.".to_owned(),
    });
    findings.collect()
}

fn whole(file: &str) -> Location {
    Location {
        file: file.to_owned(),
        line: 0,
        text: String::new(),
    }
}
