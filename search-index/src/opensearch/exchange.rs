//! One request to one node, and its answer.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use call_context::{CallContext, CallError};
use outbound::retry::retry_after;
use outbound::{Body, BodyError, Secret, causes};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use service_metrics::table::OTHER;
use traces::{Exchange as Traced, Peer};

use super::failure::{Failure, Said};
use super::node::Node;
use super::options::OpenSearchOptions;

/// Header by which a request is found in the logs and the tasks of the engine.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-opaque-id");

/// Longest time that the engine waits on its own for what a request needs.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// Bytes of an answer that is no success which are read.
const REFUSAL: u64 = 64 << 10;

/// The name of the engine in metrics.
const SYSTEM: &str = "opensearch";

/// The APIs that are told apart in metrics.
const APIS: &[&str] = &[
    "_search", "_bulk", "_count", "_refresh", "_aliases", "_mapping", "_cluster", "_nodes",
];

/// A request, to whichever node.
#[derive(Clone, Debug)]
pub(super) struct Request<'r> {
    pub(super) method: Method,
    pub(super) path: &'r [&'r str],
    pub(super) query: &'r [(&'r str, &'r str)],
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
    pub(super) repeat: Repeat,
    /// Parameters that say how long the engine waits for what the request needs. It has to answer before
    /// the exchange is over: by default both take a minute.
    pub(super) waits: &'r [&'r str],
    /// Maximum time of one exchange.
    pub(super) timeout: Option<Duration>,
}

/// When a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Also when it is unknown whether it was carried out.
    Always,
    /// When it certainly was not.
    IfUndone,
}

impl<'r> Request<'r> {
    pub(super) fn get(path: &'r [&'r str]) -> Self {
        Request {
            method: Method::GET,
            path,
            query: &[],
            content_type: "",
            body: Bytes::new(),
            repeat: Repeat::Always,
            waits: &[],
            timeout: None,
        }
    }

    /// Begins a request with a JSON body.
    pub(super) fn send(method: Method, path: &'r [&'r str], body: impl Into<Bytes>) -> Self {
        Request {
            method,
            content_type: "application/json",
            body: body.into(),
            ..Request::get(path)
        }
    }

    pub(super) fn query(mut self, query: &'r [(&'r str, &'r str)]) -> Self {
        self.query = query;
        self
    }

    pub(super) fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    pub(super) fn waits(mut self, waits: &'r [&'r str]) -> Self {
        self.waits = waits;
        self
    }

    /// Returns the API of the engine that it calls, for metrics.
    fn operation(&self) -> &'static str {
        let is_in_path = |api: &&&str| self.path.contains(*api);
        APIS.iter().find(is_in_path).copied().unwrap_or(OTHER)
    }

    /// Returns what a span says of it: the name of the API without its underscore, and the index.
    fn about(&self) -> (&'r str, &'r str) {
        let is_api = |segment: &&&str| segment.starts_with('_');
        let api = self.path.iter().find(is_api);
        let operation = match (api, &self.method) {
            (Some(api), _) => api.trim_start_matches('_'),
            (None, &Method::PUT) => "create",
            (None, &Method::DELETE) => "delete",
            (None, _) => "get",
        };
        let index = self.path.first().filter(|it| !it.starts_with('_'));
        (operation, index.copied().unwrap_or_default())
    }

    /// Returns how long the engine may wait on its own.
    fn wait(&self) -> Duration {
        let half = self.timeout.map(|timeout| timeout / 2);
        half.map_or(LONGEST_WAIT, |half| half.min(LONGEST_WAIT))
    }
}

/// A successful answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) address: String,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn incomplete(&self, cause: impl ToString) -> Failure {
        Failure::Incomplete {
            address: self.address.clone(),
            cause: cause.to_string(),
        }
    }

    pub(super) fn malformed(&self, cause: impl ToString) -> Failure {
        Failure::Malformed {
            address: self.address.clone(),
            cause: cause.to_string(),
        }
    }

    /// Reads a small answer.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| self.malformed(error))
    }
}

/// A node, and the context of a request to it.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) client: &'a Client,
    pub(super) options: &'a OpenSearchOptions,
    pub(super) node: &'a Node,
    pub(super) context: &'a CallContext,
}

