//! Subscriptions of clients, as server-sent events and over WebSockets, against the process: answers, faults of
//! subgraphs, headers and limits.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::clock::{CLOCK, Clock, Happens};
use super::listener::{Events, Socket};
use super::process::Gateway;
use super::subgraph::Subgraph;

pub(crate) const TICKED: &str = "subscription { ticked { at planet { title } } }";

/// A gateway over the clock and the planets.
pub(crate) struct World {
    pub(crate) clock: Clock,
    _planets: Subgraph,
    pub(crate) gateway: Gateway,
}

pub(crate) fn world(variables: &[(&str, &str)]) -> World {
    let (clock, planets) = (Clock::start(), Subgraph::planets());
    let urls = [clock.url(), planets.url("/graphql")];
    // A test that says nothing of it may leave a client without a word for as long as it likes.
    let patient = [
        ("GATEWAY_SUBSCRIPTIONS_INITTIMEOUT", "600000"),
        ("GATEWAY_SUBSCRIPTIONS_KEEPALIVE", "0"),
    ];
    let variables = [&patient, variables].concat();
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &variables);
    World {
        clock,
        _planets: planets,
        gateway,
    }
}

/// Both ways to reach the subscriptions of the subgraph.
const WAYS: [&str; 2] = ["sse", "ws"];

fn over(way: &str) -> World {
    world(&[("GRAPHQL_SERVICE_0_SUBSCRIPTIONS", way)])
}

pub(crate) fn tick(at: u64, title: &str) -> Value {
    json!({"data": {"ticked": {"at": at, "planet": {"title": title}}}})
}

fn code(response: &Value) -> &str {
    response["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{response}"))
}

/// Returns the code of the first error of a message `error`.
pub(crate) fn code_of(errors: &Value) -> &str {
    errors[0]["extensions"]["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{errors}"))
}

#[test]
fn events_are_answered_across_subgraphs_by_both_transports() {
    for way in WAYS {
        let World { clock, gateway, .. } = &over(way);
        let mut events = Events::of(gateway, TICKED);
        for line in [
            "http/1.1 200 ok",
            "content-type: text/event-stream; charset=utf-8",
            "cache-control: no-store",
        ] {
            assert!(events.head.lines().any(|it| it == line), "{}", events.head);
        }
        let mut socket = Socket::open(gateway, &json!({}));
        socket.subscribe("a", TICKED);
        clock.wait_for(2);
        clock.ticks(1, "1");
        clock.ticks(2, "2");
        for expected in [tick(1, "Tatooine"), tick(2, "Hoth")] {
            assert_eq!(events.next().unwrap(), expected, "{way}");
            assert_eq!(socket.next("next", "a"), expected, "{way}");
        }
        clock.happens(Happens::Completes);
        assert_eq!(events.next(), None);
        assert_eq!(
            socket.heard(),
            json!({"type": "complete", "id": "a"}),
            "{way}"
        );
    }
}

#[test]
fn queries_and_mutations_are_answered_over_websockets_too() {
    let World { clock, gateway, .. } = &world(&[]);
    let mut socket = Socket::open(gateway, &json!(null));
    socket.subscribe("q", "{ planets { title } now }");
    let answer = json!({"data": {"planets": [{"title": "Tatooine"}, {"title": "Hoth"}], "now": 1}});
    assert_eq!(socket.next("next", "q"), answer);
    assert_eq!(socket.heard(), json!({"type": "complete", "id": "q"}));
    // The identifier may be used again.
    socket.subscribe("q", "mutation { wind }");
    assert_eq!(socket.next("next", "q"), json!({"data": {"wind": 7}}));
    assert_eq!(socket.heard(), json!({"type": "complete", "id": "q"}));
    socket.subscribe("q", "{ plants }");
    assert_eq!(
        code_of(&socket.next("error", "q")),
        "GRAPHQL_VALIDATION_FAILED"
    );
    // Those that have variables, a name and several operations.
    let query = "query A { now } subscription B($every: Int) { ticked(every: $every) { at } }";
    let payload = json!({"query": query, "operationName": "B", "variables": {"every": 5}});
    socket.say(json!({"type": "subscribe", "id": "s", "payload": payload}));
    clock.wait_for(1);
    let (headers, asked) = clock.asked().pop().unwrap();
    assert_eq!(asked["variables"], json!({"every": 5}), "{asked}");
    assert!(headers.contains_key("x-request-id"));
    socket.say(json!({"type": "ping", "payload": {"a": 1}}));
    assert_eq!(socket.heard(), json!({"type": "pong", "payload": {"a": 1}}));
    socket.say(
        json!({"type": "subscribe", "id": "v", "payload": {"query": "{ now }", "variables": []}}),
    );
    assert_eq!(code_of(&socket.next("error", "v")), "REQUEST_MALFORMED");
}

