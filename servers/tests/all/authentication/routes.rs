//! What needs a token, what a good one opens, and what the log says of whom.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use graphql_http::{GraphqlEndpoint, RequestBounds, Resources};
use graphql_service::apollo_compiler::Schema;
use graphql_service::apollo_compiler::validation::Valid;
use graphql_service::{
    Answer as GraphqlAnswer, Caller, GraphqlError, Limits, Reply, Request, RequestContext,
    Service as Graphql,
};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use service_auth::{Key, Verifier, VerifierOptions};
use service_runtime::authenticated;

use super::process::Process;
use super::{SECRET, token_of};
use crate::callers::settings;
use crate::service::{Answer, Service};

const QUERY: &str = "/graphql?query=%7B__typename%7D";

pub(super) fn secured(others: &[&str]) -> Service {
    let secret = format!("security.secret={SECRET}");
    let mut pairs = vec![secret.as_str()];
    pairs.extend(others);
    Service::demo_with(settings(&pairs))
}

pub(super) fn as_user(service: &Service, method: &str, path: &str, token: &str) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [("authorization", authorization.as_str()), ("accept", "*/*")];
    service.send(method, path, &headers, b"")
}

#[test]
fn public_paths_need_no_token_and_all_others_do() {
    let service = secured(&[]);
    for path in [
        "/__health",
        "/__gtg",
        "/__trouble",
        "/__about",
        "/__live",
        "/__ready",
        "/__health?x=1",
        "/__health?cache=true&x",
        "/__gtg?x=1",
        "/__gtg/",
        "/__trouble?lang=en",
        "/__about?_=17",
        "/__live?x=1",
        "/__ready?x=1",
        "/docs",
        "/docs/",
        "/docs/queries",
        "/docs/queries?x=1",
    ] {
        assert_eq!(service.get(path).status, 200, "{path}");
    }
    // Nothing is there yet, and it is not for want of a token.
    assert_ne!(service.get("/api/login").status, 401);
    assert_ne!(service.get("/.well-known/jwks.json").status, 401);
    for path in [
        QUERY,
        "/graphql/",
        "//graphql",
        "/graphql/?query=%7B__typename%7D",
        "/schema.graphql",
        "/examples",
        "/soml",
        "/soml/swapi",
        "//soml",
        "/__health?cache=false",
        "/__health?x=1&cache=false",
        "/__health?cache=true&cache=false",
        "/__health/?c%61che=false",
        "/__gtg?cache=false",
        "/__about?cache=false",
        "/__health/../graphql",
        "/unknown",
        "/graphiql",
    ] {
        let answer = service.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.code(), "AUTHENTICATION_REQUIRED", "{path}");
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge, "Bearer realm=\"graphql\"", "{path}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
    }
    for (method, path) in [
        ("POST", "/graphql"),
        ("PUT", "/soml/swapi"),
        ("DELETE", "/soml/swapi"),
        ("TRACE", "/x"),
    ] {
        assert_eq!(
            service.send(method, path, &[], b"").status,
            401,
            "{method} {path}"
        );
    }
}

