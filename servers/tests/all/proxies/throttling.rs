//! Bounds on what clients may ask for, send and hold.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::harness::{Proxy, Services, accepted, bearer};
use crate::authentication::keys::Signer;
use crate::authentication::process::send;
use crate::processes::PATIENCE;

/// So long that no window ends while a test runs.
const LONG: (&str, &str) = ("LIMIT_SECONDS", "600");

fn token_of(signer: &Signer, subject: &str) -> Vec<u8> {
    let claims = accepted(signer).claims_with(json!({"sub": subject}));
    bearer(&signer.token(&claims))
}

/// Takes what is said of an address and of a caller apart.
fn split(limits: &str) -> (String, String) {
    let (address, caller) = limits.split_once(", ").unwrap();
    (address.to_owned(), caller.to_owned())
}

#[test]
#[ignore = "needs HAProxy"]
fn the_throttling_of_1_5_counts_the_requests_of_each_subject() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[LONG, ("LIMIT_SUBJECT", "5")]);
    let (anna, bert) = (token_of(&signer, "anna"), token_of(&signer, "bert"));
    for left in ["4", "3", "2", "1", "0"] {
        let reply = proxy.get("/objects/soml", &anna);
        assert_eq!(reply.status, 200);
        let (_, caller) = split(&reply.header("ratelimit"));
        assert_eq!(caller, format!("\"caller\";r={left};t=1200"));
        let policies = "\"address\";q=1000000;w=600, \"caller\";q=5;w=600";
        assert_eq!(reply.header("ratelimit-policy"), policies);
    }
    // Another token of the same subject is no way around it, nor is another service.
    let claims = accepted(&signer).claims_with(json!({"sub": "anna", "jti": "2"}));
    let again = bearer(&signer.token(&claims));
    for (target, token) in [("/objects/soml", &anna), ("/graphql", &again)] {
        let reply = proxy.get(target, token);
        assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
        assert_eq!(reply.header("retry-after"), "1200");
        let (_, caller) = split(&reply.header("ratelimit"));
        assert_eq!(caller, "\"caller\";r=0;t=1200");
        assert_eq!(reply.header("x-request-id").len(), 36);
    }
    assert_eq!(services.take().len(), 5);
    assert_eq!(proxy.get("/objects/soml", &bert).status, 200);
    assert_eq!(proxy.get("/__health", b"").status, 200);
}

#[test]
#[ignore = "needs HAProxy"]
fn an_address_is_throttled_whatever_it_sends() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[LONG, ("LIMIT_ADDRESS", "20")]);
    let good = token_of(&signer, "anna");
    for (target, headers, status) in [
        ("/__health", &b""[..], 200),
        ("/graphql", b"Authorization: Bearer a.b.c\r\n", 401),
        ("/graphql", b"", 401),
        ("//graphql", b"", 400),
        ("/unknown", &good, 404),
        ("/graphql", &good, 200),
    ] {
        assert_eq!(proxy.get(target, headers).status, status, "{target}");
    }
    let left = (0..20).take_while(|_| proxy.get("/graphql", b"").status == 401);
    // A connection without a request may count, too.
    assert!(matches!(left.count(), 12..=14));
    services.take();
    for headers in [&b""[..], &good, b"X-Forwarded-For: 192.0.2.1\r\n"] {
        for target in ["/__health", "/graphql"] {
            let reply = proxy.get(target, headers);
            assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
            assert_eq!(reply.header("retry-after"), "1200");
            assert_eq!(reply.header("ratelimit"), "\"address\";r=0;t=1200");
            assert_eq!(reply.header("ratelimit-policy"), "\"address\";q=20;w=600");
        }
    }
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs HAProxy"]
fn who_waits_as_long_as_retry_after_says_is_answered_again() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let limits = [("LIMIT_SECONDS", "1"), ("LIMIT_SUBJECT", "2")];
    let proxy = Proxy::recording(&signer, &services, &limits);
    let token = token_of(&signer, "anna");
    let begun = Instant::now();
    let refused = loop {
        let reply = proxy.get("/graphql", &token);
        if reply.status == 429 {
            break reply;
        }
        assert!(begun.elapsed() < PATIENCE);
    };
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    std::thread::sleep(Duration::from_secs(seconds));
    assert_eq!(proxy.get("/graphql", &token).status, 200);
}

