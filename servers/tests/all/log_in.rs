//! Logging in at the provider in the process: requests, tokens, keys, and bounds.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fs, thread};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use schema_registry::InMemorySchemaStore;
use serde_json::{Value, json};
use servers::config::{ProviderSettings, Settings};
use servers::wiring::object_service;
use service_auth::identity::{Provider, ProviderError};
use service_auth::provisioning::Provisioning;
use service_runtime::Serve;
use tempfile::TempDir;

use crate::service::{Answer, Service};

const USERS: &str = "security:
  roles: [{name: Reader, default: true}, {name: Editor}, {name: Admin, superRole: true}]
  users:
  - {username: anna, email: Anna@Example.org, password: correct horse, roles: [Editor, Reader]}
  - {username: root, password: battery staple, roles: [Admin]}
";

/// Settings without bounds on rates.
fn unlimited() -> ProviderSettings {
    ProviderSettings {
        logins_per_user: 0,
        logins_per_address: 0,
        ..ProviderSettings::default()
    }
}

fn provider(settings: &ProviderSettings) -> Arc<Provider> {
    let users = Provisioning::parse("users.yaml", USERS, &|_| None).unwrap();
    Arc::new(Provider::new(&settings.options(), &users).unwrap())
}

fn service(settings: &ProviderSettings) -> Service {
    Service::with_provider(Settings::default(), provider(settings))
}

fn log_in(service: &Service, body: &Value) -> Answer {
    let headers = [("content-type", "application/json")];
    service.send("POST", "/api/login", &headers, body.to_string().as_bytes())
}

fn credentials(user: &str, password: &str) -> Value {
    json!({ "loginId": user, "password": password })
}

