//! Any GraphQL service over HTTP, after the GraphQL-over-HTTP specification.

mod streams;

use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::ast::OperationType;
use apollo_compiler::response::JsonMap;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::HeaderMap;
use axum::routing::MethodRouter;
use bytes::Bytes;
use futures::future::join_all;
use graphql_service::{
    Answer, CallContext, GraphqlError, Limits, MemoryAccount, Replies, Reply, Request,
    RequestContext, RequestError, Response, Service, Size, code as shared,
};
use serde::Deserialize;
use traces::RequestSpan;
use tracing::Span;

use self::streams::sse::{self, EVENT_STREAM};
use self::streams::websocket;
pub use self::streams::{StreamBounds, Streams, SubscriptionOptions, asks_for_websocket};
use crate::answer::{Caching, http_response};
use crate::answered::Answered;
use crate::batch::{self, Requests, malformed, not_a_request};
use crate::body::{self, BodyLimits, ReadBody};
use crate::code;
use crate::compression::Encoding;
use crate::error::HttpError;
use crate::forwarding::Forwarding;
use crate::idempotency::idempotency_key;
use crate::negotiate::{ResponseType, accepts, languages};
use crate::persisted::{PersistedQueries, not_supported};
use crate::records::{OperationRecords, operation};
use crate::request_id::RequestId;
use crate::resources::Resources;
use crate::sender::Sender;
use crate::sequences::{awaited, say};

/// Time beyond the deadline after which an answer is given without the service.
const GRACE: Duration = Duration::from_secs(1);

/// How long a parsed request waits for memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// A path that answers GraphQL requests by GET and POST.
///
/// ```no_run
/// # fn endpoint(service: std::sync::Arc<dyn graphql_service::Service>) -> axum::Router {
/// use graphql_service::Limits;
/// use graphql_http::{GraphqlEndpoint, RequestBounds, Resources};
///
/// let bounds = RequestBounds {
///     body_bytes: 1 << 20,
///     timeout: std::time::Duration::from_secs(30),
///     limits: Limits::default(),
/// };
/// let endpoint = GraphqlEndpoint::new(move || Some(service.clone()), bounds, Resources::default());
/// axum::Router::new().route("/graphql", endpoint.into_routes())
/// # }
/// ```
#[derive(Clone)]
pub struct GraphqlEndpoint {
    current: Arc<dyn Fn() -> Option<Arc<dyn Service>> + Send + Sync>,
    bounds: RequestBounds,
    resources: Resources,
    /// What requests are answered with while there is no service.
    absent: Arc<dyn Fn() -> HttpError + Send + Sync>,
    forwarding: Option<Arc<Forwarding>>,
    persisted: Option<Arc<PersistedQueries>>,
    /// Maximum number of requests in one body; 0 refuses lists.
    batch: usize,
    /// How several responses are sent; nothing where none are.
    streams: Option<Arc<Streams>>,
    records: OperationRecords,
}

/// Bounds on the requests to an endpoint.
#[derive(Clone, Debug)]
pub struct RequestBounds {
    /// Maximum size of a body in bytes.
    pub body_bytes: usize,
    /// Time for a body to arrive, and for a request to execute.
    pub timeout: Duration,
    /// Bounds that the service puts on documents.
    pub limits: Limits,
}

impl GraphqlEndpoint {
    /// Creates an endpoint that asks `current` for the service at each request.
    ///
    /// While there is none, requests are answered with 503 `SCHEMA_NOT_BOUND`.
    pub fn new(
        current: impl Fn() -> Option<Arc<dyn Service>> + Send + Sync + 'static,
        bounds: RequestBounds,
        resources: Resources,
    ) -> Self {
        GraphqlEndpoint {
            current: Arc::new(current),
            bounds,
            resources,
            absent: Arc::new(HttpError::schema_not_bound),
            forwarding: None,
            persisted: None,
            batch: 0,
            streams: None,
            records: OperationRecords::default(),
        }
    }

