//! Files that import each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, Location};
use crate::graph::{self, Edges};
use crate::rules::Rules;
use crate::source::Library;

/// How many names may be passed on one after the other.
const DEPTH: usize = 8;

/// Holds the files of a library to the bound on those that import each other, where there is one.
#[must_use]
pub fn check(name: &str, library: &Library, rules: &Rules) -> Vec<Finding> {
    if rules.cycles.crates.contains(&name) {
        cycles(library, rules.cycles.most)
    } else {
        Vec::new()
    }
}

fn cycles(library: &Library, most: usize) -> Vec<Finding> {
    let mut edges: Edges = Edges::new();
    let mut places: BTreeMap<(&String, &String), &Location> = BTreeMap::new();
    for used in &library.paths {
        let module = defining(library, &used.target, 0);
        let (Some(from), Some(to)) = (library.files.get(&used.from), library.files.get(&module))
        else {
            continue;
        };
        if from != to {
            edges.entry(from.clone()).or_default().insert(to.clone());
            places.entry((from, to)).or_insert(&used.location);
        }
    }
    let groups = graph::groups(&edges).into_iter();
    let large = groups.filter(|group| group.len() > most);
    large.map(|group| cycle(&group, &places, most)).collect()
}

/// Returns the module that defines what a path leads to.
fn defining(library: &Library, target: &[String], depth: usize) -> Vec<String> {
    let mut module: Vec<String> = Vec::new();
    for (at, segment) in target.iter().enumerate() {
        let mut below = module.clone();
        below.push(segment.clone());
        if library.files.contains_key(&below) {
            module = below;
            continue;
        }
        let exported = library.exported.get(&(module.clone(), segment.clone()));
        if let Some(exported) = exported.filter(|_| depth < DEPTH) {
            let rest = target[at + 1..].iter();
            let further: Vec<String> = exported.iter().chain(rest).cloned().collect();
            return defining(library, &further, depth + 1);
        }
        break;
    }
    module
}

fn cycle(
    group: &BTreeSet<String>,
    places: &BTreeMap<(&String, &String), &Location>,
    most: usize,
) -> Finding {
    let within = places
        .iter()
        .filter(|((from, to), _)| group.contains(*from) && group.contains(*to));
    let names: Vec<&str> = group.iter().map(String::as_str).collect();
    Finding {
        message: format!(
            "{} files import each other, and at most {most} may: {}",
            group.len(),
            names.join(", ")
        ),
        locations: within.map(|(_, location)| (*location).clone()).collect(),
        help: "Move what the lower ones need into a file below all of them.".to_owned(),
    }
}
