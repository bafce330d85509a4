//! Which requests HAProxy lets pass, where they go, and what they carry.

use super::harness::{Proxy, Services, accepted, bearer};
use crate::authentication::keys::Signer;
use crate::authentication::process::send;

/// HAProxy in front of servers that record, with a good token.
struct World {
    services: Services,
    proxy: Proxy,
    token: Vec<u8>,
}

impl World {
    fn start() -> World {
        World::with(&[])
    }

    fn with(variables: &[(&str, &str)]) -> World {
        let (signer, services) = (Signer::rsa(), Services::start());
        let proxy = Proxy::recording(&signer, &services, variables);
        let token = bearer(&accepted(&signer).token());
        World {
            services,
            proxy,
            token,
        }
    }

    /// Sends a request and returns its status, and the service that it has come to with its head there.
    fn send(&self, method: &str, target: &str, headers: &[u8]) -> (u16, Option<(&str, String)>) {
        let reply = self.proxy.send(method, target, headers);
        let mut reached = self.services.take();
        assert!(reached.len() <= 1, "{reached:?}");
        (reply.status, reached.pop())
    }
}

/// Returns the value of a header in the head of a request; empty where there is none.
pub(super) fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let lines: Vec<_> = head
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .collect();
    assert!(lines.len() <= 1, "{name}: {head}");
    lines.first().copied().unwrap_or_default()
}

/// Targets, with the service and the path that they lead to.
pub(super) const ROUTES: &[(&str, &str, &str)] = &[
    ("/graphql", "gateway", "/graphql"),
    ("/graphql/", "gateway", "/graphql/"),
    (
        "/graphql?query=%7B__typename%7D",
        "gateway",
        "/graphql?query=%7b__typename%7d",
    ),
    ("/schema.graphql", "gateway", "/schema.graphql"),
    ("/examples", "gateway", "/examples"),
    ("/gateway/graphql", "gateway", "/graphql"),
    ("/gateway/unknown", "gateway", "/unknown"),
    ("/objects/graphql", "objects", "/graphql"),
    ("/objects/soml", "objects", "/soml"),
    (
        "/objects/soml/swapi/objects",
        "objects",
        "/soml/swapi/objects",
    ),
    ("/objects/objects/soml", "objects", "/objects/soml"),
    ("/objects/changes?after=1", "objects", "/changes?after=1"),
    ("/searches/graphql", "searches", "/graphql"),
    ("/searches/soml/info", "searches", "/soml/info"),
    ("/extension/graphql", "extension", "/graphql"),
    ("/extension/", "extension", "/"),
];

/// Targets that anybody may ask for, with the service and the path that they lead to.
pub(super) const PUBLIC: &[(&str, &str, &str)] = &[
    ("/", "gateway", "/"),
    ("/__health", "gateway", "/__health"),
    ("/__gtg", "gateway", "/__gtg"),
    ("/__trouble", "gateway", "/__trouble"),
    ("/__about", "gateway", "/__about"),
    ("/__live", "gateway", "/__live"),
    ("/__ready/", "gateway", "/__ready/"),
    ("/docs", "gateway", "/docs"),
    ("/docs/queries", "gateway", "/docs/queries"),
    ("/graphiql/1.0/page.js", "gateway", "/graphiql/1.0/page.js"),
    ("/?query=x", "gateway", "/?query=x"),
    (
        "/.well-known/jwks.json",
        "objects",
        "/.well-known/jwks.json",
    ),
    ("/objects/", "objects", "/"),
    ("/objects/__health", "objects", "/__health"),
    ("/objects/__health?", "objects", "/__health?"),
    (
        "/objects/__health?cache=true",
        "objects",
        "/__health?cache=true",
    ),
    (
        "/objects/__health?x=1&cache=true&y",
        "objects",
        "/__health?x=1&cache=true&y",
    ),
    (
        "/objects/__health?cached=false",
        "objects",
        "/__health?cached=false",
    ),
    (
        "/objects/.well-known/jwks.json",
        "objects",
        "/.well-known/jwks.json",
    ),
    ("/searches/__gtg", "searches", "/__gtg"),
    ("/searches/docs/", "searches", "/docs/"),
    ("/gateway/__about", "gateway", "/__about"),
    ("/extension/__health", "extension", "/__health"),
    ("/extension/__gtg", "extension", "/__gtg"),
];