fn token(service: &Service) -> String {
    let answer = log_in(service, &credentials("anna", "correct horse"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["token"].as_str().unwrap().to_owned()
}

/// Verifies a token by the published keys.
fn verified(service: &Service, token: &str) -> Option<Value> {
    let keys: JwkSet = serde_json::from_slice(&service.get("/.well-known/jwks.json").body).unwrap();
    let header = decode_header(token).unwrap();
    let key = keys.find(header.kid.as_deref().unwrap())?;
    let mut validation = Validation::new(header.alg);
    validation.set_audience(&[ProviderSettings::default().application_id.to_string()]);
    validation.set_issuer(&["localhost"]);
    let key = DecodingKey::from_jwk(key).unwrap();
    decode::<Value>(token, &key, &validation)
        .ok()
        .map(|token| token.claims)
}

#[test]
fn a_user_logs_in_by_name_or_address_and_gets_a_token_with_the_documented_claims() {
    let service = service(&unlimited());
    let application = ProviderSettings::default().application_id.to_string();
    let mut identifiers = HashSet::new();
    for (name, application) in [
        ("anna", None),
        (" ANNA ", Some(application.as_str())),
        (
            "anna@example.org",
            Some(application.to_uppercase().as_str()),
        ),
    ] {
        let mut body = credentials(name, "correct horse");
        body["applicationId"] = json!(application);
        body["noSuchMember"] = json!(true);
        let answer = log_in(&service, &body);
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        assert_eq!(answer.header("cache-control"), "no-store");
        let answer = answer.json();
        let claims = verified(&service, answer["token"].as_str().unwrap()).unwrap();
        let (issued, expires) = (
            claims["iat"].as_u64().unwrap(),
            claims["exp"].as_u64().unwrap(),
        );
        assert_eq!(expires - issued, 3_600);
        assert_eq!(answer["tokenExpirationInstant"], expires * 1_000);
        assert!(identifiers.insert(claims["jti"].as_str().unwrap().to_owned()));
        assert_eq!(answer["user"]["id"], claims["sub"]);
        assert_eq!(answer["user"]["username"], "anna");
        assert_eq!(
            answer["user"]["registrations"][0]["roles"],
            json!(["Editor", "Reader"])
        );
        let expected = json!({
            "iss": "localhost",
            "aud": ProviderSettings::default().application_id.to_string(),
            "applicationId": ProviderSettings::default().application_id.to_string(),
            "sub": answer["user"]["id"],
            "jti": claims["jti"],
            "iat": issued,
            "exp": expires,
            "authenticationType": "PASSWORD",
            "preferred_username": "anna",
            "email": "Anna@Example.org",
            "email_verified": true,
            "roles": ["Editor", "Reader"],
        });
        assert_eq!(claims, expected);
    }
}

#[test]
fn a_verifier_in_the_process_is_configured_with_the_provider() {
    let provider = provider(&unlimited());
    let service = Service::with_provider(Settings::default(), Arc::clone(&provider));
    let verification = provider.verification();
    let key = DecodingKey::from_ec_pem(verification.public_pem.as_bytes()).unwrap();
    let mut validation = Validation::new(verification.algorithm);
    validation.set_audience(&[&verification.audience]);
    validation.set_issuer(&[&verification.issuer]);
    let token = decode::<Value>(token(&service), &key, &validation).unwrap();
    assert_eq!(
        token.header.kid.as_deref(),
        Some(verification.key_id.as_str())
    );
    assert_eq!(
        token.claims[verification.roles_claim],
        json!(["Editor", "Reader"])
    );
    assert_eq!(verification.super_roles, ["Admin"]);
    assert_eq!(verification.default_roles, ["Reader"]);
}

#[test]
fn the_published_key_has_no_private_part() {
    let keys = service(&unlimited()).get("/.well-known/jwks.json");
    let key = &keys.json()["keys"][0];
    let members: HashSet<_> = key
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        members,
        HashSet::from(["kty", "crv", "x", "y", "kid", "use", "alg"])
    );
    assert_eq!(
        (&key["kty"], &key["crv"], &key["alg"]),
        (&json!("EC"), &json!("P-256"), &json!("ES256"))
    );
}

#[test]
fn a_wrong_password_and_an_unknown_user_cannot_be_told_apart() {
    let provider = provider(&unlimited());
    let service = Service::with_provider(Settings::default(), Arc::clone(&provider));
    let mut answers = HashSet::new();
    for (user, password) in [
        ("nobody", "correct horse"),
        ("anna", "battery staple"),
        ("anna@example.org", "x"),
        ("nobody@example.org", "x"),
    ] {
        let answer = log_in(&service, &credentials(user, password));
        let names = answer.headers.keys().map(|name| name.as_str().to_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        answers.insert((answer.status, names, answer.text()));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    let (status, _, body) = answers.into_iter().next().unwrap();
    assert_eq!((status, body.as_str()), (404, ""));
}

#[test]
fn a_name_that_nobody_has_costs_a_hash_as_well() {
    let provider = provider(&unlimited());
    let service = Service::with_provider(Settings::default(), Arc::clone(&provider));
    assert_eq!(provider.parallel_hashes().1, 0);
    assert_eq!(log_in(&service, &credentials("nobody", "x")).status, 404);
    assert_eq!(provider.parallel_hashes().1, 1);
}

#[test]
fn a_provider_without_users_refuses_everybody() {
    let nobody = Provider::new(&unlimited().options(), &Provisioning::default()).unwrap();
    let service = Service::with_provider(Settings::default(), Arc::new(nobody));
    assert_eq!(
        log_in(&service, &credentials("anna", "correct horse")).status,
        404
    );
}

#[test]
fn what_is_no_log_in_is_refused_with_the_member_that_is_wrong() {
    let service = service(&unlimited());
    for (body, code) in [
        (json!({ "password": "hunter2" }), "[blank]loginId"),
        (
            json!({ "loginId": null, "password": "hunter2" }),
            "[blank]loginId",
        ),
        (json!({ "loginId": "anna" }), "[blank]password"),
        (
            json!({ "loginId": " ", "password": "hunter2" }),
            "[blank]loginId",
        ),
        (
            json!({ "loginId": "anna", "password": 1 }),
            "[invalid]password",
        ),
        (
            json!({ "loginId": ["anna"], "password": "hunter2" }),
            "[invalid]loginId",
        ),
        (
            json!({ "loginId": "anna", "password": "hunter2", "applicationId": "x" }),
            "[invalid]applicationId",
        ),
        (
            json!({
                "loginId": "anna",
                "password": "correct horse",
                "applicationId": "00000000-0000-0000-0000-000000000000",
            }),
            "[invalid]applicationId",
        ),
    ] {
        let answer = log_in(&service, &body);
        let field = code.split(']').nth(1).unwrap();
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(
            answer.json()["fieldErrors"][field][0]["code"],
            code,
            "{body}"
        );
        assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    }
    let json_type = [("content-type", "application/json")];
    for body in ["", "[]", "{", "\"hunter2\"", "{\"password\": hunter2}"] {
        let answer = service.send("POST", "/api/login", &json_type, body.as_bytes());
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["generalErrors"][0]["code"], "[invalidJSON]");
        assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    }
    let right = credentials("anna", "correct horse").to_string();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = service.send("POST", "/api/login", &form, right.as_bytes());
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (415, "UNSUPPORTED_MEDIA_TYPE")
    );
    let long = credentials("anna", &"x".repeat(16 << 10));
    let answer = log_in(&service, &long);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (413, "BODY_TOO_LARGE")
    );
    assert_eq!(service.get("/api/login").status, 405);
}