#[test]
fn what_is_answered_once_is_answered_as_json_where_the_client_takes_both() {
    let World { clock, gateway, .. } = &world(&[]);
    let both = "application/json, text/event-stream";
    let reply = gateway.post("{ now }", &[("accept", both)]);
    assert_eq!(
        reply.header("content-type"),
        "application/json; charset=utf-8"
    );
    assert_eq!(reply.json(), json!({"data": {"now": 1}}));
    let mut events = Events::with(gateway, TICKED, both, &[]);
    clock.wait_for(1);
    clock.ticks(1, "1");
    assert_eq!(events.next().unwrap(), tick(1, "Tatooine"));
    // Refused before it begins, which is a single answer.
    let refused = gateway.post("subscription { tacked }", &[("accept", both)]);
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
    let mut only = Events::of(gateway, "{ now }");
    assert_eq!(only.next().unwrap(), json!({"data": {"now": 1}}));
    assert_eq!(only.next(), None);
    let mut only = Events::of(gateway, "subscription { tacked }");
    assert_eq!(code(&only.next().unwrap()), "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(only.next(), None);
    let once = gateway.post(TICKED, &[]);
    assert_eq!(once.code(), "SUBSCRIPTION_NEEDS_STREAM");
    let get = format!("/graphql?query={}", "subscription%7Bticked%7Bat%7D%7D");
    let refused = gateway.get(&get);
    assert_eq!(refused.code(), "SUBSCRIPTION_NEEDS_STREAM");
    let html = [
        ("content-type", "application/json"),
        ("accept", "text/html"),
    ];
    let body = json!({ "query": TICKED }).to_string();
    let neither = gateway.send("POST", "/graphql", &html, &body);
    assert_eq!(neither.code(), "NOT_ACCEPTABLE");
    assert!(
        neither.text.contains("text/event-stream"),
        "{}",
        neither.text
    );
}

#[test]
fn each_fault_of_a_subgraph_ends_the_subscription_with_its_error() {
    for way in WAYS {
        let World { clock, gateway, .. } = &over(way);
        let mut socket = Socket::open(gateway, &json!({}));
        let faults = [
            (Happens::Babbles, "does not keep to the protocol"),
            (Happens::Breaks, ""),
        ];
        for (fault, expected) in faults {
            let mut events = Events::of(gateway, TICKED);
            socket.subscribe("a", TICKED);
            clock.wait_for(2);
            clock.ticks(1, "1");
            assert_eq!(socket.next("next", "a"), tick(1, "Tatooine"));
            assert_eq!(events.next().unwrap(), tick(1, "Tatooine"));
            clock.happens(fault.clone());
            if let (Happens::Babbles, "sse") = (&fault, way) {
                // Events that the protocol does not know are passed over, as it says.
                clock.ticks(2, "2");
                assert_eq!(socket.next("next", "a"), tick(2, "Hoth"));
                clock.happens(Happens::Completes);
                assert_eq!(socket.heard()["type"], "complete");
                continue;
            }
            let errors = socket.next("error", "a");
            assert_eq!(
                code_of(&errors),
                "DOWNSTREAM_SERVICE_ERROR",
                "{way} {fault:?}"
            );
            let text = errors.to_string();
            assert!(text.contains(expected), "{way} {fault:?}: {text}");
            // Nobody learns where it is.
            assert!(!text.contains("127.0.0.1"), "{text}");
            let last = events.next().unwrap();
            assert_eq!(last["errors"], errors, "{way} {fault:?}");
            assert_eq!(events.next(), None);
            // The connection is there for others.
            clock.wait_for(0);
        }
        socket.subscribe("f", TICKED);
        clock.wait_for(1);
        clock.happens(Happens::Fails);
        let said = socket.heard();
        assert!(said.to_string().contains("out of order"), "{said}");
        clock.wait_for(0);
        socket.subscribe("q", "{ now }");
        let answered = std::iter::repeat_with(|| socket.heard());
        let answer = { answered }.find(|it| it["id"] == "q").unwrap();
        assert_eq!(answer["payload"], json!({"data": {"now": 1}}));
    }
}

#[test]
fn a_subgraph_without_subscriptions_is_named() {
    let (planets, clock) = (Subgraph::planets(), Clock::start());
    let urls = [planets.url("/graphql"), clock.url()];
    // Over WebSockets there is nothing at the first address.
    let at = format!("ws://{}/graphql", planets.address);
    let variables = [("GRAPHQL_SERVICE_1_SUBSCRIPTIONS", &*at)];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &variables);
    let mut socket = Socket::open(&gateway, &json!({}));
    socket.subscribe("a", TICKED);
    let errors = socket.next("error", "a");
    assert_eq!(
        errors[0]["extensions"]["serviceName"], "service_1",
        "{errors}"
    );
    assert!(!errors.to_string().contains("127.0.0.1:"), "{errors}");
}

