//! `soml token`, `soml whoami`, and when a service starts.

use std::process::{Command, Output};

use serde_json::json;

use super::keys::Signer;
use super::{SECRET, claims, claims_with, from_now};
use crate::gateway::soml::{Soml, log_in};
use crate::processes;

const SCHEMA: &str = "
id: /soml/films
objects:
  Film:
    name: title
    props: {title: {}, secret: {}}
  Studio:
    props: {city: {}}
rbac:
  roles:
    Reader:
      actions: ['Film/*/read', 'Studio/*/read', 'Film/title/write', '_Service/sdl/read']
      notActions: ['*/secret/*']
    Editor: {actions: ['Film/*/*']}
";

fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("SECURITY_SECRET", SECRET);
    processes::output(&mut command, input.as_bytes())
}

fn soml(arguments: &[&str]) -> (Option<i32>, String, String) {
    texts(run(env!("CARGO_BIN_EXE_soml"), arguments, ""))
}

fn texts(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_token_of_the_command_is_the_one_that_was_asked_for() {
    let (code, token, err) = soml(&[
        "token",
        "--role",
        "Reader",
        "--role",
        "Ghost",
        "--name",
        "anna",
        "--expires",
        "96h",
        "--set",
        "security.audience=api, other",
        "--set",
        "security.issuer=https://idp.example",
    ]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("films.yaml");
    std::fs::write(&schema, SCHEMA).unwrap();
    let (code, out, err) = soml(&[
        "whoami",
        token.trim(),
        "--schema",
        schema.to_str().unwrap(),
        "--set",
        "security.audience=api",
        "--set",
        "security.issuer=https://idp.example",
    ]);
    let expected = "name: anna\n\
        roles claimed: Reader, Ghost\n\
        superuser: no\n\
        expires: in 4 days\n\
        roles that apply: Reader\n\
        _Service: sdl\n\
        | object | read           | write       | delete |\n\
        |--------|----------------|-------------|--------|\n\
        | Film   | all but secret | name, title | no     |\n\
        | Studio | all            | nothing     | no     |\n";
    assert_eq!((code, out.as_str()), (Some(0), expected), "{err}");
}

#[test]
fn conditions_and_presets_of_roles_are_printed_with_their_rights() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("films.yaml");
    let text = "
id: /soml/films
specialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: v}
objects:
  Film: {props: {title: {}, owner: {range: iri}}}
rbac:
  roles:
    Owner:
      actions: ['*/*/*']
      filters: {Film: {read: {OR: [{title: {EQ: 'a b'}}, {owner: {EQ: $claims.sub}}]}, delete: {owner: {EQ: $claims.sub}}}}
      presets: {Film: {owner: $claims.sub}}
";
    std::fs::write(&schema, text).unwrap();
    let (_, token, _) = soml(&["token", "--role", "Owner"]);
    let (_, out, err) = soml(&["whoami", token.trim(), "--schema", schema.to_str().unwrap()]);
    let expected = "| Film   | all  | all   | yes    |\n\
        Owner: read Film where {OR: [{title: {EQ: 'a b'}}, {owner: {EQ: $claims.sub}}]}\n\
        Owner: delete Film where {owner: {EQ: $claims.sub}}\n\
        Owner: owner of Film is $claims.sub\n";
    assert!(out.ends_with(expected), "{out}{err}");
}

#[test]
fn roles_stand_where_the_service_looks_for_them() {
    let place = ["--set", "security.rolesClaim=realm_access.roles"];
    let (_, token, _) = soml(&[&["token", "--role", "Editor"][..], &place].concat());
    let (_, out, _) = soml(&[&["whoami", token.trim()][..], &place].concat());
    assert!(out.contains("roles claimed: Editor\n"), "{out}");
    let (_, out, _) = soml(&["whoami", token.trim()]);
    assert!(out.contains("roles claimed: none\n"), "{out}");
    let settings = ["--set", "security.superRoles=Editor"];
    let (_, out, _) = soml(&[&["whoami", token.trim()][..], &place, &settings].concat());
    assert!(out.contains("superuser: yes"), "{out}");
}

