//! Keys that a server publishes: rotation, failures, and how often they are asked for.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use servers::config::SecuritySettings;
use service_auth::{Jwks, KeysAddress, Refusal, Times, Verifier, VerifierOptions};

use super::keys::Signer;
use super::{claims, claims_with};
use crate::callers::settings;
use crate::processes::PATIENCE;
use crate::service::Service;

/// A server of keys whose answer can be changed; it stops when this is dropped.
struct KeyServer {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// The whole answer; without one, connections are closed at once.
    answer: Mutex<Option<String>>,
    asked: AtomicUsize,
    is_stopped: AtomicBool,
    /// It takes requests and does not answer them.
    is_silent: AtomicBool,
}

impl KeyServer {
    fn start(keys: &[&Signer]) -> KeyServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            answer: Mutex::default(),
            asked: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
        });
        let server = KeyServer {
            url,
            shared: Arc::clone(&shared),
        };
        server.publish(keys);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                shared.answer(stream.unwrap());
            }
        });
        server
    }

    fn publish(&self, keys: &[&Signer]) {
        let keys: Vec<&Value> = keys.iter().map(|key| &key.jwk).collect();
        self.answer("200 OK", &json!({"keys": keys}).to_string());
    }

    fn answer(&self, status: &str, body: &str) {
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        *self.shared.answer.lock().unwrap() = Some(answer);
    }

    fn go_down(&self) {
        *self.shared.answer.lock().unwrap() = None;
    }

    fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }

    fn verifier(&self, times: Times) -> Verifier {
        let address = KeysAddress::parse(&self.url).unwrap();
        let verifier = Verifier::without_keys(&VerifierOptions::default());
        verifier.with_jwks(Jwks::new(&address, times).unwrap())
    }
}

impl Shared {
    fn answer(&self, mut stream: TcpStream) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        while self.is_silent.load(Ordering::SeqCst) && !self.is_stopped.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let answer = self.answer.lock().unwrap().clone();
        if let Some(answer) = answer {
            let mut buffer = [0; 4_096];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer.as_bytes());
        }
    }
}

impl Drop for KeyServer {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        let address = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/keys");
        // Wakes the thread up, so that it ends.
        let _ = TcpStream::connect(address);
    }
}

/// Times of keys that are fetched once, and of an unknown key once more; failures are over soon.
fn short() -> Times {
    Times {
        fresh: Duration::from_secs(3_600),
        unknown: Duration::from_secs(3_600),
        retry: Duration::from_millis(50),
        fetch: PATIENCE,
    }
}

fn query(service: &Service, token: &str) -> (u16, String) {
    let authorization = format!("Bearer {token}");
    let headers = [("authorization", authorization.as_str())];
    let answer = service.send("GET", "/graphql?query=%7B__typename%7D", &headers, b"");
    let code = if answer.status == 200 {
        String::new()
    } else {
        answer.code()
    };
    (answer.status, code)
}

