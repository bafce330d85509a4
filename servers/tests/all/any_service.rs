//! The handlers of `/graphql` over a service of one's own, which knows nothing of SOML and RDF.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderValue, Request as HttpRequest};
use graphql_http::{GraphqlEndpoint, RequestBounds, Resources};
use graphql_service::apollo_compiler::Schema;
use graphql_service::apollo_compiler::validation::Valid;
use graphql_service::writer::AnswerWriter;
use graphql_service::{Documents, Limits, Reply, Request, RequestContext, Service};
use http_body_util::BodyExt;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use service_runtime::with_middleware;

use crate::processes::PATIENCE;

const TIMEOUT: Duration = Duration::from_secs(60);
const POST: HeaderValue = HeaderValue::from_static("POST");
const GRAPHQL_RESPONSE: &str = "application/graphql-response+json";

/// A service whose answers are the names of the fields, and that remembers who asked.
struct Echo {
    schema: Valid<Schema>,
    documents: Documents,
    asked: Mutex<Vec<String>>,
}

impl Echo {
    fn new() -> Self {
        let text = "type Query { hello: String, world: String }";
        let schema = Schema::parse_and_validate(text, "schema.graphql").unwrap();
        Echo {
            documents: Documents::new(&schema, Limits::default(), 1 << 16),
            schema,
            asked: Mutex::default(),
        }
    }

    fn answer(&self, request: &Request, context: &RequestContext) -> Result<Reply, Reply> {
        self.asked
            .lock()
            .unwrap()
            .push(context.call.request_id.clone());
        let document = self.documents.get::<Vec<_>>(&request.query, |_| Ok(()));
        let document = document.map_err(Reply::Refused)?;
        let prepared = self
            .documents
            .prepare(document, request, context)
            .map_err(Reply::Refused)?;
        let mut writer = AnswerWriter::new();
        writer.out.push(b'{');
        let fields = prepared.operation.root_fields(prepared.document.valid());
        for (position, field) in fields.enumerate() {
            writer.key(position, field.response_key());
            writer.string(&field.name);
        }
        writer.out.push(b'}');
        Ok(Reply::Executed(writer.finish(Ok(()))))
    }
}

#[async_trait]
impl Service for Echo {
    fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        self.answer(&request, &context)
            .unwrap_or_else(|refused| refused)
    }
}

/// A service that never answers.
struct Silent(Echo);

#[async_trait]
impl Service for Silent {
    fn schema(&self) -> &Valid<Schema> {
        &self.0.schema
    }

    async fn reply(&self, _request: Request, _context: RequestContext) -> Reply {
        std::future::pending().await
    }
}

fn bounds() -> RequestBounds {
    RequestBounds {
        body_bytes: 1_000,
        timeout: TIMEOUT,
        limits: Limits::default(),
    }
}

fn endpoint(service: Option<Arc<dyn Service>>, timeout: Duration) -> Router {
    let bounds = RequestBounds {
        timeout,
        ..bounds()
    };
    let endpoint = GraphqlEndpoint::new(move || service.clone(), bounds, Resources::default());
    Router::new().route("/api", endpoint.into_routes())
}

fn routes(service: Option<Arc<dyn Service>>) -> Router {
    with_middleware(endpoint(service, TIMEOUT), &Resources::default())
}

/// Sends a request and returns the head and the body of the answer.
fn send(routes: Router, request: HttpRequest<Body>) -> (Parts, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let service = TowerToHyperService::new(routes);
        let answer = tokio::time::timeout(PATIENCE, service.call(request));
        let (parts, body) = answer.await.unwrap().unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts, serde_json::from_slice(&bytes).unwrap())
    })
}

fn post(query: &str) -> HttpRequest<Body> {
    HttpRequest::post("/api")
        .header("content-type", "application/json")
        .header("accept", GRAPHQL_RESPONSE)
        .body(Body::from(json!({ "query": query }).to_string()))
        .unwrap()
}

fn get(path: &str) -> HttpRequest<Body> {
    let request = HttpRequest::get(path).header("accept", GRAPHQL_RESPONSE);
    request.body(Body::empty()).unwrap()
}

/// Returns status and code of an answer to a request that fails.
fn failure(routes: Router, request: HttpRequest<Body>) -> (u16, String) {
    let (parts, body) = send(routes, request);
    let code = body["errors"][0]["extensions"]["code"].as_str().unwrap();
    (parts.status.as_u16(), code.to_owned())
}