#[test]
fn pages_of_other_origins_cannot_log_in() {
    let service = service(&unlimited());
    let headers = [
        ("content-type", "application/json"),
        ("origin", "http://evil.example"),
    ];
    let body = credentials("anna", "correct horse").to_string();
    let answer = service.send("POST", "/api/login", &headers, body.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (403, "CROSS_SITE"));
}

#[test]
fn too_many_log_ins_under_a_name_are_429_whether_somebody_has_it_or_not() {
    let service = service(&ProviderSettings {
        // The next one is allowed after a minute.
        logins_per_user: 1,
        ..unlimited()
    });
    for user in ["anna", "nobody"] {
        assert_eq!(log_in(&service, &credentials(user, "x")).status, 404);
        // The right password makes no difference.
        let answer = log_in(&service, &credentials(user, "correct horse"));
        assert_eq!(answer.status, 429, "{user}");
        assert_eq!(
            answer.json()["generalErrors"][0]["code"],
            "LOGIN_RATE_LIMITED"
        );
        let seconds: u64 = answer.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    assert_eq!(
        log_in(&service, &credentials("root", "battery staple")).status,
        200
    );
}

#[test]
fn too_many_log_ins_from_an_address_are_429_whatever_headers_say() {
    let service = service(&ProviderSettings {
        logins_per_address: 1,
        ..unlimited()
    });
    assert_eq!(log_in(&service, &credentials("a", "x")).status, 404);
    let headers = [
        ("content-type", "application/json"),
        ("x-forwarded-for", "10.0.0.1"),
        ("forwarded", "for=10.0.0.1"),
    ];
    let body = credentials("anna", "correct horse").to_string();
    let answer = service.send("POST", "/api/login", &headers, body.as_bytes());
    assert_eq!(answer.status, 429);
    assert!(service.query("{ __typename }").contains("Query"));
}

#[test]
fn a_flood_of_log_ins_is_bounded_and_others_are_answered() {
    const FLOOD: usize = 300;
    let provider = provider(&unlimited());
    let service = Service::with_provider(Settings::default(), Arc::clone(&provider));
    let statuses = thread::scope(|scope| {
        let logging_in = |number: usize| {
            let user = if number.is_multiple_of(2) {
                "anna"
            } else {
                "nobody"
            };
            log_in(&service, &credentials(user, "correct horse"))
        };
        let flood: Vec<_> = (0..FLOOD)
            .map(|number| scope.spawn(move || logging_in(number)))
            .collect();
        let mut others = 0;
        while others < 20 || flood.iter().any(|client| !client.is_finished()) {
            assert!(service.query("{ film(limit: 1) { id } }").contains("data"));
            assert_eq!(service.get("/__ready").status, 200);
            others += 1;
        }
        flood
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect::<Vec<_>>()
    });
    let count = |status| {
        statuses
            .iter()
            .filter(|answer| answer.status == status)
            .count()
    };
    assert_eq!(count(200) + count(404) + count(503), FLOOD);
    assert!(count(200) > 0 && count(404) > 0 && count(503) > 0);
    for busy in statuses.iter().filter(|answer| answer.status == 503) {
        assert_eq!(busy.json()["generalErrors"][0]["code"], "OVERLOADED");
        assert_eq!(busy.header("retry-after"), "1");
    }
    let (allowed, most) = provider.parallel_hashes();
    let cores = thread::available_parallelism().unwrap().get();
    assert_eq!(allowed, cores.saturating_sub(1).clamp(1, 2));
    assert!(
        (1..=allowed).contains(&most),
        "{most} at once, {allowed} allowed"
    );
}

/// What the log says.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Answers a log-in without a connection.
async fn answered(routes: &TowerToHyperService<Router>, body: String) -> String {
    let request = Request::post("/api/login")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Body::from(body))
        .unwrap();
    let body = routes.call(request).await.unwrap().into_body();
    let bytes = body.collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn no_log_line_shows_a_password_a_token_or_a_name_that_nobody_has() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // Were it the only one, what other tests log first would be off for this one too.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish());
    let token = tracing::subscriber::with_default(subscriber, || {
        let provider = provider(&unlimited());
        let store = servers::store::in_memory().unwrap();
        let schemas = Arc::new(InMemorySchemaStore::default());
        let app = object_service(&Settings::default(), store, schemas).with_provider(provider);
        let routes = TowerToHyperService::new(Router::from(Arc::new(app).routes()));
        runtime.block_on(async {
            // People type passwords into the wrong field.
            for body in [
                credentials("hunter2", "x").to_string(),
                credentials("anna", "hunter2").to_string(),
                "{\"password\": \"hunter2\"".to_owned(),
            ] {
                answered(&routes, body).await;
            }
            let answer = answered(&routes, credentials("anna", "correct horse").to_string()).await;
            let answer: Value = serde_json::from_str(&answer).unwrap();
            answer["token"].as_str().unwrap().to_owned()
        })
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        log.contains("logged in") && log.contains("/api/login"),
        "{log}"
    );
    for secret in [
        "hunter2",
        "correct horse",
        token.rsplit('.').next().unwrap(),
        &token,
    ] {
        assert!(!log.contains(secret), "{log}");
    }
}

/// Starts a provider with its key in a file.
fn with_key(path: &Path) -> Result<Provider, ProviderError> {
    let settings = ProviderSettings {
        key_file: Some(path.to_owned()),
        ..unlimited()
    };
    let users = Provisioning::parse("users.yaml", USERS, &|_| None).unwrap();
    Provider::new(&settings.options(), &users)
}

#[test]
fn a_token_outlives_a_restart_where_the_key_is_in_a_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key.pem");
    let start = || Service::with_provider(Settings::default(), Arc::new(with_key(&path).unwrap()));
    let before = token(&start());
    let after = start();
    assert!(verified(&after, &before).is_some());
    let subject = |token: &str| verified(&after, token).unwrap()["sub"].clone();
    assert_eq!(subject(&before), subject(&token(&after)));
    assert!(
        verified(&service(&unlimited()), &before).is_none(),
        "another provider, another key"
    );
}