#[test]
fn keys_are_rotated_under_load_and_no_good_token_is_refused() {
    let (old, new) = (Signer::p256().named("old"), Signer::rsa().named("new"));
    let server = KeyServer::start(&[&old]);
    let service = Service::with_verifier(server.verifier(short()));
    let (old_token, new_token) = (old.token(&claims()), new.token(&claims()));
    let (is_rotated, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let counted = [AtomicUsize::new(0), AtomicUsize::new(0)];
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (service, is_rotated, is_over, counted) =
                (&service, &is_rotated, &is_over, &counted);
            let (old_token, new_token) = (&old_token, &new_token);
            scope.spawn(move || {
                let mut round = client;
                while !is_over.load(Ordering::SeqCst) {
                    round += 1;
                    // After the rotation both are signed with for a while.
                    let is_new = is_rotated.load(Ordering::SeqCst) && round % 2 == 0;
                    let token = if is_new { new_token } else { old_token };
                    assert_eq!(query(service, token), (200, String::new()), "new: {is_new}");
                    counted[usize::from(is_new)].fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let count = |is_new| counted[usize::from(is_new)].load(Ordering::SeqCst);
        let until = Instant::now() + PATIENCE;
        // Waits for further good answers to tokens of the key.
        let goes_on = |is_new| {
            let wanted = count(is_new) + 20;
            while count(is_new) < wanted && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
            count(is_new) >= wanted
        };
        let mut good = vec![goes_on(false)];
        server.publish(&[&old, &new]);
        is_rotated.store(true, Ordering::SeqCst);
        good.extend([false, true].map(goes_on));
        // While the server is away, what it said last is true.
        server.go_down();
        good.extend([false, true].map(goes_on));
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(good, [true; 5]);
    });
    // Once at the start, and once for the sake of the new key.
    assert_eq!(server.asked(), 2);
    // Whoever makes up names of keys does not make the service ask again.
    let made_up = Signer::p256().named("made up").token(&claims());
    for _ in 0..20 {
        assert_eq!(query(&service, &made_up), (401, "TOKEN_INVALID".to_owned()));
    }
    assert_eq!(server.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_keys_are_asked_for_once_in_a_while_however_many_tokens_name_them() {
    let known = Signer::ed25519().named("known");
    let server = KeyServer::start(&[&known]);
    let verifier = Arc::new(server.verifier(short()));
    assert!(verifier.verify(&known.token(&claims())).await.is_ok());
    let tasks = (0..50).map(|number| {
        let token = Signer::ed25519()
            .named(&number.to_string())
            .token(&claims());
        let verifier = Arc::clone(&verifier);
        tokio::spawn(async move { verifier.verify(&token).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        assert_eq!(task.await.unwrap().unwrap_err(), Refusal::UnknownKey);
    }
    assert_eq!(server.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_no_longer_published_are_not_believed() {
    let (old, new) = (Signer::p256().named("old"), Signer::p384().named("new"));
    let server = KeyServer::start(&[&old]);
    let times = Times {
        fresh: Duration::from_millis(20),
        ..short()
    };
    let verifier = server.verifier(times);
    let (old, new_token) = (old.token(&claims()), new.token(&claims()));
    assert!(verifier.verify(&old).await.is_ok());
    server.publish(&[&new]);
    let refusal = within(|| verifier.verify(&old), |result| result.is_err()).await;
    assert_eq!(refusal.unwrap_err(), Refusal::UnknownKey);
    assert!(verifier.verify(&new_token).await.is_ok());
}

/// Does something again until the result is as wanted.
async fn within<T, F: Future<Output = T>>(work: impl Fn() -> F, wanted: impl Fn(&T) -> bool) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        let result = work().await;
        if wanted(&result) || Instant::now() > end {
            return result;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_leaves_the_keys_that_are_there() {
    let key = Signer::p256().named("a");
    let server = KeyServer::start(&[&key]);
    let times = Times {
        fresh: Duration::from_millis(1),
        unknown: Duration::ZERO,
        retry: Duration::from_millis(1),
        ..short()
    };
    let verifier = server.verifier(times);
    let token = key.token(&claims());
    assert!(verifier.verify(&token).await.is_ok());
    let too_large = format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(300_000));
    for (status, body) in [
        ("500 Internal Server Error", "{\"keys\":[]}"),
        ("200 OK", "<html>"),
        ("200 OK", "[]"),
        ("200 OK", &too_large),
        ("302 Found\r\nLocation: /other", "{\"keys\":[]}"),
        ("404 Not Found", ""),
    ] {
        server.answer(status, body);
        let before = server.asked();
        let verify = || async { (verifier.verify(&token).await.is_ok(), server.asked()) };
        let (is_good, asked) = within(verify, |(_, asked)| *asked >= before + 3).await;
        assert!(is_good && asked >= before + 3, "{status} {asked}");
    }
    server.go_down();
    let before = server.asked();
    let verify = || async { (verifier.verify(&token).await.is_ok(), server.asked()) };
    let (is_good, asked) = within(verify, |(_, asked)| *asked >= before + 3).await;
    assert!(is_good && asked >= before + 3, "{asked}");
    // An empty set is an answer: somebody takes all keys back.
    server.publish(&[]);
    let result = within(|| verifier.verify(&token), |result| result.is_err()).await;
    assert_eq!(result.unwrap_err(), Refusal::UnknownKey);
}

#[tokio::test(flavor = "multi_thread")]
async fn known_keys_are_used_at_once_while_the_server_does_not_answer() {
    let key = Signer::p256().named("a");
    let server = KeyServer::start(&[&key]);
    let times = Times {
        fresh: Duration::from_millis(1),
        fetch: 10 * PATIENCE,
        ..short()
    };
    let verifier = server.verifier(times);
    let token = key.token(&claims());
    assert!(verifier.verify(&token).await.is_ok());
    server.shared.is_silent.store(true, Ordering::SeqCst);
    let before = server.asked();
    let used = async {
        let verify = || async { (verifier.verify(&token).await.is_ok(), server.asked()) };
        let (is_good, asked) = within(verify, |(_, asked)| *asked > before).await;
        assert!(is_good && asked > before);
        for _ in 0..100 {
            assert!(verifier.verify(&token).await.is_ok());
        }
    };
    tokio::time::timeout(2 * PATIENCE, used).await.unwrap();
    assert_eq!(server.asked(), before + 1);
}

#[test]
fn before_the_first_keys_are_there_the_service_says_so_and_then_goes_on() {
    let key = Signer::ed25519().named("a");
    let server = KeyServer::start(&[&key]);
    server.go_down();
    let service = Service::demo_with(settings(&[&format!("security.jwks.url={}", server.url)]));
    let token = key.token(&claims());
    let authorization = format!("Bearer {token}");
    let headers = [("authorization", authorization.as_str())];
    let answer = service.send("GET", "/graphql?query=%7B__typename%7D", &headers, b"");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "KEYS_UNAVAILABLE")
    );
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(answer.header("www-authenticate"), "");
    // What is no token is refused all the same.
    assert_eq!(query(&service, "a.b.c"), (401, "TOKEN_INVALID".to_owned()));
    server.publish(&[&key]);
    let end = Instant::now() + PATIENCE;
    while query(&service, &token).0 != 200 {
        assert!(Instant::now() < end, "the keys are never fetched again");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_a_name_of_its_key_is_tried_with_all() {
    let keys = [
        Signer::p256(),
        Signer::p256().named("b"),
        Signer::rsa(),
        Signer::ed25519().named("d"),
    ];
    let server = KeyServer::start(&keys.each_ref());
    let verifier = server.verifier(short());
    for key in &keys {
        let mut nameless = key.clone();
        nameless.jwk["kid"] = Value::Null;
        let header = json!({"alg": format!("{:?}", key.algorithm)}).to_string();
        let token = nameless.signed(&header, &claims().to_string());
        assert!(verifier.verify(&token).await.is_ok(), "{:?}", key.algorithm);
    }
    // A name that belongs to another key is the wrong one; only keys without names are tried.
    let token = keys[1].named("d").token(&claims());
    let refusal = verifier.verify(&token).await.unwrap_err();
    assert_eq!(refusal, Refusal::Signature);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_published_secret_or_weak_key_is_not_used() {
    let secret = Signer::hmac(b"everybody can read this secret text").named("s");
    let mut weak = Signer::rsa().named("w");
    weak.jwk["alg"] = json!("PS512");
    let server = KeyServer::start(&[&secret, &weak]);
    let verifier = server.verifier(short());
    let token = secret.token(&claims());
    assert_eq!(
        verifier.verify(&token).await.unwrap_err(),
        Refusal::UnknownKey
    );
    // It is published for PS512 alone.
    let token = weak.token(&claims());
    assert_eq!(
        verifier.verify(&token).await.unwrap_err(),
        Refusal::UnknownKey
    );
    let token = weak.using(jsonwebtoken::Algorithm::PS512).token(&claims());
    assert!(verifier.verify(&token).await.is_ok());
}

#[tokio::test]
async fn a_verified_token_tells_name_roles_and_claims() {
    let key = service_auth::Key::hmac(super::SECRET.as_bytes());
    let settings = SecuritySettings {
        roles_claim: "realm_access.roles".to_owned(),
        super_roles: servers::config::Names(vec!["root".to_owned()]),
        ..SecuritySettings::default()
    };
    let verifier = Verifier::without_keys(&settings.verifier_options()).with_keys([key]);
    let signer = Signer::hmac(super::SECRET.as_bytes());
    let change = json!({"realm_access": {"roles": ["Reader", "root"]}, "tenant": "a"});
    let caller = verifier
        .verify(&signer.token(&claims_with(change)))
        .await
        .unwrap();
    assert_eq!(caller.name.as_deref(), Some("anna"));
    assert_eq!(caller.roles, ["Reader", "root"]);
    assert!(caller.superuser);
    assert_eq!(
        caller.claims.get("tenant").and_then(|claim| claim.as_str()),
        Some("a")
    );
    for roles in [
        json!(7),
        json!({"a": 1}),
        json!(["A", null]),
        json!({"roles": 1}),
    ] {
        let claims = claims_with(json!({"realm_access": roles}));
        let caller = verifier.verify(&signer.token(&claims)).await.unwrap();
        assert!(caller.roles.is_empty() && !caller.superuser, "{roles}");
    }
    let single = claims_with(json!({"realm_access": {"roles": "Reader"}}));
    assert_eq!(
        verifier.verify(&signer.token(&single)).await.unwrap().roles,
        ["Reader"]
    );
}
