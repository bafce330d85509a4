//! Any GraphQL service over HTTP, after the GraphQL-over-HTTP specification.

use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::ast::{self, OperationType};
use apollo_compiler::parser::Parser;
use apollo_compiler::response::JsonMap;
use axum::body::Body;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response as HttpResponse;
use axum::routing::MethodRouter;
use bytes::Bytes;
use graphql_service::{
    Answer, Freshness, GraphqlError, Limits, MemoryAccount, Outcome, Reply, Request,
    RequestContext, RequestError, Response, Service, Weight, code as shared,
};
use serde::Deserialize;

use super::authentication::Sender;
use super::body::{self, BodyLimits, ReadBody};
use super::code;
use super::compression::{self, Encoding, Offered, compress};
use super::error::HttpError;
use super::gateway::{Forwarding, is_personal};
use super::idempotency::idempotency_key;
use super::negotiate::{ResponseType, languages};
use super::request_id::{RequestId, Summary};
use super::response_body::ResponseBody;
use crate::resources::Resources;

/// Time beyond the deadline after which an answer is given without the service.
const GRACE: Duration = Duration::from_secs(1);

/// Length up to which a body is parsed on an async worker.
const SHORT_BODY: usize = 32 << 10;

/// How long a parsed request waits for memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// A path that answers GraphQL requests by GET and POST.
///
/// ```no_run
/// # fn endpoint(service: std::sync::Arc<dyn graphql_service::Service>) -> axum::Router {
/// use graphql_service::Limits;
/// use servers::http::{GraphqlEndpoint, RequestBounds, with_middleware};
/// use servers::resources::Resources;
///
/// let bounds = RequestBounds {
///     body_bytes: 1 << 20,
///     timeout: std::time::Duration::from_secs(30),
///     limits: Limits::default(),
/// };
/// let resources = Resources::default();
/// let endpoint = GraphqlEndpoint::new(move || Some(service.clone()), bounds, resources.clone());
/// let routes = axum::Router::new().route("/graphql", endpoint.into_routes());
/// with_middleware(routes, &resources)
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
        }
    }

    /// Answers with another error while there is no service.
    pub(super) fn absent(mut self, absent: impl Fn() -> HttpError + Send + Sync + 'static) -> Self {
        self.absent = Arc::new(absent);
        self
    }

    /// Has the service pass on headers of clients, and says for how long answers may be kept.
    pub(super) fn forwarding(mut self, forwarding: Forwarding) -> Self {
        self.forwarding = Some(Arc::new(forwarding));
        self
    }

    /// Returns the handlers, for a path of any router.
    pub fn into_routes<S>(self) -> MethodRouter<S> {
        axum::routing::get(get).post(post).with_state(self)
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

/// Answers a request by POST.
async fn post(
    State(endpoint): State<GraphqlEndpoint>,
    id: RequestId,
    sender: Sender,
    http: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    let response_type = negotiated(http.headers())?;
    body::require_type(http.headers(), &["application/json"])?;
    let context = context(&endpoint, id, sender, http.headers())?;
    let caching = Caching::of(&endpoint, &context, http.headers());
    let context = match idempotency_key(http.headers())? {
        Some(key) => context.with_idempotency_key(key),
        None => context,
    };
    let encoding = Encoding::negotiate(http.headers());
    let limits = BodyLimits {
        bytes: endpoint.bounds.body_bytes,
        time: endpoint.bounds.timeout,
    };
    let body = body::read(http, limits, &endpoint.resources).await?;
    let request = endpoint.parse(body, &context.memory).await?;
    let form = Form {
        response_type,
        encoding,
        caching,
    };
    run(&endpoint, request, context, form).await
}

impl GraphqlEndpoint {
    /// Reads a request from its body, a long one in a slot, and has it counted by `memory`.
    ///
    /// What is read is larger than its text. When there is no room for it, it is forgotten, and read
    /// again once there is: whoever waits for room holds no more than the text.
    async fn parse(
        &self,
        body: ReadBody,
        memory: &Arc<MemoryAccount>,
    ) -> Result<Request, HttpError> {
        let ReadBody {
            text,
            memory: _text,
        } = body;
        let request = match self.parse_once(&text, memory, 0).await? {
            Parsed::Request(request) => request,
            Parsed::NoRoom(held) => {
                hold(memory, held).await?;
                match self.parse_once(&text, memory, held).await? {
                    Parsed::Request(request) => request,
                    Parsed::NoRoom(_) => return Err(HttpError::out_of_memory()),
                }
            }
        };
        Ok(*request)
    }

    async fn parse_once(
        &self,
        body: &Bytes,
        memory: &Arc<MemoryAccount>,
        held: usize,
    ) -> Result<Parsed, HttpError> {
        let (limits, text) = (self.bounds.limits.clone(), body.clone());
        let memory = Arc::clone(memory);
        let parse = move || {
            let request = Request::from_json(&text, &limits).map_err(not_a_request)?;
            let footprint = request.footprint();
            Ok(match memory.grow(footprint.saturating_sub(held)) {
                Ok(()) => Parsed::Request(Box::new(request)),
                Err(_) => Parsed::NoRoom(footprint),
            })
        };
        if body.len() <= SHORT_BODY {
            return parse();
        }
        let slots = &self.resources.slots;
        let parsed = slots.run(Weight::Medium, None, move |_| parse()).await;
        parsed.map_err(HttpError::of_slot)?
    }
}

/// What became of a body.
enum Parsed {
    Request(Box<Request>),
    /// The request takes this many bytes, which the budget does not have.
    NoRoom(usize),
}

async fn hold(memory: &MemoryAccount, bytes: usize) -> Result<(), HttpError> {
    let held = memory.grow_within(bytes, PATIENCE).await;
    held.map_err(|_| HttpError::out_of_memory())
}

/// Answers a request by GET; mutations are refused.
async fn get(
    State(endpoint): State<GraphqlEndpoint>,
    id: RequestId,
    sender: Sender,
    parameters: Result<Query<GetParameters>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
) -> Result<HttpResponse, HttpError> {
    let response_type = negotiated(&headers)?;
    let Query(parameters) = parameters.map_err(|error| malformed(error.body_text()))?;
    let query = parameters
        .query
        .ok_or_else(|| malformed("the parameter `query` is missing"))?;
    let mut request = Request::new(query);
    request.operation_name = parameters.operation_name.filter(|name| !name.is_empty());
    let limits = &endpoint.bounds.limits;
    request.variables = json_parameter("variables", parameters.variables, limits)?;
    request.extensions = json_parameter("extensions", parameters.extensions, limits)?;
    if operation_type(&endpoint.bounds.limits, &request) == Some(OperationType::Mutation) {
        let message = "mutations cannot be sent by GET";
        return Err(HttpError::new(code::MUTATION_BY_GET, message).allowing("POST"));
    }
    let context = context(&endpoint, id, sender, &headers)?;
    let form = Form {
        response_type,
        encoding: Encoding::negotiate(&headers),
        caching: Caching::of(&endpoint, &context, &headers),
    };
    hold(&context.memory, request.footprint()).await?;
    run(&endpoint, request, context, form).await
}

async fn run(
    endpoint: &GraphqlEndpoint,
    request: Request,
    context: RequestContext,
    form: Form,
) -> Result<HttpResponse, HttpError> {
    let service = (endpoint.current)().ok_or_else(|| (endpoint.absent)())?;
    let memory = Arc::clone(&context.memory);
    let held = memory.held();
    // The client went away when this future is dropped; whatever still works for it then stops.
    let _cancel = context.cancellation.clone().drop_guard();
    let deadline = endpoint.bounds.timeout + GRACE;
    let overdue = Arc::clone(&context.overdue);
    let answer = tokio::time::timeout(deadline, service.respond(request, context)).await;
    let response = answer.unwrap_or_else(|_| late(overdue.error()));
    // What was held for the request itself.
    memory.shrink(held);
    Ok(http_response(response, form, &endpoint.resources).await)
}

/// The form that a client wants an answer in.
struct Form {
    response_type: ResponseType,
    encoding: Option<Encoding>,
    caching: Option<Caching>,
}

/// What decides for how long an answer may be kept.
struct Caching {
    forwarding: Arc<Forwarding>,
    freshness: Arc<Freshness>,
    is_personal: bool,
}

impl Caching {
    fn of(
        endpoint: &GraphqlEndpoint,
        context: &RequestContext,
        headers: &HeaderMap,
    ) -> Option<Self> {
        let forwarding = endpoint.forwarding.as_ref()?;
        Some(Caching {
            forwarding: Arc::clone(forwarding),
            freshness: Arc::clone(&context.freshness),
            is_personal: is_personal(headers),
        })
    }
}

fn context(
    endpoint: &GraphqlEndpoint,
    id: RequestId,
    Sender(sender): Sender,
    headers: &HeaderMap,
) -> Result<RequestContext, HttpError> {
    let context = RequestContext::new()
        .with_timeout(endpoint.bounds.timeout)
        .with_request_id(id.0)
        .with_accept_language(languages(headers))
        .with_memory(Arc::new(endpoint.resources.memory.account()));
    let context = match sender {
        Some(caller) => context.with_caller(caller),
        None => context,
    };
    Ok(match &endpoint.forwarding {
        Some(forwarding) => context.with_forwarded(forwarding.forwarded(headers)?),
        None => context,
    })
}

fn negotiated(headers: &HeaderMap) -> Result<ResponseType, HttpError> {
    ResponseType::negotiate(headers).ok_or_else(|| {
        let message =
            "the available media types are application/json and application/graphql-response+json";
        HttpError::new(code::NOT_ACCEPTABLE, message)
    })
}

async fn http_response(response: Response, form: Form, resources: &Resources) -> HttpResponse {
    let Form {
        response_type,
        encoding,
        caching,
    } = form;
    let summary = Summary {
        bytes: response.body.len(),
        outcome: response.outcome,
        written: response.written,
    };
    let status = match (response_type, response.outcome) {
        (ResponseType::GraphqlResponse, _) | (_, Outcome::Overloaded) => {
            StatusCode::from_u16(response.status).expect("the tables hold valid statuses")
        }
        (ResponseType::Json, _) => StatusCode::OK,
    };
    let (segments, encoding) = compress(response.body.into_parts(), encoding, resources).await;
    let body = ResponseBody::new(segments.0, segments.1);
    let mut http = HttpResponse::new(Body::new(body));
    *http.status_mut() = status;
    http.extensions_mut().insert(summary);
    http.extensions_mut().insert(Offered);
    let headers = http.headers_mut();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(response_type.content_type()),
    );
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Some(caching) = caching.filter(|_| status == StatusCode::OK) {
        let (freshness, is_personal) = (&caching.freshness, caching.is_personal);
        caching.forwarding.keep(freshness, is_personal, headers);
    }
    compression::set_headers(headers, encoding);
    http
}