#[test]
fn a_refused_token_is_explained() {
    let signer = Signer::hmac(SECRET.as_bytes());
    let expired = signer.token(&claims_with(json!({"exp": from_now(-345_600)})));
    let (code, out, _) = soml(&["whoami", &expired]);
    assert_eq!(code, Some(1));
    assert!(
        out.starts_with("refused: the token has expired (TOKEN_EXPIRED)\n"),
        "{out}"
    );
    assert!(out.contains(", 4 days ago"), "{out}");
    let (_, out, _) = soml(&[
        "whoami",
        &signer.token(&claims()),
        "--set",
        "security.audience=x",
    ]);
    assert!(
        out.contains("`aud` of the token: [\"other\",\"api\"]"),
        "{out}"
    );
    let (_, out, _) = soml(&["whoami", &Signer::hmac(b"x").token(&claims())]);
    assert_eq!(
        out,
        "refused: the signature of the token is wrong (TOKEN_INVALID)\n"
    );
}

#[test]
fn a_token_can_come_by_standard_input_as_a_header_has_it() {
    let token = Signer::hmac(SECRET.as_bytes()).token(&claims());
    let program = env!("CARGO_BIN_EXE_soml");
    let output = run(program, &["whoami", "-"], &format!("Bearer {token}\n"));
    let (code, out, err) = texts(output);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("name: anna\n"), "{out}");
}

/// Runs the command without a secret.
fn without_secret(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(arguments).env_remove("SECURITY_SECRET");
    texts(processes::output(&mut command, b""))
}

const USERS: &str = "security:
  roles: [{name: Reader}, {name: Boss, superRole: true}]
  users:
  - {username: anna, password: correct horse battery, roles: [Reader]}
  - {username: bert, password: correct horse battery, roles: [Boss]}
";

#[test]
fn tokens_of_the_service_s_own_provider_are_verified_by_its_key_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("users.yaml"), USERS).unwrap();
    let users = format!("security.provisioning.file={}", file("users.yaml"));
    let key = format!("security.provider.keyFile={}", file("key.pem"));
    let whoami = |token: &str, others: &[&str]| {
        let arguments = ["whoami", token, "--set", &users];
        without_secret(&[&arguments[..], others].concat())
    };
    // Asking makes no key.
    let (code, _, err) = whoami("a.b.c", &["--set", &key]);
    assert_eq!(code, Some(3), "{err}");
    assert!(
        err.contains("SIGNING_KEY_UNUSABLE") && !folder.path().join("key.pem").exists(),
        "{err}"
    );
    let properties = ["--demo", "star-wars", "--set", &users, "--set", &key];
    let service = Soml::start(&properties, &[], "GraphQL:");
    let base = service.base("GraphQL:");
    let tokens = ["anna", "bert"].map(|name| log_in(base, name, "correct horse battery"));
    drop(service);
    let (code, out, err) = whoami(&tokens[0], &["--set", &key]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with("name: anna\nroles claimed: Reader\nsuperuser: no\n"),
        "{out}"
    );
    let (_, out, err) = whoami(&tokens[1], &["--set", &key]);
    assert!(out.contains("superuser: yes"), "{out}{err}");
    let other = ["--set", &key, "--set", "security.provider.issuer=elsewhere"];
    let (code, out, _) = whoami(&tokens[0], &other);
    assert_eq!(code, Some(1));
    assert!(out.contains("`iss` of the token: \"localhost\""), "{out}");
}

/// Logs a user of a demo in, with the password that the demo has printed.
fn token_of_demo(demo: &Soml, user: &str) -> String {
    let mut lines = demo.said.iter().map(|line| line.split_whitespace());
    let line = lines.find_map(|mut words| (words.next() == Some(user)).then_some(words));
    let password = line.unwrap().next().unwrap();
    log_in(demo.base("GraphQL:"), user, password)
}