    /// Records what becomes of operations.
    pub fn recording(mut self, records: OperationRecords) -> Self {
        self.records = records;
        self
    }

    /// Sets the error to answer with while there is no service.
    pub fn absent(mut self, absent: impl Fn() -> HttpError + Send + Sync + 'static) -> Self {
        self.absent = Arc::new(absent);
        self
    }

    /// Lets the service forward headers of clients, and sets how long responses may be cached.
    pub fn forwarding(mut self, forwarding: Forwarding) -> Self {
        self.forwarding = Some(Arc::new(forwarding));
        self
    }

    /// Lets clients name queries.
    pub fn persisted(mut self, persisted: Arc<PersistedQueries>) -> Self {
        self.persisted = Some(persisted);
        self
    }

    /// Takes lists of at most so many requests.
    pub fn batches(mut self, longest: usize) -> Self {
        self.batch = longest;
        self
    }

    /// Answers subscriptions, as server-sent events and over WebSockets.
    pub fn streaming(mut self, streams: Streams) -> Self {
        self.streams = Some(Arc::new(streams));
        self
    }

    /// Returns the handlers, for a path of any router.
    pub fn into_routes<S>(self) -> MethodRouter<S> {
        axum::routing::get(get)
            .post(post)
            .with_state(Arc::new(self))
    }
}

/// Parameters of a request by GET.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GetParameters {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<String>,
    extensions: Option<String>,
}

async fn post(
    State(endpoint): State<Arc<GraphqlEndpoint>>,
    id: RequestId,
    sender: Sender,
    http: HttpRequest,
) -> Result<Answered, HttpError> {
    endpoint.post(id, sender, http).await
}

impl GraphqlEndpoint {
    /// Answers a request by POST.
    pub async fn post(
        &self,
        id: RequestId,
        sender: Sender,
        http: HttpRequest,
    ) -> Result<Answered, HttpError> {
        let mode = self.negotiated(http.headers())?;
        body::require_type(http.headers(), &["application/json"])?;
        let span = RequestSpan::among(http.extensions());
        let context = self.context(id, sender, http.headers(), span)?;
        let caching = self.caching(&context, http.headers());
        let context = match idempotency_key(http.headers())? {
            Some(key) => context.with_idempotency_key(key),
            None => context,
        };
        let encoding = Encoding::negotiate(http.headers());
        let limits = BodyLimits {
            bytes: self.bounds.body_bytes,
            time: self.bounds.timeout,
        };
        let body = body::read(http, limits, &self.resources).await?;
        let requests = self.parse(body, &context.memory).await?;
        let form = ResponseFormat {
            mode,
            encoding,
            caching,
        };
        run(self, requests, context, form).await
    }

