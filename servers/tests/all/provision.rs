//! `soml provision`, against a small server that speaks FusionAuth's REST API as its documentation
//! describes it.

use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::command_line::{code, err, out};
use crate::idp::axum_serve;
use crate::processes;

const APPLICATION: &str = "11111111-1111-1111-1111-111111111111";
const KEY: &str = "key-of-the-administration";

const USERS: &str = "security:
  roles: [{name: Reader, default: true}, {name: Admin, superRole: true}]
  users:
  - {username: anna, email: anna@example.org, password: correct horse, roles: [Admin]}
  - {username: bert, password: battery staple}
";

/// What the server knows.
#[derive(Default)]
struct State {
    application: Option<Value>,
    users: Vec<Value>,
    /// Requests that change something.
    changes: Vec<String>,
    next: u32,
    /// Answers every change with this status.
    fails: Option<u16>,
}

struct IdentityServer {
    state: Arc<Mutex<State>>,
    address: String,
    _stop: oneshot::Sender<()>,
}

impl IdentityServer {
    fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (send, receive) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                send.send(format!("http://{}", listener.local_addr().unwrap()))
                    .unwrap();
                let answer = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
                    let mut state = shared.lock().unwrap();
                    let (status, body) = state.answer(&method, &uri, &headers, &body);
                    let status = StatusCode::from_u16(status).unwrap();
                    async move { (status, axum::Json(body)) }
                };
                let routes = Router::new().fallback(answer);
                tokio::select! {
                    () = axum_serve(listener, routes) => {}
                    _ = stopped => {}
                }
            });
        });
        let address = receive.recv().unwrap();
        IdentityServer {
            state,
            address,
            _stop: stop,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn changes(&self) -> Vec<String> {
        std::mem::take(&mut self.state().changes)
    }

    /// Runs the command on a file.
    fn provision(&self, file: &str, key: &str, flags: &[&str]) -> Output {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("users.yaml");
        std::fs::write(&path, file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.arg("provision").arg(&path);
        command.args(["--url", &self.address, "--application", APPLICATION]);
        command.args(flags).env("IDP_API_KEY", key);
        processes::output(&mut command, b"")
    }
}

impl State {
    fn answer(
        &mut self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: &[u8],
    ) -> (u16, Value) {
        if headers.get("authorization").is_none_or(|key| key != KEY) {
            return (401, Value::Null);
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let path = uri.path().trim_start_matches("/api/");
        if method == Method::GET {
            return self.read(path, uri.query().unwrap_or_default());
        }
        if let Some(status) = self.fails {
            return (
                status,
                json!({ "generalErrors": [{ "code": "[odd]", "message": "battery staple" }] }),
            );
        }
        self.changes.push(format!("{method} {path}"));
        self.change(method, path, body)
    }

    fn read(&self, path: &str, query: &str) -> (u16, Value) {
        if path == format!("application/{APPLICATION}") {
            return match &self.application {
                Some(application) => (200, json!({ "application": application })),
                None => (404, Value::Null),
            };
        }
        assert_eq!(path, "user");
        let (key, name) = query.split_once('=').unwrap();
        let name = name.replace("%40", "@");
        let found = self.users.iter().find(|user| user[key] == *name);
        match found {
            Some(user) => (200, json!({ "user": user })),
            None => (404, Value::Null),
        }
    }

    fn change(&mut self, method: &Method, path: &str, mut body: Value) -> (u16, Value) {
        let parts: Vec<_> = path.split('/').collect();
        match (method.as_str(), parts.as_slice()) {
            ("POST", ["application", APPLICATION]) => {
                let mut application = body["application"].take();
                for role in application["roles"].as_array_mut().unwrap() {
                    role["id"] = self.identifier();
                }
                self.application = Some(application);
            }
            ("POST", ["application", APPLICATION, "role"]) => {
                let mut role = body["role"].take();
                role["id"] = self.identifier();
                self.roles().push(role);
            }
            ("PUT", ["application", APPLICATION, "role", id]) => {
                let role = self
                    .roles()
                    .iter_mut()
                    .find(|role| role["id"] == *id)
                    .unwrap();
                *role = body["role"].take();
            }
            ("POST", ["user", "registration"]) => {
                let mut user = body["user"].take();
                assert!(user["password"].is_string());
                assert_eq!(body["skipVerification"], true);
                user["id"] = self.identifier();
                user["registrations"] = json!([body["registration"]]);
                self.users.push(user);
            }
            ("POST", ["user", "registration", id]) => {
                let registration = body["registration"].take();
                let user = self
                    .users
                    .iter_mut()
                    .find(|user| user["id"] == *id)
                    .unwrap();
                user["registrations"]
                    .as_array_mut()
                    .unwrap()
                    .push(registration);
            }
            ("PUT", ["user", "registration", id]) => {
                let registration = body["registration"].take();
                let user = self
                    .users
                    .iter_mut()
                    .find(|user| user["id"] == *id)
                    .unwrap();
                user["registrations"][0] = registration;
            }
            _ => return (405, Value::Null),
        }
        (200, json!({}))
    }

    fn roles(&mut self) -> &mut Vec<Value> {
        self.application.as_mut().unwrap()["roles"]
            .as_array_mut()
            .unwrap()
    }

    fn identifier(&mut self) -> Value {
        self.next += 1;
        json!(format!("00000000-0000-0000-0000-{:012}", self.next))
    }

    fn roles_of(&self, name: &str) -> Value {
        let user = self
            .users
            .iter()
            .find(|user| user["username"] == name)
            .unwrap();
        user["registrations"][0]["roles"].clone()
    }
}

#[test]
fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let server = IdentityServer::start();
    let output = server.provision(USERS, KEY, &["--dry-run"]);
    let expected = "\
create application soml with roles Reader (default), Admin (superRole)
create user anna with roles Admin
create user bert with roles Reader
3 changes to make; nothing was changed
";
    assert_eq!(out(&output), expected, "{}", err(&output));
    assert_eq!(code(&output), Some(0));
    assert_eq!(server.changes(), Vec::<String>::new());
}

#[test]
fn a_second_run_finds_nothing_to_change() {
    let server = IdentityServer::start();
    let output = server.provision(USERS, KEY, &["--application-name", "Films"]);
    assert!(
        out(&output).ends_with("3 changes made\n"),
        "{} {}",
        out(&output),
        err(&output)
    );
    let made = [
        format!("POST application/{APPLICATION}"),
        "POST user/registration".to_owned(),
        "POST user/registration".to_owned(),
    ];
    assert_eq!(server.changes(), made);
    {
        let state = server.state();
        let application = state.application.as_ref().unwrap();
        assert_eq!(application["name"], "Films");
        assert_eq!(
            application["loginConfiguration"]["requireAuthentication"],
            false
        );
        assert_eq!(application["roles"][1]["isSuperRole"], true);
        assert_eq!(state.users[0]["email"], "anna@example.org");
        assert_eq!(state.users[0]["password"], "correct horse");
        assert_eq!(state.roles_of("bert"), json!(["Reader"]));
    }
    let output = server.provision(USERS, KEY, &[]);
    assert_eq!(out(&output), "nothing to change\n");
    assert_eq!(server.changes(), Vec::<String>::new());
}

#[test]
fn what_differs_is_changed_and_what_else_is_there_stays() {
    let server = IdentityServer::start();
    assert_eq!(code(&server.provision(USERS, KEY, &[])), Some(0));
    drop(server.changes());
    {
        let mut state = server.state();
        state.roles().push(json!({ "id": "x", "name": "Other" }));
        state.roles()[0]["description"] = json!("reads");
        state.users[0]["registrations"][0]["data"] = json!({ "kept": true });
        state.users[1]["registrations"] = json!([]);
    }
    let file = USERS
        .replace(
            "{name: Reader, default: true}",
            "{name: Reader}, {name: Editor}",
        )
        .replace("roles: [Admin]", "roles: [Reader, Editor]")
        .replace(
            "password: battery staple",
            "password: another, roles: [Editor]",
        );
    let output = server.provision(&file, KEY, &[]);
    let expected = "\
change role Reader
create role Editor
change user anna: now with roles Reader, Editor
register user bert with roles Editor
4 changes made
";
    assert_eq!(out(&output), expected, "{}", err(&output));
    let state = server.state();
    let names: Vec<_> = state.application.as_ref().unwrap()["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Reader", "Admin", "Other", "Editor"]);
    let reader = &state.application.as_ref().unwrap()["roles"][0];
    assert_eq!(
        (&reader["isDefault"], &reader["description"]),
        (&json!(false), &json!("reads"))
    );
    assert_eq!(state.roles_of("anna"), json!(["Reader", "Editor"]));
    assert_eq!(state.users[0]["registrations"][0]["data"]["kept"], true);
    assert_eq!(
        state.users[1]["password"], "battery staple",
        "passwords of users who exist stay"
    );
}