#[test]
fn several_providers_that_start_at_once_share_one_key() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key.pem");
    let keys: HashSet<_> = thread::scope(|scope| {
        let starts: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| with_key(&path).unwrap()))
            .collect();
        let started = starts.into_iter().map(|start| start.join().unwrap());
        started
            .map(|provider| provider.verification().key_id.clone())
            .collect()
    });
    assert_eq!(keys.len(), 1);
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[cfg(unix)]
#[test]
fn the_key_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key.pem");
    drop(with_key(&path).unwrap());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    for mode in [0o640, 0o604, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = with_key(&path).err().unwrap();
        assert!(matches!(error, ProviderError::KeyShared { .. }), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_holds_another_key_is_refused_and_not_shown() {
    use std::os::unix::fs::PermissionsExt;

    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key.pem");
    drop(with_key(&path).unwrap());
    let key = fs::read_to_string(&path).unwrap();
    let inner = key.lines().nth(1).unwrap().to_owned();
    for text in [
        "",
        "hunter2",
        &key[..key.len() / 2],
        &key.replace("PRIVATE", "PUBLIC"),
    ] {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let error = with_key(&path).err().unwrap();
        assert!(
            matches!(error, ProviderError::KeyMalformed { .. }),
            "{error}"
        );
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains(&inner) && !shown.contains("hunter2"),
            "{shown}"
        );
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            text,
            "nothing is written over it"
        );
    }
    let folder = with_key(&dir.path().join("missing/key.pem")).err().unwrap();
    assert!(matches!(folder, ProviderError::KeyFile { .. }), "{folder}");
}
