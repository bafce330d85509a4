//! One operation of a WebSocket: from the text of its request to what is to be said of it.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use axum::http::HeaderMap;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use graphql_service::{Caller, Event, GraphqlError, MemoryAccount, Replies, Reply, Response, Size};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Span;

use super::{Log, messages};
use crate::body::ReadBody;
use crate::endpoint::GraphqlEndpoint;
use crate::error::HttpError;
use crate::request_id::RequestId;
use crate::sender::Sender;

/// What is to be said of an operation.
pub(super) enum Said {
    Next {
        text: Utf8Bytes,
        /// Counts the text until it is sent.
        memory: Option<Arc<MemoryAccount>>,
    },
    Failed(Vec<GraphqlError>),
    Complete,
}

/// An operation that a client has asked for.
pub(super) struct Operation {
    pub(super) endpoint: Arc<GraphqlEndpoint>,
    pub(super) request_id: RequestId,
    /// JSON text of the request.
    pub(super) text: axum::body::Bytes,
    pub(super) headers: HeaderMap,
    pub(super) caller: Option<Arc<Caller>>,
    /// The span of the handshake.
    pub(super) span: Span,
}

impl Operation {
    /// Returns what is to be said of it, to the end, under the name that the client has for it. Whoever drops this
    /// ends it.
    pub(super) fn run(
        self,
        id: &str,
        permit: OwnedSemaphorePermit,
        mut log: Log,
    ) -> BoxStream<'static, Said> {
        let endpoint = self.endpoint.clone();
        let id: Arc<str> = id.into();
        let steps = stream::once(self.begun()).flatten();
        let said = steps.then(move |step| {
            let _until_dropped = &permit;
            match &step {
                Step::Next(response) => log.event(response.body.len()),
                Step::Failed(errors) => log.failed(errors),
                Step::Complete => log.completed(),
            }
            let (endpoint, id) = (endpoint.clone(), Arc::clone(&id));
            async move {
                match step {
                    Step::Next(response) => next(&endpoint, id, response).await,
                    Step::Failed(errors) => Said::Failed(errors),
                    Step::Complete => Said::Complete,
                }
            }
        });
        said.boxed()
    }

    async fn begun(self) -> BoxStream<'static, Step> {
        let failed = |error: HttpError| stream::iter([Step::Failed(vec![error.into()])]).boxed();
        let (sender, headers) = (Sender(self.caller), &self.headers);
        let context = self
            .endpoint
            .context(self.request_id, sender, headers, self.span);
        let context = match context {
            Ok(context) => context,
            Err(error) => return failed(error),
        };
        let cancel = context.call.cancellation.clone().drop_guard();
        let body = ReadBody {
            memory: self.endpoint.resources().bodies.account(),
            text: self.text,
        };
        if body.memory.grow(body.text.len()).is_err() {
            return failed(HttpError::out_of_memory());
        }
        let request = match self.endpoint.parse_one(body, &context.memory).await {
            Ok(request) => request,
            Err(error) => return failed(error),
        };
        match self.endpoint.stream(request, context).await {
            Err(error) => failed(error),
            Ok(Replies::One(reply)) => steps_of(reply),
            Ok(Replies::Several(events)) => {
                let steps = events.map(move |event| {
                    let _until_dropped = &cancel;
                    match event {
                        Event::Next(reply) => Step::Next(reply.into_response()),
                        Event::Error(errors) => Step::Failed(errors),
                    }
                });
                steps.chain(stream::iter([Step::Complete])).boxed()
            }
        }
    }
}

/// Puts a message together, a long one in a slot.
async fn next(endpoint: &GraphqlEndpoint, id: Arc<str>, response: Response) -> Said {
    let (segments, memory) = response.body.into_parts();
    let length: usize = segments.iter().map(|segment| segment.len()).sum();
    let joined = move || Utf8Bytes::try_from(messages::next(&id, &segments));
    let slots = &endpoint.resources().slots;
    let joined = slots.run_sized(Size::Text(length), None, joined).await;
    let failed = |error: HttpError| Said::Failed(vec![error.into()]);
    match joined {
        Ok(Ok(text)) => Said::Next { text, memory },
        Ok(Err(_)) => failed(HttpError::internal()),
        Err(error) => failed(HttpError::of_slot(error)),
    }
}

/// What comes of an operation.
enum Step {
    Next(Response),
    /// Nothing comes after it.
    Failed(Vec<GraphqlError>),
    Complete,
}

/// Returns what comes of an operation with a single reply.
fn steps_of(reply: Reply) -> BoxStream<'static, Step> {
    match reply {
        Reply::Refused(errors) => stream::iter([Step::Failed(errors)]).boxed(),
        Reply::Overloaded(error) => stream::iter([Step::Failed(vec![error])]).boxed(),
        reply => {
            let next = Step::Next(reply.into_response());
            stream::iter([next, Step::Complete]).boxed()
        }
    }
}
