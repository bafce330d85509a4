//! Subscriptions as server-sent events: the protocol "GraphQL over SSE" in the mode of distinct connections.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use graphql_service::RequestContext;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::value::RawValue;

use super::super::super::{
    Allowances, SubgraphEvent, SubgraphEvents, SubgraphSubscription, TransportError,
};
use super::super::body::is_gzip;
use super::super::options::{HttpOptions, bound};
use super::super::{answered, failed, headers, media};
use super::parser::{EventParser, ServerSentEvent};

/// What such a subscription is called in messages.
const NAME: &str = "server-sent events";

/// Begins a subscription.
pub(super) async fn subscribe(
    client: &Client,
    url: Url,
    subscription: SubgraphSubscription,
    context: &RequestContext,
    options: &HttpOptions,
) -> Result<SubgraphEvents, TransportError> {
    let mut headers = headers::outgoing(context)?;
    let accepted = HeaderValue::from_static("text/event-stream");
    headers.insert(ACCEPT, accepted);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let SubgraphSubscription { body, allowances } = subscription;
    let sent = client.post(url).headers(headers).body(body);
    let response = answered(sent, options).await?;
    if !is_event_stream(response.headers()) {
        // It may be a response that says why.
        media::check(response.status(), response.headers())?;
        let allowance = allowances.event(Bytes::new())?.allowance;
        let idle = bound(options.idle_timeout);
        let body = super::super::body::read(response, &allowance, idle).await?;
        return if has_errors(&body) {
            Ok(stream::iter([Ok(SubgraphEvent { body, allowance })]).boxed())
        } else {
            Err(TransportError::NoEvents(NAME))
        };
    }
    if response.status() != StatusCode::OK {
        return Err(TransportError::Status(response.status().as_u16()));
    }
    if is_gzip(response.headers())? {
        return Err(TransportError::Encoding);
    }
    let events = Events {
        response,
        left: Bytes::new(),
        parser: EventParser::new(allowances.limit()),
        allowances,
    };
    let next = |mut events: Events| async move {
        let event = events.next().await?;
        Ok(event.map(|event| (event, events)))
    };
    Ok(stream::try_unfold(events, next).boxed())
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let media_type = content_type.and_then(|it| it.split(';').next());
    media_type.is_some_and(|it| it.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Returns whether a body is a GraphQL response with errors, be they malformed.
fn has_errors(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Refused<'b> {
        #[serde(borrow, default)]
        errors: Option<&'b RawValue>,
    }
    let errors = serde_json::from_slice(body).map(|it: Refused<'_>| it.errors);
    let is_empty = |errors: &RawValue| {
        let items = errors.get().strip_prefix('[');
        items.is_some_and(|items| items.trim_start().starts_with(']'))
    };
    errors.is_ok_and(|errors| errors.is_some_and(|errors| !is_empty(errors)))
}

/// The events of a response.
struct Events {
    response: Response,
    /// What was received, and not yet read.
    left: Bytes,
    parser: EventParser,
    allowances: Allowances,
}

impl Events {
    async fn next(&mut self) -> Result<Option<SubgraphEvent>, TransportError> {
        loop {
            while !self.left.is_empty() {
                let (event, left) = self.parser.take(&self.left)?;
                self.left = self.left.slice_ref(left);
                let Some(ServerSentEvent { kind, data }) = event else {
                    continue;
                };
                match &*kind {
                    // Some servers leave the type out.
                    "next" | "" | "message" if !data.is_empty() => {
                        return self.allowances.event(data.into()).map(Some);
                    }
                    "complete" => return Ok(None),
                    "error" => return Err(TransportError::Protocol("there is an event `error`")),
                    // Signs of life of some servers.
                    _ => {}
                }
            }
            // Comments alone could arrive faster than they are read.
            tokio::task::consume_budget().await;
            let chunk = self
                .response
                .chunk()
                .await
                .map_err(|error| failed(error, TransportError::Broken))?;
            self.left = chunk.ok_or(TransportError::Protocol(
                "the events end without one of the type `complete`",
            ))?;
        }
    }
}