/// Targets that need a token, though they resemble those that need none.
pub(super) const GUARDED: &[&str] = &[
    "/__health?cache=false",
    "/__health?x=1&cache=false",
    "/__health?c%61che=false",
    "/__health?cache",
    "/__health?cache=perhaps",
    "/__health?cache=true&cache=false",
    "/__health?cache=true;cache=false",
    "/__health?+cache=false",
    "/objects/__gtg?cache=false",
    "/searches/__trouble/?cache=false",
    "/extension/__about?cache=false",
    "/__HEALTH",
    "/__healthz",
    "/__health/x",
    "/GraphQL",
    "/Objects/__health",
    "/objects/objects/__health",
    "/objects/gateway/__health",
    "/objectsx/__health",
    "/docs/a/b",
    "/graphiql/1.0",
    "/graphiql/1.0/a/b",
    "/examples",
    "/schema.graphql",
    "/metrics",
    "/objects/metrics",
    "/objects/examples",
    "/api/login/x",
    "/.well-known/other",
    "/searches/.well-known/jwks.json",
    "/gateway/api/login",
    "/extension/",
    "/extension/docs",
    "/extension/__live",
    "/unknown",
    "/admin",
];

#[test]
#[ignore = "needs HAProxy"]
fn the_api_gateway_of_1_5_routes_to_the_services_those_with_a_token() {
    let world = World::start();
    for (target, service, path) in ROUTES {
        let (status, reached) = world.send("GET", target, b"");
        assert_eq!((status, reached), (401, None), "{target}");
        let (status, reached) = world.send("GET", target, &world.token);
        let (name, head) = reached.unwrap_or_else(|| panic!("{target}"));
        assert_eq!((status, name), (200, *service), "{target}");
        assert!(
            head.starts_with(&format!("get {path} http/1.1\n")),
            "{head}"
        );
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn the_public_paths_of_5_1_4_and_pages_need_no_token_and_nothing_else_is_public() {
    let world = World::start();
    for (target, service, path) in PUBLIC {
        for method in ["GET", "HEAD"] {
            // A token that nobody has verified goes no further.
            for headers in [&b""[..], b"Authorization: Bearer a.b.c\r\n"] {
                let (status, reached) = world.send(method, target, headers);
                let (name, head) = reached.unwrap_or_else(|| panic!("{target}"));
                assert_eq!((status, name), (200, *service), "{target}");
                let line = format!("{} {path} http/1.1\n", method.to_lowercase());
                assert!(head.starts_with(&line), "{head}");
                assert_eq!(header(&head, "authorization"), "", "{head}");
            }
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            assert_eq!(
                world.send(method, target, b""),
                (401, None),
                "{method} {target}"
            );
        }
    }
    for target in GUARDED {
        for method in ["GET", "HEAD", "POST"] {
            assert_eq!(
                world.send(method, target, b""),
                (401, None),
                "{method} {target}"
            );
        }
    }
    for target in ["/api/login", "/objects/api/login"] {
        assert_eq!(world.send("GET", target, b""), (401, None), "{target}");
        let (status, reached) = world.send("POST", target, b"");
        assert_eq!((status, reached.unwrap().0), (200, "objects"), "{target}");
    }
    for target in ["/searches/api/login", "/extension/api/login", "/api/Login"] {
        assert_eq!(world.send("POST", target, b""), (401, None), "{target}");
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn metrics_and_unknown_paths_are_404_also_for_those_with_a_token() {
    let world = World::start();
    for target in [
        "/metrics",
        "/objects/metrics",
        "/searches/metrics/",
        "/gateway/metrics/x",
        "/unknown",
        "/docs/a/b",
        "/GRAPHQL",
        "/objectsx/graphql",
        "/soml",
    ] {
        let reply = world.proxy.get(target, &world.token);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "PATH_NOT_FOUND"),
            "{target}"
        );
    }
    assert!(world.services.take().is_empty());
}

/// Ways to write a path, in which somebody may look for a way around the rules.
pub(super) const TRICKS: &[&str] = &[
    "//graphql",
    "/./graphql",
    "/../graphql",
    "/x/../graphql",
    "/__health/../graphql",
    "/__health/..",
    "/__health/.",
    "/__health/%2e%2e/graphql",
    "/__health/%2E%2E/graphql",
    "/__health/..%2fgraphql",
    "/__health%2f..%2fgraphql",
    "/__health%2f%2e%2e%2fgraphql",
    "/__health/..%5cgraphql",
    "/__health\\..\\graphql",
    "/__health/..;/graphql",
    "/__health;/../graphql",
    "/graphql;x=1",
    "/objects;/__health",
    "/objects/../searches/graphql",
    "/objects/%2e%2e/graphql",
    "/objects//graphql",
    "/objects/./graphql",
    "/objects/graphql%00",
    "/objects/graphql%0a",
    "/objects%2fgraphql",
    "/%67raphql",
    "/%6fbjects/soml",
    "/docs/%2e%2e/graphql",
    "/docs/..%2f..%2fobjects%2fsoml",
    "/docs/..",
    "/docs//",
    "/__health//",
    "//__health",
    "///",
    "/graphql%",
    "/graphql%zz",
    "/graphql%252e",
    "/graphql#",
    "/graphql#/__health",
    "/__health?x#/graphql",
    "/__health#cache=false",
    "/gr\u{e4}phql",
    "/graphql\u{7f}",
    "/{graphql}",
    "/graphql|",
    "/graphql,x",
    "/graphql:80",
    "/@graphql",
    "/$graphql",
    "/graphql*",
    "*",
    "graphql",
    "?query=x",
    "",
];

#[test]
#[ignore = "needs HAProxy"]
fn no_way_to_write_a_path_goes_around_the_rules() {
    let world = World::start();
    for target in TRICKS {
        for headers in [&b""[..], &world.token] {
            for method in ["GET", "POST", "OPTIONS"] {
                let (status, reached) = world.send(method, target, headers);
                assert_eq!((status, reached), (400, None), "{method} {target}");
            }
        }
    }
    for target in [
        "http://localhost/graphql",
        "http://localhost/__health",
        "HTTP://localhost/graphql",
        "https://evil.example/__health",
        "ftp://localhost/__health",
        "localhost:80",
        "//localhost/__health",
    ] {
        let (status, reached) = world.send("GET", target, &world.token);
        assert_eq!((status, reached), (400, None), "{target}");
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn other_methods_and_what_is_not_http_are_refused() {
    let world = World::start();
    for method in ["TRACE", "PATCH", "CONNECT", "PROPFIND", "get", "X"] {
        for target in ["/graphql", "/__health"] {
            let (status, reached) = world.send(method, target, &world.token);
            assert!(
                matches!(status, 400 | 405) && reached.is_none(),
                "{method}: {status}"
            );
        }
    }
    let length = "Content-Length: 3\r\n";
    for headers in [
        // Two ends of one body, in which somebody may hide a second request.
        format!("{length}Content-Length: 4\r\n"),
        format!("{length}Transfer-Encoding: chunked\r\n"),
        "Transfer-Encoding: x, chunked\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Content-Length: -1\r\n".to_owned(),
        "Content-Length: 1x\r\n".to_owned(),
        "A header without a colon\r\n".to_owned(),
        "Na me: x\r\n".to_owned(),
        "Host: other\r\n".to_owned(),
        // No protocol below HTTP but WebSockets with the gateway.
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n".to_owned(),
        "Upgrade: h2c, websocket\r\nConnection: Upgrade\r\n".to_owned(),
    ] {
        let headers = [headers.as_bytes(), &world.token].concat();
        let reply = send(&world.proxy.address, ("POST", "/graphql"), &headers, b"");
        let reached = world.services.take();
        let heads: Vec<_> = reached.iter().map(|(_, head)| head).collect();
        let is_harmless = reply.status == 400 || heads.iter().all(|head| is_plain(head));
        let headers = String::from_utf8_lossy(&headers);
        assert!(is_harmless, "{headers}: {} {heads:?}", reply.status);
    }
    let upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for target in ["/objects/graphql", "/__health", "/gateway/__health"] {
        let headers = [&upgrade[..], &world.token].concat();
        let reply = world.proxy.get(target, &headers);
        assert_eq!(reply.code(), "WEBSOCKET_HANDSHAKE", "{target}");
    }
    assert!(world.services.take().is_empty());
}

/// Returns whether a head has one body with one end.
fn is_plain(head: &str) -> bool {
    let has = |name: &str| head.contains(&format!("\n{name}: "));
    let has_one_end = !has("content-length") || !has("transfer-encoding");
    has_one_end && !has("upgrade")
}

#[test]
#[ignore = "needs HAProxy"]
fn what_services_learn_of_a_connection_is_what_the_proxy_says() {
    let world = World::start();
    let lies = b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\nX-Forwarded-Proto: https\r\n\
                 X-Forwarded-Host: evil.example\r\nX-Forwarded-Prefix: /evil\r\nX-Forwarded-Port: 1\r\n\
                 X-Forwarded-Server: x\r\nForwarded: for=192.0.2.1\r\nX-Real-IP: 192.0.2.1\r\n";
    for (target, prefix) in [
        ("/graphql", ""),
        ("/objects/graphql", "/objects"),
        ("/__health", ""),
    ] {
        let headers = [&lies[..], &world.token].concat();
        let (_, reached) = world.send("GET", target, &headers);
        let (_, head) = reached.unwrap();
        for (name, value) in [
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", "localhost"),
            ("host", "localhost"),
            ("x-forwarded-prefix", prefix),
            ("x-forwarded-port", ""),
            ("x-forwarded-server", ""),
            ("forwarded", ""),
            ("x-real-ip", ""),
        ] {
            assert_eq!(header(&head, name), value, "{target} {name}: {head}");
        }
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn the_identifier_of_5_3_is_made_where_there_is_none_and_is_forwarded_and_returned() {
    let world = World::start();
    let identify = |headers: &str| {
        let headers = [headers.as_bytes(), &world.token].concat();
        let reply = world.proxy.get("/graphql", &headers);
        let (_, head) = world.services.take().pop().unwrap();
        let sent = header(&head, "x-request-id").to_owned();
        assert_eq!(reply.header("x-request-id"), sent);
        sent
    };
    assert_eq!(identify("X-Request-ID: my own, 1\r\n"), "my own, 1");
    let (first, second) = (identify(""), identify(""));
    assert!(first.len() == 36 && first != second, "{first} {second}");
    for bad in [
        "X-Request-ID: \r\n".to_owned(),
        "X-Request-ID: a\tb\r\n".to_owned(),
        "X-Request-ID: \u{e4}\r\n".to_owned(),
        format!("X-Request-ID: {}\r\n", "x".repeat(129)),
        "X-Request-ID: a\r\nX-Request-ID: b\r\n".to_owned(),
    ] {
        assert_eq!(identify(&bad).len(), 36, "{bad}");
    }
    // Also where nothing is forwarded.
    let refused = world.proxy.get("/graphql", b"X-Request-ID: mine\r\n");
    assert_eq!(
        (refused.status, refused.header("x-request-id").as_str()),
        (401, "mine")
    );
}

#[test]
#[ignore = "needs HAProxy"]
fn preflights_pass_without_a_token_and_only_they() {
    let world = World::start();
    let preflight = "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n";
    let (status, reached) = world.send("OPTIONS", "/graphql", preflight.as_bytes());
    assert_eq!((status, reached.unwrap().0), (200, "gateway"));
    let origin = "Origin: https://app.example\r\n";
    let method = "Access-Control-Request-Method: POST\r\n";
    let bad = format!("{preflight}Authorization: Bearer a.b.c\r\n");
    for headers in ["", origin, method, &bad] {
        assert_eq!(
            world.send("OPTIONS", "/graphql", headers.as_bytes()),
            (401, None),
            "{headers}"
        );
    }
    assert_eq!(
        world.send("POST", "/graphql", preflight.as_bytes()),
        (401, None)
    );
}

#[test]
#[ignore = "needs HAProxy"]
fn a_prefix_without_its_slash_leads_to_the_page_below_it() {
    let world = World::start();
    for name in ["objects", "searches", "gateway", "extension"] {
        let reply = world.proxy.get(&format!("/{name}"), b"");
        assert_eq!(
            (reply.status, reply.header("location")),
            (308, format!("/{name}/"))
        );
    }
    assert!(world.services.take().is_empty());
}

#[test]
#[ignore = "needs HAProxy"]
fn clients_speak_tls_and_http_2_where_there_is_a_certificate() {
    let folder = tempfile::TempDir::new().unwrap();
    let pem = folder.path().join("edge.pem");
    let [key, certificate] = ["key", "certificate"].map(|name| folder.path().join(name));
    let made = std::process::Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let both = [&certificate, &key].map(|file| std::fs::read(file).unwrap());
    std::fs::write(&pem, both.concat()).unwrap();
    let options = format!("ssl crt {} alpn h2,http/1.1", pem.display());
    let world = World::with(&[("LISTEN_OPTIONS", &options)]);
    let port = world.proxy.address.rsplit(':').next().unwrap();
    let token = String::from_utf8(world.token.clone()).unwrap();
    for (version, number) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let output = std::process::Command::new("curl")
            .args([
                "-sS",
                version,
                "-w",
                "\n%{http_version}",
                "-D",
                "-",
                "--cacert",
            ])
            .arg(&certificate)
            .args([
                "-H",
                token.trim(),
                &format!("https://localhost:{port}/objects/soml"),
            ])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).to_lowercase();
        assert!(said.contains(" 200"), "{said} {output:?}");
        assert!(
            said.contains("\nstrict-transport-security: max-age="),
            "{said}"
        );
        assert!(said.ends_with(&format!("\n{number}")), "{said}");
        let (name, head) = world.services.take().pop().unwrap();
        assert_eq!(
            (name, header(&head, "x-forwarded-proto")),
            ("objects", "https"),
            "{head}"
        );
        assert!(head.starts_with("get /soml http/1.1\n"), "{head}");
    }
}
