//! Reads the tables of `ARCHITECTURE.md`.
//!
//! Two kinds of tables count, and are told by the words in their first row: one of crates
//! (`crate`, `depends on`, `in tests also on`), and one of modules for each crate (`module`,
//! `imports`) below a heading that names the crate as code. Other columns and other tables are for
//! readers alone. A cell lists names as code; one without names lists nothing.

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::Finding;

/// Name of the document in the folder of the workspace.
pub const FILE: &str = "ARCHITECTURE.md";

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Line in the document, from one.
    pub line: usize,
    /// The crate or module that the row is about.
    pub name: String,
    /// All cells as they are written, without the blanks around them.
    cells: Vec<String>,
}

/// A table of edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Line of the first row, from one.
    pub line: usize,
    /// The words of the first row.
    header: Vec<String>,
    /// The other rows, in the order of the document.
    pub rows: Vec<Row>,
}

/// What the document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Architecture {
    /// The table of crates; absent when the document has none.
    pub crates: Option<Table>,
    /// The table of modules of each crate, by its name, in the order of the document.
    pub modules: Vec<(String, Table)>,
}

impl Architecture {
    /// Reads the document of a workspace.
    ///
    /// # Errors
    ///
    /// When there is no such document, or a table of it does not say whose it is.
    pub fn read(root: &Path) -> Result<Self, Finding> {
        let text = std::fs::read_to_string(root.join(FILE))
            .map_err(|error| Finding::unreadable(FILE, 0, error))?;
        Self::parse(&text)
    }

    /// Reads the text of a document.
    ///
    /// # Errors
    ///
    /// When a table of modules stands below a heading that names no crate, or a crate has two.
    pub fn parse(text: &str) -> Result<Self, Finding> {
        let mut architecture = Architecture::default();
        let mut heading = None;
        let mut lines = text.lines().enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            if line.starts_with('#') {
                heading = code(line).into_iter().next();
            }
            let Some(header) = cells(line) else { continue };
            let mut table = Table::new(index + 1, header);
            while let Some(cells) = lines.peek().and_then(|(_, line)| cells(line)) {
                let (index, _) = lines.next().expect("a line was seen");
                table.add(index + 1, cells);
            }
            architecture.place(table, heading.as_ref())?;
        }
        Ok(architecture)
    }

    /// Returns the table of modules of a crate.
    #[must_use]
    pub fn modules_of(&self, name: &str) -> Option<&Table> {
        let mut tables = self.modules.iter();
        tables.find(|(of, _)| of == name).map(|(_, table)| table)
    }

    fn place(&mut self, table: Table, heading: Option<&String>) -> Result<(), Finding> {
        let unclear = |reason: &str| Err(Finding::unreadable(FILE, table.line, reason));
        if table.has("crate") && table.has("depends on") {
            if self.crates.is_some() {
                return unclear("a second table of crates");
            }
            self.crates = Some(table);
        } else if table.has("module") && table.has("imports") {
            match heading {
                None => return unclear("the heading above names no crate, as in `soml-core`"),
                Some(name) if self.modules_of(name).is_some() => {
                    return unclear("a second table of modules of the same crate");
                }
                Some(name) => self.modules.push((name.clone(), table)),
            }
        }
        Ok(())
    }
}

impl Table {
    fn new(line: usize, header: Vec<String>) -> Self {
        Table {
            line,
            header,
            rows: Vec::new(),
        }
    }

    /// A table as it has to be written, with its columns.
    #[must_use]
    pub fn draft(columns: &[&str]) -> Self {
        Table::new(0, columns.iter().map(|&column| column.to_owned()).collect())
    }

    fn add(&mut self, line: usize, cells: Vec<String>) {
        let name = cells.first().and_then(|cell| code(cell).into_iter().next());
        // The line of dashes has no name, nor has a row that is left empty.
        if let Some(name) = name {
            self.rows.push(Row { line, name, cells });
        }
    }

    fn has(&self, column: &str) -> bool {
        self.header.iter().any(|name| name == column)
    }

    /// Returns the row about a crate or module.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the names that a row lists in a column, in their order.
    #[must_use]
    pub fn listed(&self, row: &Row, column: &str) -> Vec<String> {
        let at = self.header.iter().position(|name| name == column);
        at.and_then(|at| row.cells.get(at))
            .map_or_else(Vec::new, |cell| code(cell))
    }

    /// Returns the line to write for a name: its row, or a new one, with other lists of names.
    #[must_use]
    pub fn line_for(&self, name: &str, about: &str, lists: &[(&str, &BTreeSet<String>)]) -> String {
        let row = self.row(name);
        let cell = |(at, column): (usize, &String)| {
            if at == 0 {
                return format!("`{name}`");
            }
            if let Some((_, names)) = lists.iter().find(|(of, _)| of == column) {
                return list(names);
            }
            let kept = row.and_then(|row| row.cells.get(at)).map(String::as_str);
            kept.unwrap_or(about).to_owned()
        };
        let cells: Vec<String> = self.header.iter().enumerate().map(cell).collect();
        format!("| {} |", cells.join(" | "))
    }

    /// Returns the first row and the line of dashes below it.
    #[must_use]
    pub fn header_lines(&self) -> String {
        format!(
            "| {} |\n|{}",
            self.header.join(" | "),
            "---|".repeat(self.header.len())
        )
    }
}

fn list(names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return "–".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The cells of a line of a table.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect(),
    )
}

/// What stands between backticks.
fn code(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('`').collect();
    let inner = parts.get(1..parts.len() - 1).unwrap_or_default();
    inner
        .iter()
        .step_by(2)
        .map(|&name| name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Crates

| crate | depends on | why |
|---|---|---|
| `low` | – | |
| `high` | `low`, `other` | it must |

## Modules of `low`

| module | for | imports |
|---|---|---|
| `a` | all | |
| `b` | some | `a` |

| folder | what |
|---|---|
| `x` | y |
";

    #[test]
    fn tables_are_told_by_their_columns() {
        let read = Architecture::parse(TEXT).unwrap();
        let crates = read.crates.unwrap();
        assert_eq!(
            crates.listed(&crates.rows[1], "depends on"),
            ["low", "other"]
        );
        assert_eq!(crates.listed(&crates.rows[0], "depends on"), [""; 0]);
        assert_eq!(read.modules.len(), 1);
        let (name, modules) = &read.modules[0];
        assert_eq!((name.as_str(), modules.rows[1].line), ("low", 13));
    }

    #[test]
    fn a_line_keeps_what_the_row_says_for_readers() {
        let read = Architecture::parse(TEXT).unwrap();
        let modules = read.modules_of("low").unwrap();
        let imports = BTreeSet::from(["a".to_owned(), "c".to_owned()]);
        let line = modules.line_for("b", "…", &[("imports", &imports)]);
        assert_eq!(line, "| `b` | some | `a`, `c` |");
        let line = modules.line_for("new", "…", &[("imports", &BTreeSet::new())]);
        assert_eq!(line, "| `new` | … | – |");
    }

    #[test]
    fn a_table_of_modules_says_whose_they_are() {
        let text = "# Modules\n| module | imports |\n|---|---|\n| `a` | – |\n";
        let finding = Architecture::parse(text).unwrap_err();
        assert_eq!(finding.locations[0].line, 2);
        let twice = format!("{TEXT}\n# `low`\n| module | imports |\n|---|---|\n");
        assert!(Architecture::parse(&twice).is_err());
    }
}