#[test]
fn a_good_token_opens_what_is_not_public() {
    let service = secured(&[]);
    let token = token_of("anna", &["Reader"]);
    for path in [
        QUERY,
        "/graphql/?query=%7B__typename%7D",
        "/schema.graphql",
        "/__health?cache=false",
    ] {
        assert_eq!(as_user(&service, "GET", path, &token).status, 200, "{path}");
    }
    assert_eq!(as_user(&service, "GET", "/unknown", &token).status, 404);
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    let answer = service.send("POST", "/graphql", &headers, br#"{"query":"{__typename}"}"#);
    assert_eq!(answer.text(), r#"{"data":{"__typename":"Query"}}"#);
}

#[test]
fn the_schema_begins_with_what_the_caller_may_do() {
    let service = secured(&[]);
    let text = |roles: &[&str]| {
        let token = token_of("anna", roles);
        let answer = as_user(&service, "GET", "/schema.graphql", &token);
        (answer.header("etag"), answer.text())
    };
    let (tag, unknown) = text(&["Unknown"]);
    let start = "# Roles that apply: none that the schema declares\n# \n# | object ";
    assert!(unknown.starts_with(start), "{unknown}");
    let row = unknown
        .lines()
        .find(|line| line.starts_with("# | Film "))
        .unwrap();
    assert!(row.ends_with("| nothing | nothing | no     |"), "{row}");
    let (other_tag, admin) = text(&["Admin"]);
    assert!(admin.starts_with("# Roles that apply: Admin\n"), "{admin}");
    assert!(!tag.is_empty() && tag != other_tag);
    Schema::parse_and_validate(&admin, "schema.graphql").unwrap();
    let open = Service::demo().get("/schema.graphql").text();
    assert!(!open.contains("Roles that apply"));
}

#[test]
fn without_security_nothing_needs_a_token_and_none_is_looked_at() {
    let service = Service::demo();
    assert_eq!(service.get("/soml").status, 200);
    assert_eq!(as_user(&service, "GET", QUERY, "nonsense").status, 200);
    let service = secured(&["security.enabled=false"]);
    assert_eq!(service.get(QUERY).status, 200);
}

#[test]
fn keys_that_cannot_be_used_let_nobody_in() {
    let pem = "security.secret=-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
    for pairs in [&["security.enabled=true"][..], &[pem]] {
        let service = Service::demo_with(settings(pairs));
        assert_eq!(service.get(QUERY).status, 401);
        let token = token_of("anna", &["Reader"]);
        assert_eq!(
            as_user(&service, "GET", QUERY, &token).code(),
            "TOKEN_INVALID"
        );
    }
}

#[test]
fn schemas_are_managed_by_the_role_for_it_and_by_superusers() {
    let service = secured(&["security.superRoles=root"]);
    let list = |roles: &[&str]| as_user(&service, "GET", "/soml", &token_of("anna", roles));
    for roles in [&[][..], &["Reader"], &["schemarbacadmin"]] {
        let answer = list(roles);
        assert_eq!((answer.status, answer.code().as_str()), (403, "FORBIDDEN"));
        let challenge = answer.header("www-authenticate");
        assert!(
            challenge.contains("error=\"insufficient_scope\""),
            "{challenge}"
        );
        for (method, path) in [
            ("PUT", "/soml/swapi/objects"),
            ("PUT", "/soml/swapi/soaas/"),
            ("DELETE", "/soml/swapi/objects"),
            ("POST", "/soml"),
            ("POST", "/soml/validate"),
            ("GET", "//soml/swapi"),
        ] {
            let answer = as_user(&service, method, path, &token_of("anna", roles));
            assert_eq!(answer.status, 403, "{method} {path}");
        }
    }
    assert_eq!(list(&["Reader", "SchemaRBACAdmin"]).status, 200);
    assert_eq!(list(&["root"]).status, 200);
}

#[test]
fn preflights_need_no_token_and_pages_can_read_why_theirs_is_refused() {
    let service = secured(&["http.cors.allowedOrigins=https://app.example.org"]);
    let origin = ("origin", "https://app.example.org");
    let preflight = [
        origin,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization, content-type",
        ),
    ];
    let answer = service.send("OPTIONS", "/graphql", &preflight, b"");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://app.example.org"
    );
    assert!(
        answer
            .header("access-control-allow-headers")
            .contains("authorization")
    );
    let refused = service.send("GET", QUERY, &[origin], b"");
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("access-control-allow-origin"),
        "https://app.example.org"
    );
    assert!(
        refused
            .header("access-control-expose-headers")
            .contains("www-authenticate")
    );
    // Without CORS an `OPTIONS` is a request as any other.
    assert_eq!(
        secured(&[]).send("OPTIONS", "/graphql", &[], b"").status,
        401
    );
    // And a page of another origin is refused before its token is looked at.
    let other = [("origin", "https://evil.example")];
    assert_eq!(service.send("GET", QUERY, &other, b"").code(), "CROSS_SITE");
}

