//! Who may call: names of hosts, pages of other origins, CORS; and that whatever is refused has a
//! code.

use std::net::{IpAddr, Ipv4Addr};

use servers::config::{Settings, Sources, read};

use crate::service::{Answer, Service};

const QUERY: &str = "/graphql?query=%7B__typename%7D";

/// Returns settings made of `key=value` pairs.
pub(crate) fn settings(pairs: &[&str]) -> Settings {
    let flags: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
    let sources = Sources {
        flags: &flags,
        ..Sources::default()
    };
    read(&sources).unwrap().0
}

/// Sends a request line and headers over a connection of its own.
fn send(service: &Service, line: &str, headers: &[&str]) -> Answer {
    let headers: String = headers
        .iter()
        .map(|header| format!("{header}\r\n"))
        .collect();
    service.raw(&format!("{line}\r\n{headers}Connection: close\r\n\r\n"))
}

fn get(service: &Service, headers: &[&str]) -> Answer {
    send(service, &format!("GET {QUERY} HTTP/1.1"), headers)
}

/// Checks that each request is answered with this status and code; an empty code is success.
fn check(service: &Service, expected: (u16, &str), requests: &[&[&str]]) {
    for headers in requests {
        let answer = get(service, headers);
        let code = if answer.status == 200 {
            String::new()
        } else {
            answer.code()
        };
        assert_eq!((answer.status, code.as_str()), expected, "{headers:?}");
        assert!(!answer.header("x-request-id").is_empty(), "{headers:?}");
    }
}

const OK: (u16, &str) = (200, "");
const MALFORMED: (u16, &str) = (400, "HOST_MALFORMED");
const NOT_ALLOWED: (u16, &str) = (421, "HOST_NOT_ALLOWED");
const CROSS_SITE: (u16, &str) = (403, "CROSS_SITE");

#[test]
fn on_loopback_only_names_of_the_machine_itself_and_listed_ones_are_taken() {
    let service = Service::demo_with(settings(&["http.allowedHosts=data.example.org, 10.0.0.1"]));
    check(
        &service,
        OK,
        &[
            &["Host: localhost"],
            &["Host: LOCALHOST:1"],
            &["Host: 127.0.0.1:9995"],
            &["Host: 127.9.9.9"],
            &["Host: [::1]:80"],
            &["Host: data.example.org"],
            &["Host: Data.Example.org:8080"],
            &["Host: 10.0.0.1"],
        ],
    );
    check(
        &service,
        NOT_ALLOWED,
        &[
            &["Host: evil.example"],
            &["Host: example.org"],
            &["Host: a.data.example.org"],
            &["Host: localhost.evil.example"],
            &["Host: 0.0.0.0:9995"],
            &["Host: 2130706433"],
        ],
    );
    let nobody = Service::demo();
    check(&nobody, NOT_ALLOWED, &[&["Host: data.example.org"]]);
    check(&nobody, OK, &[&["Host: localhost"]]);
}

#[test]
fn a_missing_or_malformed_host_is_400() {
    let service = Service::demo();
    check(
        &service,
        MALFORMED,
        &[
            &[],
            &["Host: "],
            &["Host: a b"],
            &["Host: http://localhost"],
            &["Host: user@localhost"],
            &["Host: localhost:http"],
            &["Host: localhost:99999"],
            &["Host: ::1"],
            &["Host: localhost", "Host: localhost"],
            &["Host: localhost", "Host: evil.example"],
        ],
    );
    let old = |headers: &[&str]| send(&service, &format!("GET {QUERY} HTTP/1.0"), headers);
    assert_eq!(old(&["Host: localhost"]).status, 200);
    assert_eq!(old(&["Host: evil.example"]).code(), "HOST_NOT_ALLOWED");
    assert_eq!(old(&[]).code(), "HOST_MALFORMED");
}

#[test]
fn the_host_of_an_absolute_target_counts_too() {
    let service = Service::demo();
    let ask = |target: &str, host: &str| {
        let line = format!("GET {target}{QUERY} HTTP/1.1");
        send(&service, &line, &[&format!("Host: {host}")])
    };
    assert_eq!(ask("http://localhost", "localhost").status, 200);
    assert_eq!(ask("http://127.0.0.1:1", "localhost").status, 200);
    for (target, host) in [
        ("http://evil.example", "localhost"),
        ("http://localhost", "evil.example"),
        ("http://evil.example", "evil.example"),
    ] {
        let answer = ask(target, host);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            NOT_ALLOWED,
            "{target} {host}"
        );
    }
    let user = ask("http://evil@localhost", "localhost");
    assert_eq!((user.status, user.code().as_str()), MALFORMED);
    let connect = send(
        &service,
        "CONNECT evil.example:80 HTTP/1.1",
        &["Host: localhost"],
    );
    assert_eq!((connect.status, connect.code().as_str()), NOT_ALLOWED);
}

