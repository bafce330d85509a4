//! Services behind HAProxy that are dead, hang or are not good to go, beside others that work.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use test_support::sockets::{Behaviour, answer};

use super::harness::{Proxy, Services, accepted, bearer};
use crate::authentication::keys::Signer;
use crate::processes::eventually;

/// Returns the beginning of an answer, if there is one before a client loses its patience.
fn status(proxy: &Proxy, target: &str, token: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    let request = [head.as_bytes(), token, b"\r\n"].concat();
    stream.write_all(&request).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    text.split(' ').nth(1).map(str::to_owned)
}

#[test]
#[ignore = "needs HAProxy"]
fn a_service_that_hangs_leaves_the_others_working_and_is_left_out_until_it_answers() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[]);
    let token = bearer(&accepted(&signer).token());
    assert_eq!(proxy.get("/searches/graphql", &token).status, 200);
    services.searches.change(Behaviour::Silent);
    let is = |target: &str, wanted: &str| status(&proxy, target, &token).as_deref() == Some(wanted);
    eventually(|| {
        for target in ["/objects/graphql", "/graphql", "/__health"] {
            assert!(is(target, "200"), "{target}");
        }
        is("/searches/graphql", "503") && is("/searches/__health", "503")
    });
    let reply = proxy.get("/searches/graphql", &token);
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "UPSTREAM_UNAVAILABLE")
    );
    assert_eq!(reply.header("retry-after"), "5");
    assert_eq!(reply.header("x-request-id").len(), 36);
    let good = answer("200 OK", "application/json", "{}");
    services.searches.change(Behaviour::Answers(good));
    eventually(|| is("/searches/graphql", "200") && is("/searches/__health", "200"));
}

#[test]
#[ignore = "needs HAProxy"]
fn a_service_that_is_not_good_to_go_gets_no_operations_and_says_why() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[]);
    let token = bearer(&accepted(&signer).token());
    // It lives: what it says of itself passes, and so does the request that binds its first schema.
    let bad = answer(
        "503 Service Unavailable",
        "application/json",
        "{\"gtg\":\"ERROR\"}",
    );
    services.objects.change(Behaviour::Answers(bad));
    services.gateway.change(Behaviour::Answers(answer(
        "200 OK",
        "application/json",
        "{}",
    )));
    eventually(|| {
        let reply = proxy.get("/objects/graphql", &token);
        reply.status == 503 && reply.body().contains("UPSTREAM_UNAVAILABLE")
    });
    assert_eq!(proxy.get("/graphql", &token).status, 200);
}

#[test]
#[ignore = "needs HAProxy"]
fn a_dead_service_is_503_and_one_that_breaks_off_502() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let (nobody, breaks) = (test_support::sockets::nobody(), &services.searches);
    let nobody = nobody
        .trim_start_matches("http://")
        .trim_end_matches("/graphql");
    let proxy = Proxy::recording(&signer, &services, &[("EXTENSION_SERVICE", nobody)]);
    let token = bearer(&accepted(&signer).token());
    for target in ["/extension/graphql", "/extension/__health"] {
        let reply = proxy.get(target, &token);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "UPSTREAM_UNAVAILABLE")
        );
    }
    breaks.change(Behaviour::Closes(Vec::new()));
    let reply = proxy.get("/searches/graphql", &token);
    // The health check may have noticed it first.
    let known = [(502, "UPSTREAM_FAILED"), (503, "UPSTREAM_UNAVAILABLE")];
    assert!(
        known.contains(&(reply.status, reply.code().as_str())),
        "{}",
        reply.text
    );
    for target in ["/objects/graphql", "/graphql"] {
        assert_eq!(proxy.get(target, &token).status, 200, "{target}");
    }
    assert!(proxy.log().contains("extension"), "{}", proxy.log());
}
