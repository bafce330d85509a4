//! Keycloak as the identity provider: `scripts/servers.sh start keycloak`. Each test has a realm of its own.

mod browser;
mod log_ins;
mod provisioning;
mod services;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::http::Request;

use crate::processes::{agent, output};

const APPLICATION: &str = "11111111-1111-1111-1111-111111111111";

const USERS: &str = "security:
  roles: [{name: Reader, default: true}, {name: Federation}, {name: Admin, superRole: true}]
  users:
  - {username: anna, email: anna@example.org, password: correct horse, roles: [Admin]}
  - {username: bert, password: battery staple}
  - {username: gateway, password: hunter two, roles: [Federation]}
";

/// A realm, which is removed when this is dropped.
struct Realm {
    url: String,
    name: String,
    folder: TempDir,
}

impl Realm {
    /// Names a realm, and creates nothing.
    fn named(test: &str) -> Realm {
        let url = std::env::var("KEYCLOAK_URL").expect("KEYCLOAK_URL names a running server");
        Realm {
            url: url.trim_end_matches('/').to_owned(),
            name: format!("{test}-{}", std::process::id()),
            folder: TempDir::new().unwrap(),
        }
    }

    /// Creates a realm with the users, whose log-ins by device code do not wait for long.
    fn provisioned(test: &str) -> Realm {
        let realm = Realm::named(test);
        let done = realm.provision(USERS, &[]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        let mut client = realm.client("soml-login");
        client["attributes"]["oauth2.device.polling.interval"] = json!("1");
        let path = format!("/clients/{}", client["id"].as_str().unwrap());
        assert_eq!(realm.ask("PUT", &path, Some(&client)).0, 204);
        realm
    }

    fn issuer(&self) -> String {
        format!("{}/realms/{}", self.url, self.name)
    }

    /// Runs `soml provision` as the administrator of the server.
    fn provision(&self, users: &str, flags: &[&str]) -> Output {
        self.provision_as(users, flags, &[("IDP_ADMIN_PASSWORD", "admin")])
    }

    fn provision_as(&self, users: &str, flags: &[&str], variables: &[(&str, &str)]) -> Output {
        let path = self.folder.path().join("users.yaml");
        std::fs::write(&path, users).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.arg("provision").arg(&path);
        command.args(["--type", "keycloak", "--url", &self.url]);
        command.args(["--realm", &self.name, "--application", APPLICATION]);
        command.env("IDP_ADMIN_USERNAME", "admin");
        command.args(flags).envs(variables.iter().copied());
        output(&mut command, b"")
    }

    /// Sends a request to the Admin REST API, at a path of the realm.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let token = token(
            &format!("{}/realms/master", self.url),
            &[
                ("grant_type", "password"),
                ("client_id", "admin-cli"),
                ("username", "admin"),
                ("password", "admin"),
            ],
        );
        let token = token.1["access_token"].as_str().unwrap().to_owned();
        let url = match path {
            "" if method == "POST" => format!("{}/admin/realms", self.url),
            path => format!("{}/admin/realms/{}{path}", self.url, self.name),
        };
        let request = Request::builder().method(method).uri(url);
        let request = request
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(body.map_or(String::new(), Value::to_string));
        let mut answer = agent().run(request.unwrap()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        (answer.status().as_u16(), body)
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, None);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn client(&self, client_id: &str) -> Value {
        self.get(&format!("/clients?clientId={client_id}"))[0].clone()
    }

    fn user(&self, name: &str) -> Value {
        self.get(&format!("/users?username={name}&exact=true"))[0].clone()
    }

    /// Returns the roles of the application that a user has.
    fn roles_of(&self, user: &str) -> Vec<String> {
        let user = self.user(user)["id"].as_str().unwrap().to_owned();
        let client = self.client(APPLICATION)["id"].as_str().unwrap().to_owned();
        let roles = self.get(&format!("/users/{user}/role-mappings/clients/{client}"));
        let roles = roles.as_array().unwrap().iter();
        let mut roles: Vec<_> = roles
            .map(|role| role["name"].as_str().unwrap().to_owned())
            .collect();
        roles.sort();
        roles
    }

    /// Logs a user in with a password.
    fn log_in(&self, user: &str, password: &str) -> (u16, Value) {
        let form = [
            ("grant_type", "password"),
            ("client_id", APPLICATION),
            ("username", user),
            ("password", password),
        ];
        token(&self.issuer(), &form)
    }

    fn token_of(&self, user: &str, password: &str) -> String {
        let (status, answer) = self.log_in(user, password);
        assert_eq!(status, 200, "{answer}");
        answer["access_token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        // A test that fails has its own reason.
        if !std::thread::panicking() {
            self.ask("DELETE", "", None);
        }
    }
}

/// Asks a token endpoint.
fn token(issuer: &str, form: &[(&str, &str)]) -> (u16, Value) {
    let endpoint = format!("{issuer}/protocol/openid-connect/token");
    let mut answer = agent()
        .post(endpoint)
        .send_form(form.iter().copied())
        .unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    (answer.status().as_u16(), body)
}

/// Returns the command with a folder for its log-ins, and without what the environment says of tokens.
fn soml(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    for variable in [
        "SOML_TOKEN",
        "SOML_TOKEN_FILE",
        "SOML_ISSUER",
        "SOML_CLIENT_ID",
    ] {
        command.env_remove(variable);
    }
    command.env("XDG_CONFIG_HOME", home).args(arguments);
    command
}
