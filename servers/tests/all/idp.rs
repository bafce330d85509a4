//! The client of an identity provider: it logs in at the provider of this crate, and at one that fails.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use outbound::Secret;
use serde_json::{Value, json};
use servers::config::{ProviderSettings, Settings};
use service_auth::identity::Provider;
use service_auth::idp::{IdpClient, IdpError, IdpOptions};
use service_auth::provisioning::Provisioning;
use tokio::net::TcpListener;

use crate::service::Service;

const USERS: &str = "security:
  roles: [{name: Federation}]
  users: [{username: gateway, password: correct horse, roles: [Federation]}]
";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn provider(token_time: Duration) -> Service {
    let settings = ProviderSettings {
        token_time,
        ..ProviderSettings::default()
    };
    let users = Provisioning::parse("users.yaml", USERS, &|_| None).unwrap();
    let provider = Provider::new(&settings.options(), &users).unwrap();
    Service::with_provider(Settings::default(), Arc::new(provider))
}

fn options(address: &str, password: &str) -> IdpOptions {
    let application = ProviderSettings::default().application_id;
    IdpOptions {
        retry_delay: Duration::from_millis(1),
        ..IdpOptions::new(address, application, "gateway", Secret::new(password))
    }
}

/// A provider that gives prepared answers, the last of them for ever, and keeps what it was sent.
#[derive(Clone, Default)]
struct Prepared {
    answers: Arc<Mutex<VecDeque<(u16, Value)>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Prepared {
    async fn start(answers: &[(u16, Value)]) -> (Prepared, String) {
        let prepared = Prepared::default();
        prepared
            .answers
            .lock()
            .unwrap()
            .extend(answers.iter().cloned());
        let state = prepared.clone();
        let answer = move |body: String| {
            state
                .requests
                .lock()
                .unwrap()
                .push(serde_json::from_str(&body).unwrap());
            let mut answers = state.answers.lock().unwrap();
            let next = match answers.len() {
                1 => answers.front().cloned().unwrap(),
                _ => answers.pop_front().unwrap(),
            };
            async move { (StatusCode::from_u16(next.0).unwrap(), axum::Json(next.1)) }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().route("/api/login", post(answer));
        tokio::spawn(async move { axum_serve(listener, routes).await });
        (prepared, address)
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// Serves routes on each connection, without what a service adds.
pub(crate) fn axum_serve(listener: TcpListener, routes: Router) -> impl Future<Output = ()> {
    use hyper::server::conn::http1;
    use hyper_util::rt::TokioIo;
    use hyper_util::service::TowerToHyperService;
    async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = TowerToHyperService::new(routes.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    }
}

fn token(expires: Option<u64>) -> (u16, Value) {
    let mut body = json!({ "token": "a.b.c", "user": {} });
    if let Some(expires) = expires {
        body["tokenExpirationInstant"] = json!(expires);
    }
    (200, body)
}

const FAR: u64 = 99_999_999_999_999;

#[test]
fn it_logs_in_at_the_provider_of_this_crate_and_keeps_the_token() {
    let service = provider(Duration::from_secs(3_600));
    runtime().block_on(async {
        let client = IdpClient::new(options(&service.base, "correct horse")).unwrap();
        let first = client.token().await.unwrap();
        assert_eq!(client.token().await.unwrap(), first);
        client.forget().await;
        assert_ne!(
            client.token().await.unwrap(),
            first,
            "each log-in has a `jti` of its own"
        );
    });
}

#[test]
fn a_token_that_is_about_to_end_is_replaced() {
    runtime().block_on(async {
        // What has ended already is not kept, and what does not say when it ends is used once.
        for answer in [token(Some(1)), token(None)] {
            let (prepared, address) = Prepared::start(&[answer]).await;
            let client = IdpClient::new(options(&address, "x")).unwrap();
            for _ in 0..3 {
                client.token().await.unwrap();
            }
            assert_eq!(prepared.requests(), 3);
        }
    });
}

#[test]
fn however_many_wait_for_a_token_there_is_one_log_in() {
    runtime().block_on(async {
        let (prepared, address) = Prepared::start(&[token(Some(FAR))]).await;
        let client = Arc::new(IdpClient::new(options(&address, "hunter2")).unwrap());
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let client = Arc::clone(&client);
                tokio::spawn(async move { client.token().await.unwrap() })
            })
            .collect();
        for waiting in waiting {
            assert_eq!(waiting.await.unwrap().reveal(), "a.b.c");
        }
        let application = ProviderSettings::default().application_id.to_string();
        let expected =
            json!({ "loginId": "gateway", "password": "hunter2", "applicationId": application });
        assert_eq!(*prepared.requests.lock().unwrap(), [expected]);
    });
}

#[test]
fn what_may_pass_is_tried_again_until_it_succeeds() {
    let failures = [
        (503, Value::Null),
        (404, Value::Null),
        (429, Value::Null),
        (202, json!({"token": "x"})),
    ];
    runtime().block_on(async {
        let answers: Vec<_> = failures.into_iter().chain([token(Some(FAR))]).collect();
        let (prepared, address) = Prepared::start(&answers).await;
        let client = IdpClient::new(options(&address, "x")).unwrap();
        assert_eq!(client.token().await.unwrap().reveal(), "a.b.c");
        assert_eq!(prepared.requests(), 5);
    });
}

#[test]
fn it_gives_up_after_the_retries_and_says_why() {
    let defaults = IdpOptions::new(
        "http://localhost:9011",
        ProviderSettings::default().application_id,
        "a",
        Secret::new("b"),
    );
    assert_eq!(
        (defaults.retries, defaults.retry_delay),
        (10, Duration::from_secs(2))
    );
    let service = provider(Duration::from_secs(60));
    runtime().block_on(async {
        for (address, password, cause) in [
            (service.base.as_str(), "hunter2", "does not know the user"),
            ("http://127.0.0.1:1", "hunter2", "does not answer"),
        ] {
            let options = IdpOptions {
                retries: 2,
                ..options(address, password)
            };
            let error = IdpClient::new(options).unwrap().token().await.unwrap_err();
            let IdpError::GaveUp { attempts, source } = &error else {
                panic!("{error}");
            };
            assert_eq!(*attempts, 3);
            assert!(source.to_string().contains(cause), "{source}");
            assert!(!format!("{error} {error:?} {source}").contains("hunter2"));
        }
    });
}

#[test]
fn what_is_wrong_with_the_request_itself_is_not_tried_again() {
    let refused = json!({
        "fieldErrors": { "applicationId": [{ "code": "[invalid]applicationId", "message": "hunter2" }] },
        "generalErrors": [{ "code": "[odd]", "message": "hunter2" }],
    });
    runtime().block_on(async {
        for (status, body, expected) in [
            (
                400,
                refused,
                "400 Bad Request ([odd], [invalid]applicationId)",
            ),
            (401, Value::Null, "the API key"),
            (302, Value::Null, "302"),
            (200, json!({ "user": {} }), "it has no token"),
        ] {
            let (prepared, address) = Prepared::start(&[(status, body)]).await;
            let client = IdpClient::new(options(&address, "hunter2")).unwrap();
            let error = client.token().await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(
                !format!("{error} {error:?}").contains("hunter2"),
                "{error:?}"
            );
            assert_eq!(prepared.requests(), 1, "{status}");
        }
    });
}

#[test]
fn an_address_that_is_none_is_refused() {
    for address in [
        "localhost:9011",
        "ftp://localhost",
        "http://u:hunter2@localhost",
        "",
        "file:///x",
    ] {
        let error = IdpClient::new(options(address, "x")).err().unwrap();
        assert!(matches!(error, IdpError::Address), "{address}");
        assert!(!error.to_string().contains("hunter2"));
    }
    let shown = format!("{:?}", options("http://localhost:9011", "hunter2"));
    assert!(!shown.contains("hunter2"), "{shown}");
}