#[test]
fn a_client_that_leaves_ends_its_subscription() {
    for way in WAYS {
        let World { clock, gateway, .. } = &over(way);
        let events = Events::of(gateway, TICKED);
        let mut socket = Socket::open(gateway, &json!({}));
        for id in ["a", "b"] {
            socket.subscribe(id, TICKED);
        }
        clock.wait_for(3);
        drop(events);
        clock.wait_for(2);
        socket.say(json!({"type": "complete", "id": "a"}));
        clock.wait_for(1);
        clock.ticks(1, "1");
        // Nothing comes for the one that is over, and its identifier is free.
        assert_eq!(socket.next("next", "b"), tick(1, "Tatooine"));
        socket.subscribe("a", TICKED);
        clock.wait_for(2);
        clock.ticks(2, "2");
        let both = [socket.heard()["id"].clone(), socket.heard()["id"].clone()];
        assert!(
            both.contains(&json!("a")) && both.contains(&json!("b")),
            "{both:?}"
        );
        socket.vanish();
        clock.wait_for(0);
    }
}

#[test]
fn a_change_of_the_schema_ends_subscriptions_which_may_begin_again() {
    let World { clock, gateway, .. } = &world(&[("POLL_INTERVAL", "20ms")]);
    let mut events = Events::of(gateway, TICKED);
    let mut socket = Socket::open(gateway, &json!({}));
    socket.subscribe("a", TICKED);
    clock.wait_for(2);
    clock.set_sdl(&format!("{CLOCK} extend type Tick {{ zone: String }}"));
    let errors = socket.next("error", "a");
    assert_eq!(code_of(&errors), "SUBSCRIPTION_SCHEMA_RELOAD");
    let last = events.next().unwrap();
    assert_eq!(code(&last), "SUBSCRIPTION_SCHEMA_RELOAD");
    assert_eq!(events.next(), None);
    clock.wait_for(0);
    socket.subscribe("a", "subscription { ticked { zone } }");
    clock.wait_for(1);
    clock.happens(Happens::Event(json!({"data": {"ticked": {"zone": "A"}}})));
    let event = json!({"data": {"ticked": {"zone": "A"}}});
    assert_eq!(socket.next("next", "a"), event);
}

