//! Edges between the top-level modules of each library.

use std::collections::{BTreeMap, BTreeSet};

use crate::crates::listed;
use crate::finding::{Finding, Location};
use crate::graph::{self, Edges};
use crate::source::{self, Import, Library};
use crate::workspace::Workspace;

/// Looks for cycles between the modules of a library, and for imports that hide where they come from.
#[must_use]
pub fn check(name: &str, library: &Library) -> Vec<Finding> {
    let (uses, mut findings) = uses(library);
    findings.extend(library.macro_uses.iter().map(hidden_macros));
    findings.extend(cycles(name, &edges(library, &uses), &uses));
    findings
}

/// Returns the table of the modules of a library, from the ground up.
///
/// # Errors
/// When there is no such library, or it cannot be read.
pub fn table(workspace: &Workspace, name: &str) -> Result<String, Finding> {
    let member = workspace.members.iter().find(|it| it.name == name);
    let lib = member.and_then(|it| it.library.as_ref());
    let lib = lib.ok_or_else(|| {
        Finding::unreadable(
            "Cargo.toml",
            0,
            format!("`{name}` is no library of the workspace"),
        )
    })?;
    let library = source::read(&workspace.root, lib)?;
    let (uses, _) = uses(&library);
    let edges = edges(&library, &uses);
    let mut text = String::from("| module | what lives there | imports |\n|---|---|---|\n");
    for name in graph::from_the_ground_up(&edges) {
        let about = &library.modules[&name].about;
        text += &format!("| `{name}` | {about} | {} |\n", listed(&edges[&name]));
    }
    Ok(text)
}

/// Returns what modules import of each other, and what hides where it comes from.
fn uses(library: &Library) -> (Uses, Vec<Finding>) {
    let (mut uses, mut findings) = (Uses::new(), Vec::new());
    for import in &library.imports {
        match target(library, import) {
            Ok(Some(to)) => {
                let edge = (import.from.clone(), to);
                uses.entry(edge).or_default().push(import.location.clone());
            }
            Ok(None) => {}
            Err(finding) => findings.push(finding),
        }
    }
    (uses, findings)
}

/// Where each edge comes from.
type Uses = BTreeMap<(String, String), Vec<Location>>;

fn edges(library: &Library, uses: &Uses) -> Edges {
    let mut edges: Edges = library
        .modules
        .keys()
        .map(|name| (name.clone(), BTreeSet::new()))
        .collect();
    for (from, to) in uses.keys() {
        edges.entry(from.clone()).or_default().insert(to.clone());
    }
    edges
}

/// The module that an import leads to; `None` for one that leads to its own.
fn target(library: &Library, import: &Import) -> Result<Option<String>, Finding> {
    let Some(first) = import.segments.first() else {
        return Err(through_the_root(
            import,
            "names the crate root as a whole, so nobody sees what it needs",
            "Name the modules: `crate::module::Item`.".to_owned(),
        ));
    };
    if library.modules.contains_key(first) {
        return Ok(Some(first.clone()));
    }
    if let Some(module) = library.exported_macros.get(first) {
        return Ok((*module != import.from).then(|| module.clone()));
    }
    let help = match library.reexports.get(first) {
        Some(path) => format!("Write `crate::{path}`, where it comes from."),
        None => "Move the item from `lib.rs` into a module, and import it from there.".to_owned(),
    };
    let what = "takes an item from the crate root, which depends on every module";
    Err(through_the_root(import, what, help))
}

fn through_the_root(import: &Import, what: &str, help: String) -> Finding {
    Finding {
        message: format!(
            "`{}` in module `{}` {what}",
            import.location.text, import.from
        ),
        locations: vec![import.location.clone()],
        help,
    }
}

fn hidden_macros(declared: &Location) -> Finding {
    Finding {
        message: format!(
            "`#[macro_use]` on `{}` lends its macros to all modules below",
            declared.text
        ),
        locations: vec![declared.clone()],
        help: "Say `pub(crate) use the_macro;` after the macro and import it by its path, so that \
               the edge can be seen."
            .to_owned(),
    }
}

fn cycles(name: &str, edges: &Edges, uses: &Uses) -> Vec<Finding> {
    let cycle = |cycle: Vec<String>| {
        let steps = cycle.windows(2).filter_map(|step| {
            let first = uses.get(&(step[0].clone(), step[1].clone()))?.first()?;
            Some(format!("`{}` imports `{}` at {first}", step[0], step[1]))
        });
        let steps: Vec<String> = steps.collect();
        Finding {
            message: format!(
                "modules of `{name}` import each other in a cycle: `{}`",
                cycle.join("` → `")
            ),
            locations: Vec::new(),
            help: format!(
                "{}\nMove what the lower one needs down to it, or into a module below both.",
                steps.join("\n")
            ),
        }
    };
    graph::cycles(edges).into_iter().map(cycle).collect()
}
