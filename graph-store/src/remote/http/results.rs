//! Parses results as they arrive, from bytes to rows.

use std::io;

use bytes::Bytes;
use futures::stream::{BoxStream, try_unfold};
use oxrdf::{Term, Variable};
use reqwest::header::CONTENT_TYPE;
use sparesults::{
    QueryResultsFormat, QueryResultsParseError, QueryResultsParser,
    TokioAsyncReaderQueryResultsParserOutput, TokioAsyncReaderSolutionsParser,
};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use tokio_util::io::StreamReader;

use super::body::Body;
use super::error::HttpError;
use super::exchange::header;
use super::values::ResultFormat;
use crate::error::StoreError;
use crate::remote::Rows;

/// Rows that are parsed before other tasks get their turn: a fraction of a millisecond, and several
/// results may be read at once.
const TURN: usize = 128;

/// Returns the variables of a SELECT query in the order of its projection.
pub(super) fn projection(query: &Query) -> Result<Vec<Variable>, StoreError> {
    let Query::Select { pattern, .. } = query else {
        return Err(StoreError::Unsupported(
            "a SPARQL endpoint is asked SELECT queries alone".to_owned(),
        ));
    };
    let mut pattern = pattern;
    loop {
        match pattern {
            GraphPattern::Project { variables, .. } => return Ok(variables.clone()),
            GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => pattern = inner,
            _ => {
                return Err(StoreError::Unsupported(
                    "a SELECT query without a projection".to_owned(),
                ));
            }
        }
    }
}

/// Chooses the parser of a result; refuses a result whose truncation would go unnoticed.
async fn parser(
    body: Body<'_>,
    format: ResultFormat,
) -> Result<(QueryResultsFormat, Body<'_>), HttpError> {
    match format_of(&body) {
        Some(ResultFormat::Json) => Ok((QueryResultsFormat::Json, body)),
        Some(ResultFormat::Tsv) if format == ResultFormat::Tsv => {
            if body.end_is_marked() {
                return Ok((QueryResultsFormat::Tsv, body.of_lines()));
            }
            let address = body.address().to_owned();
            Err(HttpError::Unmarked { address })
        }
        _ => Err(foreign(body).await),
    }
}

/// The rows of a result, parsed as they arrive.
pub(super) struct RowReader<'a> {
    solutions: TokioAsyncReaderSolutionsParser<StreamReader<Chunks<'a>, Bytes>>,
    /// The position of each wanted variable in a row.
    columns: Vec<usize>,
    source: Source,
}

/// Where a result comes from.
struct Source {
    address: String,
    /// A connection that broke off is told from a complete response.
    end_is_marked: bool,
}

type Chunks<'a> = BoxStream<'a, io::Result<Bytes>>;

impl<'a> RowReader<'a> {
    /// Reads the head of a result.
    pub(super) async fn open(
        body: Body<'a>,
        format: ResultFormat,
        wanted: &[Variable],
    ) -> Result<Self, HttpError> {
        let (parser, body) = parser(body, format).await?;
        let source = Source {
            address: body.address().to_owned(),
            end_is_marked: body.end_is_marked(),
        };
        let chunks: Chunks<'a> = Box::pin(try_unfold(body, |mut body| async move {
            let chunk = body.next().await.map_err(io::Error::other)?;
            Ok(chunk.map(|chunk| (chunk, body)))
        }));
        let parser = QueryResultsParser::from_format(parser);
        let read = parser.for_tokio_async_reader(StreamReader::new(chunks));
        let TokioAsyncReaderQueryResultsParserOutput::Solutions(solutions) =
            read.await.map_err(|error| source.failure(error))?
        else {
            return Err(HttpError::Malformed {
                address: source.address,
                cause: "a boolean where solutions were expected".to_owned(),
            });
        };
        let columns = columns(solutions.variables(), wanted, &source.address)?;
        Ok(RowReader {
            solutions,
            columns,
            source,
        })
    }

    /// Returns the terms of the next row, one for each wanted variable; `None` at the proper end.
    pub(super) async fn next(
        &mut self,
    ) -> Result<Option<impl Iterator<Item = Option<Term>> + use<'_, 'a>>, HttpError> {
        let Some(solution) = self.solutions.next().await else {
            return Ok(None);
        };
        let solution = solution.map_err(|error| self.source.failure(error))?;
        let columns = self.columns.iter();
        Ok(Some(
            columns.map(move |column| solution.values()[*column].clone()),
        ))
    }
}