#[test]
fn the_end_of_the_service_ends_subscriptions_in_order() {
    let World {
        clock,
        _planets,
        gateway,
    } = world(&[("HTTP_SHUTDOWNTIMEOUT", "600000")]);
    let mut events = Events::of(&gateway, TICKED);
    let mut socket = Socket::open(&gateway, &json!({}));
    let mut idle = Socket::open(&gateway, &json!({}));
    socket.subscribe("a", TICKED);
    clock.wait_for(2);
    let stopping = std::thread::spawn(move || gateway.stop());
    assert_eq!(code_of(&socket.next("error", "a")), "SUBSCRIPTION_SHUTDOWN");
    assert_eq!(socket.closed().0, 1001);
    assert_eq!(idle.closed().0, 1001);
    assert_eq!(code(&events.next().unwrap()), "SUBSCRIPTION_SHUTDOWN");
    assert_eq!(events.next(), None);
    // Nobody waits for the shutdown timeout: the gateway would have been killed.
    let (exit, log) = stopping.join().unwrap();
    assert_eq!(exit, Some(0), "{log}");
    assert_eq!(log.matches("stream ended").count(), 2, "{log}");
    assert_eq!(log.matches("WebSocket closed").count(), 2, "{log}");
}

#[test]
fn subscriptions_and_operations_on_a_connection_are_limited() {
    let World { clock, gateway, .. } = &world(&[
        ("GATEWAY_LIMITS_SUBSCRIPTIONS", "2"),
        ("GATEWAY_SUBSCRIPTIONS_MAXOPERATIONS", "1"),
        ("GATEWAY_SUBSCRIPTIONS_MAXCONNECTIONS", "3"),
    ]);
    let _first = Events::of(gateway, TICKED);
    let mut socket = Socket::open(gateway, &json!({}));
    socket.subscribe("a", TICKED);
    clock.wait_for(2);
    let mut third = Events::of(gateway, TICKED);
    assert_eq!(code(&third.next().unwrap()), "SUBSCRIPTION_LIMIT");
    assert_eq!(third.next(), None);
    // Two connections are streams; there may be one more, and requests get through in any case.
    let last = Socket::open(gateway, &json!({}));
    let refused = Socket::handshake(&gateway.base, Some("graphql-transport-ws"), &[]);
    assert_eq!(refused.err().unwrap(), 503);
    let refused = Events::of(gateway, TICKED);
    assert!(
        refused.head.starts_with("http/1.1 503 "),
        "{}",
        refused.head
    );
    assert_eq!(gateway.query("{ now }"), json!({"data": {"now": 1}}));
    last.vanish();
    socket.subscribe("b", "{ now }");
    assert_eq!(code_of(&socket.next("error", "b")), "TOO_MANY_OPERATIONS");
    socket.say(json!({"type": "complete", "id": "a"}));
    clock.wait_for(1);
    socket.subscribe("b", "{ now }");
    assert_eq!(socket.next("next", "b"), json!({"data": {"now": 1}}));
}

#[test]
fn headers_are_brought_by_connection_init_unless_the_handshake_has_them() {
    let World { clock, gateway, .. } = &world(&[("FORWARD_HEADERS", "Authorization, X-Tenant")]);
    let payload =
        json!({"Authorization": "Bearer a", "headers": {"x-tenant": "t", "X-Other": "o"}});
    let mut socket = Socket::open(gateway, &payload);
    socket.subscribe("a", TICKED);
    let mut events = Events::with(
        gateway,
        TICKED,
        "text/event-stream",
        &[("authorization", "Bearer b")],
    );
    clock.wait_for(2);
    clock.ticks(1, "1");
    socket.next("next", "a");
    events.next().unwrap();
    let asked = clock.asked();
    let mut tokens: Vec<_> = asked
        .iter()
        .map(|(headers, _)| headers["authorization"].to_str().unwrap())
        .collect();
    tokens.sort_unstable();
    assert_eq!(tokens, ["Bearer a", "Bearer b"]);
    let (brought, _) = asked
        .iter()
        .find(|(headers, _)| headers["authorization"] == "Bearer a")
        .unwrap();
    assert_eq!(brought["x-tenant"], "t");
    assert!(!brought.contains_key("x-other"));
    let mut shaken = Socket::connect(gateway, &[("authorization", "Bearer c")]);
    shaken.say(json!({"type": "connection_init", "payload": payload}));
    assert_eq!(shaken.heard()["type"], "connection_ack");
    shaken.subscribe("a", TICKED);
    clock.wait_for(3);
    assert_eq!(clock.asked()[0].0["authorization"], "Bearer c");
    let mut wrong = Socket::connect(gateway, &[]);
    wrong.say(json!({"type": "connection_init", "payload": {"authorization": 1}}));
    assert_eq!(wrong.closed().0, 4400);
}