#[test]
fn whether_a_role_is_a_super_role_is_not_known_from_the_keys_of_a_service() {
    let demo = Soml::demo(&["--roles"], &[], "Composed:");
    let admin = token_of_demo(&demo, "admin");
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("films.yaml");
    std::fs::write(&schema, SCHEMA).unwrap();
    let schema = schema.to_str().unwrap();
    let by_url = ["whoami", &admin, "--url", demo.base("GraphQL:")];
    let whoami = |others: &[&str]| without_secret(&[&by_url[..], others].concat());
    let (code, out, err) = whoami(&["--schema", schema]);
    assert_eq!(code, Some(0), "{err}");
    let superuser = out.lines().find(|line| line.starts_with("superuser: "));
    let superuser = superuser.unwrap();
    assert!(superuser.starts_with("superuser: not known"), "{out}");
    assert!(
        superuser.contains("`security.provisioning.file`") && superuser.contains("--demo"),
        "{out}"
    );
    assert!(out.contains("\nrights: without a super role"), "{out}");
    let (_, out, err) = whoami(&["--demo", "star-wars"]);
    assert!(
        out.contains("superuser: yes") && !out.contains("\nrights: "),
        "{out}{err}"
    );
}

#[test]
fn tokens_of_a_key_in_the_memory_of_a_service_are_verified_by_asking_it() {
    let searched = ["--roles", "--set", "search.enabled=true"];
    let demo = Soml::demo(&searched, &[], "Composed:");
    let base = demo.base("GraphQL:");
    let [reader, admin] = ["reader", "admin"].map(|user| token_of_demo(&demo, user));
    let (code, out, err) =
        without_secret(&["whoami", &reader, "--demo", "star-wars", "--url", base]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("roles that apply: ") && out.contains("\n| Planet "),
        "{out}"
    );
    let port = format!("application.port={}", base.rsplit(':').next().unwrap());
    let (_, out, err) = without_secret(&["whoami", &admin, "--demo", "star-wars", "--set", &port]);
    assert!(
        out.contains("name: admin\n") && out.contains("superuser: yes"),
        "{out}{err}"
    );
    let (code, out, err) = without_secret(&["whoami", &reader, "--url", base]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("name: reader\n"), "{out}");
    // A service without users of its own says so.
    let search = demo.base("Search:");
    let (code, _, err) = without_secret(&["whoami", &reader, "--url", search]);
    assert_eq!(code, Some(3));
    assert!(err.contains("--url names a different service"), "{err}");
}

#[test]
fn tokens_are_signed_with_secrets_alone() {
    let pem = Signer::ed25519().pem;
    let (code, out, err) = soml(&["token", "--set", &format!("security.secret={pem}")]);
    assert_eq!((code, out.as_str()), (Some(64), ""));
    assert!(err.contains("public keys, which cannot sign"), "{err}");
    let (code, _, err) = soml(&["token", "--set", "security.secret=none"]);
    assert_eq!(code, Some(64));
    assert!(err.contains("`security.secret` is not set"), "{err}");
    let (code, _, err) = soml(&["token", "--set", "security.algorithms=RS256"]);
    assert_eq!(code, Some(64));
    assert!(err.contains("allows no algorithm"), "{err}");
    let (code, _, err) = soml(&["whoami", "a.b.c", "--set", "security.secret=none"]);
    assert_eq!(code, Some(64));
    assert!(err.contains("nothing to verify the token with"), "{err}");
    assert!(!err.contains(SECRET), "{err}");
}

/// Starts a program that is expected not to serve; returns its exit code and what it says.
fn refused_start(program: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("SECURITY_SECRET");
    let (code, _, err) = texts(processes::output(&mut command, b""));
    (code, err)
}

