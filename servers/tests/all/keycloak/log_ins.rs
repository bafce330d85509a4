//! `soml login` by a device code, and what uses its token.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use service_auth::unverified_claims;

use super::browser::Browser;
use super::services::Ships;
use super::{Realm, soml};
use crate::command_line::{code, err, out};
use crate::processes::{Running, output};

/// A log-in that waits to be confirmed.
struct LogIn {
    running: Running,
    page: String,
}

impl LogIn {
    fn begin(realm: &Realm, home: &Path, urls: &[&str]) -> LogIn {
        let issuer = realm.issuer();
        let mut command = soml(home, &["login", "--issuer", &issuer]);
        for url in urls {
            command.args(["--url", url]);
        }
        let running = Running::start(&mut command);
        let said = running.said_until("Waiting");
        let page = said.iter().find(|line| line.contains("user_code="));
        let page = page.unwrap_or_else(|| panic!("{said:#?}")).trim();
        LogIn {
            page: page.to_owned(),
            running,
        }
    }

    /// Waits until it has ended; returns what it has said since.
    fn end(mut self) -> (Option<i32>, String) {
        let lines: Vec<_> = std::iter::from_fn(|| self.running.line()).collect();
        (self.running.wait().code(), lines.join("\n"))
    }
}

/// Logs a user in by a device code.
pub(super) fn log_in(realm: &Realm, home: &Path, urls: &[&str], user: (&str, &str)) -> String {
    let begun = LogIn::begin(realm, home, urls);
    Browser::new().confirm(&begun.page, user.0, user.1, true);
    let (ended, said) = begun.end();
    assert_eq!(ended, Some(0), "{said}");
    said
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    output(&mut soml(home, arguments), b"")
}

fn claims(token: &str) -> Value {
    Value::Object(unverified_claims(token.trim()).unwrap())
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_log_in_that_is_confirmed_in_a_browser_serves_commands() {
    let realm = Realm::provisioned("confirmed");
    let ships = Ships::start(&realm, &realm.url);
    let (base, home) = (ships.base(), realm.folder.path());
    let refused = run(home, &["dump", "--url", base]);
    assert_eq!(code(&refused), Some(3));
    assert!(
        err(&refused).contains("AUTHENTICATION_REQUIRED"),
        "{}",
        err(&refused)
    );
    assert!(err(&refused).contains("`soml login`"), "{}", err(&refused));

    let said = log_in(&realm, home, &[base], ("anna", "correct horse"));
    let issuer = realm.issuer();
    assert!(
        said.contains(&format!("Logged in as anna at {issuer}, for {base}")),
        "{said}"
    );
    assert!(!said.contains("eyJ"), "{said}");
    let dump = run(home, &["dump", "--url", base]);
    assert_eq!(code(&dump), Some(0), "{}", err(&dump));
    assert!(out(&dump).contains("\"Argo\""));
    // A trailing slash names the same service, and another port a different one.
    let slash = run(home, &["changes", "--url", &format!("{base}/")]);
    assert_eq!(code(&slash), Some(0), "{}", err(&slash));
    let printed = run(home, &["token", "--url", base]);
    let token = claims(&out(&printed));
    assert_eq!(token["roles"], json!(["Admin"]), "{token}");
    assert_eq!(token["azp"], "soml-login");
    // It is no token of the administration of the realm.
    assert_eq!(
        token["resource_access"]
            .as_object()
            .map_or(0, |all| all.len()),
        1,
        "{token}"
    );
    assert_eq!(
        code(&run(home, &["token", "--url", "http://127.0.0.1:9"])),
        Some(64)
    );

    let ended = run(home, &["logout", "--url", base]);
    assert_eq!(code(&ended), Some(0), "{}", err(&ended));
    assert_eq!(
        (err(&ended), out(&ended)),
        (
            String::new(),
            format!("logged out of {issuer}, for {base}\n")
        )
    );
    let refused = run(home, &["dump", "--url", base]);
    assert_eq!(code(&refused), Some(3));
    let sessions = realm.user("anna")["id"].as_str().unwrap().to_owned();
    let sessions = realm.get(&format!("/users/{sessions}/sessions"));
    let clients = sessions.as_array().unwrap().iter();
    let clients: Vec<_> = clients
        .map(|session| session["clients"].to_string())
        .collect();
    assert!(!clients.concat().contains("soml-login"), "{clients:?}");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_role_that_may_not_may_not() {
    let realm = Realm::provisioned("may-not");
    let ships = Ships::start(&realm, &realm.url);
    let (base, home) = (ships.base(), realm.folder.path());
    log_in(&realm, home, &[base], ("bert", "battery staple"));
    let dump = run(home, &["dump", "--url", base]);
    assert_eq!(code(&dump), Some(3));
    assert!(err(&dump).contains("403"), "{}", err(&dump));
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_log_in_that_is_refused_in_the_browser_keeps_nothing() {
    let realm = Realm::provisioned("refused");
    let home = realm.folder.path();
    let begun = LogIn::begin(&realm, home, &["http://127.0.0.1:9"]);
    Browser::new().confirm(&begun.page, "anna", "correct horse", false);
    assert_eq!(begun.end().0, Some(1));
    assert!(!home.join("soml/logins.json").exists());
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_token_that_has_expired_is_refreshed_as_long_as_the_log_in_lasts() {
    let realm = Realm::provisioned("refreshed");
    let mut own = realm.get("");
    // Tokens that are about to end when they come.
    own["accessTokenLifespan"] = json!(10);
    // A refresh token can be used once.
    own["revokeRefreshToken"] = json!(true);
    assert_eq!(realm.ask("PUT", "", Some(&own)).0, 204);
    let ships = Ships::start(&realm, &realm.url);
    let (base, home) = (ships.base(), realm.folder.path());
    log_in(&realm, home, &[base], ("anna", "correct horse"));
    let token = || claims(&out(&run(home, &["token", "--url", base])))["jti"].clone();
    let (first, second) = (token(), token());
    assert!(first.is_string() && first != second, "{first} {second}");
    for _ in 0..2 {
        let dump = run(home, &["dump", "--url", base]);
        assert_eq!(code(&dump), Some(0), "{}", err(&dump));
    }
    let anna = realm.user("anna")["id"].as_str().unwrap().to_owned();
    assert_eq!(
        realm.ask("POST", &format!("/users/{anna}/logout"), None).0,
        204
    );
    let ended = run(home, &["dump", "--url", base]);
    assert_eq!(code(&ended), Some(3));
    let said = err(&ended);
    assert!(
        said.starts_with("error[LOGIN_ENDED]: the log-in at "),
        "{said}"
    );
    let again = format!(
        "log in again: soml login --url {base} --issuer {} --client-id soml-login\n",
        realm.issuer()
    );
    assert!(said.ends_with(&again), "{said}");
    // A token that the command is given comes first.
    let given = realm.token_of("anna", "correct horse");
    let dump = output(
        soml(home, &["dump", "--url", base]).env("SOML_TOKEN", given),
        b"",
    );
    assert_eq!(code(&dump), Some(0), "{}", err(&dump));
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_client_that_may_not_use_device_codes_is_told() {
    let realm = Realm::provisioned("client");
    let home = realm.folder.path();
    let issuer = realm.issuer();
    for client in ["account", "nobody"] {
        let refused = run(home, &["login", "--issuer", &issuer, "--client-id", client]);
        assert_eq!(code(&refused), Some(3), "{}", out(&refused));
        let said = err(&refused);
        assert!(said.starts_with("error[IDP_LOGIN_REFUSED]: "), "{said}");
    }
}
