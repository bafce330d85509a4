//! The client of an authorization server, against a small one that speaks the documents' shapes: what Keycloak cannot be
//! made to answer. Log-ins at Keycloak itself are in `keycloak`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Form;
use axum::http::{StatusCode, Uri};
use axum::routing::{get, post};
use outbound::Secret;
use serde_json::{Value, json};
use service_auth::oauth::{OauthClient, OauthError, Tokens};
use tokio::net::TcpListener;

use crate::idp::axum_serve;

/// What was asked: a path, and the pairs of a form.
type Asked = (String, Vec<(String, String)>);

/// A server that publishes metadata at one path, and answers from its token endpoint what was prepared, the last answer
/// for ever.
#[derive(Clone)]
struct Server {
    base: String,
    metadata: Arc<Mutex<Value>>,
    answers: Arc<Mutex<VecDeque<(u16, Value)>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    async fn start(at: &'static str, answers: &[(u16, Value)]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let metadata = json!({
            "issuer": format!("{base}/realm"),
            "token_endpoint": format!("{base}/token"),
            "device_authorization_endpoint": format!("{base}/device"),
            "revocation_endpoint": format!("{base}/revoke"),
        });
        let server = Server {
            base,
            metadata: Arc::new(Mutex::new(metadata)),
            answers: Arc::new(Mutex::new(answers.iter().cloned().collect())),
            asked: Arc::default(),
        };
        let published = Arc::clone(&server.metadata);
        let answering = server.clone();
        let answer = post(move |uri: Uri, Form(form): Form<Vec<(String, String)>>| {
            let (status, body) = answering.answer(uri.path(), form);
            async move { (StatusCode::from_u16(status).unwrap(), axum::Json(body)) }
        });
        let routes = Router::new()
            .route(
                at,
                get(async move || axum::Json(published.lock().unwrap().clone())),
            )
            .route("/token", answer.clone())
            .route("/device", answer.clone())
            .route("/revoke", answer);
        tokio::spawn(axum_serve(listener, routes));
        server
    }

    fn answer(&self, path: &str, form: Vec<(String, String)>) -> (u16, Value) {
        self.asked.lock().unwrap().push((path.to_owned(), form));
        match path {
            "/device" => (200, device()),
            "/revoke" => (200, Value::Null),
            _ => {
                let mut answers = self.answers.lock().unwrap();
                if answers.len() > 1 {
                    answers.pop_front().unwrap()
                } else {
                    answers[0].clone()
                }
            }
        }
    }

    async fn client(&self) -> OauthClient {
        let issuer = format!("{}/realm", self.base);
        OauthClient::discover(&issuer, "cli").await.unwrap()
    }

    /// Returns the names and values of the last form.
    fn last(&self) -> Value {
        let asked = self.asked.lock().unwrap();
        let form = asked.last().unwrap().1.iter();
        form.map(|(name, value)| (name.clone(), json!(value)))
            .collect()
    }
}

const OPENID: &str = "/realm/.well-known/openid-configuration";
const RFC_8414: &str = "/.well-known/oauth-authorization-server/realm";

fn device() -> Value {
    json!({
        "device_code": "the device", "user_code": "ABCD-EFGH", "verification_uri": "https://idp.example/device",
        "expires_in": 60, "interval": 4,
    })
}

fn tokens() -> (u16, Value) {
    let body = json!({"access_token": "a", "token_type": "Bearer", "expires_in": 60, "refresh_token": "r"});
    (200, body)
}

fn error(code: &str) -> (u16, Value) {
    (400, json!({ "error": code }))
}

/// Waits for a log-in; returns how long it has slept each time.
async fn confirmed(answers: &[(u16, Value)]) -> (Result<Tokens, OauthError>, Vec<u64>, Server) {
    let server = Server::start(OPENID, answers).await;
    let client = server.client().await;
    let authorization = client.authorize_device(Some("openid films")).await.unwrap();
    let scope = json!({"client_id": "cli", "scope": "openid films"});
    assert_eq!(server.last(), scope);
    let mut slept = Vec::new();
    let sleep = async |time: Duration| slept.push(time.as_secs());
    let ended = client.confirmed(&authorization, sleep).await;
    (ended, slept, server)
}

#[tokio::test]
async fn polling_honours_the_interval_and_slows_down() {
    let answers = [
        error("authorization_pending"),
        error("slow_down"),
        error("authorization_pending"),
        tokens(),
    ];
    let (ended, slept, server) = confirmed(&answers).await;
    assert_eq!(ended.unwrap().access_token.reveal(), "a");
    assert_eq!(slept, [4, 4, 9, 9]);
    let form = json!({
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "the device", "client_id": "cli",
    });
    assert_eq!(server.last(), form);
}