    /// Reads a single request from its text, as [`parse`](Self::parse) does.
    pub(crate) async fn parse_one(
        &self,
        body: ReadBody,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Request, HttpError> {
        match self.parse(body, memory).await? {
            Requests::One(request) => Ok(*request),
            Requests::Batch(_) => Err(not_a_request(RequestError::Batch)),
        }
    }

    /// Reads a request from its body, a long one in a slot, and has it counted by `memory`.
    ///
    /// What is read is larger than its text. When there is no room for it, it is forgotten, and read
    /// again once there is: whoever waits for room holds no more than the text.
    async fn parse(
        &self,
        body: ReadBody,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Requests, HttpError> {
        let ReadBody {
            text,
            memory: _text,
        } = body;
        match self.parse_once(&text, memory, 0).await? {
            Parsed::Requests(requests) => Ok(requests),
            Parsed::NoRoom(held) => {
                hold(memory, held).await?;
                match self.parse_once(&text, memory, held).await? {
                    Parsed::Requests(requests) => Ok(requests),
                    Parsed::NoRoom(_) => Err(HttpError::out_of_memory()),
                }
            }
        }
    }

    async fn parse_once(
        &self,
        body: &Bytes,
        memory: &Arc<MemoryAccount>,
        held: usize,
    ) -> Result<Parsed, HttpError> {
        let (limits, text) = (self.bounds.limits.clone(), body.clone());
        let (memory, longest) = (Arc::clone(memory), self.batch);
        let parse = move || {
            let requests = Requests::read(&text, &limits, longest)?;
            let footprint = requests.footprint();
            Ok(match memory.grow(footprint.saturating_sub(held)) {
                Ok(()) => Parsed::Requests(requests),
                Err(_) => Parsed::NoRoom(footprint),
            })
        };
        let (slots, size) = (&self.resources.slots, Size::Text(body.len()));
        let parsed = slots.run_sized(size, None, parse).await;
        parsed.map_err(HttpError::of_slot)?
    }
}

/// What became of a body.
enum Parsed {
    Requests(Requests),
    /// They take this many bytes, which the budget does not have.
    NoRoom(usize),
}

async fn hold(memory: &MemoryAccount, bytes: usize) -> Result<(), HttpError> {
    let held = memory.grow_within(bytes, PATIENCE).await;
    held.map_err(|_| HttpError::out_of_memory())
}

/// Answers a request by GET; mutations are refused.
async fn get(
    State(endpoint): State<Arc<GraphqlEndpoint>>,
    id: RequestId,
    sender: Sender,
    http: HttpRequest,
) -> Result<Answered, HttpError> {
    let (parts, _) = http.into_parts();
    // Such requests may have no token yet, so nothing else is done for them.
    if websocket::asks_for_websocket(&parts.method, &parts.headers) {
        let (Some(streams), Some(forwarding)) = (&endpoint.streams, &endpoint.forwarding) else {
            let message = "there are no WebSockets at this path";
            return Err(HttpError::new(code::WEBSOCKET_HANDSHAKE, message));
        };
        let (streams, forwarding) = (Arc::clone(streams), Arc::clone(forwarding));
        let upgraded = websocket::upgrade(endpoint, streams, forwarding, id, sender, parts).await;
        return upgraded.map(Answered::from);
    }
    let span = RequestSpan::among(&parts.extensions);
    let headers = parts.headers;
    let mode = endpoint.negotiated(&headers)?;
    let Query(parameters) = Query::<GetParameters>::try_from_uri(&parts.uri)
        .map_err(|error| malformed(error.body_text()))?;
    let mut request = Request::new(parameters.query.unwrap_or_default());
    request.operation_name = parameters.operation_name.filter(|name| !name.is_empty());
    let limits = &endpoint.bounds.limits;
    if let Some(text) = parameters.variables.filter(|text| !text.is_empty()) {
        let read = request.with_variables_from_json(&text, limits);
        request = read.map_err(|error| wrong_parameter("variables", error))?;
    }
    request.extensions = json_parameter("extensions", parameters.extensions, limits)?;
    if request.query.is_empty() && !request.names_query() {
        return Err(malformed("the parameter `query` is missing"));
    }
    // The text decides whether it is a mutation, which must not be sent by GET.
    let named = endpoint.resolved(request.clone());
    let shown = named.as_ref().unwrap_or(&request);
    let found = operation(limits, &shown.query, shown.operation_name.as_deref());
    if found.is_some_and(|(operation_type, _)| operation_type == OperationType::Mutation) {
        let message = "mutations cannot be sent by GET";
        return Err(HttpError::new(code::MUTATION_BY_GET, message).allowing("POST"));
    }
    let context = endpoint.context(id, sender, &headers, span)?;
    let form = ResponseFormat {
        mode,
        encoding: Encoding::negotiate(&headers),
        caching: endpoint.caching(&context, &headers),
    };
    hold(&context.memory, request.footprint()).await?;
    run(&endpoint, Requests::One(Box::new(request)), context, form).await
}

async fn run(
    endpoint: &GraphqlEndpoint,
    requests: Requests,
    context: RequestContext,
    form: ResponseFormat,
) -> Result<Answered, HttpError> {
    let memory = Arc::clone(&context.memory);
    let held = memory.held();
    let sequences = Arc::clone(&context.sequences);
    // The client went away when this future is dropped; whatever still works for it then stops.
    let cancel = context.call.cancellation.clone().drop_guard();
    let (response, response_type) = match (requests, form.mode) {
        (Requests::One(request), ResponseMode::Stream(streams, once)) => {
            let (caller, id) = (context.caller.clone(), context.call.request_id.clone());
            match (Box::pin(endpoint.stream(*request, context)).await?, once) {
                (Replies::One(reply), Some(response_type)) => {
                    (reply.into_response(), response_type)
                }
                (replies, _) => {
                    let caller = caller.as_deref();
                    let response = sse::response(replies, &streams, caller, id, cancel)?;
                    return Ok(response.into());
                }
            }
        }
        (Requests::One(request), ResponseMode::Single(response_type)) => {
            let service = endpoint.service()?;
            let response = endpoint.answer(service.as_ref(), *request, context).await;
            (response, response_type)
        }
        (Requests::Batch(_), ResponseMode::Stream(_, None)) => {
            let message = "a batch gets a single response: accept application/json";
            return Err(HttpError::new(code::NOT_ACCEPTABLE, message));
        }
        (
            Requests::Batch(requests),
            ResponseMode::Single(response_type) | ResponseMode::Stream(_, Some(response_type)),
        ) => {
            let service = endpoint.service()?;
            let requests = requests.into_iter();
            let answers = requests.map(|request| {
                let mut context = context.clone();
                // What one of them says of its end is not about the others.
                context.overdue = Arc::default();
                endpoint.answer(service.as_ref(), request, context)
            });
            let answers = Box::pin(join_all(answers)).await;
            let response = batch::joined(answers, Arc::clone(&memory));
            (response, response_type)
        }
    };
    // What was held for the request itself.
    memory.shrink(held);
    let (encoding, caching) = (form.encoding, form.caching);
    let mut answered = http_response(
        response,
        response_type,
        encoding,
        caching,
        &endpoint.resources,
    )
    .await;
    say(&sequences, answered.response.headers_mut());
    Ok(answered)
}

impl GraphqlEndpoint {
    /// Returns what answers requests now.
    pub(crate) fn service(&self) -> Result<Arc<dyn Service>, HttpError> {
        (self.current)().ok_or_else(|| (self.absent)())
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Puts the text into a request that names its query.
    fn resolved(&self, request: Request) -> Result<Request, GraphqlError> {
        match &self.persisted {
            Some(persisted) => persisted.resolve(request),
            None if request.query.is_empty() && request.names_query() => Err(not_supported()),
            None => Ok(request),
        }
    }

    async fn answer(
        &self,
        service: &dyn Service,
        request: Request,
        mut context: RequestContext,
    ) -> Response {
        context.call.span = traces::operation(&context.call.span);
        let request = match self.resolved(request) {
            Ok(request) => request,
            Err(error) => {
                context.freshness.forbid();
                let refused = Reply::Refused(vec![error]);
                self.records.count(&refused);
                return refused.into_response();
            }
        };
        let deadline = self.bounds.timeout + GRACE;
        let overdue = Arc::clone(&context.overdue);
        let recording = self.records.begin(&request, &mut context);
        let answer = tokio::time::timeout(deadline, service.respond(request, context)).await;
        let response = answer.unwrap_or_else(|_| late(overdue.error()).into_response());
        if let Some(recording) = recording {
            recording.end(&response, &self.resources.slots, &self.bounds.limits);
        }
        response
    }

    /// Begins to answer a request to which there may be several replies.
    pub(crate) async fn stream(
        &self,
        request: Request,
        mut context: RequestContext,
    ) -> Result<Replies, HttpError> {
        let service = self.service()?;
        context.call.span = traces::operation(&context.call.span);
        let request = match self.resolved(request) {
            Ok(request) => request,
            Err(error) => {
                context.freshness.forbid();
                let refused = Reply::Refused(vec![error]);
                self.records.count(&refused);
                return Ok(Replies::One(refused));
            }
        };
        let deadline = self.bounds.timeout + GRACE;
        let overdue = Arc::clone(&context.overdue);
        let recording = self.records.begin(&request, &mut context);
        let replies = tokio::time::timeout(deadline, service.stream(request, context))
            .await
            .unwrap_or_else(|_| Replies::One(late(overdue.error())));
        if let Some(recording) = recording {
            recording.begun(&replies, &self.resources.slots, &self.bounds.limits);
        }
        Ok(self.records.counted(replies))
    }
}

/// How a client wants to be answered.
enum ResponseMode {
    Single(ResponseType),
    /// By events; with a media type for what has a single answer, where the client accepts one.
    Stream(Arc<Streams>, Option<ResponseType>),
}

/// The form that a client wants an answer in.
struct ResponseFormat {
    mode: ResponseMode,
    encoding: Option<Encoding>,
    caching: Option<Caching>,
}

impl GraphqlEndpoint {
    pub(crate) fn context(
        &self,
        id: RequestId,
        Sender(sender): Sender,
        headers: &HeaderMap,
        span: Span,
    ) -> Result<RequestContext, HttpError> {
        let memory = Arc::new(self.resources.memory.account());
        let call = CallContext::new()
            .with_timeout(self.bounds.timeout)
            .with_request_id(id.0)
            .with_accept_language(languages(headers))
            .with_span(span);
        let context = RequestContext::counted_by(memory, call);
        let context = match sender {
            Some(caller) => context.with_caller(caller),
            None => context,
        };
        let context = match awaited(headers)? {
            Some(awaited) => context.with_awaited(awaited),
            None => context,
        };
        Ok(match &self.forwarding {
            Some(forwarding) => context.with_forwarded(forwarding.forwarded(headers)?),
            None => context,
        })
    }

    /// Returns what decides for how long an answer may be kept, where that is said at all.
    fn caching(&self, context: &RequestContext, headers: &HeaderMap) -> Option<Caching> {
        let forwarding = self.forwarding.as_ref()?;
        Some(Caching::of(forwarding, context, headers))
    }

    /// Chooses how to answer after `Accept`. Events are for those who name them.
    fn negotiated(&self, headers: &HeaderMap) -> Result<ResponseMode, HttpError> {
        let once = ResponseType::negotiate(headers);
        match (&self.streams, once) {
            (Some(streams), once) if accepts(headers, EVENT_STREAM) => {
                Ok(ResponseMode::Stream(Arc::clone(streams), once))
            }
            (_, Some(once)) => Ok(ResponseMode::Single(once)),
            (streams, None) => {
                let mut message = "the available media types are application/json and \
                                   application/graphql-response+json"
                    .to_owned();
                if streams.is_some() {
                    message.push_str(", and text/event-stream for subscriptions");
                }
                Err(HttpError::new(code::NOT_ACCEPTABLE, message))
            }
        }
    }
}

/// The answer when the service itself overlooks its deadline.
fn late(error: GraphqlError) -> Reply {
    let answer = if error.code == shared::DEADLINE_EXCEEDED {
        Answer::without_data(error)
    } else {
        Answer::failed(error)
    };
    Reply::Executed(answer)
}

fn json_parameter(
    name: &str,
    text: Option<String>,
    limits: &Limits,
) -> Result<Option<JsonMap>, HttpError> {
    match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => {
            Request::values_from_json(text, limits).map_err(|error| wrong_parameter(name, error))
        }
    }
}

fn wrong_parameter(name: &str, error: RequestError) -> HttpError {
    match error {
        RequestError::NotJson(error) | RequestError::NotRequest(error) => malformed(format!(
            "the parameter `{name}` is not a JSON object: {error}"
        )),
        error => not_a_request(error),
    }
}
