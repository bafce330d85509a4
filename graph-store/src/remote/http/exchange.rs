//! One request to one server, and the response before its body is read.

use call_context::CallContext;
use outbound::causes;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use tokio::sync::SemaphorePermit;
use traces::Peer;

use super::body::Body;
use super::client::Channel;
use super::error::HttpError;
use super::server::Server;
use super::values::{ResultFormat, ServerKind};
use crate::query::Dataset;

/// Header by which a request is found in the logs of both sides.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A query as it is sent.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) dataset: &'a Dataset,
    pub(super) format: ResultFormat,
}

/// A request that changes something.
pub(super) struct Change<'a> {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) content_type: &'a str,
    pub(super) text: &'a str,
    /// What spans call it.
    pub(super) operation: &'static str,
}

/// Returns the type of an update that is sent to a server of a kind.
pub(super) fn update_type(kind: ServerKind) -> &'static str {
    match kind {
        // Some endpoints know the type without parameters alone.
        ServerKind::Sparql11 => "application/sparql-update",
        _ => "application/sparql-update; charset=utf-8",
    }
}

/// A server, how to communicate with it, and the context of the request.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) server: &'a Server,
    pub(super) channel: &'a Channel,
    pub(super) context: &'a CallContext,
    /// What spans and metrics call the kind of the server.
    pub(super) system: &'static str,
}

impl<'a> Exchange<'a> {
    /// Sends a query; returns the body of a successful response.
    pub(super) async fn query(
        self,
        kind: ServerKind,
        query: Query<'_>,
    ) -> Result<Body<'a>, HttpError> {
        let mut url = self.server.query_address(kind);
        let arguments = arguments(kind, query.dataset, self.context);
        let request = match kind {
            // A form is a third larger, and servers limit its size.
            ServerKind::Rdf4j | ServerKind::GraphDb | ServerKind::Fuseki => {
                if !arguments.is_empty() {
                    url.query_pairs_mut().extend_pairs(&arguments);
                }
                self.channel
                    .request(Method::POST, url)
                    // RDF4J reads the body as Latin-1 unless the charset is given.
                    .header(CONTENT_TYPE, "application/sparql-query; charset=utf-8")
                    .body(query.text.to_owned())
            }
            // The form that even old endpoints understand.
            ServerKind::Sparql11 => self
                .channel
                .request(Method::POST, url)
                .form(&[("query", query.text)]),
        };
        let accepted = match query.format {
            ResultFormat::Json => "application/sparql-results+json",
            ResultFormat::Tsv => "text/tab-separated-values",
        };
        let request = request.header(ACCEPT, accepted);
        let answer = self.send(request, &Method::POST, "query").await?;
        successful(answer).await
    }

    /// Sends a query within a transaction, whose address is given; returns the body of a successful
    /// response.
    pub(super) async fn query_within(
        self,
        mut url: Url,
        kind: ServerKind,
        query: Query<'_>,
    ) -> Result<Body<'a>, HttpError> {
        url.query_pairs_mut()
            .append_pair("action", "QUERY")
            .extend_pairs(arguments(kind, query.dataset, self.context));
        let request = self
            .channel
            .request(Method::PUT, url)
            .header(CONTENT_TYPE, "application/sparql-query; charset=utf-8")
            .header(ACCEPT, "application/sparql-results+json")
            .body(query.text.to_owned());
        successful(self.send(request, &Method::PUT, "query").await?).await
    }

    /// Sends a change once; returns a successful response.
    pub(super) async fn change(self, change: Change<'_>) -> Result<Body<'a>, HttpError> {
        let request = self.channel.request(change.method.clone(), change.url);
        let request = match change.content_type {
            "" => request,
            content_type => request.header(CONTENT_TYPE, content_type),
        };
        let request = request.body(change.text.to_owned());
        let answer = self.send(request, &change.method, change.operation).await?;
        let status = answer.response().status();
        if status.is_success() {
            return Ok(answer);
        }
        match successful(answer).await {
            Err(error) => Err(error),
            Ok(answer) => Err(refusal(answer, status).await),
        }
    }

    /// Reads a resource; returns the response whatever its status.
    pub(super) async fn get(self, url: Url, accepted: &str) -> Result<Body<'a>, HttpError> {
        let request = self
            .channel
            .request(Method::GET, url)
            .header(ACCEPT, accepted);
        self.send(request, &Method::GET, "get").await
    }

    /// Sends a request under a span of its own, and records how long it takes, both until the body of the response is
    /// dropped.
    async fn send(
        self,
        request: RequestBuilder,
        method: &Method,
        operation: &'static str,
    ) -> Result<Body<'a>, HttpError> {
        let base = self.server.base();
        let peer = Peer {
            address: base.host_str().unwrap_or_default(),
            port: base.port_or_known_default(),
        };
        let span = &self.context.span;
        let mut traced = traces::Exchange::store(span, self.system, operation, method, peer);
        let mut call = self.server.peer().operation(self.system, operation);
        match self.sent(request.headers(traced.headers())).await {
            Ok((response, connection)) => {
                let status = response.status();
                traced.answered(status);
                if status.is_success() {
                    call.succeed();
                } else {
                    call.refuse(status.as_u16());
                }
                let (address, timeout) = (self.server.name(), self.channel.socket_timeout);
                let body = Body::new(response, address, timeout, connection);
                Ok(body.recorded(call).traced(traced))
            }
            Err(error) => {
                call.fail(error.word());
                traced.failed(match &error {
                    HttpError::Silent { .. } => "timeout",
                    HttpError::Connect { .. } | HttpError::Lost { .. } => "connection",
                    _ => "not_sent",
                });
                Err(error)
            }
        }
    }

    async fn sent(
        self,
        request: RequestBuilder,
    ) -> Result<(Response, Option<SemaphorePermit<'a>>), HttpError> {
        let id = &self.context.request_id;
        let request = match reqwest::header::HeaderValue::from_str(id) {
            Ok(value) if !id.is_empty() => request.header(REQUEST_ID, value),
            _ => request,
        };
        let address = self.server.name();
        let connection = if self.channel.waits_for_connections {
            let wait = self.channel.connection_request_timeout;
            Some(self.server.connection(wait).await?)
        } else {
            None
        };
        let sending = request.send();
        let socket_timeout = self.channel.socket_timeout;
        let sent = match socket_timeout {
            None => sending.await,
            Some(timeout) => match tokio::time::timeout(timeout, sending).await {
                Ok(sent) => sent,
                Err(_) => return Err(HttpError::Silent { address, timeout }),
            },
        };
        match sent {
            Ok(response) => Ok((response, connection)),
            Err(error) if error.is_connect() => Err(HttpError::Connect {
                address,
                cause: causes(error),
            }),
            Err(error) => Err(HttpError::Lost {
                address,
                cause: causes(error),
            }),
        }
    }
}