#[test]
fn a_hash_is_refused_for_a_new_user_and_left_alone_for_others() {
    let server = IdentityServer::start();
    let hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$\
                bm90IGEgcmVhbCBoYXNoLCBidXQgMzIgYnl0ZXMhISE";
    let hashed = USERS.replace("battery staple", &format!("'{hash}'"));
    let output = server.provision(&hashed, KEY, &[]);
    assert_eq!(code(&output), Some(1));
    assert!(err(&output).contains("takes no argon2 strings") && err(&output).contains("bert"));
    assert_eq!(
        server.changes(),
        Vec::<String>::new(),
        "nothing is changed before all is planned"
    );
    assert_eq!(code(&server.provision(USERS, KEY, &[])), Some(0));
    assert_eq!(
        out(&server.provision(&hashed, KEY, &[])),
        "nothing to change\n"
    );
}

#[test]
fn a_user_who_is_somebody_else_there_stops_it() {
    let server = IdentityServer::start();
    server.state().users.push(json!({
        "id": "00000000-0000-0000-0000-000000000099",
        "username": "another",
        "email": "anna@example.org",
        "registrations": [],
    }));
    let output = server.provision(USERS, KEY, &[]);
    assert_eq!(code(&output), Some(1));
    assert!(
        err(&output).contains("the user `anna` with a different user name"),
        "{}",
        err(&output)
    );
    assert_eq!(server.changes(), Vec::<String>::new());
}

