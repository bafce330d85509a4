//! Events and WebSockets through a proxy.

use serde_json::json;
use tokio_tungstenite::tungstenite::http::StatusCode;

use super::harness::{Proxy, accepted};
use crate::authentication::keys::Signer;
use crate::gateway::clock::Happens;
use crate::gateway::listener::{Events, PROTOCOL, Socket};
use crate::gateway::subscriptions::{TICKED, World, code_of, tick, world};

/// A proxy in front of a gateway, and a header with a good token.
struct Front {
    world: World,
    proxy: Proxy,
    token: String,
}

fn address(world: &World) -> String {
    world.gateway.base.trim_start_matches("http://").to_owned()
}

impl Front {
    fn haproxy(variables: &[(&str, &str)]) -> Front {
        let (signer, world) = (Signer::rsa(), world(&[]));
        let services = [("FEDERATION_GATEWAY", &*address(&world))];
        let proxy = Proxy::haproxy(&signer, &services, variables);
        let token = format!("Bearer {}", accepted(&signer).token());
        Front {
            world,
            proxy,
            token,
        }
    }

    fn nginx() -> Front {
        let world = world(&[]);
        let services = [("FEDERATION_GATEWAY", &*address(&world))];
        Front {
            proxy: Proxy::nginx(&services, &[]),
            world,
            token: "Bearer x".to_owned(),
        }
    }

    /// Each event arrives when it happens, by either transport.
    fn passes_each_event_at_once(&self) {
        let clock = &self.world.clock;
        let headers = [("authorization", self.token.as_str())];
        let base = self.proxy.base();
        let mut events = Events::at(&base, TICKED, "text/event-stream", &headers);
        assert!(
            events.head.contains("content-type: text/event-stream"),
            "{}",
            events.head
        );
        let mut socket = Socket::at(&base, &headers);
        socket.say(json!({"type": "connection_init"}));
        assert_eq!(socket.heard(), json!({"type": "connection_ack"}));
        socket.subscribe("a", TICKED);
        clock.wait_for(2);
        for (at, planet, title) in [(1, "1", "Tatooine"), (2, "2", "Hoth")] {
            clock.ticks(at, planet);
            assert_eq!(events.next().unwrap(), tick(at, title));
            assert_eq!(socket.next("next", "a"), tick(at, title));
        }
        clock.happens(Happens::Completes);
        assert_eq!(events.next(), None);
        assert_eq!(socket.heard(), json!({"type": "complete", "id": "a"}));
        // The subscription of a client that goes away ends at the subgraph, too.
        let gone = Events::at(&base, TICKED, "text/event-stream", &headers);
        clock.wait_for(1);
        drop(gone);
        socket.vanish();
        clock.wait_for(0);
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn events_and_websockets_pass_haproxy_with_a_token() {
    Front::haproxy(&[]).passes_each_event_at_once();
}

#[test]
#[ignore = "needs nginx"]
fn events_and_websockets_pass_nginx() {
    Front::nginx().passes_each_event_at_once();
}

#[test]
#[ignore = "needs HAProxy"]
fn a_websocket_without_a_token_passes_haproxy_only_if_that_is_switched_on() {
    let strict = Front::haproxy(&[]);
    let base = strict.proxy.base();
    let refused = Socket::handshake(&base, Some(PROTOCOL), &[]).err();
    assert_eq!(refused, Some(StatusCode::UNAUTHORIZED));

    let lenient = Front::haproxy(&[("WEBSOCKET_WITHOUT_TOKEN", "yes")]);
    let base = lenient.proxy.base();
    let mut socket = Socket::at(&base, &[]);
    // The services verify what comes here; this gateway forwards it.
    let token = json!({"authorization": lenient.token});
    socket.say(json!({"type": "connection_init", "payload": token}));
    assert_eq!(socket.heard(), json!({"type": "connection_ack"}));
    socket.subscribe("a", "{ plants }");
    assert_eq!(
        code_of(&socket.next("error", "a")),
        "GRAPHQL_VALIDATION_FAILED"
    );
    // A bad token is no token, and nothing but a handshake is let through.
    let bad = [("authorization", "Bearer a.b.c")];
    let refused = Socket::handshake(&base, Some(PROTOCOL), &bad).err();
    assert_eq!(refused, Some(StatusCode::UNAUTHORIZED));
    assert_eq!(
        lenient.proxy.get("/graphql?query=%7Bnow%7D", b"").status,
        401
    );
    let posted = b"Upgrade: websocket\r\nConnection: Upgrade\r\n";
    let posted = lenient.proxy.post("/graphql", "{ now }", posted);
    assert!(matches!(posted.status, 400 | 401), "{}", posted.text);
}
