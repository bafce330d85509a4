//! Clients of subscriptions that do not keep to the protocol, do not read, or send anything.

use std::time::Instant;

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::clock::{Clock, Happens};
use super::listener::{Events, Socket};
use super::process::Gateway;
use super::subscriptions::{TICKED, World, code_of, tick, world};
use crate::fuzz_seeds::Random;
use crate::processes::PATIENCE;

#[test]
fn each_fault_of_a_client_closes_the_websocket_with_its_code() {
    let World { clock, gateway, .. } = &world(&[("GATEWAY_SUBSCRIPTIONS_MAXMESSAGEBYTES", "2000")]);
    type Fault = fn(&mut Socket);
    let init = |socket: &mut Socket| {
        socket.say(json!({"type": "connection_init"}));
        assert_eq!(socket.heard()["type"], "connection_ack");
    };
    let early: [(&str, u16, &str, Fault); 3] = [
        ("an operation", 4401, "must come first", |socket| {
            socket.say(json!({"type": "ping"}));
            assert_eq!(socket.heard(), json!({"type": "pong"}));
            socket.subscribe("a", TICKED)
        }),
        ("no JSON", 4400, "not a message", |socket| {
            socket.send(Message::text("hello"))
        }),
        ("a payload that is none", 4400, "not an object", |socket| {
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
        (
            "a second beginning",
            4429,
            "must be sent only once",
            |socket| {
                socket.say(json!({"type": "connection_init"}));
            },
        ),
        ("an id that is taken", 4409, "the id a", |socket| {
            socket.subscribe("a", TICKED);
            socket.subscribe("a", TICKED);
        }),
        ("an unknown message", 4400, "`start`", |socket| {
            socket.say(json!({"type": "start"}))
        }),
        ("bytes", 4400, "must be text", |socket| {
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
fn a_client_that_does_not_begin_in_time_is_closed_though_it_sends_pings() {
    let World { gateway, .. } = &world(&[("GATEWAY_SUBSCRIPTIONS_INITTIMEOUT", "300")]);
    for pings in [0, 3] {
        let mut socket = Socket::connect(gateway, &[]);
        for _ in 0..pings {
            socket.try_send(Message::text(json!({"type": "ping"}).to_string()));
        }
        // On a busy machine the pings may come too late for an answer.
        let answers = std::iter::repeat_with(|| socket.read());
        let (code, said) = { answers }.find_map(Result::err).unwrap();
        assert_eq!(code, 4408, "{pings}: {said}");
        assert!(said.contains("did not come in time"), "{pings}: {said}");
    }
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

/// Subscribes to events of which [`long_tick`] makes long responses.
const LONG: &str = "subscription { ticked { at planet { id } } }";

/// An event of which few fill a connection that nobody reads.
fn long_tick(at: usize) -> Happens {
    let planet = json!({"__typename": "Planet", "id": "x".repeat(100_000)});
    let tick = json!({"at": at, "planet": planet});
    Happens::Event(json!({"data": {"ticked": tick}}))
}

/// Two clients that do not read, and one that does.
struct Readers {
    events: Events,
    deaf: Socket,
    reader: Socket,
}

impl Readers {
    fn open(gateway: &Gateway) -> Readers {
        let events = Events::of(gateway, LONG);
        let [mut deaf, mut reader] = [(); 2].map(|()| Socket::open(gateway, &json!({})));
        deaf.subscribe("a", LONG);
        reader.subscribe("r", "subscription { ticked { at } }");
        Readers {
            events,
            deaf,
            reader,
        }
    }

    /// Has events happen, each when the client that reads has got the one before, until it is the only one left.
    fn until_one_is_left(&mut self, clock: &Clock) {
        clock.wait_for(3);
        let begun = Instant::now();
        for at in 0.. {
            if clock.open() == 1 {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "nobody is given up");
            clock.happens(long_tick(at));
            let tick = json!({"data": {"ticked": {"at": at}}});
            assert_eq!(self.reader.next("next", "r"), tick);
        }
        self.reader.subscribe("q", "{ now }");
        let now = json!({"data": {"now": 1}});
        assert_eq!(self.reader.next("next", "q"), now);
    }
}

#[test]
fn a_client_that_does_not_read_loses_its_subscription_and_nothing_else() {
    let World { clock, gateway, .. } = &world(&[
        ("GATEWAY_LIMITS_EVENTS", "5"),
        ("HTTP_SENDTIMEOUT", "600000"),
    ]);
    let mut readers = Readers::open(gateway);
    readers.until_one_is_left(clock);
    let Readers {
        mut events,
        mut deaf,
        ..
    } = readers;
    // What was on its way is still there, and why there is no more.
    let answers = std::iter::repeat_with(|| deaf.heard());
    let last = { answers }.find(|it| it["type"] != "next").unwrap();
    assert_eq!(code_of(&last["payload"]), "SUBSCRIPTION_OVERFLOW");
    deaf.subscribe("q", "{ now }");
    assert_eq!(deaf.next("next", "q"), json!({"data": {"now": 1}}));
    let mut lines = std::iter::from_fn(|| events.line());
    let is_told = |line: String| line.contains("SUBSCRIPTION_OVERFLOW");
    assert!(lines.any(is_told) && lines.last().unwrap() == "data:");
}

#[test]
fn a_client_that_takes_nothing_in_time_loses_its_connection_and_nobody_else_does() {
    let World { clock, gateway, .. } = &world(&[
        ("GATEWAY_LIMITS_EVENTS", "1000000"),
        ("HTTP_SENDTIMEOUT", "500"),
    ]);
    let mut readers = Readers::open(gateway);
    readers.until_one_is_left(clock);
    gateway.wait_for_log("WebSocket closed", 1);
    gateway.wait_for_log("stream ended", 2);
}

#[test]
fn clients_get_signs_of_life_and_must_give_them() {
    let World { clock, gateway, .. } = &world(&[("GATEWAY_SUBSCRIPTIONS_KEEPALIVE", "100")]);
    let mut events = Events::of(gateway, TICKED);
    let mut silent = Socket::open(gateway, &json!({}));
    silent.subscribe("a", TICKED);
    events.comment();
    events.comment();
    // Answers to pings are given while it reads, which it does not.
    gateway.wait_for_log("WebSocket closed", 1);
    clock.wait_for(1);
    clock.ticks(1, "1");
    assert_eq!(events.next().unwrap(), tick(1, "Tatooine"));
    // One that reads answers them, and stays; on a busy machine it needs more time for that.
    assert!(["100", "1000", "10000"].into_iter().any(stays));
}

/// Returns whether a client that answers pings keeps its subscription.
fn stays(keep_alive: &str) -> bool {
    let World { clock, gateway, .. } = &world(&[("GATEWAY_SUBSCRIPTIONS_KEEPALIVE", keep_alive)]);
    let mut alive = Socket::open(gateway, &json!({}));
    alive.subscribe("a", TICKED);
    let mut pings = 0;
    while pings < 3 || clock.open() == 0 {
        if !alive.is_pinged() {
            return false;
        }
        pings += 1;
    }
    clock.ticks(2, "2");
    let read = alive.read();
    read.is_ok_and(|message| message["payload"] == tick(2, "Hoth"))
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
        metrics.contains("graphql_subscriptions_open{service_name=\"federation-gateway\"} 0")
    });
    assert_eq!(gateway.query("{ now }"), json!({"data": {"now": 1}}));
    let mut socket = Socket::open(gateway, &json!({}));
    socket.subscribe("a", "{ now }");
    assert_eq!(socket.next("next", "a"), json!({"data": {"now": 1}}));
}