#[test]
fn on_other_addresses_names_are_checked_when_some_are_listed() {
    let everywhere = |pairs: &[&str]| {
        Service::demo_with(Settings {
            host: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            ..settings(pairs)
        })
    };
    let open = everywhere(&[]);
    check(
        &open,
        OK,
        &[&["Host: anything.example"], &["Host: 10.0.0.1:80"]],
    );
    check(
        &open,
        MALFORMED,
        &[&[], &["Host: a b"], &["Host: a", "Host: a"]],
    );
    // A client of HTTP/1.0 need not send it.
    assert_eq!(
        send(&open, &format!("GET {QUERY} HTTP/1.0"), &[]).status,
        200
    );
    let listed = everywhere(&["http.allowedHosts=data.example.org"]);
    check(
        &listed,
        OK,
        &[&["Host: data.example.org"], &["Host: localhost"]],
    );
    check(&listed, NOT_ALLOWED, &[&["Host: anything.example"]]);
    let old = send(&listed, &format!("GET {QUERY} HTTP/1.0"), &[]);
    assert_eq!(old.code(), "HOST_MALFORMED");
}

#[test]
fn requests_of_pages_of_other_origins_are_refused() {
    let service = Service::demo();
    let host = "Host: localhost:9995";
    check(
        &service,
        OK,
        &[
            &[host, "Sec-Fetch-Site: same-origin"],
            &[host, "Sec-Fetch-Site: none"],
            // The browser knows better than what a proxy makes of `Host`.
            &[
                host,
                "Sec-Fetch-Site: same-origin",
                "Origin: https://data.example.org",
            ],
            &[host, "Origin: http://localhost:9995"],
            &["Host: localhost", "Origin: http://LOCALHOST:80"],
        ],
    );
    check(
        &service,
        CROSS_SITE,
        &[
            &[host, "Sec-Fetch-Site: cross-site"],
            &[host, "Sec-Fetch-Site: same-site"],
            &[host, "Sec-Fetch-Site: else"],
            &[
                host,
                "Sec-Fetch-Site: same-origin",
                "Sec-Fetch-Site: cross-site",
            ],
            &[
                host,
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Mode: navigate",
            ],
            // Browsers that do not say more than where a request comes from.
            &[host, "Origin: http://evil.example"],
            &[host, "Origin: http://localhost:3000"],
            &[host, "Origin: null"],
            &[
                host,
                "Origin: http://localhost:9995",
                "Origin: http://evil.example",
            ],
        ],
    );
}

#[test]
fn methods_that_change_something_are_refused_across_origins_too() {
    let service = Service::demo();
    for (method, path) in [
        ("POST", "/graphql"),
        ("POST", "/soml"),
        ("PUT", "/soml/swapi"),
        ("DELETE", "/soml/swapi/objects"),
        ("OPTIONS", "/graphql"),
        ("GET", "/nowhere"),
    ] {
        for from in ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example"] {
            let line = format!("{method} {path} HTTP/1.1");
            let answer = send(&service, &line, &["Host: localhost", from]);
            assert_eq!(
                (answer.status, answer.code().as_str()),
                CROSS_SITE,
                "{line} {from}"
            );
        }
    }
    assert!(service.query("{ __typename }").contains("Query"));
}

#[test]
fn a_link_to_the_page_can_be_followed_from_anywhere() {
    let service = Service::demo();
    let follow = |line: &str, dest: &str, mode: &str| {
        let dest = format!("Sec-Fetch-Dest: {dest}");
        let mode = format!("Sec-Fetch-Mode: {mode}");
        let site = "Sec-Fetch-Site: cross-site";
        let headers = ["Host: localhost", "Accept: text/html", site, &dest, &mode];
        send(&service, line, &headers)
    };
    let page = follow("GET / HTTP/1.1", "document", "navigate");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("GraphiQL"));
    for (line, dest, mode) in [
        ("GET / HTTP/1.1", "iframe", "navigate"),
        ("GET / HTTP/1.1", "empty", "cors"),
        ("POST / HTTP/1.1", "document", "navigate"),
        (
            "GET /graphql?query=%7B__typename%7D HTTP/1.1",
            "document",
            "navigate",
        ),
        ("GET /__about HTTP/1.1", "document", "navigate"),
    ] {
        assert_eq!(
            follow(line, dest, mode).code(),
            "CROSS_SITE",
            "{line} {dest} {mode}"
        );
    }
}

