//! Edges between the top-level modules of each library.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{Architecture, FILE, Row, Table};
use crate::finding::{Finding, Location};
use crate::graph::{self, Edges};
use crate::source::{self, Import, Library};
use crate::workspace::Workspace;

const IMPORTS: &str = "imports";

/// Compares the sources of every library with its table of modules.
#[must_use]
pub fn check(workspace: &Workspace, architecture: &Architecture) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        let Some(lib) = &member.library else { continue };
        match source::read(&workspace.root, lib) {
            Ok(library) => findings.extend(check_library(
                &member.name,
                &library,
                architecture.modules_of(&member.name),
            )),
            Err(finding) => findings.push(finding),
        }
    }
    for (name, table) in &architecture.modules {
        let mut members = workspace.members.iter();
        if !members.any(|member| member.name == *name && member.library.is_some()) {
            findings.push(Finding {
                message: format!(
                    "{FILE} lists modules of `{name}`, which is no library of the workspace"
                ),
                locations: vec![in_document(table.line)],
                help: "remove the table".to_owned(),
            });
        }
    }
    findings
}

/// Compares one library with its table.
#[must_use]
pub fn check_library(name: &str, library: &Library, table: Option<&Table>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut uses: Uses = BTreeMap::new();
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
    findings.extend(library.macro_uses.iter().map(hidden_macros));
    let sources = Sources {
        name,
        library,
        edges: edges(library, &uses),
        uses,
    };
    findings.extend(sources.rings());
    match table {
        Some(table) => findings.extend(sources.compare(table)),
        None if library.modules.is_empty() => {}
        None => findings.push(sources.no_table()),
    }
    findings
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

fn in_document(line: usize) -> Location {
    Location {
        file: FILE.to_owned(),
        line,
        text: String::new(),
    }
}

struct Sources<'s> {
    name: &'s str,
    library: &'s Library,
    edges: Edges,
    uses: Uses,
}

impl Sources<'_> {
    fn rings(&self) -> Vec<Finding> {
        let ring = |ring: Vec<String>| {
            let steps = ring.windows(2).filter_map(|step| {
                let uses = self.uses.get(&(step[0].clone(), step[1].clone()));
                let first = uses?.first()?;
                Some(format!("`{}` imports `{}` at {first}", step[0], step[1]))
            });
            let steps: Vec<String> = steps.collect();
            Finding {
                message: format!(
                    "modules of `{}` import each other in a ring: `{}`",
                    self.name,
                    ring.join("` → `")
                ),
                locations: Vec::new(),
                help: format!(
                    "{}\nMove what the lower one needs down to it, or into a module below both. \
                     No table allows a ring.",
                    steps.join("\n")
                ),
            }
        };
        graph::rings(&self.edges).into_iter().map(ring).collect()
    }

    fn compare(&self, table: &Table) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, module) in &self.library.modules {
            match table.row(name) {
                Some(row) => findings.extend(self.compare_row(table, row)),
                None => findings.push(Finding {
                    message: format!("`{name}` of `{}` has no row in {FILE}", self.name),
                    locations: vec![module.declared.clone()],
                    help: format!(
                        "In the table of line {}, below the modules that it imports, add:\n{}",
                        table.line,
                        self.line(table, name)
                    ),
                }),
            }
        }
        let unknown = |row: &&Row| !self.library.modules.contains_key(&row.name);
        findings.extend(table.rows.iter().filter(unknown).map(|row| Finding {
            message: format!(
                "{FILE} lists `{}`, which is no module of `{}`",
                row.name, self.name
            ),
            locations: vec![in_document(row.line)],
            help: "remove the row".to_owned(),
        }));
        findings
    }

    fn compare_row(&self, table: &Table, row: &Row) -> Vec<Finding> {
        let listed = table.listed(row, IMPORTS);
        let actual = &self.edges[&row.name];
        let becomes = format!(
            "line {} of {FILE} becomes:\n{}",
            row.line,
            self.line(table, &row.name)
        );
        let mut findings = Vec::new();
        for to in actual.iter().filter(|to| !listed.contains(to)) {
            findings.push(Finding {
                message: format!(
                    "`{}` of `{}` imports `{to}`, and {FILE} does not list that",
                    row.name, self.name
                ),
                locations: self.uses[&(row.name.clone(), to.clone())].clone(),
                help: format!(
                    "Can the item move down, or be given as an argument?\n\
                     If the edge is meant, {becomes}"
                ),
            });
        }
        for to in listed.iter().filter(|to| !actual.contains(*to)) {
            findings.push(Finding {
                message: format!(
                    "{FILE} lists `{to}` for `{}` of `{}`, which does not import it",
                    row.name, self.name
                ),
                locations: vec![in_document(row.line)],
                help: format!("An edge less: well done. To keep it away, {becomes}"),
            });
        }
        let below = |to: &&String| table.row(to).is_some_and(|other| other.line > row.line);
        for to in listed.iter().filter(below) {
            findings.push(Finding {
                message: format!(
                    "the row of `{}` stands above that of `{to}`, which it imports",
                    row.name
                ),
                locations: vec![in_document(row.line)],
                help: "The table goes from the ground up: move the row below all that it imports."
                    .to_owned(),
            });
        }
        findings
    }

    fn line(&self, table: &Table, name: &str) -> String {
        let about = match self.library.modules[name].about.as_str() {
            "" => "…",
            about => about,
        };
        table.line_for(name, about, &[(IMPORTS, &self.edges[name])])
    }

    fn no_table(&self) -> Finding {
        let table = Table::draft(&["module", "what lives there", IMPORTS]);
        let order = graph::from_the_ground_up(&self.edges);
        let lines: Vec<String> = order.iter().map(|name| self.line(&table, name)).collect();
        Finding {
            message: format!("{FILE} has no table of the modules of `{}`", self.name),
            locations: Vec::new(),
            help: format!(
                "Add one:\n\n### Modules of `{}`\n\n{}\n{}\n\n",
                self.name,
                table.header_lines(),
                lines.join("\n")
            ),
        }
    }
}