#[test]
#[ignore = "needs HAProxy"]
fn log_ins_from_an_address_are_throttled_before_the_provider_is_asked() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[LONG, ("LIMIT_LOGINS", "3")]);
    for target in ["/api/login", "/objects/api/login", "/api/login"] {
        assert_eq!(proxy.send("POST", target, b"").status, 200);
    }
    for target in ["/api/login", "/objects/api/login"] {
        let reply = proxy.send("POST", target, b"");
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (429, "LOGIN_RATE_LIMITED")
        );
        assert_eq!(reply.header("retry-after"), "1200");
    }
    assert_eq!(services.take().len(), 3);
    // Whoever has a token goes on.
    assert_eq!(
        proxy.get("/graphql", &token_of(&signer, "anna")).status,
        200
    );
}

#[test]
#[ignore = "needs HAProxy"]
fn an_address_holds_a_bounded_number_of_connections() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[("LIMIT_CONNECTIONS", "20")]);
    let held: Vec<_> = (0..30)
        .map(|_| TcpStream::connect(&proxy.address).unwrap())
        .collect();
    // Those that are too many are closed, and the others wait for a request.
    let is_closed = |mut stream: &TcpStream| {
        stream
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        !matches!(stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let begun = Instant::now();
    while !held.iter().rev().take(5).all(is_closed) {
        assert!(begun.elapsed() < PATIENCE);
    }
    drop(held);
    crate::processes::eventually(|| {
        let mut stream = TcpStream::connect(&proxy.address).unwrap();
        let request = b"GET /__health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let mut answer = String::new();
        // The connection may still be one too many.
        let _ = stream.write_all(request);
        let _ = stream.read_to_string(&mut answer);
        answer.starts_with("HTTP/1.1 200")
    });
}

/// Sends what it is given, then a byte at a time until the other side closes; returns what that has said.
pub(super) fn drip(address: &str, beginning: &[u8], byte: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(beginning).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let (begun, mut said) = (Instant::now(), Vec::new());
    let mut buffer = [0; 4_096];
    loop {
        assert!(
            begun.elapsed() < PATIENCE,
            "a slow client is served for ever"
        );
        // Once it is closed, a write may fail before what was said is read.
        let _ = stream.write_all(byte);
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => said.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    String::from_utf8(said).unwrap()
}

#[test]
#[ignore = "needs HAProxy"]
fn a_client_that_sends_slowly_is_cut_off_before_a_service_is_asked() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[]);
    let token = String::from_utf8(token_of(&signer, "anna")).unwrap();
    let head = "GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let said = drip(&proxy.address, head.as_bytes(), b"x");
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    let body = format!(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\n{token}Content-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{"
    );
    let said = drip(&proxy.address, body.as_bytes(), b" ");
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs HAProxy"]
fn bodies_and_heads_are_bounded() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let limits = [("MAX_BODY", "20000"), ("MAX_SCHEMA", "40000")];
    let proxy = Proxy::recording(&signer, &services, &limits);
    let token = token_of(&signer, "anna");
    let post = |target: &str, length: usize| {
        let reply = send(
            &proxy.address,
            ("POST", target),
            &token,
            &vec![b' '; length],
        );
        (reply.status, services.take().len())
    };
    for (target, length) in [
        ("/graphql", 20_000),
        ("/objects/graphql", 19_999),
        ("/objects/soml", 40_000),
        ("/searches/soml/validate", 40_000),
    ] {
        assert_eq!(post(target, length), (200, 1), "{target}");
    }
    for (target, length) in [
        ("/graphql", 20_001),
        ("/objects/graphql", 40_000),
        ("/objects/soml", 40_001),
        ("/objects/somlx", 20_001),
    ] {
        assert_eq!(post(target, length), (413, 0), "{target}");
    }
    // What the client says of the length is enough: the body is not waited for.
    let headers = [b"Content-Length: 999999999999\r\n", &token[..]].concat();
    let reply = proxy.send("POST", "/graphql", &headers);
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (413, "BODY_TOO_LARGE")
    );
    let long = format!("X: {}\r\n", "x".repeat(20_000));
    assert_eq!(proxy.get("/__health", long.as_bytes()).status, 400);
    let many = "X: x\r\n".repeat(200);
    assert_eq!(proxy.get("/__health", many.as_bytes()).status, 400);
    let target = format!("/__health?{}", "x".repeat(20_000));
    assert_eq!(proxy.get(&target, b"").status, 400);
    assert!(services.take().is_empty());
}