#[tokio::test]
async fn a_server_that_fails_is_asked_less_often() {
    let failed = (503, Value::Null);
    let (ended, slept, _) = confirmed(&[failed.clone(), failed, tokens()]).await;
    assert!(ended.is_ok());
    assert_eq!(slept, [4, 8, 16]);
}

#[tokio::test]
async fn a_code_ends_by_the_server_or_by_its_time() {
    let (ended, slept, _) = confirmed(&[error("expired_token")]).await;
    assert!(matches!(ended, Err(OauthError::Expired)), "{ended:?}");
    assert_eq!(slept.len(), 1);
    let (ended, slept, _) = confirmed(&[error("authorization_pending")]).await;
    assert!(matches!(ended, Err(OauthError::Expired)), "{ended:?}");
    // Sixty seconds at an interval of four.
    assert_eq!(slept.len(), 15);
}

#[tokio::test]
async fn a_refusal_ends_the_log_in() {
    let (ended, slept, _) = confirmed(&[error("access_denied")]).await;
    assert!(matches!(ended, Err(OauthError::AccessDenied)), "{ended:?}");
    assert_eq!(slept.len(), 1);
    let (ended, ..) = confirmed(&[error("invalid_client")]).await;
    assert!(matches!(ended, Err(OauthError::Denied(_))), "{ended:?}");
    let (ended, ..) = confirmed(&[(200, json!({"token_type": "Bearer"}))]).await;
    assert!(matches!(ended, Err(OauthError::Malformed(_))), "{ended:?}");
}

#[tokio::test]
async fn metadata_are_found_by_either_document() {
    for at in [OPENID, RFC_8414] {
        let server = Server::start(at, &[tokens()]).await;
        let client = server.client().await;
        assert_eq!(client.issuer(), format!("{}/realm", server.base));
    }
    let server = Server::start("/elsewhere", &[tokens()]).await;
    let missing = OauthClient::discover(&format!("{}/realm", server.base), "cli").await;
    let missing = missing.unwrap_err();
    assert!(
        matches!(missing, OauthError::NoMetadata { .. }),
        "{missing}"
    );
}

#[tokio::test]
async fn metadata_that_lead_to_others_are_refused() {
    let server = Server::start(OPENID, &[tokens()]).await;
    let issuer = format!("{}/realm", server.base);
    let set = |name: &str, value: Value| server.metadata.lock().unwrap()[name] = value;
    set("token_endpoint", json!("http://idp.example/token"));
    let insecure = OauthClient::discover(&issuer, "cli").await.unwrap_err();
    assert!(
        matches!(insecure, OauthError::Insecure("token_endpoint")),
        "{insecure}"
    );
    set("token_endpoint", json!(format!("{}/token", server.base)));
    set("device_authorization_endpoint", Value::Null);
    let client = OauthClient::discover(&issuer, "cli").await.unwrap();
    let unable = client.authorize_device(None).await.unwrap_err();
    assert!(matches!(unable, OauthError::NoDeviceFlow), "{unable}");
    set("issuer", json!("https://idp.example/realm"));
    let other = OauthClient::discover(&issuer, "cli").await.unwrap_err();
    assert!(matches!(other, OauthError::OtherIssuer { .. }), "{other}");
    let open = OauthClient::discover("http://idp.example/realm", "cli").await;
    assert!(matches!(open, Err(OauthError::Issuer)));
}

#[tokio::test]
async fn a_refresh_token_stays_unless_there_is_another_one() {
    let without = json!({"access_token": "b", "token_type": "Bearer"});
    let server = Server::start(OPENID, &[(200, without), tokens()]).await;
    let client = server.client().await;
    let kept = client.refresh(&Secret::new("old")).await.unwrap();
    assert_eq!(kept.refresh_token.unwrap().reveal(), "old");
    let form = json!({"grant_type": "refresh_token", "refresh_token": "old", "client_id": "cli"});
    assert_eq!(server.last(), form);
    let rotated = client.refresh(&Secret::new("old")).await.unwrap();
    assert_eq!(rotated.refresh_token.unwrap().reveal(), "r");
}

#[tokio::test]
async fn a_log_in_is_revoked_where_the_server_offers_that() {
    let server = Server::start(OPENID, &[tokens()]).await;
    let client = server.client().await;
    assert!(client.revoke(&Secret::new("old")).await.unwrap());
    let form = json!({"token": "old", "token_type_hint": "refresh_token", "client_id": "cli"});
    assert_eq!(server.last(), form);
    server.metadata.lock().unwrap()["revocation_endpoint"] = Value::Null;
    let client = server.client().await;
    assert!(!client.revoke(&Secret::new("old")).await.unwrap());
}
