//! What subgraphs are sent of the headers of clients.

use serde_json::json;

use super::process::Gateway;
use super::subgraph::{MOONS, PLANETS, Said, Subgraph, moons, planets};

#[test]
fn the_identifier_of_a_request_is_made_logged_and_forwarded() {
    let planets = Subgraph::planets();
    let gateway = Gateway::over(&[&planets.url("/graphql")], &[]);
    let reply = gateway.post("{ planets { title } }", &[]);
    let made = reply.header("x-request-id").to_owned();
    assert_eq!(made.len(), 36, "{made}");
    let given = gateway.post("{ planets { title } }", &[("X-Request-ID", "mine-7")]);
    assert_eq!(given.header("x-request-id"), "mine-7");
    let odd = r#"a" b=c, {d}; \e"#;
    let kept = gateway.post("{ planets { title } }", &[("X-Request-ID", odd)]);
    assert_eq!(kept.header("x-request-id"), odd);
    let asked = planets.asked();
    let ids: Vec<_> = asked
        .iter()
        .map(|asked| asked.header("x-request-id").unwrap())
        .collect();
    assert_eq!(ids, [made.as_str(), "mine-7", odd]);
    let (_, log) = gateway.stop();
    assert!(log.contains(&made) && log.contains("mine-7"), "{log}");
    assert!(
        log.contains(&format!("request_id={odd:?}")) && !log.contains(odd),
        "{log}"
    );
}

#[test]
fn by_default_the_authorization_of_the_client_is_forwarded_and_nothing_else() {
    let planets = Subgraph::planets();
    let gateway = Gateway::over(&[&planets.url("/graphql")], &[]);
    let sent = [
        ("Authorization", "Bearer a"),
        ("Cookie", "c=1"),
        ("X-Tenant", "t"),
        ("X-Forwarded-For", "10.0.0.1"),
        ("Proxy-Authorization", "Basic x"),
        ("TE", "trailers"),
    ];
    gateway.post("{ planets { title } }", &sent);
    let [asked] = planets.asked().try_into().unwrap();
    let mut names: Vec<_> = asked
        .headers
        .keys()
        .map(|name| name.as_str().to_owned())
        .collect();
    names.sort();
    let expected = [
        "accept",
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "host",
        "x-request-id",
    ];
    assert_eq!(names, expected);
    assert_eq!(asked.header("authorization"), Some("Bearer a"));
    let host = planets.address.to_string();
    assert_eq!(asked.header("host"), Some(host.as_str()));
}

#[test]
fn exactly_the_headers_of_forward_headers_are_forwarded_to_all_subgraphs() {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let names = ("FORWARD_HEADERS", " x-TENANT ,, X-Hop ");
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &[names]);
    let sent = [
        ("Authorization", "Bearer a"),
        ("X-Tenant", "one"),
        ("X-Hop", "1"),
        ("Connection", "keep-alive, x-hop"),
    ];
    let answer = gateway.post("{ planets { moons } }", &sent);
    assert!(answer.json().get("errors").is_none(), "{}", answer.text);
    for asked in planets.asked().into_iter().chain(moons.asked()) {
        assert_eq!(asked.header("x-tenant"), Some("one"));
        assert_eq!(asked.header("authorization"), None);
        assert_eq!(asked.header("x-hop"), None, "it belongs to the connection");
        assert!(asked.header("x-request-id").is_some());
    }
}

#[test]
fn a_caller_without_a_token_gets_what_the_subgraph_says() {
    let planets = Subgraph::start(PLANETS, |asked| match asked.header("authorization") {
        Some("Bearer good") => planets(asked),
        Some(_) => Said {
            status: 403,
            headers: Vec::new(),
            body: json!({"errors": [{"message": "no"}]}),
        },
        None => Said {
            status: 401,
            headers: Vec::new(),
            body: json!({"errors": [{"message": "who?"}]}),
        },
    });
    let gateway = Gateway::over(&[&planets.url("/graphql")], &[]);
    let asked = |token: &[(&str, &str)]| gateway.post("{ planets { title } }", token);
    let (none, bad) = (asked(&[]), asked(&[("authorization", "Bearer bad")]));
    assert_eq!((none.status, none.code()), (200, json!("UNAUTHENTICATED")));
    assert_eq!((bad.status, bad.code()), (200, json!("FORBIDDEN")));
    let good = asked(&[("authorization", "Bearer good")]).json();
    assert_eq!(good["data"]["planets"][0]["title"], "Tatooine");
}

#[test]
fn two_callers_never_share_an_answer() {
    let named = |asked: &super::subgraph::Asked| {
        let who = asked.header("authorization").unwrap_or("nobody").to_owned();
        Said::from(json!({"data": {"me": who}}))
    };
    let subgraph = Subgraph::start("type Query { me: String }", named);
    let gateway = Gateway::over(&[&subgraph.url("/graphql")], &[("CACHE_MAX_AGE", "60")]);
    let gateway = &gateway;
    std::thread::scope(|scope| {
        for caller in 0..8 {
            scope.spawn(move || {
                let token = format!("Bearer {caller}");
                for _ in 0..50 {
                    let reply = gateway.post("{ me }", &[("authorization", &token)]);
                    assert_eq!(reply.json(), json!({"data": {"me": token}}));
                }
            });
        }
    });
    let nobody = gateway.post("{ me }", &[]);
    assert_eq!(nobody.json(), json!({"data": {"me": "nobody"}}));
}

#[test]
fn the_gateway_verifies_tokens_only_where_it_has_a_key() {
    let (planets, moons) = (
        Subgraph::start(PLANETS, planets),
        Subgraph::start(MOONS, moons),
    );
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let secret = ("SECURITY_SECRET", "a secret of at least thirty-two bytes");
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &[secret]);
    let bad = gateway.post("{ moonCount }", &[("authorization", "Bearer a.b.c")]);
    assert_eq!((bad.status, bad.code()), (401, json!("TOKEN_INVALID")));
    assert!(moons.asked().is_empty());
    let none = gateway.post("{ moonCount }", &[]);
    assert_eq!(none.json(), json!({"data": {"moonCount": 6}}));
}
