//! What the generated operations have asked for.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of cases and operators.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) cases: usize,
    pub(crate) found_something: usize,
    pub(crate) with_errors: usize,
    /// By operator, then by scalar and number of values.
    operators: BTreeMap<String, BTreeMap<(String, bool), usize>>,
}

impl Coverage {
    pub(crate) fn operator(&mut self, operator: &str, operand: &str, multiple: bool) {
        let counts = self.operators.entry(operator.to_owned()).or_default();
        *counts.entry((operand.to_owned(), multiple)).or_default() += 1;
    }

    /// The share of cases whose answer holds some object, in percent.
    pub(crate) fn share_found(&self) -> usize {
        100 * self.found_something / self.cases.max(1)
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
        for (operator, counts) in &self.operators {
            write!(f, "  {operator}:")?;
            for ((operand, multiple), count) in counts {
                let number = if *multiple { "multi" } else { "single" };
                write!(f, " {operand}/{number} {count}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