impl Exchange<'_> {
    /// Sends a request; returns a successful answer, complete.
    pub(super) async fn run(self, request: &Request<'_>) -> Result<Reply, Failure> {
        let mut call = self.node.peer().operation(SYSTEM, request.operation());
        let answered = self.in_time(request).await;
        match &answered {
            Ok(_) => call.succeed(),
            Err(Failure::Status { status, .. }) => call.refuse(status.as_u16()),
            Err(failure) => call.fail(failure.word()),
        }
        answered
    }

    async fn in_time(self, request: &Request<'_>) -> Result<Reply, Failure> {
        let _connection = self.node.connection().await?;
        let exchange = self.exchange(request);
        match request.timeout {
            None => exchange.await,
            Some(timeout) => match tokio::time::timeout(timeout, exchange).await {
                Ok(result) => result,
                Err(_) => Err(Failure::Slow {
                    address: self.node.name(),
                    timeout,
                }),
            },
        }
    }

    async fn exchange(self, request: &Request<'_>) -> Result<Reply, Failure> {
        let mut url = self.node.below(request.path);
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(request.query);
        }
        for name in request.waits {
            let wait = format!("{}ms", request.wait().as_millis().max(1));
            url.query_pairs_mut().append_pair(name, &wait);
        }
        let mut sending = self.client.request(request.method.clone(), url);
        if let Some(username) = &self.options.username {
            let password = self.options.password.as_ref().map(Secret::reveal);
            sending = sending.basic_auth(username, password);
        }
        if !request.content_type.is_empty() {
            sending = sending
                .header(CONTENT_TYPE, request.content_type)
                .body(request.body.clone());
        }
        let id = &self.context.request_id;
        if let (false, Ok(id)) = (id.is_empty(), HeaderValue::from_str(id)) {
            sending = sending.header(REQUEST_ID, id);
        }
        let address = self.node.name();
        let mut traced = self.traced(request);
        let sending = sending.headers(traced.headers());
        let response = sending.send().await.map_err(|error| {
            traced.failed("connection");
            let is_connect = error.is_connect();
            let cause = causes(error);
            if is_connect {
                Failure::Connect {
                    address: address.clone(),
                    cause,
                }
            } else {
                Failure::Lost {
                    address: address.clone(),
                    cause,
                }
            }
        })?;
        let status = response.status();
        traced.answered(status);
        if status.is_success() {
            let body = self
                .body(response, self.options.max_answer_bytes)
                .await
                .inspect_err(|_| traced.failed("broken_response"))?;
            return Ok(Reply { address, body });
        }
        Err(Failure::Status {
            address,
            status,
            retry_after: retry_after(response.headers()),
            said: self.said(status, response).await?,
        })
    }

    /// Begins the span of a request.
    fn traced(self, request: &Request<'_>) -> Traced {
        let base = self.node.base();
        let peer = Peer {
            address: base.host_str().unwrap_or_default(),
            port: base.port_or_known_default(),
        };
        let (operation, index) = request.about();
        Traced::engine(&self.context.span, operation, index, &request.method, peer)
    }

    /// Reads what the node says about a request that it does not fulfil.
    async fn said(self, status: StatusCode, response: Response) -> Result<Said, Failure> {
        // What stands there might repeat what was sent.
        if matches!(status.as_u16(), 401 | 403) {
            return Ok(Said::default());
        }
        match self.body(response, REFUSAL).await {
            Ok(body) => Ok(Said::read(&body)),
            // The status says enough.
            Err(Failure::TooLarge { .. } | Failure::Lost { .. }) => Ok(Said::default()),
            Err(failure) => Err(failure),
        }
    }

    /// Reads a body, whose memory is counted.
    async fn body(self, response: Response, limit: u64) -> Result<Bytes, Failure> {
        let body = Body::of(response).limited(limit);
        let count = |bytes| Ok(self.context.hold(bytes)?);
        let read = body.all_counted::<NotRead>(count).await;
        read.map_err(|error| match error {
            NotRead::Call(error) => error.into(),
            NotRead::Body(BodyError::TooLong { limit }) => Failure::TooLarge { limit },
            NotRead::Body(BodyError::Broken(error)) => self.lost(causes(error)),
            NotRead::Body(error) => self.lost(error.to_string()),
        })
    }

    fn lost(self, cause: String) -> Failure {
        Failure::Lost {
            address: self.node.name(),
            cause,
        }
    }
}

/// Why a body was not read.
#[derive(Debug, thiserror::Error)]
enum NotRead {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Body(#[from] BodyError),
}

/// Ends work at the deadline of the request and when it is cancelled.
pub(super) async fn within<T, E: From<CallError>>(
    context: &CallContext,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    context.check()?;
    let deadline = async {
        match context.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        result = work => result,
        () = context.cancellation.cancelled() => Err(CallError::Cancelled.into()),
        () = deadline => Err(CallError::Deadline.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_waits_for_less_time_than_its_answer_is_waited_for() {
        let wait = |timeout| {
            let request = Request::get(&[]);
            Request { timeout, ..request }.wait()
        };
        let seconds = Duration::from_secs;
        assert_eq!(wait(Some(seconds(8))), seconds(4));
        assert_eq!(wait(Some(seconds(600))), LONGEST_WAIT);
        assert_eq!(wait(None), LONGEST_WAIT);
    }
}
