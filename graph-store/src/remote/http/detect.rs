//! Detects what kind of server answers at an address.

use outbound::address::below;
use oxrdf::Variable;
use reqwest::header::HeaderName;
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use spargebra::Query as Select;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::error::HttpError;
use super::exchange::{Exchange, Query, refusal};
use super::values::{ResultFormat, ServerKind};
use crate::query::Dataset;

/// Fuseki numbers every request in this response header.
const FUSEKI: HeaderName = HeaderName::from_static("fuseki-request-id");

/// Maximum size of a response that identifies a server.
const ANSWER: u64 = 64 << 10;

/// Version information that only GraphDB returns.
#[derive(Deserialize)]
struct ProductInfo {
    #[serde(rename = "productVersion")]
    _version: String,
}

/// Detects the kind of a server.
pub(super) async fn detect(exchange: Exchange<'_>) -> Result<ServerKind, HttpError> {
    if let Some(base) = exchange.server.protocol_base()
        && speaks_rdf4j(exchange, &base).await?
    {
        return Ok(if is_graphdb(exchange, &base).await? {
            ServerKind::GraphDb
        } else {
            ServerKind::Rdf4j
        });
    }
    let select = any_statement();
    let query = Query {
        text: &select.to_string(),
        dataset: &Dataset::default(),
        format: ResultFormat::Json,
    };
    let answer = exchange.query(ServerKind::Sparql11, query).await?;
    Ok(if answer.response().headers().contains_key(FUSEKI) {
        ServerKind::Fuseki
    } else {
        ServerKind::Sparql11
    })
}

/// Servers of RDF4J's protocol return its version, a number, at a fixed path.
async fn speaks_rdf4j(exchange: Exchange<'_>, base: &Url) -> Result<bool, HttpError> {
    let text = read(exchange, below(base, &["protocol"]), "text/plain").await?;
    Ok(text.is_some_and(|text| text.trim().parse::<u32>().is_ok()))
}

async fn is_graphdb(exchange: Exchange<'_>, base: &Url) -> Result<bool, HttpError> {
    let url = below(base, &["rest", "info", "version"]);
    let text = read(exchange, url, "application/json").await?;
    Ok(text.is_some_and(|text| serde_json::from_str::<ProductInfo>(&text).is_ok()))
}

/// Reads a short text; `None` if the server has none at this address.
async fn read(
    exchange: Exchange<'_>,
    url: Url,
    accepted: &str,
) -> Result<Option<String>, HttpError> {
    let mut answer = exchange.get(url, accepted).await?;
    let status = answer.response().status();
    if status.is_server_error()
        || matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    {
        return Err(refusal(answer, status).await);
    }
    if status != StatusCode::OK {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.next().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() as u64 > ANSWER {
            return Ok(None);
        }
    }
    Ok(String::from_utf8(bytes).ok())
}

/// Returns a query for any statement of any graph.
pub(super) fn any_statement() -> Select {
    let variable = |name: &str| Variable::new_unchecked(name);
    let pattern = || GraphPattern::Bgp {
        patterns: vec![TriplePattern {
            subject: TermPattern::Variable(variable("subject")),
            predicate: NamedNodePattern::Variable(variable("predicate")),
            object: TermPattern::Variable(variable("object")),
        }],
    };
    let named = GraphPattern::Graph {
        name: NamedNodePattern::Variable(variable("graph")),
        inner: Box::new(pattern()),
    };
    let either = GraphPattern::Union {
        left: Box::new(pattern()),
        right: Box::new(named),
    };
    Select::Select {
        dataset: None,
        base_iri: None,
        pattern: GraphPattern::Slice {
            inner: Box::new(GraphPattern::Project {
                inner: Box::new(either),
                variables: vec![variable("subject")],
            }),
            start: 0,
            length: Some(1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_for_any_statement_reads_all_graphs() {
        assert_eq!(
            any_statement().to_string(),
            "SELECT ?subject WHERE { { ?subject ?predicate ?object . } UNION \
             { GRAPH ?graph { ?subject ?predicate ?object . } } } LIMIT 1"
        );
    }
}
