//! Tokens: what needs one, and what does not.

use std::time::{SystemTime, UNIX_EPOCH};

use edge_service::RouteAccess;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;
use service_runtime::{HostOptions, Route, public_rows};

use crate::support::{Edge, SECRET, answering, code, options, requests, route, verifier};

/// The header of a valid token.
pub(crate) fn token(name: &str) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let claims = json!({"sub": name, "preferred_username": name, "exp": now + 3_600});
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    format!(
        "Bearer {}",
        encode(&Header::default(), &claims, &key).unwrap()
    )
}

#[tokio::test]
async fn the_api_gateway_of_5_1_7_validates_tokens_before_it_routes() {
    let service = answering("ok");
    let routes = vec![route("/objects", &service).stripped()];
    let edge = Edge::with(&options(), HostOptions::default(), Some(verifier()), routes).await;
    for path in [
        "/objects/graphql",
        "/objects/soml",
        "/objects/",
        "/unknown",
        "/metrics",
    ] {
        let refused = edge.get(path).send().await.unwrap();
        let (status, code) = code(refused).await;
        assert_eq!(
            (status.as_u16(), code.as_str()),
            (401, "AUTHENTICATION_REQUIRED"),
            "{path}"
        );
    }
    assert!(requests(&service).is_empty());
    let taken = edge
        .get("/objects/graphql")
        .header("authorization", token("anna"));
    assert!(taken.send().await.unwrap().status().is_success());
    let unknown = edge.get("/unknown").header("authorization", token("anna"));
    assert_eq!(
        code(unknown.send().await.unwrap()).await.1,
        "ROUTE_NOT_FOUND"
    );
    assert_eq!(requests(&service).len(), 1);
}

#[tokio::test]
async fn the_public_paths_of_5_1_4_need_no_token_and_others_only_if_a_route_says_so() {
    let (service, pages, open) = (answering("ok"), answering("pages"), answering("open"));
    let mut with_pages = public_rows();
    with_pages.push(Route::public_at(None, "/files/{*rest}".to_owned()));
    let mut public = route("/idp", &open);
    public.access = RouteAccess::Public;
    let routes = vec![
        route("/objects", &service).stripped(),
        route("/pages", &pages).stripped().with_public(with_pages),
        public,
    ];
    let edge = Edge::with(&options(), HostOptions::default(), Some(verifier()), routes).await;
    for path in [
        "/objects/__health",
        "/objects/__gtg",
        "/objects/__trouble",
        "/objects/__about",
        "/pages/",
        "/pages/docs/queries",
        "/pages/files/a/b",
        "/pages/.well-known/jwks.json",
        "/idp/api/login",
        "/__health",
        "/__gtg",
        "/__about",
        "/__trouble",
    ] {
        let answered = edge.get(path).send().await.unwrap();
        assert_eq!(answered.status().as_u16(), 200, "{path}");
    }
    for path in [
        "/objects/__health?cache=false",
        "/objects/__healthz",
        "/objects/docs",
        "/pages/graphql",
        "/pages/examples",
        "/__health?cache=false",
        "/objects/graphql/__health",
        "/objects/__HEALTH",
    ] {
        let refused = edge.get(path).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 401, "{path}");
    }
}

#[tokio::test]
async fn a_websocket_brings_its_token_later_only_where_the_route_allows_that() {
    let service = answering("ok");
    let mut late = route("/late", &service);
    late.allows_late_token = true;
    let routes = vec![late, route("/", &service)];
    let edge = Edge::with(&options(), HostOptions::default(), Some(verifier()), routes).await;
    let open = |path: &str| {
        let request = edge
            .get(path)
            .header("upgrade", "websocket")
            .header("connection", "upgrade");
        request
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
    };
    assert_eq!(open("/x").send().await.unwrap().status().as_u16(), 401);
    // A token that is there is looked at.
    let bad = open("/late")
        .header("authorization", "Bearer x")
        .send()
        .await
        .unwrap();
    assert_eq!(bad.status().as_u16(), 401);
    assert!(requests(&service).is_empty());
    // The service knows no WebSockets, and its answer is passed on.
    assert_eq!(open("/late").send().await.unwrap().status().as_u16(), 200);
    let no_websocket = edge.get("/late").send().await.unwrap();
    assert_eq!(no_websocket.status().as_u16(), 401);
}