#[test]
fn the_handlers_serve_any_service_by_get_and_post() {
    for request in [
        post("{ a: hello world }"),
        get("/api?query=%7Ba%3Ahello%20world%7D"),
    ] {
        let (parts, body) = send(routes(Some(Arc::new(Echo::new()))), request);
        assert_eq!(parts.status, 200);
        let content_type = parts.headers["content-type"].to_str().unwrap();
        assert_eq!(content_type, format!("{GRAPHQL_RESPONSE}; charset=utf-8"));
        assert_eq!(body, json!({ "data": { "a": "hello", "world": "world" } }));
    }
}

#[test]
fn without_a_service_requests_are_answered_with_503() {
    for request in [post("{ hello }"), get("/api?query=%7Bhello%7D")] {
        let expected = (503, "SCHEMA_NOT_BOUND".to_owned());
        assert_eq!(failure(routes(None), request), expected);
    }
}

#[test]
fn the_service_is_asked_for_at_each_request() {
    let bound: Arc<Mutex<Option<Arc<dyn Service>>>> = Arc::default();
    let current = Arc::clone(&bound);
    let endpoint = GraphqlEndpoint::new(
        move || current.lock().unwrap().clone(),
        bounds(),
        Resources::default(),
    );
    let routes = Router::new().route("/api", endpoint.into_routes());
    let status = || send(routes.clone(), post("{ hello }")).0.status.as_u16();
    assert_eq!(status(), 503);
    *bound.lock().unwrap() = Some(Arc::new(Echo::new()));
    assert_eq!(status(), 200);
    *bound.lock().unwrap() = None;
    assert_eq!(status(), 503);
}

#[test]
fn statuses_follow_the_media_type_and_the_codes() {
    let echo = || routes(Some(Arc::new(Echo::new())));
    let json = |mut request: HttpRequest<Body>| {
        let accept = HeaderValue::from_static("application/json");
        request.headers_mut().insert("accept", accept);
        request
    };
    let refused = "GRAPHQL_VALIDATION_FAILED".to_owned();
    assert_eq!(failure(echo(), post("{ helo }")), (400, refused.clone()));
    assert_eq!(failure(echo(), json(post("{ helo }"))), (200, refused));
    let mutation = get("/api?query=mutation%7Bhello%7D");
    let (parts, body) = send(echo(), mutation);
    assert_eq!(
        (parts.status.as_u16(), &parts.headers["allow"]),
        (405, &POST)
    );
    assert_eq!(body["errors"][0]["extensions"]["code"], "MUTATION_BY_GET");
    let large = post(&format!("{{ hello }} # {}", "x".repeat(1_000)));
    assert_eq!(failure(echo(), large), (413, "BODY_TOO_LARGE".to_owned()));
    let elsewhere = failure(echo(), get("/graphql"));
    assert_eq!(elsewhere, (404, "PATH_NOT_FOUND".to_owned()));
    let put = HttpRequest::put("/api").body(Body::empty()).unwrap();
    let refused = failure(echo(), put);
    assert_eq!(refused, (405, "METHOD_NOT_ALLOWED".to_owned()));
}

#[test]
fn a_service_that_overlooks_its_deadline_is_answered_for() {
    let silent = endpoint(Some(Arc::new(Silent(Echo::new()))), Duration::ZERO);
    let (parts, body) = send(silent, get("/api?query=%7Bhello%7D"));
    assert_eq!(parts.status, 200);
    assert_eq!(body["errors"][0]["extensions"]["code"], "DEADLINE_EXCEEDED");
    assert_eq!(body["data"], Value::Null);
}

#[test]
fn the_service_learns_the_identifier_of_the_request() {
    let echo = Arc::new(Echo::new());
    let mut request = post("{ hello }");
    let given = HeaderValue::from_static("given-1");
    request.headers_mut().insert("x-request-id", given.clone());
    let (parts, _) = send(routes(Some(echo.clone())), request);
    assert_eq!(parts.headers["x-request-id"], given);
    // Without the middleware each request gets one all the same.
    send(endpoint(Some(echo.clone()), TIMEOUT), post("{ hello }"));
    let asked = echo.asked.lock().unwrap();
    assert_eq!(asked[0], "given-1");
    assert!(!asked[1].is_empty());
}