#[test]
fn failures_say_what_was_done_and_show_no_secret() {
    let server = IdentityServer::start();
    let output = server.provision(USERS, "wrong-key", &[]);
    assert_eq!(code(&output), Some(3));
    assert!(
        err(&output).contains("refuses the API key"),
        "{}",
        err(&output)
    );
    let output = server.provision(USERS, "", &[]);
    assert!(
        err(&output).contains("API key, or there is none"),
        "{}",
        err(&output)
    );
    server.state().fails = Some(500);
    let output = server.provision(USERS, KEY, &[]);
    assert_eq!(code(&output), Some(3));
    let shown = err(&output);
    assert!(
        shown.contains("failed to create application soml"),
        "{shown}"
    );
    assert!(
        shown.contains("0 changes made before") && shown.contains("500"),
        "{shown}"
    );
    for secret in ["wrong-key", KEY, "correct horse", "battery staple"] {
        assert!(
            !format!("{shown}{}", out(&output)).contains(secret),
            "{shown}"
        );
    }
    let output = server.provision("security: {roles: [{name: 1, nam: 2}]}", KEY, &[]);
    assert_eq!(code(&output), Some(1));
    assert!(
        err(&output).starts_with("error[PROVISIONING_INVALID]: "),
        "{}",
        err(&output)
    );
    assert!(
        err(&output).contains("users.yaml:1:30: unknown key `nam`"),
        "{}",
        err(&output)
    );
}

#[test]
fn the_key_can_be_in_a_file() {
    let server = IdentityServer::start();
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key");
    std::fs::write(&path, format!("{KEY}\n")).unwrap();
    let output = server.provision(
        USERS,
        "wrong",
        &["--api-key-file", path.to_str().unwrap(), "--dry-run"],
    );
    assert_eq!(code(&output), Some(0), "{}", err(&output));
}
