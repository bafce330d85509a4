//! Bad tokens at `soml edge`: none reaches a service, whatever is wrong with it.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use test_support::sockets::{Behaviour, Server, answer};

use crate::authentication::keys::Signer;
use crate::authentication::process::send;
use crate::bad_tokens::{Accepted, bad_tokens};
use crate::processes::{Running, base};

#[test]
fn sixty_bad_tokens_never_reach_a_service_through_soml_edge() {
    let service = Server::start(Behaviour::Answers(answer(
        "200 OK",
        "application/json",
        "{}",
    )));
    let signer = Signer::rsa();
    let accepted = Accepted {
        signer: &signer,
        issuer: "https://idp.example",
        audience: "api",
    };
    let folder = TempDir::new().unwrap();
    let key = folder.path().join("key.pem");
    fs::write(&key, &signer.pem).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command
        .env_clear()
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    command
        .env("SECURITY_SECRET_FILE", &key)
        .args(["edge", "--port", "0"]);
    for setting in [
        "security.algorithms=RS256",
        "security.issuer=https://idp.example",
        "security.audience=api",
        "edge.route.0.path=/",
        &format!("edge.route.0.address=http://{}", service.address),
        "edge.route.1.path=/sockets",
        &format!("edge.route.1.address=http://{}", service.address),
        "edge.route.1.tokenInInit=true",
    ] {
        command.args(["--set", setting]);
    }
    let running = Running::start(&mut command);
    let said = running.said_until("Route:");
    let url = base(&said, "Edge:").trim_end_matches('/');
    let address = url.strip_prefix("http://").unwrap();
    let arrived = || {
        let requests = service.seen.requests.lock().unwrap();
        let of_clients = requests.iter().map(|it| it.head.clone());
        let of_clients = of_clients.filter(|head| !head.starts_with("get /__health"));
        of_clients.collect::<Vec<_>>()
    };
    let table = bad_tokens(&accepted);
    assert!(table.0.len() >= 60, "{}", table.0.len());
    let websocket = b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (name, headers) in &table.0 {
        for target in [
            ("POST", "/graphql"),
            ("GET", "/__health?cache=false"),
            ("GET", "/unknown"),
        ] {
            let reply = send(address, target, headers, b"");
            assert!(
                matches!(reply.status, 400 | 401 | 431),
                "{name}: {}",
                reply.text
            );
        }
        let text = String::from_utf8_lossy(headers).to_ascii_lowercase();
        let mut lines = text.lines();
        let has_one = lines.any(|line| line.starts_with("authorization:"));
        if has_one {
            let headers = [headers, &websocket[..]].concat();
            let reply = send(address, ("GET", "/sockets"), &headers, b"");
            assert!(
                matches!(reply.status, 400 | 401 | 431),
                "{name}: {}",
                reply.text
            );
        }
        assert_eq!(arrived(), Vec::<String>::new(), "{name}");
    }
    let good = format!("Authorization: Bearer {}\r\n", accepted.token());
    let reply = send(address, ("POST", "/graphql"), good.as_bytes(), b"");
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(arrived().len(), 1);
}