/// Returns the time in seconds, as tokens have it.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

#[test]
fn tokens_are_verified_when_they_are_brought_and_end_with_their_time() {
    let secret = "a secret of at least thirty-two bytes";
    let World { clock, gateway, .. } =
        &world(&[("SECURITY_SECRET", secret), ("SECURITY_LEEWAY", "0")]);
    let token = |exp: u64| {
        let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes());
        let claims = json!({"sub": "leia", "exp": exp});
        let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key);
        format!("Bearer {}", token.unwrap())
    };
    let is_expired = |(code_of_close, reason): (u16, String)| {
        assert_eq!(code_of_close, 4403);
        assert!(reason.contains("expired"), "{reason}");
    };
    let mut wrong = Socket::connect(gateway, &[]);
    let payload = json!({"authorization": token(now() - 10)});
    wrong.say(json!({"type": "connection_init", "payload": payload}));
    is_expired(wrong.closed());
    let good = token(now() + 3_600);
    let mut socket = Socket::open(gateway, &json!({"authorization": good}));
    socket.subscribe("a", TICKED);
    let bearer = [("authorization", &*good)];
    let mut events = Events::with(gateway, TICKED, "text/event-stream", &bearer);
    clock.wait_for(2);
    clock.ticks(1, "1");
    assert_eq!(socket.next("next", "a"), tick(1, "Tatooine"));
    assert_eq!(events.next().unwrap(), tick(1, "Tatooine"));
    let asked = clock.asked();
    assert!(
        asked
            .iter()
            .all(|(headers, _)| headers["authorization"] == *good)
    );
    drop((socket, events));
    clock.wait_for(0);
    // On a busy machine a token may expire before anything begins: then there is one for longer.
    let short = |seconds: u32| {
        let token = token(now() + 2_u64.pow(seconds));
        let mut socket = Socket::connect(gateway, &[]);
        let payload = json!({"authorization": token});
        socket.say(json!({"type": "connection_init", "payload": payload}));
        let is_taken = socket.read().is_ok();
        let bearer = [("authorization", &*token)];
        let events = Events::with(gateway, TICKED, "text/event-stream", &bearer);
        (is_taken && events.head.starts_with("http/1.1 200 ")).then_some((socket, events))
    };
    let (mut socket, mut events) = (1..8).find_map(short).unwrap();
    socket.subscribe("a", TICKED);
    is_expired(socket.closed());
    assert_eq!(code(&events.next().unwrap()), "UNAUTHENTICATED");
    assert_eq!(events.next(), None);
    clock.wait_for(0);
    // Without a token, the subgraphs decide.
    let mut nobody = Socket::open(gateway, &json!({}));
    nobody.subscribe("q", "{ now }");
    assert_eq!(nobody.next("next", "q"), json!({"data": {"now": 1}}));
}

#[test]
fn metrics_count_open_subscriptions_and_events() {
    let World { clock, gateway, .. } = &world(&[
        ("METRICS_ENABLED", "true"),
        ("GRAPHQL_SERVICE_0_NAME", "clock"),
    ]);
    let mut events = Events::of(gateway, TICKED);
    clock.wait_for(1);
    for at in 1..=3 {
        clock.ticks(at, "1");
        events.next().unwrap();
    }
    let metrics = gateway.get("/metrics").text;
    for line in [
        "graphql_subscriptions_open{service_name=\"federation-gateway\"} 1",
        "graphql_subgraph_events_total{service_name=\"federation-gateway\",graphql_subgraph_name=\"clock\"} 3",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    drop(events);
    clock.wait_for(0);
    let closed = |gateway: &Gateway| {
        gateway
            .get("/metrics")
            .text
            .contains("graphql_subscriptions_open{service_name=\"federation-gateway\"} 0")
    };
    gateway.wait("no subscription", closed);
}
