//! Clients of subscriptions that do not keep to the protocol, do not read, or send anything.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::clock::Happens;
use super::listener::{Events, Socket};
use super::subscriptions::{TICKED, World, tick, world};
use crate::fuzz_seeds::Random;

#[test]
fn each_fault_of_a_client_closes_the_websocket_with_its_code() {
    let World { clock, gateway, .. } = &world(&[
        ("GATEWAY_SUBSCRIPTIONS_INITTIMEOUT", "300"),
        ("GATEWAY_SUBSCRIPTIONS_MAXMESSAGEBYTES", "2000"),
    ]);
    type Fault = fn(&mut Socket);
    let init = |socket: &mut Socket| {
        socket.say(json!({"type": "connection_init"}));
        assert_eq!(socket.heard()["type"], "connection_ack");
    };
    let early: [(&str, u16, &str, Fault); 5] = [
        ("nothing", 4408, "did not come in time", |_| {}),
        ("pings alone", 4408, "did not come in time", |socket| {
            socket.say(json!({"type": "ping"}));
            assert_eq!(socket.heard(), json!({"type": "pong"}));
        }),
        ("an operation", 4401, "comes first", |socket| {
            socket.subscribe("a", TICKED)
        }),
        ("no JSON", 4400, "no message", |socket| {
            socket.send(Message::text("hello"))
        }),
        ("a payload that is none", 4400, "no object", |socket| {
            socket.say(json!({"type": "connection_init", "payload": 1}));
        }),
    ];
    for (name, expected, reason, fault) in early {
        let mut socket = Socket::connect(gateway, &[]);
        fault(&mut socket);
        let (code, said) = socket.closed();
        assert_eq!(code, expected, "{name}: {said}");
        assert!(said.contains(reason), "{name}: {said}");
    }
    let late: [(&str, u16, &str, Fault); 6] = [
        ("a second beginning", 4429, "comes once", |socket| {
            socket.say(json!({"type": "connection_init"}));
        }),
        ("an id that is taken", 4409, "the id a", |socket| {
            socket.subscribe("a", TICKED);
            socket.subscribe("a", TICKED);
        }),
        ("an unknown message", 4400, "`start`", |socket| {
            socket.say(json!({"type": "start"}))
        }),
        ("bytes", 4400, "texts", |socket| {
            socket.send(Message::binary(vec![1, 2]))
        }),
        ("a long message", 1009, "too long", |socket| {
            socket.subscribe("a", &"x".repeat(2_000))
        }),
        (
            "the old protocol",
            4400,
            "`connection_terminate`",
            |socket| {
                socket.say(json!({"type": "connection_terminate"}));
            },
        ),
    ];
    for (name, expected, reason, fault) in late {
        let mut socket = Socket::connect(gateway, &[]);
        init(&mut socket);
        fault(&mut socket);
        let (code, said) = socket.closed();
        assert_eq!(code, expected, "{name}: {said}");
        assert!(said.contains(reason), "{name}: {said}");
    }
    clock.wait_for(0);
    for protocol in [None, Some("graphql-ws")] {
        let refused = Socket::handshake(&gateway.base, protocol, &[])
            .err()
            .unwrap();
        assert_eq!(refused, 400);
    }
    let upgrade = [("connection", "upgrade"), ("upgrade", "websocket")];
    let refused = gateway.send("GET", "/graphql", &upgrade, "");
    assert_eq!(refused.code(), "WEBSOCKET_HANDSHAKE", "{}", refused.text);
}

#[test]
fn a_page_of_another_origin_gets_no_websocket() {
    let World { gateway, .. } = &world(&[]);
    let origin = [("origin", "https://evil.example")];
    let protocol = Some("graphql-transport-ws");
    let refused = Socket::handshake(&gateway.base, protocol, &origin)
        .err()
        .unwrap();
    assert_eq!(refused, 403);
}

