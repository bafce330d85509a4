//! Services behind the transports of `async-graphql`, such as the handlers of `async-graphql-axum`.
//!
//! [`ServiceExecutor`] is an [`Executor`]: GET, POST, batches, multipart requests and WebSockets of
//! that ecosystem are answered by a [`Service`]. `async-graphql` resolves no fields here: the JSON
//! text of `data` passes through as one raw value, in the order and with the digits that the
//! service wrote.

use std::any::TypeId;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::async_graphql as protocol;
use apollo_compiler::response::{JsonMap, JsonValue};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::{
    BatchRequest, BatchResponse, Data, Executor, IntrospectionMode, Name, Pos, ServerError, Value,
};
use serde_json::value::RawValue;

use crate::code;
use crate::error::{GraphqlError, Location, PathSegment};
use crate::request::{Introspection, Request, RequestContext};
use crate::response::Reply;
use crate::service::Service;
use crate::stream::{Event, Replies};

/// How many requests of one batch run concurrently.
const BATCH_CONCURRENCY: usize = 8;

/// An [`Executor`] that answers from a [`Service`].
///
/// A [`RequestContext`] in the data of a request, or else in the data of its WebSocket, supplies
/// deadline, cancellation, request id and accepted languages. Dropping the future or the stream of
/// a request cancels its work.
///
/// Two things differ from [`Response::body`](crate::Response::body), because the types of
/// `async-graphql` cannot express them: a request that is refused before execution has
/// `"data": null` beside its errors, and the members of an error's `extensions` are sorted by name.
#[derive(Clone)]
pub struct ServiceExecutor {
    service: Arc<dyn Service>,
    timeout: Option<Duration>,
}

impl ServiceExecutor {
    /// Creates an executor without a time limit.
    #[must_use]
    pub fn new(service: Arc<dyn Service>) -> Self {
        ServiceExecutor {
            service,
            timeout: None,
        }
    }

    /// Sets how long a request may take; all requests of a batch share that time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout.map(|timeout| Instant::now() + timeout)
    }

    async fn answer(
        self,
        request: protocol::Request,
        session: Option<Arc<Data>>,
        deadline: Option<Instant>,
    ) -> protocol::Response {
        let context = context(&request, session.as_deref(), deadline);
        // Once this future is dropped, no one waits for the work any more.
        let _cancel = context.call.cancellation.clone().drop_guard();
        match request_of(request) {
            Ok(request) => response(self.service.reply(request, context).await),
            Err(error) => response(Reply::Refused(vec![error])),
        }
    }

    /// Like [`ServiceExecutor::answer`], with all events of a subscription.
    async fn replies(
        self,
        request: protocol::Request,
        session: Option<Arc<Data>>,
        deadline: Option<Instant>,
    ) -> BoxStream<'static, protocol::Response> {
        let context = context(&request, session.as_deref(), deadline);
        let cancel = context.call.cancellation.clone().drop_guard();
        let request = match request_of(request) {
            Ok(request) => request,
            Err(error) => return only(Reply::Refused(vec![error])),
        };
        match self.service.stream(request, context).await {
            Replies::One(reply) => only(reply),
            Replies::Several(events) => {
                let responses = events.map(move |event| {
                    let _until_dropped = &cancel;
                    response(match event {
                        Event::Next(reply) => reply,
                        Event::Error(errors) => Reply::Refused(errors),
                    })
                });
                responses.boxed()
            }
        }
    }
}

fn only(reply: Reply) -> BoxStream<'static, protocol::Response> {
    stream::once(async { response(reply) }).boxed()
}

impl Executor for ServiceExecutor {
    async fn execute(&self, request: protocol::Request) -> protocol::Response {
        self.clone().answer(request, None, self.deadline()).await
    }

    async fn execute_batch(&self, batch: BatchRequest) -> BatchResponse {
        let deadline = self.deadline();
        match batch {
            BatchRequest::Single(request) => {
                BatchResponse::Single(self.clone().answer(request, None, deadline).await)
            }
            BatchRequest::Batch(requests) => {
                let answers = requests
                    .into_iter()
                    .map(|request| self.clone().answer(request, None, deadline));
                // A batch may be of any length, so the number of its requests that run concurrently
                // is bounded.
                let answers = stream::iter(answers).buffered(BATCH_CONCURRENCY);
                BatchResponse::Batch(answers.collect().await)
            }
        }
    }

    fn execute_stream(
        &self,
        request: protocol::Request,
        session: Option<Arc<Data>>,
    ) -> BoxStream<'static, protocol::Response> {
        let replies = self.clone().replies(request, session, self.deadline());
        stream::once(replies).flatten().boxed()
    }
}