/// The answer when the service itself overlooks its deadline.
fn late(error: GraphqlError) -> Response {
    let answer = match error.code == shared::DEADLINE_EXCEEDED {
        true => Answer::without_data(error),
        false => Answer::failed(error),
    };
    Reply::Executed(answer).into_response()
}

fn not_a_request(error: RequestError) -> HttpError {
    match error {
        RequestError::TooManyValues { .. } => {
            HttpError::new(shared::LIMIT_VARIABLES, error.to_string())
        }
        RequestError::Batch => malformed(error.to_string()),
        error => malformed(format!("the body is {error}")),
    }
}

fn json_parameter(
    name: &str,
    text: Option<String>,
    limits: &Limits,
) -> Result<Option<JsonMap>, HttpError> {
    match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => Request::values_from_json(text, limits).map_err(|error| match error {
            RequestError::NotJson(error) | RequestError::NotRequest(error) => malformed(format!(
                "the parameter `{name}` is not a JSON object: {error}"
            )),
            error => not_a_request(error),
        }),
    }
}

fn malformed(message: impl Into<String>) -> HttpError {
    HttpError::new(code::REQUEST_MALFORMED, message)
}

/// Returns the type of the operation that would run; what is wrong with the document is left for
/// the service to say.
fn operation_type(limits: &Limits, request: &Request) -> Option<OperationType> {
    let parsed = Parser::new()
        .recursion_limit(limits.depth.saturating_mul(4))
        .token_limit(limits.tokens)
        .parse_ast(request.query.as_str(), "query.graphql");
    let document = parsed.unwrap_or_else(|errors| errors.partial);
    let mut operations = document
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            ast::Definition::OperationDefinition(operation) => Some(operation),
            _ => None,
        });
    let wanted = request.operation_name.as_deref();
    operations
        .find(|operation| {
            wanted.is_none_or(|name| operation.name.as_ref().is_some_and(|n| n.as_str() == name))
        })
        .map(|operation| operation.operation_type)
}