#[test]
fn the_page_is_public_shows_nothing_of_the_schema_and_asks_for_a_token() {
    let open = |service: &Service| {
        service
            .send("GET", "/", &[("accept", "text/html")], b"")
            .text()
    };
    let page = open(&secured(&[]));
    assert!(page.contains("id=\"token\" autocomplete=\"off\""), "{page}");
    // Browsers offer to keep what is in fields for passwords.
    assert!(!page.contains("type=\"password\""), "{page}");
    for word in ["swapi", "Star Wars", "film", "planet", "schema.graphql"] {
        assert!(
            !page.to_lowercase().contains(&word.to_lowercase()),
            "{word}: {page}"
        );
    }
    let token = token_of("anna", &["Reader"]);
    let shown = as_user(&secured(&[]), "GET", "/examples", &token).json();
    let start = &shown["examples"][0]["query"];
    assert_eq!(start, servers::demo::STAR_WARS.query);
    let title = shown["title"].as_str().unwrap();
    assert!(title.contains("Star Wars"), "{title}");
    let page = open(&Service::demo());
    assert!(!page.contains("id=\"token\""), "{page}");
    assert!(page.contains("schema.graphql"), "{page}");
}

#[test]
fn the_line_of_a_request_says_whose_it_was() {
    let process = Process::start(&[("security.secret", SECRET)]);
    let said = &process.said;
    assert!(said.contains("Security: on"), "{said}");
    for name in ["anna", "eve\nINFO forged", &"x".repeat(5_000)] {
        let token = token_of(name, &["Reader"]);
        let header = format!("Authorization: Bearer {token}\r\n");
        assert_eq!(process.query(QUERY, header.as_bytes()).status, 200);
    }
    let log = process.log();
    let line = |text: &str| {
        log.lines()
            .find(|line| line.contains(text))
            .map(str::to_owned)
    };
    assert!(line("user=\"anna\"").unwrap().contains("answered"), "{log}");
    assert!(
        line(r#"user="eve\nINFO forged""#)
            .unwrap()
            .contains("answered"),
        "{log}"
    );
    assert!(!log.contains(&"x".repeat(200)), "{log}");
    assert!(log.contains("`security.audience` is not set"), "{log}");
}

/// A service that remembers who asked.
struct Who {
    schema: Valid<Schema>,
    asked: Mutex<Vec<Option<Arc<Caller>>>>,
}

#[async_trait]
impl Graphql for Who {
    fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    async fn reply(&self, _request: Request, context: RequestContext) -> Reply {
        self.asked.lock().unwrap().push(context.caller.clone());
        let error = GraphqlError::new(graphql_service::code::INTERNAL, "nothing");
        Reply::Executed(GraphqlAnswer::without_data(error))
    }
}

#[tokio::test]
async fn any_service_behind_the_layer_is_told_who_asks() {
    let schema = Schema::parse_and_validate("type Query { a: Int }", "schema.graphql").unwrap();
    let asked = Mutex::default();
    let who = Arc::new(Who { schema, asked });
    let service = Arc::clone(&who) as Arc<dyn Graphql>;
    let bounds = RequestBounds {
        body_bytes: 1_000,
        timeout: Duration::from_secs(60),
        limits: Limits::default(),
    };
    let endpoint = GraphqlEndpoint::new(
        move || Some(Arc::clone(&service)),
        bounds,
        Resources::default(),
    );
    let routes = Router::new().route("/api", endpoint.into_routes());
    let verifier = Verifier::without_keys(&VerifierOptions::default());
    let verifier = verifier.with_keys([Key::hmac(SECRET.as_bytes())]);
    let routes = TowerToHyperService::new(authenticated(routes, Arc::new(verifier)));
    for method in ["GET", "POST"] {
        for token in [token_of("anna", &["Reader"]), "a.b.c".to_owned()] {
            let request = HttpRequest::builder()
                .method(method)
                .uri("/api?query=%7Ba%7D")
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {token}"))
                .body(Body::from(r#"{"query":"{a}"}"#))
                .unwrap();
            let _ = routes.call(request).await.unwrap();
        }
    }
    let asked = who.asked.lock().unwrap();
    // Requests whose token is refused do not get there.
    assert_eq!(asked.len(), 2);
    for caller in asked.iter().flatten() {
        assert_eq!(caller.name.as_deref(), Some("anna"));
        assert_eq!(caller.roles, ["Reader"]);
    }
    assert!(asked.iter().all(Option::is_some));
}
