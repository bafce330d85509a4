//! `soml login` for users of a service itself, the file of log-ins, and commands that use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, out};
use crate::gateway::soml::Soml;
use crate::processes::output;

const USERS: &str = "security:
  roles: [{name: Reader}, {name: Admin, superRole: true}]
  users:
  - {username: anna, password: correct horse, roles: [Admin]}
  - {username: bert, password: battery staple, roles: [Reader]}
";

/// A service with users of its own, and the folder of somebody's configuration.
struct World {
    service: Soml,
    folder: TempDir,
}

impl World {
    fn start() -> World {
        let folder = TempDir::new().unwrap();
        let written = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let schema = "{id: /soml/ships, objects: {Ship: {props: {name: {}}}}}";
        let schema = written("ships.yaml", schema);
        let data = written("ships.ttl", "<http://e/a> <http://e/b> \"Argo\" .");
        let users = format!(
            "security.provisioning.file={}",
            written("users.yaml", USERS)
        );
        let arguments = ["--schema", &schema, "--data", &data, "--set", &users];
        let service = Soml::start(&arguments, &[], "Writing:");
        World { service, folder }
    }

    fn base(&self) -> &str {
        self.service.base("GraphQL:")
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self) -> PathBuf {
        self.home().join("soml/logins.json")
    }

    fn log_in(&self, user: &str, password: &str) -> Output {
        let arguments = [
            "login",
            "--url",
            self.base(),
            "--username",
            user,
            "--password-stdin",
        ];
        run(self.home(), &arguments, &format!("{password}\n"))
    }

    fn dump(&self) -> Output {
        run(self.home(), &["dump", "--url", self.base()], "")
    }
}

fn run(home: &Path, arguments: &[&str], input: &str) -> Output {
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
    output(&mut command, input.as_bytes())
}

#[test]
fn a_user_of_the_service_logs_in_with_a_password() {
    let world = World::start();
    let base = world.base();
    let done = world.log_in("anna", "correct horse");
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let kept = world.file();
    let said = format!(
        "Logged in as anna at {base}, for {base}\nThe token is kept in {}\n",
        kept.display()
    );
    assert_eq!(out(&done), said);
    let dump = world.dump();
    assert_eq!(code(&dump), Some(0), "{}", err(&dump));
    assert!(out(&dump).contains("\"Argo\""));
    let printed = run(world.home(), &["token", "--url", base], "");
    assert_eq!(out(&printed).matches('.').count(), 2, "{}", err(&printed));

    // Another address of the service, which the log-in did not name, is sent nothing.
    let other = base.replace("127.0.0.1", "localhost");
    assert!(err(&run(world.home(), &["dump", "--url", &other], "")).contains("401"));
    let arguments = [
        "login",
        "--url",
        base,
        "--url",
        &other,
        "--username",
        "anna",
        "--password-stdin",
    ];
    let done = run(world.home(), &arguments, "correct horse");
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let dump = run(world.home(), &["dump", "--url", &other], "");
    assert_eq!(code(&dump), Some(0), "{}", err(&dump));

    // Another user takes the place of the first.
    assert_eq!(code(&world.log_in("bert", "battery staple")), Some(0));
    let dump = world.dump();
    assert_eq!(code(&dump), Some(3));
    assert!(err(&dump).contains("403"), "{}", err(&dump));

    let ended = run(world.home(), &["logout", "--all"], "");
    let expected = format!("logged out of {base}, for {base}, {other}\n");
    assert_eq!(out(&ended), expected);
    let again = run(world.home(), &["logout", "--url", base], "");
    assert_eq!(out(&again), "there is no log-in to end\n");
    assert!(err(&world.dump()).contains("`soml login` logs in"));
}

#[test]
fn a_wrong_password_keeps_nothing_and_is_not_shown() {
    let world = World::start();
    let refused = world.log_in("anna", "wrong horse");
    assert_eq!(code(&refused), Some(3));
    let said = err(&refused);
    assert!(said.starts_with("error[IDP_LOGIN_REFUSED]: "), "{said}");
    assert!(!said.contains("horse"), "{said}");
    assert!(!world.file().exists());
}

#[test]
fn a_token_that_has_expired_asks_for_another_log_in() {
    let world = World::start();
    assert_eq!(code(&world.log_in("anna", "correct horse")), Some(0));
    let mut kept: Value = serde_json::from_slice(&std::fs::read(world.file()).unwrap()).unwrap();
    kept["logins"][0]["expires"] = json!(1_000_000_000);
    std::fs::write(world.file(), kept.to_string()).unwrap();
    let ended = world.dump();
    assert_eq!(code(&ended), Some(3));
    let command = format!("log in again: soml login --url {}\n", world.base());
    let said = err(&ended);
    assert!(
        said.starts_with("error[LOGIN_ENDED]: ") && said.ends_with(&command),
        "{said}"
    );
    // What the service refuses is told likewise.
    kept["logins"][0]["expires"] = json!(9_000_000_000_u64);
    kept["logins"][0]["accessToken"] = json!("a.b.c");
    std::fs::write(world.file(), kept.to_string()).unwrap();
    let refused = err(&world.dump());
    let command = format!("; to log in again: soml login --url {}\n", world.base());
    assert!(refused.ends_with(&command), "{refused}");
}

#[test]
#[cfg(unix)]
fn the_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start();
    assert_eq!(code(&world.log_in("anna", "correct horse")), Some(0));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.file()), 0o600);
    assert_eq!(mode(world.file().parent().unwrap()), 0o700);
    std::fs::set_permissions(world.file(), PermissionsExt::from_mode(0o640)).unwrap();
    let shared = world.dump();
    assert_eq!(code(&shared), Some(64));
    assert!(err(&shared).contains("run `chmod 600`"), "{}", err(&shared));
}

#[test]
fn a_file_that_is_damaged_is_told_without_its_text() {
    let world = World::start();
    assert_eq!(code(&world.log_in("anna", "correct horse")), Some(0));
    std::fs::write(world.file(), "{\"version\": 1, \"logins\": [\"secret\"]}").unwrap();
    let damaged = world.dump();
    assert_eq!(code(&damaged), Some(64));
    let said = err(&damaged);
    assert!(
        said.contains("remove it, and log in again") && !said.contains("secret"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_a_log_in_is_told() {
    let folder = TempDir::new().unwrap();
    let told = |arguments: &[&str]| {
        let arguments = [&["login"], arguments].concat();
        let refused = run(folder.path(), &arguments, "");
        (code(&refused), err(&refused))
    };
    for (arguments, status, text) in [
        (
            &["--url", "http://films.example"][..],
            64,
            "is not encrypted",
        ),
        (
            &["--issuer", "http://idp.example"],
            64,
            "the issuer must be an https address",
        ),
        (
            &["--issuer", "http://127.0.0.1:9"],
            3,
            "error[IDP_UNAVAILABLE]: ",
        ),
        (
            &["--url", "http://127.0.0.1:9"],
            3,
            "failed to ask the service",
        ),
        (
            &["--issuer", "https://a.example", "--username", "anna"],
            64,
            "cannot be used with",
        ),
    ] {
        let (ended, said) = told(arguments);
        assert_eq!(ended, Some(status), "{said}");
        assert!(said.contains(text), "{said}");
    }
    let world = World::start();
    let (ended, said) = told(&["--url", world.base()]);
    assert_eq!(ended, Some(64));
    assert!(said.contains("there is no terminal to prompt on"), "{said}");
}