#[test]
fn the_object_service_does_not_start_without_keys_unless_security_is_off() {
    let program = env!("CARGO_BIN_EXE_object-service");
    let (code, err) = refused_start(program, &["--port", "0"]);
    assert_eq!(code, Some(64));
    assert!(
        err.starts_with("error[TOKEN_KEYS_MISSING]: security is on"),
        "{err}"
    );
    let (_, err) = refused_start(program, &["--port", "0", "--set", "security.secret=none"]);
    assert!(err.starts_with("error[TOKEN_KEYS_MISSING]"), "{err}");
    let arguments = ["serve", "--port", "0", "--set", "security.enabled=true"];
    let (code, err) = refused_start(env!("CARGO_BIN_EXE_soml"), &arguments);
    assert_eq!(code, Some(64));
    assert!(err.starts_with("error[TOKEN_KEYS_MISSING]"), "{err}");
}

#[test]
fn a_service_that_others_can_reach_needs_tokens_or_a_word_for_going_without() {
    let program = env!("CARGO_BIN_EXE_soml");
    let off = ["serve", "--host", "0.0.0.0", "--port", "0"];
    let (code, err) = refused_start(program, &off);
    assert_eq!(code, Some(64));
    assert!(
        err.contains("requests need no token") && err.contains("--insecure"),
        "{err}"
    );
    let secret = ["--set", "security.secret=0123456789abcdef0123456789abcdef"];
    let is_off = ["--set", "security.enabled=false"];
    let (code, _) = refused_start(program, &[&off[..], &secret, &is_off].concat());
    assert_eq!(code, Some(64));
    // With tokens it goes on, to what is wrong with this one.
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.yaml");
    let missing = ["--schema", missing.to_str().unwrap()];
    let (code, err) = refused_start(program, &[&off[..], &secret, &missing].concat());
    assert_eq!(code, Some(3), "{err}");
    let (code, err) = refused_start(program, &[&off[..], &["--insecure"], &missing].concat());
    assert_eq!(code, Some(3), "{err}");
}

#[test]
fn a_key_that_cannot_be_used_stops_the_start_and_is_not_shown() {
    let short = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
    let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIPxyz0123456789012345678901234\n-----END PRIVATE KEY-----";
    let open = "-----BEGIN PUBLIC KEY-----\nMC4C";
    let ed = Signer::ed25519().pem;
    for (secret, algorithms) in [
        (short, "auto"),
        (private, "auto"),
        (open, "auto"),
        (&ed, "RS256"),
        (SECRET, "ES256"),
    ] {
        let secret = format!("security.secret={secret}");
        let algorithms = format!("security.algorithms={algorithms}");
        let arguments = [
            "serve",
            "--port",
            "0",
            "--set",
            &secret,
            "--set",
            &algorithms,
        ];
        let (code, err) = refused_start(env!("CARGO_BIN_EXE_soml"), &arguments);
        assert_eq!(code, Some(64), "{err}");
        assert!(
            err.starts_with("error[TOKEN_KEY_INVALID]: `security.secret`"),
            "{err}"
        );
        assert!(
            !err.contains("MC4C") && !err.contains(SECRET) && !err.contains("AAAA"),
            "{err}"
        );
    }
}

#[test]
fn a_secret_comes_from_a_file_and_a_weak_one_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command
        .args(["whoami", "-"])
        .env_remove("SECURITY_SECRET")
        .env("SECURITY_SECRET_FILE", &file);
    let token = Signer::hmac(SECRET.as_bytes()).token(&claims());
    let (_, out, err) = texts(processes::output(&mut command, token.as_bytes()));
    assert!(out.starts_with("name: anna\n"), "{out}{err}");
    let missing = folder.path().join("missing.yaml");
    let weak = [
        "serve",
        "--port",
        "0",
        "--set",
        "security.secret=geheim",
        "--schema",
        missing.to_str().unwrap(),
    ];
    let (_, err) = refused_start(env!("CARGO_BIN_EXE_soml"), &weak);
    assert!(
        err.contains("has fewer than 32 bytes") && !err.contains("geheim"),
        "{err}"
    );
}