/// Reads a result to its end.
pub(super) async fn read_rows(
    body: Body<'_>,
    format: ResultFormat,
    wanted: &[Variable],
) -> Result<Rows, HttpError> {
    let mut reader = RowReader::open(body, format, wanted).await?;
    let mut rows = Rows {
        width: wanted.len(),
        terms: Vec::new(),
    };
    while let Some(row) = reader.next().await? {
        rows.terms.extend(row);
        // One piece of a body may have thousands of rows.
        if rows.terms.len().is_multiple_of(TURN * rows.width.max(1)) {
            tokio::task::yield_now().await;
        }
    }
    Ok(rows)
}

/// Returns the position of each wanted variable in the rows of the result.
fn columns(
    found: &[Variable],
    wanted: &[Variable],
    address: &str,
) -> Result<Vec<usize>, HttpError> {
    let place = |variable: &Variable| {
        let place = found.iter().position(|other| other == variable);
        place.ok_or_else(|| HttpError::Malformed {
            address: address.to_owned(),
            cause: format!("the result has no variable {variable}"),
        })
    };
    wanted.iter().map(place).collect()
}

fn format_of(body: &Body<'_>) -> Option<ResultFormat> {
    let value = header(body.response().headers(), CONTENT_TYPE);
    let media_type = value.split(';').next().unwrap_or_default().trim();
    match media_type.to_ascii_lowercase().as_str() {
        "application/sparql-results+json" | "application/json" => Some(ResultFormat::Json),
        "text/tab-separated-values" => Some(ResultFormat::Tsv),
        _ => None,
    }
}

async fn foreign(body: Body<'_>) -> HttpError {
    HttpError::ContentType {
        address: body.address().to_owned(),
        found: header(body.response().headers(), CONTENT_TYPE),
        text: body.excerpt().await,
    }
}

impl Source {
    fn failure(&self, error: QueryResultsParseError) -> HttpError {
        let cause = match error {
            QueryResultsParseError::Io(error) => match error.downcast::<HttpError>() {
                Ok(error) => return error,
                Err(error) => error.to_string(),
            },
            QueryResultsParseError::Syntax(error) => error.to_string(),
        };
        let address = self.address.clone();
        if self.end_is_marked {
            HttpError::Malformed { address, cause }
        } else {
            HttpError::Unfinished { address, cause }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn others_get_their_turn_within_one_piece_of_a_result() {
        let rows = 100 * TURN;
        let row = r#"{"a":{"type":"literal","value":"x"}}"#;
        let list = vec![row; rows].join(",");
        let body = format!(r#"{{"head":{{"vars":["a"]}},"results":{{"bindings":[{list}]}}}}"#);
        let response = ureq::http::Response::builder()
            .header(CONTENT_TYPE.as_str(), "application/sparql-results+json")
            .body(body)
            .unwrap();
        let connections = Semaphore::new(1);
        let permit = connections.try_acquire().unwrap();
        let body = Body::new(response.into(), "here".to_owned(), None, Some(permit));
        let wanted = [Variable::new_unchecked("a")];
        let mut turns = 0;
        let others = async {
            loop {
                turns += 1;
                tokio::task::yield_now().await;
            }
        };
        let read = async {
            tokio::select! {
                read = read_rows(body, ResultFormat::Json, &wanted) => read,
                () = others => unreachable!("others never end"),
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let read = runtime.block_on(read).unwrap();
        assert_eq!(read.terms.len(), rows);
        assert!(turns >= 100, "{turns}");
    }
}
