//! How a gateway logs in to read the schemas of subgraphs that demand a token.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};

use super::process::Gateway;
use super::subgraph::{Asked, PLANETS, Subgraph, planets};

const APPLICATION: &str = "10000000-0000-0000-0000-000000000001";

/// An identity provider that fails some times before it gives the token `good`.
pub(super) struct Provider {
    pub(super) port: u16,
    tries: Arc<AtomicU32>,
    fails: Arc<AtomicBool>,
    _runtime: tokio::runtime::Runtime,
}

impl Provider {
    pub(super) fn failing(times: u32, status: u16) -> Provider {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        let tries = Arc::new(AtomicU32::new(0));
        let fails = Arc::new(AtomicBool::new(false));
        let (counted, failing) = (Arc::clone(&tries), Arc::clone(&fails));
        let log_in = post(move |body: axum::Json<Value>| async move {
            assert_eq!(body["loginId"], "gateway");
            assert_eq!(body["password"], "hunter2");
            assert_eq!(body["applicationId"], APPLICATION);
            let is_early = counted.fetch_add(1, Ordering::SeqCst) < times;
            if is_early || failing.load(Ordering::SeqCst) {
                (StatusCode::from_u16(status).unwrap(), axum::Json(json!({})))
            } else {
                (
                    StatusCode::OK,
                    axum::Json(json!({"token": "good", "user": {}})),
                )
            }
        });
        let routes = axum::Router::new().route("/api/login", log_in);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0");
        let listener = runtime.block_on(listener).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Provider {
            port,
            tries,
            fails,
            _runtime: runtime,
        }
    }

    pub(super) fn fail(&self) {
        self.fails.store(true, Ordering::SeqCst);
    }

    pub(super) fn recover(&self) {
        self.fails.store(false, Ordering::SeqCst);
    }

    pub(super) fn tries(&self) -> u32 {
        self.tries.load(Ordering::SeqCst)
    }
}

pub(super) fn secured(subgraph: &Subgraph, port: u16, variables: &[(&str, &str)]) -> Gateway {
    let (url, port) = (subgraph.url("/graphql"), port.to_string());
    let own = [
        ("GRAPHQL_SERVICE_0", url.as_str()),
        ("SECURITY_ENABLED", "true"),
        ("IDP_APPLICATION_ID", APPLICATION),
        ("IDP_PROTOCOL", "http"),
        ("IDP_HOST", "127.0.0.1"),
        ("IDP_PORT", &port),
        ("IDP_USERNAME", "gateway"),
        ("IDP_PASSWORD", "hunter2"),
    ];
    let all: Vec<_> = own.iter().chain(variables).copied().collect();
    Gateway::start(&all)
}

#[test]
fn the_token_reads_the_schemas_alone_and_is_dropped() {
    let provider = Provider::failing(0, 500);
    let subgraph = Subgraph::start_with(PLANETS, Some("good"), planets);
    let mut gateway = secured(&subgraph, provider.port, &[]);
    gateway.composed();
    let [asked] = subgraph.asked_for_schema().try_into().unwrap();
    assert_eq!(asked.header("authorization"), Some("Bearer good"));
    let refused = gateway.post("{ planets { title } }", &[]);
    assert_eq!(refused.code(), "UNAUTHENTICATED", "{}", refused.text);
    let served = gateway.post("{ planets { title } }", &[("authorization", "Bearer good")]);
    assert_eq!(served.json()["data"]["planets"][0]["title"], "Tatooine");
    // The record says that it answers, without the token.
    let record = gateway.get("/__health?cache=false").json();
    assert_eq!(record["status"], "OK", "{record}");
    let [first, second] = subgraph.asked().try_into().unwrap();
    assert_eq!(first.header("authorization"), None);
    assert_eq!(second.header("authorization"), Some("Bearer good"));
    let checks = subgraph.health_checks();
    let has_token = |check: &Asked| check.header("authorization").is_some();
    assert!(!checks.is_empty() && !checks.iter().any(has_token));
    assert_eq!(provider.tries(), 1);
    let (_, log) = gateway.stop();
    assert!(!log.contains("hunter2") && !log.contains("Bearer"), "{log}");
}

#[test]
fn a_log_in_that_fails_is_tried_again_after_the_delay() {
    for status in [500, 404, 400] {
        let provider = Provider::failing(2, status);
        let subgraph = Subgraph::start_with(PLANETS, Some("good"), planets);
        let begun = std::time::Instant::now();
        let tries = [("IDP_LOGIN_RETRIES", "2"), ("IDP_LOGIN_RETRY_DELAY", "150")];
        let mut gateway = secured(&subgraph, provider.port, &tries);
        gateway.composed();
        assert_eq!(provider.tries(), 3, "{status}");
        assert!(begun.elapsed().as_millis() >= 300, "{status}");
    }
}

#[test]
fn after_the_retries_the_gateway_exits_with_1() {
    let provider = Provider::failing(9, 500);
    let subgraph = Subgraph::start_with(PLANETS, Some("good"), planets);
    let tries = [("IDP_LOGIN_RETRIES", "1"), ("IDP_LOGIN_RETRY_DELAY", "10")];
    let (code, log) = secured(&subgraph, provider.port, &tries).end();
    assert_eq!(code, Some(1), "{log}");
    assert_eq!(provider.tries(), 2);
    assert!(log.contains("no log-in after 2 attempts"), "{log}");
    assert!(subgraph.asked_for_schema().is_empty());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (code, log) = secured(&subgraph, port, &tries).end();
    assert_eq!(code, Some(1), "{log}");
}

#[test]
fn missing_variables_of_the_provider_are_named() {
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql"),
        ("SECURITY_ENABLED", "true"),
        ("IDP_HOST", "idp"),
        ("IDP_USERNAME", "gateway"),
    ]);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(64), "{log}");
    for name in [
        "IDP_APPLICATION_ID",
        "IDP_PROTOCOL",
        "IDP_PORT",
        "IDP_PASSWORD",
    ] {
        assert!(log.contains(name), "{name}: {log}");
    }
    assert!(!log.contains("IDP_HOST"), "{log}");
}

#[test]
fn without_security_nobody_logs_in() {
    let provider = Provider::failing(0, 500);
    let subgraph = Subgraph::planets();
    let off = [("SECURITY_ENABLED", "false")];
    let mut gateway = secured(&subgraph, provider.port, &off);
    gateway.composed();
    assert_eq!(provider.tries(), 0);
    let [asked] = subgraph.asked_for_schema().try_into().unwrap();
    assert_eq!(asked.header("authorization"), None);
}
