//! nginx with the routes, limits and headers of HAProxy, and without tokens.

use test_support::sockets::{Behaviour, answer};

use super::harness::{Proxy, Services};
use super::routes::{ROUTES, TRICKS, header};
use super::throttling::drip;
use crate::authentication::process::send;
use crate::processes::eventually;

#[test]
#[ignore = "needs nginx"]
fn nginx_routes_as_haproxy_does_and_leaves_tokens_to_the_services() {
    let services = Services::start();
    let proxy = Proxy::nginx_recording(&services, &[]);
    let extra = [
        ("/", "gateway", "/"),
        ("/__health?cache=false", "gateway", "/__health?cache=false"),
        ("/docs/queries", "gateway", "/docs/queries"),
        ("/objects/__gtg", "objects", "/__gtg"),
        ("/api/login", "objects", "/api/login"),
        (
            "/.well-known/jwks.json",
            "objects",
            "/.well-known/jwks.json",
        ),
    ];
    for (target, service, path) in ROUTES.iter().chain(&extra) {
        let reply = proxy.get(target, b"Authorization: Bearer a.b.c\r\n");
        let (name, head) = services.take().pop().unwrap_or_else(|| panic!("{target}"));
        assert_eq!((reply.status, name), (200, *service), "{target}");
        assert!(
            head.starts_with(&format!("get {path} http/1.1\n")),
            "{head}"
        );
        assert_eq!(header(&head, "authorization"), "bearer a.b.c", "{head}");
        let prefix = format!("/{name}");
        let below = target.starts_with(&prefix);
        let prefix = if below { &*prefix } else { "" };
        assert_eq!(header(&head, "x-forwarded-prefix"), prefix, "{head}");
    }
    for name in ["objects", "searches", "gateway", "extension"] {
        let reply = proxy.get(&format!("/{name}"), b"");
        assert_eq!(
            (reply.status, reply.header("location")),
            (308, format!("/{name}/"))
        );
    }
    for target in [
        "/metrics",
        "/objects/metrics",
        "/unknown",
        "/GRAPHQL",
        "/soml",
        "/__refused",
    ] {
        let reply = proxy.get(target, b"");
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "PATH_NOT_FOUND"),
            "{target}"
        );
    }
    for method in ["TRACE", "PATCH", "PROPFIND"] {
        assert_eq!(proxy.send(method, "/graphql", b"").status, 405, "{method}");
    }
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs nginx"]
fn nginx_takes_no_other_way_to_write_a_path() {
    let services = Services::start();
    let proxy = Proxy::nginx_recording(&services, &[]);
    for target in TRICKS {
        let reply = proxy.get(target, b"");
        assert!(
            matches!(reply.status, 400 | 404),
            "{target}: {}",
            reply.text
        );
        let reached = services.take();
        assert!(reached.is_empty(), "{target} reaches {reached:?}");
    }
}

#[test]
#[ignore = "needs nginx"]
fn nginx_says_who_a_client_is_and_identifies_requests() {
    let services = Services::start();
    let proxy = Proxy::nginx_recording(&services, &[]);
    let lies = b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n\
                 X-Forwarded-Prefix: /evil\r\nX-Forwarded-Port: 1\r\nForwarded: for=192.0.2.1\r\n\
                 X-Real-IP: 192.0.2.1\r\nX-Request-ID: mine, 1\r\n";
    let reply = proxy.get("/objects/graphql", lies);
    let (_, head) = services.take().pop().unwrap();
    for (name, value) in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-host", "localhost"),
        ("host", "localhost"),
        ("x-forwarded-prefix", "/objects"),
        ("x-forwarded-port", ""),
        ("forwarded", ""),
        ("x-real-ip", ""),
        ("x-request-id", "mine, 1"),
    ] {
        assert_eq!(header(&head, name), value, "{name}: {head}");
    }
    assert_eq!(reply.header("x-request-id"), "mine, 1");
    for bad in ["", "X-Request-ID: \u{e4}\r\n", "X-Request-ID: \r\n"] {
        let reply = proxy.get("/graphql", bad.as_bytes());
        let (_, head) = services.take().pop().unwrap();
        let sent = header(&head, "x-request-id");
        assert!(
            sent.len() == 32 && reply.header("x-request-id") == sent,
            "{head}"
        );
    }
    let upgrade = b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n";
    for headers in [
        &upgrade[..],
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
    ] {
        proxy.get("/objects/graphql", headers);
        let (_, head) = services.take().pop().unwrap();
        assert_eq!(header(&head, "upgrade"), "", "{head}");
    }
}

#[test]
#[ignore = "needs nginx"]
fn nginx_throttles_and_bounds_what_clients_send() {
    let services = Services::start();
    let limits = [("LIMIT_RATE", "1r/m"), ("LIMIT_BURST", "3")];
    let proxy = Proxy::nginx_recording(&services, &limits);
    for _ in 0..4 {
        assert_eq!(proxy.get("/__health", b"").status, 200);
    }
    let reply = proxy.get("/graphql", b"X-Forwarded-For: 192.0.2.1\r\n");
    assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
    assert_eq!(reply.header("retry-after"), "10");
    assert_eq!(reply.header("x-request-id").len(), 32);
    assert_eq!(services.take().len(), 4);

    let proxy = Proxy::nginx_recording(&services, &[]);
    let post = |target: &str, length: usize| {
        let reply = send(&proxy.address, ("POST", target), b"", &vec![b' '; length]);
        (reply.status, services.take().len())
    };
    let (small, large) = (1 << 20, 8 << 20);
    assert_eq!(post("/graphql", small), (200, 1));
    assert_eq!(post("/objects/soml", large), (200, 1));
    assert_eq!(post("/searches/soml/validate", large), (200, 1));
    let headers = |length: usize| format!("Content-Length: {}\r\n", length + 1);
    for (target, length) in [("/graphql", small), ("/objects/soml", large)] {
        let reply = proxy.send("POST", target, headers(length).as_bytes());
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (413, "BODY_TOO_LARGE"),
            "{target}"
        );
    }
    let long = format!("X: {}\r\n", "x".repeat(70_000));
    assert_eq!(proxy.get("/__health", long.as_bytes()).status, 400);
    drip(
        &proxy.address,
        b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"x",
    );
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs nginx"]
fn a_dead_service_behind_nginx_leaves_the_others_working() {
    let services = Services::start();
    let nobody = test_support::sockets::nobody();
    let nobody = nobody
        .trim_start_matches("http://")
        .trim_end_matches("/graphql");
    let proxy = Proxy::nginx_recording(&services, &[("EXTENSION_SERVICE", nobody)]);
    let reply = proxy.get("/extension/graphql", b"");
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (502, "UPSTREAM_FAILED")
    );
    services.searches.change(Behaviour::Closes(Vec::new()));
    let reply = proxy.get("/searches/graphql", b"");
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (502, "UPSTREAM_FAILED")
    );
    for target in ["/objects/graphql", "/graphql", "/__health"] {
        assert_eq!(proxy.get(target, b"").status, 200, "{target}");
    }
    let good = answer("200 OK", "application/json", "{}");
    services.searches.change(Behaviour::Answers(good));
    eventually(|| proxy.get("/searches/graphql", b"").status == 200);
}