/// Returns the protocol parameters besides the query.
fn arguments(
    kind: ServerKind,
    dataset: &Dataset,
    context: &CallContext,
) -> Vec<(&'static str, String)> {
    if !matches!(kind, ServerKind::Rdf4j | ServerKind::GraphDb) {
        return Vec::new();
    }
    let mut arguments = vec![("infer", dataset.include_inferred.to_string())];
    if kind == ServerKind::GraphDb {
        arguments.push(("sameAs", dataset.expand_same_as.to_string()));
    }
    if let Some(deadline) = context.deadline {
        let left = deadline.saturating_duration_since(std::time::Instant::now());
        // Whole seconds, rounded up, because zero would mean no timeout.
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        arguments.push(("timeout", seconds.max(1).to_string()));
    }
    arguments
}

/// Refuses a response that is not a result.
async fn successful(answer: Body<'_>) -> Result<Body<'_>, HttpError> {
    let status = answer.response().status();
    let address = answer.address().to_owned();
    if let Some(found) = foreign_encoding(answer.response().headers()) {
        return Err(HttpError::Encoding { address, found });
    }
    if status == StatusCode::OK {
        return Ok(answer);
    }
    if status.is_redirection() {
        let location = header(answer.response().headers(), LOCATION);
        return Err(HttpError::Redirect {
            address,
            status,
            location,
        });
    }
    Err(refusal(answer, status).await)
}

/// Reads the body of an unsuccessful response.
pub(super) async fn refusal(answer: Body<'_>, status: StatusCode) -> HttpError {
    let address = answer.address().to_owned();
    let text = answer.excerpt().await;
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return HttpError::Credentials {
            address,
            status,
            text,
        };
    }
    HttpError::Status {
        address,
        status,
        text,
    }
}

fn foreign_encoding(headers: &HeaderMap) -> Option<String> {
    let found = header(headers, CONTENT_ENCODING);
    (!found.is_empty() && !found.eq_ignore_ascii_case("identity")).then_some(found)
}

/// Returns the value of a header, empty if there is none.
pub(super) fn header(headers: &HeaderMap, name: HeaderName) -> String {
    let value = headers.get(name).map(|value| value.as_bytes());
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_server_of_rdf4j_is_told_the_rest_of_the_time_in_whole_seconds() {
        let timeout = |kind, deadline| {
            let context = CallContext::new().with_deadline(deadline);
            let arguments = arguments(kind, &Dataset::default(), &context);
            let found = arguments.into_iter().find(|(key, _)| *key == "timeout");
            found.map(|(_, value)| value.parse::<u64>().unwrap())
        };
        let half = Instant::now() + Duration::from_millis(2_500);
        let told = timeout(ServerKind::Rdf4j, half).unwrap();
        // On a busy machine some of it may be over.
        let left = half.saturating_duration_since(Instant::now());
        let least = left.as_millis().div_ceil(1_000).max(1) as u64;
        assert!((least..=3).contains(&told), "{told}, {left:?}");
        let past = Instant::now();
        assert_eq!(timeout(ServerKind::GraphDb, past), Some(1));
        assert_eq!(timeout(ServerKind::Fuseki, half), None);
    }
}
