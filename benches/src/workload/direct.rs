//! Hand-written SPARQL, run on the store itself: what an answer costs without GraphQL.

use std::collections::{BTreeMap, HashSet};

use oxigraph::sparql::results::{
    QueryResultsFormat, QueryResultsParser, QueryResultsSerializer, QueryResultsSyntaxError,
    SliceQueryResultsParserOutput,
};
use oxigraph::sparql::{
    QueryEvaluationError, QueryResults, QuerySolution, QuerySolutionIter, SparqlEvaluator,
    SparqlSyntaxError, Variable,
};
use oxigraph::store::Store;
use oxrdf::Term;
use serde_json::Deserializer;
use serde_json::value::RawValue;
use spargebra::{Query, SparqlParser};

use super::{Form, Instance};

/// Separates the queries of a form.
const SEPARATOR: &str = "#---\n";

/// A failure of hand-written SPARQL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectError {
    /// The text is malformed.
    #[error("malformed SPARQL")]
    Syntax(#[from] SparqlSyntaxError),
    /// The store failed.
    #[error("failed to evaluate")]
    Evaluation(#[from] QueryEvaluationError),
    /// The query is not a `SELECT`.
    #[error("only SELECT has rows")]
    NotSelect,
    /// A `$name` stands for nothing.
    #[error("nothing is known for ${0}")]
    Unbound(String),
    /// The rows could not be written.
    #[error("failed to write rows")]
    Write(#[from] std::io::Error),
    /// Written rows cannot be told apart.
    #[error("rows are malformed JSON")]
    Json(#[from] serde_json::Error),
    /// Written rows cannot be read.
    #[error("malformed SPARQL JSON")]
    Results(#[source] Box<QueryResultsSyntaxError>),
}

/// All rows of one query.
#[derive(Debug)]
pub struct Rows {
    /// The columns.
    pub variables: Vec<Variable>,
    /// Values, by column.
    pub rows: Vec<Vec<Option<Term>>>,
}

/// A form whose first query is parsed already.
#[derive(Clone, Debug)]
pub struct Prepared {
    query: Query,
}

/// Parses a form for an instance; `None` when later queries depend on the first one's rows.
///
/// # Errors
/// When the text is malformed.
pub fn prepare(form: &Form, instance: &Instance) -> Result<Option<Prepared>, DirectError> {
    if form.text.contains(SEPARATOR) {
        return Ok(None);
    }
    let text = filled(form.text, instance, &BTreeMap::new())?;
    let query = SparqlParser::new().parse_query(&text)?;
    Ok(Some(Prepared { query }))
}

impl Prepared {
    /// Runs the query and appends its rows as JSON; every term is decoded.
    ///
    /// # Errors
    /// When the store fails.
    pub fn write_json(&self, store: &Store, out: &mut Vec<u8>) -> Result<(), DirectError> {
        let solutions = evaluated(store, self.query.clone())?;
        write_solutions(solutions, out, |_| {})
    }
}

/// Runs a form from its text and appends the rows of each query as JSON; every term is decoded.
///
/// # Errors
/// When the text is malformed or the store fails.
pub fn write_json(
    store: &Store,
    form: &Form,
    instance: &Instance,
    out: &mut Vec<u8>,
) -> Result<(), DirectError> {
    each_query(store, form, instance, |solutions, see| {
        write_solutions(solutions, out, see)
    })
}

/// Runs a form and keeps its rows.
///
/// # Errors
/// When the text is malformed or the store fails.
pub fn collect(store: &Store, form: &Form, instance: &Instance) -> Result<Vec<Rows>, DirectError> {
    let mut queries = Vec::new();
    each_query(store, form, instance, |solutions, see| {
        let mut rows = Rows {
            variables: solutions.variables().to_vec(),
            rows: Vec::new(),
        };
        for solution in solutions {
            let solution = solution?;
            see(&solution);
            rows.rows.push(solution.values().to_vec());
        }
        queries.push(rows);
        Ok(())
    })?;
    Ok(queries)
}

/// Reads what [`write_json`] wrote: the rows of each query.
///
/// # Errors
/// When it is something else.
pub fn read_json(written: &[u8]) -> Result<Vec<Rows>, DirectError> {
    let results = Deserializer::from_slice(written).into_iter::<&RawValue>();
    results
        .map(|result| read_solutions(result?.get()))
        .collect()
}

fn read_solutions(written: &str) -> Result<Rows, DirectError> {
    let malformed = |error| DirectError::Results(Box::new(error));
    let parser = QueryResultsParser::from_format(QueryResultsFormat::Json);
    let read = parser.for_slice(written.as_bytes()).map_err(malformed)?;
    let SliceQueryResultsParserOutput::Solutions(solutions) = read else {
        return Err(DirectError::NotSelect);
    };
    let variables = solutions.variables().to_vec();
    let rows = solutions.map(|row| Ok(row.map_err(malformed)?.values().to_vec()));
    let rows = rows.collect::<Result<_, DirectError>>()?;
    Ok(Rows { variables, rows })
}

/// Values of a variable so far, each once and in the order in which they came.
#[derive(Default)]
struct Found {
    known: HashSet<String>,
    values: Vec<String>,
}

/// The queries of a form, one after the other, the later ones with what the earlier ones found.
pub struct Filling {
    queries: Vec<&'static str>,
    /// How many have been returned.
    sent: usize,
    /// Values of the variables that later queries use.
    found: BTreeMap<String, Found>,
}

impl Filling {
    /// Starts with the first query of a form.
    #[must_use]
    pub fn new(form: &Form) -> Self {
        Filling {
            queries: form.text.split(SEPARATOR).collect(),
            sent: 0,
            found: BTreeMap::new(),
        }
    }

    /// Returns the number of queries.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "every form has a query")]
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Returns whether all queries have been returned.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.sent == self.queries.len()
    }

    /// Returns the text of the next query; `None` after the last one.
    ///
    /// # Errors
    /// When it uses something of which nothing is known.
    pub fn next(&mut self, instance: &Instance) -> Result<Option<String>, DirectError> {
        let Some(query) = self.queries.get(self.sent) else {
            return Ok(None);
        };
        let text = filled(query, instance, &self.found)?;
        self.sent += 1;
        Ok(Some(text))
    }

    /// Tells that a query found a value, written as SPARQL; what no later query uses is not kept.
    pub fn found(&mut self, variable: &str, value: String) {
        if !self.is_used(variable) {
            return;
        }
        let found = self.found.entry(variable.to_owned()).or_default();
        if found.known.insert(value.clone()) {
            found.values.push(value);
        }
    }

    /// Says that there may be no value of a variable at all.
    pub fn expect(&mut self, variable: &str) {
        if self.is_used(variable) {
            self.found.entry(variable.to_owned()).or_default();
        }
    }

    fn is_used(&self, variable: &str) -> bool {
        let name = format!("${variable} ");
        let later = &self.queries[self.sent..];
        later.iter().any(|query| query.contains(&name))
    }
}

/// Told of each row as it comes.
type See<'a> = &'a mut dyn FnMut(&QuerySolution);

fn each_query(
    store: &Store,
    form: &Form,
    instance: &Instance,
    mut take: impl FnMut(QuerySolutionIter<'_>, See<'_>) -> Result<(), DirectError>,
) -> Result<(), DirectError> {
    let mut filling = Filling::new(form);
    while let Some(text) = filling.next(instance)? {
        let query = SparqlParser::new().parse_query(&text)?;
        let solutions = evaluated(store, query)?;
        let variables = solutions.variables().to_vec();
        for variable in &variables {
            filling.expect(variable.as_str());
        }
        let wanted = variables.iter().enumerate();
        let wanted: Vec<_> = wanted
            .filter(|(_, variable)| filling.is_used(variable.as_str()))
            .collect();
        take(solutions, &mut |solution| {
            for (column, name) in &wanted {
                if let Some(term) = solution.get(*column) {
                    filling.found(name.as_str(), term.to_string());
                }
            }
        })?;
    }
    Ok(())
}

fn evaluated(store: &Store, query: Query) -> Result<QuerySolutionIter<'static>, DirectError> {
    let prepared = SparqlEvaluator::new().for_query(query);
    match prepared.on_store(store).execute()? {
        QueryResults::Solutions(solutions) => Ok(solutions),
        _ => Err(DirectError::NotSelect),
    }
}

fn write_solutions(
    solutions: QuerySolutionIter<'_>,
    out: &mut Vec<u8>,
    mut see: impl FnMut(&QuerySolution),
) -> Result<(), DirectError> {
    let variables = solutions.variables().to_vec();
    let mut writer = QueryResultsSerializer::from_format(QueryResultsFormat::Json)
        .serialize_solutions_to_writer(out, variables)?;
    for solution in solutions {
        let solution = solution?;
        see(&solution);
        writer.serialize(&solution)?;
    }
    writer.finish()?;
    Ok(())
}

/// Puts values in the place of each `$name`.
fn filled(
    text: &str,
    instance: &Instance,
    found: &BTreeMap<String, Found>,
) -> Result<String, DirectError> {
    let mut out = String::with_capacity(text.len() + 256);
    let mut parts = text.split('$');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric());
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        if let Some(value) = instance.parameters.get(name) {
            out.push_str(value);
        } else if let Some(found) = found.get(name) {
            for value in &found.values {
                out.push_str(value);
                out.push(' ');
            }
        } else {
            return Err(DirectError::Unbound(name.to_owned()));
        }
        out.push_str(rest);
    }
    Ok(out)
}