/// Returns the context of a request, with a cancellation token of its own.
fn context(
    request: &protocol::Request,
    session: Option<&Data>,
    deadline: Option<Instant>,
) -> RequestContext {
    let given = |data: &Data| {
        let any = data.get(&TypeId::of::<RequestContext>())?;
        any.downcast_ref::<RequestContext>().cloned()
    };
    let context = given(&request.data)
        .or_else(|| session.and_then(given))
        .unwrap_or_default();
    let mut call = context.call;
    call.deadline = call.deadline.into_iter().chain(deadline).min();
    call.cancellation = call.cancellation.child_token();
    RequestContext {
        call,
        introspection: match request.introspection_mode {
            IntrospectionMode::Enabled => context.introspection,
            IntrospectionMode::Disabled => Introspection::Refused,
            IntrospectionMode::IntrospectionOnly => Introspection::Only,
        },
        ..context
    }
}

fn request_of(request: protocol::Request) -> Result<Request, GraphqlError> {
    if !request.uploads.is_empty() {
        let message = "file uploads are not supported; send the request without files";
        return Err(GraphqlError::new(code::REQUEST_UNSUPPORTED, message));
    }
    let variables = match json(request.variables.into_value())? {
        JsonValue::Object(variables) => Some(variables),
        _ => None,
    };
    let extensions = request
        .extensions
        .0
        .into_iter()
        .map(|(name, value)| Ok((name.into(), json(value)?)));
    Ok(Request {
        query: request.query,
        operation_name: request.operation_name,
        variables,
        digits: Default::default(),
        extensions: Some(extensions.collect::<Result<_, GraphqlError>>()?),
    })
}

/// Converts a value of a variable or an extension to the JSON type of the service.
fn json(value: Value) -> Result<JsonValue, GraphqlError> {
    Ok(match value {
        Value::Null => JsonValue::Null,
        Value::Number(number) => JsonValue::Number(number),
        Value::String(text) => JsonValue::String(text.into()),
        Value::Boolean(value) => JsonValue::Bool(value),
        Value::Enum(name) => JsonValue::String(name.as_str().into()),
        Value::List(values) => values.into_iter().map(json).collect::<Result<_, _>>()?,
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| Ok((name.as_str().into(), json(value)?)))
            .collect::<Result<JsonMap, GraphqlError>>()?
            .into(),
        Value::Binary(_) => {
            let message =
                "binary values are not supported; send strings, numbers, lists or objects";
            return Err(GraphqlError::new(code::REQUEST_UNSUPPORTED, message));
        }
    })
}

fn response(reply: Reply) -> protocol::Response {
    let answer = match reply {
        Reply::Refused(errors) => {
            return protocol::Response::from_errors(errors.into_iter().map(error).collect());
        }
        Reply::Overloaded(refused) => {
            return protocol::Response::from_errors(vec![error(refused)]);
        }
        Reply::Executed(answer) => answer,
    };
    let data = String::from_utf8(answer.data.to_bytes().into()).expect("a service writes UTF-8");
    let data = RawValue::from_string(data).expect("a service writes JSON");
    let mut response = protocol::Response::new(raw(&data));
    response.errors = answer.errors.into_iter().map(error).collect();
    for (name, value) in answer.extensions {
        response = response.extension(name, raw(&value));
    }
    response
}

/// Wraps JSON text as a value that is serialized verbatim.
fn raw(json: &RawValue) -> Value {
    protocol::to_value(json).expect("a raw value becomes one text")
}

fn error(error: GraphqlError) -> ServerError {
    let position = |at: Location| Pos {
        line: at.line,
        column: at.column,
    };
    let segment = |segment: PathSegment| match segment {
        PathSegment::Key(key) => protocol::PathSegment::Field(key),
        PathSegment::Index(index) => protocol::PathSegment::Index(index),
    };
    let mut server = ServerError::new(error.message.clone(), None);
    server.locations = error.locations.iter().copied().map(position).collect();
    server.path = error.path.iter().cloned().map(segment).collect();
    let extensions = server.extensions.get_or_insert_default();
    extensions.set("code", error.code.as_str());
    for (name, value) in error.details() {
        extensions.set(name, value_of(value.clone()));
    }
    server
}

/// Converts a member of an error's `extensions` to the value type of `async-graphql`.
fn value_of(value: JsonValue) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(value) => Value::Boolean(value),
        JsonValue::Number(number) => Value::Number(number),
        JsonValue::String(text) => Value::String(text.as_str().to_owned()),
        JsonValue::Array(values) => Value::List(values.into_iter().map(value_of).collect()),
        JsonValue::Object(members) => {
            let members = members
                .into_iter()
                .map(|(name, value)| (Name::new(name.as_str()), value_of(value)));
            Value::Object(members.collect())
        }
    }
}
