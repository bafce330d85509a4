//! Any GraphQL service over HTTP, after the GraphQL-over-HTTP specification.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::ast::{self, OperationType};
use apollo_compiler::parser::Parser;
use axum::body::Body;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response as HttpResponse;
use axum::routing::MethodRouter;
use graphql_service::{
    Answer, GraphqlError, Limits, Outcome, Reply, Request, RequestContext, Response, Service,
    code as shared,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::body::{self, BodyLimits};
use super::code;
use super::error::HttpError;
use super::negotiate::{ResponseType, languages};
use super::request_id::RequestId;

/// Time beyond the deadline after which an answer is given without the service.
const GRACE: Duration = Duration::from_secs(1);

/// About how much of a document goes into the log.
const LOGGED_BYTES: usize = 1_000;

/// A path that answers GraphQL requests by GET and POST.
///
/// ```no_run
/// # fn endpoint(service: std::sync::Arc<dyn graphql_service::Service>) -> axum::Router {
/// use graphql_service::Limits;
/// use servers::http::{GraphqlEndpoint, RequestBounds, with_middleware};
///
/// let bounds = RequestBounds {
///     body_bytes: 1 << 20,
///     timeout: std::time::Duration::from_secs(30),
///     limits: Limits::default(),
/// };
/// let endpoint = GraphqlEndpoint::new(move || Some(service.clone()), bounds);
/// with_middleware(axum::Router::new().route("/graphql", endpoint.into_routes()))
/// # }
/// ```
#[derive(Clone)]
pub struct GraphqlEndpoint {
    current: Arc<dyn Fn() -> Option<Arc<dyn Service>> + Send + Sync>,
    bounds: RequestBounds,
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
    ) -> Self {
        GraphqlEndpoint {
            current: Arc::new(current),
            bounds,
        }
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
    http: HttpRequest,
) -> Result<HttpResponse, HttpError> {
    let response_type = negotiated(http.headers())?;
    body::require_type(http.headers(), &["application/json"])?;
    let context = context(&endpoint, id, http.headers());
    let limits = BodyLimits {
        bytes: endpoint.bounds.body_bytes,
        time: endpoint.bounds.timeout,
    };
    let request = parse_body(&body::read(http, limits).await?)?;
    run(&endpoint, request, context, response_type).await
}

/// Answers a request by GET; mutations are refused.
async fn get(
    State(endpoint): State<GraphqlEndpoint>,
    id: RequestId,
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
    request.variables = json_parameter("variables", parameters.variables)?;
    request.extensions = json_parameter("extensions", parameters.extensions)?;
    if operation_type(&endpoint.bounds.limits, &request) == Some(OperationType::Mutation) {
        let message = "mutations cannot be sent by GET";
        return Err(HttpError::new(code::MUTATION_BY_GET, message).allowing("POST"));
    }
    let context = context(&endpoint, id, &headers);
    run(&endpoint, request, context, response_type).await
}

async fn run(
    endpoint: &GraphqlEndpoint,
    request: Request,
    context: RequestContext,
    response_type: ResponseType,
) -> Result<HttpResponse, HttpError> {
    let service = (endpoint.current)().ok_or_else(HttpError::schema_not_bound)?;
    // The client went away when this future is dropped; whatever still works for it then stops.
    let _cancel = context.cancellation.clone().drop_guard();
    let started = Instant::now();
    let logged = logged(&request.query);
    let operation = request.operation_name.clone();
    let deadline = endpoint.bounds.timeout + GRACE;
    let answer = tokio::time::timeout(deadline, service.respond(request, context)).await;
    let response = answer.unwrap_or_else(|_| late());
    tracing::info!(
        query = logged,
        operation,
        ms = started.elapsed().as_millis() as u64,
        bytes = response.body.len(),
        refused = response.outcome == Outcome::RequestError,
        "query processed"
    );
    Ok(http_response(response, response_type))
}

fn context(endpoint: &GraphqlEndpoint, id: RequestId, headers: &HeaderMap) -> RequestContext {
    RequestContext::new()
        .with_timeout(endpoint.bounds.timeout)
        .with_request_id(id.0)
        .with_accept_language(languages(headers))
}

fn negotiated(headers: &HeaderMap) -> Result<ResponseType, HttpError> {
    ResponseType::negotiate(headers).ok_or_else(|| {
        let message =
            "the available media types are application/json and application/graphql-response+json";
        HttpError::new(code::NOT_ACCEPTABLE, message)
    })
}

fn http_response(response: Response, response_type: ResponseType) -> HttpResponse {
    let status = match response_type {
        ResponseType::GraphqlResponse => {
            StatusCode::from_u16(response.status).expect("the tables hold valid statuses")
        }
        ResponseType::Json => StatusCode::OK,
    };
    let mut http = HttpResponse::new(Body::from(response.body));
    *http.status_mut() = status;
    let headers = http.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(response_type.content_type()),
    );
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    http
}

/// The answer when the service itself overlooks its deadline.
fn late() -> Response {
    let error = GraphqlError::new(shared::DEADLINE_EXCEEDED, "the deadline passed");
    Reply::Executed(Answer::without_data(error)).into_response()
}

fn parse_body(body: &[u8]) -> Result<Request, HttpError> {
    let not_json = |error: &serde_json::Error| malformed(format!("the body is not JSON: {error}"));
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => serde_json::from_slice(body).map_err(|error| {
            if error.is_data() {
                malformed(format!("the body is not a GraphQL request: {error}"))
            } else {
                not_json(&error)
            }
        }),
        Some(b'[') => Err(malformed("batches of requests are not supported")),
        _ => match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
            Ok(_) => Err(malformed(
                "the body is not a GraphQL request: expected a JSON object",
            )),
            Err(error) => Err(not_json(&error)),
        },
    }
}

fn json_parameter<T: DeserializeOwned>(
    name: &str,
    text: Option<String>,
) -> Result<Option<T>, HttpError> {
    match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => serde_json::from_str::<Option<T>>(text).map_err(|error| {
            malformed(format!(
                "the parameter `{name}` is not a JSON object: {error}"
            ))
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

/// Returns the document on one line, cut when it is long.
fn logged(query: &str) -> String {
    let mut text = String::new();
    for word in query.split_whitespace() {
        if text.len() > LOGGED_BYTES {
            text.push_str(" …");
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(word.chars().take(LOGGED_BYTES));
    }
    text
}