#[test]
fn listed_origins_may_call_and_read() {
    let origins = "http.cors.allowedOrigins=https://app.example.org, http://localhost:3000";
    let service = Service::demo_with(settings(&[origins, "http.cors.maxAge=5000"]));
    let app = [
        "Host: localhost",
        "Origin: https://app.example.org",
        "Sec-Fetch-Site: cross-site",
    ];
    let answer = get(&service, &app);
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://app.example.org"
    );
    assert!(
        answer
            .header("access-control-expose-headers")
            .contains("x-request-id")
    );
    assert!(
        answer.header("vary").contains("origin"),
        "{}",
        answer.header("vary")
    );
    // What is refused later can be read too.
    let refused = send(&service, "GET /graphql HTTP/1.1", &app);
    assert_eq!(refused.code(), "REQUEST_MALFORMED");
    assert_eq!(
        refused.header("access-control-allow-origin"),
        "https://app.example.org"
    );

    let wanted = [
        &app[..],
        &[
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: content-type",
        ],
    ];
    let preflight = send(&service, "OPTIONS /graphql HTTP/1.1", &wanted.concat());
    assert_eq!(preflight.status, 200);
    assert_eq!(
        preflight.header("access-control-allow-origin"),
        "https://app.example.org"
    );
    assert_eq!(preflight.header("access-control-max-age"), "5");
    assert!(
        preflight
            .header("access-control-allow-methods")
            .contains("POST")
    );
    assert!(
        preflight
            .header("access-control-allow-headers")
            .contains("content-type")
    );

    let site = "Sec-Fetch-Site: cross-site";
    let host = "Host: localhost";
    let evil = "Origin: https://evil.example";
    check(
        &service,
        OK,
        &[&[
            host,
            "Sec-Fetch-Site: same-site",
            "Origin: http://localhost:3000",
        ]],
    );
    check(
        &service,
        CROSS_SITE,
        &[&[host, site], &[host, site, evil], &[host, evil]],
    );
    let preflight = send(
        &service,
        "OPTIONS /graphql HTTP/1.1",
        &[host, evil, "Access-Control-Request-Method: POST"],
    );
    assert_eq!((preflight.status, preflight.code().as_str()), CROSS_SITE);
    assert_eq!(preflight.header("access-control-allow-origin"), "");
    // CORS lets nobody by who uses another name.
    check(
        &service,
        NOT_ALLOWED,
        &[&["Host: evil.example", app[1], site]],
    );
}

#[test]
fn every_origin_may_call_when_all_are_allowed_and_none_by_default() {
    let service = Service::demo_with(settings(&["http.cors.allowedOrigins=*"]));
    let headers = [
        "Host: localhost",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
    ];
    assert_eq!(get(&service, &headers).status, 200);
    check(
        &service,
        CROSS_SITE,
        &[&["Host: localhost", "Sec-Fetch-Site: cross-site"]],
    );
    let own = get(
        &Service::demo(),
        &["Host: localhost", "Origin: http://localhost"],
    );
    assert_eq!(
        (
            own.status,
            own.header("access-control-allow-origin").as_str()
        ),
        (200, "")
    );
}

#[test]
fn malformed_paths_have_a_code() {
    let service = Service::demo();
    for path in [
        "/soml/%ff",
        "/soml/%",
        "/soml/%zz/objects",
        "/graphiql/%C3/a",
        "/%c3%28",
    ] {
        let answer = send(
            &service,
            &format!("GET {path} HTTP/1.1"),
            &["Host: localhost"],
        );
        let found = (answer.status, answer.code());
        assert_eq!(found, (400, "REQUEST_MALFORMED".to_owned()), "{path}");
    }
    let elsewhere = send(&service, "OPTIONS * HTTP/1.1", &["Host: localhost"]);
    assert_eq!(
        (elsewhere.status, elsewhere.code().as_str()),
        (404, "PATH_NOT_FOUND")
    );
}

#[test]
fn what_is_no_request_has_a_code() {
    let service = Service::demo();
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "x".repeat(70_000)
    );
    let many = "a: b\r\n".repeat(200);
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    for (request, expected) in [
        ("NO REQUEST AT ALL\r\n\r\n", (400, "REQUEST_MALFORMED")),
        (
            "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
            (400, "REQUEST_MALFORMED"),
        ),
        (
            "GET /\u{1} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            (400, "REQUEST_MALFORMED"),
        ),
        (&long, (414, "URI_TOO_LONG")),
        (&many, (431, "HEADERS_TOO_LARGE")),
    ] {
        let answer = service.raw(request);
        let found = (answer.status, answer.code());
        assert_eq!(
            found,
            (expected.0, expected.1.to_owned()),
            "{:.40}",
            request
        );
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("connection"), "close");
        assert!(!answer.header("x-request-id").is_empty());
    }
    assert!(service.query("{ __typename }").contains("Query"));
}

#[test]
fn a_slash_at_the_end_of_a_path_changes_nothing() {
    let service = Service::demo();
    for path in ["/soml", "/soml/swapi", "/__health", "/__live", "/__about"] {
        assert_eq!(service.get(&format!("{path}/")).status, 200, "{path}");
    }
    assert_eq!(service.get("/graphql/?query=%7B__typename%7D").status, 200);
    let headers = [("content-type", "application/json")];
    let body = br#"{"query": "{ __typename }"}"#;
    assert_eq!(
        service.send("POST", "/graphql/", &headers, body).status,
        200
    );
    assert_eq!(
        service.send("PUT", "/soml/swapi/objects/", &[], b"").status,
        200
    );
    assert_eq!(service.get("/nowhere/").code(), "PATH_NOT_FOUND");
    assert_eq!(
        service.send("DELETE", "/soml/", &[], b"").code(),
        "METHOD_NOT_ALLOWED"
    );
}