#[test]
fn a_client_that_does_not_read_loses_its_subscription_and_nothing_else() {
    let World { clock, gateway, .. } =
        &world(&[("HTTP_SENDTIMEOUT", "500"), ("GATEWAY_LIMITS_EVENTS", "5")]);
    let stalled = Events::of(gateway, "subscription { ticked { at planet { id } } }");
    let mut deaf = Socket::open(gateway, &json!({}));
    deaf.subscribe("a", TICKED);
    let mut other = Socket::open(gateway, &json!({}));
    clock.wait_for(2);
    let long = "x".repeat(100_000);
    let begun = Instant::now();
    while clock.open() > 0 {
        let tick = json!({"at": 1, "planet": {"__typename": "Planet", "id": long}});
        clock.happens(Happens::Event(json!({"data": {"ticked": tick}})));
        std::thread::sleep(Duration::from_millis(2));
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody gives up");
    }
    other.subscribe("q", "{ now }");
    assert_eq!(other.next("next", "q"), json!({"data": {"now": 1}}));
    drop((stalled, deaf));
}

#[test]
fn clients_get_signs_of_life_and_must_give_them() {
    let World { clock, gateway, .. } = &world(&[("GATEWAY_SUBSCRIPTIONS_KEEPALIVE", "100")]);
    let mut events = Events::of(gateway, TICKED);
    let mut silent = Socket::open(gateway, &json!({}));
    silent.subscribe("a", TICKED);
    clock.wait_for(2);
    events.comment();
    events.comment();
    // Answers to pings are given while it reads, which it does not.
    clock.wait_for(1);
    clock.ticks(1, "1");
    assert_eq!(events.next().unwrap(), tick(1, "Tatooine"));
    // One that reads answers them, and stays.
    let mut alive = Socket::open(gateway, &json!({}));
    alive.subscribe("a", TICKED);
    clock.wait_for(2);
    let ticking = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            clock.ticks(2, "2");
        });
        alive.next("next", "a")
    });
    assert_eq!(ticking, tick(2, "Hoth"));
}

/// Returns a message that may be anything: of the protocol or nearly so.
fn any_message(numbers: &mut Random) -> Message {
    let id = ["a", "b", "c"][numbers.below(3)];
    let query = [TICKED, "{ now }", "mutation { wind }", "{", ""][numbers.below(5)];
    let payload = json!({"query": query});
    let message = match numbers.below(12) {
        0 => json!({"type": "connection_init"}),
        1 => json!({"type": "ping", "payload": {"a": [1, 2]}}),
        2 => json!({"type": "pong"}),
        3 | 4 => json!({"type": "complete", "id": id}),
        5 => json!({"type": "subscribe", "id": id, "payload": {"query": query, "variables": 7}}),
        6 => return Message::binary(vec![0; numbers.below(40)]),
        7 => return Message::Ping(vec![7; numbers.below(126)].into()),
        _ => json!({"type": "subscribe", "id": id, "payload": payload}),
    };
    let mut text = message.to_string();
    if numbers.below(10) == 0 {
        let cut = (0..=numbers.below(text.len())).rev();
        let cut = { cut }.find(|at| text.is_char_boundary(*at)).unwrap();
        text.truncate(cut);
    }
    Message::text(text)
}

#[test]
fn whatever_clients_send_the_gateway_goes_on_and_nothing_is_left() {
    let World { clock, gateway, .. } = &world(&[("GATEWAY_METRICS_ENABLED", "true")]);
    std::thread::scope(|scope| {
        for seed in 1..=8_u64 {
            scope.spawn(move || {
                let mut numbers = Random(seed);
                for _ in 0..40 {
                    let mut socket = Socket::connect(gateway, &[]);
                    if numbers.below(8) > 0 {
                        socket.say(json!({"type": "connection_init"}));
                    }
                    let messages = numbers.below(30);
                    let sent = (0..messages).all(|_| socket.try_send(any_message(&mut numbers)));
                    match numbers.below(3) {
                        0 => socket.vanish(),
                        1 if sent => socket.end(),
                        _ => drop(socket),
                    }
                }
            });
        }
        scope.spawn(|| (0..200).for_each(|at| clock.ticks(at, "1")));
    });
    clock.wait_for(0);
    gateway.wait("no subscription", |gateway| {
        let metrics = gateway.get("/metrics").text;
        metrics.contains("gateway_subscriptions_open 0")
    });
    assert_eq!(gateway.query("{ now }"), json!({"data": {"now": 1}}));
    let mut socket = Socket::open(gateway, &json!({}));
    socket.subscribe("a", "{ now }");
    assert_eq!(socket.next("next", "a"), json!({"data": {"now": 1}}));
}
