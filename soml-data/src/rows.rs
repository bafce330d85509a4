//! Answers to the queries of this crate, row by row.

use graph_store::remote::Solutions;
use graph_store::{CallContext, StoreError};
use oxrdf::{NamedNode, Term};
use spargebra::algebra::GraphPattern;

use crate::queries::MAX_ROWS;

/// One row of an answer.
pub(crate) struct Row<'r>(&'r [Option<Term>]);

/// The rows of an answer.
pub(crate) struct Answer {
    width: usize,
    terms: Vec<Option<Term>>,
}

impl Answer {
    /// Returns the rows, all of which begin with what is counted.
    ///
    /// RDF4J answers a count of nothing with a row that has the count alone.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let rows = self.terms.chunks(self.width.max(1));
        rows.filter(|row| row.first().is_some_and(Option::is_some))
            .map(Row)
    }
}

/// Runs a query.
///
/// # Errors
/// When the store fails, or has more rows than a schema could hold.
pub(crate) async fn read(
    store: &dyn Solutions,
    pattern: GraphPattern,
    context: &CallContext,
) -> Result<Answer, StoreError> {
    let rows = store.solutions(pattern, context).await?;
    if rows.terms.len() > rows.width * MAX_ROWS {
        let message = format!("a count of the data has more than {MAX_ROWS} rows");
        return Err(StoreError::Failed(message.into()));
    }
    Ok(Answer {
        width: rows.width,
        terms: rows.terms,
    })
}

impl Row<'_> {
    pub(crate) fn term(&self, column: usize) -> Result<&Term, StoreError> {
        let term = self.0.get(column).and_then(Option::as_ref);
        term.ok_or_else(|| malformed("lacks a value"))
    }

    pub(crate) fn node(&self, column: usize) -> Result<&NamedNode, StoreError> {
        match self.term(column)? {
            Term::NamedNode(node) => Ok(node),
            _ => Err(malformed("has a different term where an IRI was expected")),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.term(column)? {
            Term::Literal(literal) => Ok(literal.value()),
            _ => Err(malformed(
                "has a different term where a string was expected",
            )),
        }
    }

    pub(crate) fn number(&self, column: usize) -> Result<u64, StoreError> {
        let text = self.text(column)?;
        // Some servers add integers to a decimal.
        let digits = text.strip_suffix(".0").unwrap_or(text);
        digits
            .parse()
            .map_err(|_| malformed("has no number where a count was expected"))
    }
}

fn malformed(what: &str) -> StoreError {
    StoreError::Failed(format!("an answer {what}").into())
}
