//! What the operations of a run have asked for, and whether that is enough.
//!
//! Counted is what is sent: the finished operations are read again, whatever made them.

mod cells;
mod read;

use std::collections::BTreeMap;
use std::fmt;

use cells::{Cell, impossible, required_cells, required_features};
pub(crate) use cells::{FilterDepth, Operand, operators};

/// Cases of a run that must meet the quotas.
pub(crate) const FULL_RUN: usize = 24_000;

/// How often each combination must occur in a full run.
const QUOTA: usize = 20;

/// Counts of cases and of what they ask for.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) cases: usize,
    pub(crate) found_something: usize,
    pub(crate) with_errors: usize,
    /// Conditions, by what they compare and where they stand.
    cells: BTreeMap<Cell, usize>,
    /// Everything else: arguments, kinds of keys, of fragments and of properties.
    features: BTreeMap<String, usize>,
}

impl Coverage {
    fn cell(&mut self, operator: &str, operand: Operand, multiple: bool, place: FilterDepth) {
        let cell = Cell {
            operand,
            multiple,
            operator: operator.to_owned(),
            place,
        };
        *self.cells.entry(cell).or_default() += 1;
    }

    fn feature(&mut self, name: impl Into<String>) {
        *self.features.entry(name.into()).or_default() += 1;
    }

    /// The share of cases whose answer holds some object, in percent.
    pub(crate) fn share_found(&self) -> usize {
        100 * self.found_something / self.cases.max(1)
    }

    fn count(&self, cell: &Cell) -> usize {
        self.cells.get(cell).copied().unwrap_or_default()
    }

    /// Says which combinations occur less often than they must; nothing in a run that is not full.
    pub(crate) fn gaps(&self) -> Vec<String> {
        if self.cases < FULL_RUN {
            return Vec::new();
        }
        let cells = required_cells().into_iter();
        let cells = cells.map(|cell| (self.count(&cell), cell.to_string()));
        let features = required_features().into_iter().map(|name| {
            let count = self.features.get(&name).copied().unwrap_or_default();
            (count, name)
        });
        cells
            .chain(features)
            .filter(|(count, _)| *count < QUOTA)
            .map(|(count, name)| format!("{name}: {count} times, not {QUOTA}"))
            .collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cases, {} % found something, {} with errors",
            self.cases,
            self.share_found(),
            self.with_errors
        )?;
        writeln!(
            f,
            "conditions through 0/1/2 object-valued properties/on nested fields:"
        )?;
        let mut rows: BTreeMap<(Operand, bool), BTreeMap<&str, [usize; 4]>> = BTreeMap::new();
        for (cell, count) in &self.cells {
            let row = rows.entry((cell.operand, cell.multiple)).or_default();
            row.entry(&cell.operator).or_default()[cell.place as usize] = *count;
        }
        for ((operand, multiple), counts) in rows {
            let number = if multiple { "multi" } else { "single" };
            write!(f, "  {operand}/{number}:")?;
            for (operator, [one, two, three, nested]) in counts {
                write!(f, " {operator} {one}/{two}/{three}/{nested}")?;
            }
            writeln!(f)?;
        }
        let least = required_cells().into_iter();
        let least = least.min_by_key(|cell| self.count(cell));
        if let Some(least) = least {
            writeln!(f, "the rarest: {least}, {} times", self.count(&least))?;
        }
        writeln!(f, "impossible by the rules:")?;
        for reason in impossible() {
            writeln!(f, "  {reason}")?;
        }
        writeln!(f, "and:")?;
        for (name, count) in &self.features {
            writeln!(f, "  {name}: {count}")?;
        }
        Ok(())
    }
}
