//! The demo with users who log in: its roles, and its passwords.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use object_service::SchemaChangeError;
use outbound::Secret;
use schema_registry::{Expected, InMemorySchemaStore};
use serde_json::{Value, json};
use servers::config::Settings;
use servers::demo::{self, STAR_WARS};
use servers::wiring::object_service;
use service_auth::identity::{Provider, ProviderOptions};
use service_auth::provisioning::Password;
use soml_core::Schema;
use soml_core::access::{Access, Part, Rights};
use soml_core::rbac::Operation;
use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::gateway::soml::post;
use crate::processes::{PATIENCE, Running};

fn schema() -> Schema {
    let loaded = soml_core::load(&STAR_WARS.schema_with_roles());
    assert_eq!(loaded.diagnostics, []);
    loaded.schema.unwrap().into_inner()
}

/// Returns whether an operation on a property of a type is allowed.
fn may(schema: &Schema, access: &Access, name: &str, operation: Operation) -> bool {
    let (object, part) = name.split_once('/').unwrap();
    let (id, object) = schema
        .objects()
        .find(|(_, o)| o.name.written == object)
        .unwrap();
    let property = || {
        object
            .props
            .iter()
            .find(|p| schema[**p].name.written == part)
    };
    let part = match part {
        "id" => Part::Id,
        _ => Part::Property(*property().unwrap()),
    };
    access.may(id, part, operation)
}

#[test]
fn the_schema_of_the_plain_demo_has_no_other_difference_than_the_roles() {
    let plain = soml_core::load(&STAR_WARS.searched_schema())
        .schema
        .unwrap()
        .into_inner();
    let mut with_roles = schema();
    let names = |schema: &Schema| -> Vec<_> {
        schema
            .rbac
            .roles
            .iter()
            .map(|role| role.name.clone())
            .collect()
    };
    assert_eq!(names(&plain), ["Admin"]);
    assert_eq!(names(&with_roles), ["Admin", "Reader", "Editor"]);
    with_roles.rbac = plain.rbac.clone();
    assert_eq!(with_roles, plain);
}

#[test]
fn each_user_of_the_demo_may_what_the_page_says() {
    use Operation::{Delete, Read, Write};

    let schema = schema();
    let rights = Arc::new(Rights::new(&schema));
    let access = |role| rights.of([role]);
    let [reader, editor, admin] = ["Reader", "Editor", "Admin"].map(access);
    let starship = schema
        .objects()
        .find(|(_, o)| o.name.written == "Starship")
        .unwrap()
        .0;
    assert!(!reader.sees(starship) && editor.sees(starship) && admin.sees(starship));
    for hidden in [
        "Film/openingCrawl",
        "Character/mass",
        "Human/mass",
        "Starship/crew",
    ] {
        assert!(!may(&schema, &reader, hidden, Read), "{hidden}");
        assert!(
            may(&schema, &editor, hidden, Read) && may(&schema, &admin, hidden, Read),
            "{hidden}"
        );
    }
    for shown in [
        "Film/releaseDate",
        "Film/id",
        "Character/height",
        "Vehicle/crew",
    ] {
        assert!(may(&schema, &reader, shown, Read), "{shown}");
        assert!(!may(&schema, &reader, shown, Write) && !may(&schema, &reader, shown, Delete));
        assert!(may(&schema, &editor, shown, Write) && !may(&schema, &editor, shown, Delete));
        assert!(may(&schema, &admin, shown, Delete), "{shown}");
    }
}

#[test]
fn each_start_has_passwords_of_its_own() {
    let starts: Vec<_> = (0..4).map(|_| demo::users().unwrap()).collect();
    let users = starts.iter().flat_map(|start| &start.users);
    let passwords: HashSet<_> = users
        .map(|user| match &user.password {
            Password::Plain(password) => password.reveal().to_owned(),
            Password::Hash(_) => panic!("nobody knows a hash"),
        })
        .collect();
    assert_eq!(passwords.len(), 12);
    assert!(passwords.iter().all(|password| password.len() == 20));
    let provider = Provider::new(&ProviderOptions::default(), &starts[0]).unwrap();
    assert_eq!(provider.verification().super_roles, ["Admin"]);
}

/// A service that runs as a process; it ends when this is dropped.
struct Serving {
    _running: Running,
    /// What it printed until it could be asked.
    printed: Vec<String>,
    errors: PathBuf,
    _dir: TempDir,
}

impl Serving {
    /// Starts a program, and waits for a line that begins with `last`.
    fn start(program: &str, arguments: &[&str], last: &str) -> Serving {
        let dir = TempDir::new().unwrap();
        let errors = dir.path().join("log");
        let mut command = Command::new(program);
        command.args(arguments);
        command.args(["--port", "0", "--set", "logging.level=trace"]);
        let running = Running::start(command.stderr(File::create(&errors).unwrap()));
        let mut printed = Vec::new();
        while let Some(line) = running.line() {
            printed.push(line);
            if printed.last().unwrap().starts_with(last) {
                break;
            }
        }
        Serving {
            _running: running,
            printed,
            errors,
            _dir: dir,
        }
    }

    fn line(&self, start: &str) -> &str {
        let found = self
            .printed
            .iter()
            .find_map(|line| line.strip_prefix(start));
        found
            .unwrap_or_else(|| panic!("{start}: {:?} {}", self.printed, self.log()))
            .trim()
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    /// Waits until the log has so many log-ins, and returns it.
    fn log_after(&self, log_ins: usize) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let log = self.log();
            if log.matches("logged in").count() >= log_ins {
                return log;
            }
            assert!(Instant::now() < until, "{log}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends JSON; returns the status and the body.
    fn post(&self, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        let base = self.line("GraphQL:").strip_suffix("/graphql").unwrap();
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let mut request = agent
            .post(format!("{base}{path}"))
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut answer = request.send(body.to_string()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        (answer.status().as_u16(), body)
    }

    fn query(&self, token: Option<&str>) -> (u16, Value) {
        self.post(
            "/graphql",
            token,
            &json!({ "query": "{ film(limit: 1) { id } }" }),
        )
    }

    fn token(&self, user: &str, password: &str) -> Option<String> {
        let body = json!({ "loginId": user, "password": password });
        let (_, answer) = self.post("/api/login", None, &body);
        answer["token"].as_str().map(str::to_owned)
    }
}

#[test]
fn the_users_of_the_demo_log_in_with_the_passwords_that_are_printed_and_nowhere_else() {
    let program = env!("CARGO_BIN_EXE_soml");
    let service = Serving::start(
        program,
        &["serve", "--demo", "star-wars", "--roles"],
        "Log in:",
    );
    assert!(service.line("GraphiQL:").contains("for objects"));
    assert_eq!(service.line("Security:"), "on; requests need a token");
    assert_eq!(service.query(None).0, 401);
    let mut secrets = Vec::new();
    for user in ["reader", "editor", "admin"] {
        let line = service.line(&format!("  {user} "));
        let password = line.split_whitespace().next().unwrap();
        let token = service.token(user, password).unwrap();
        assert_eq!(service.query(Some(&token)).0, 200, "{user}");
        assert!(service.token(user, "x").is_none());
        secrets.extend([password.to_owned(), token]);
    }
    let curl = service.line("Log in:");
    assert!(
        curl.contains("/api/login") && curl.contains(&secrets[0]),
        "{curl}"
    );
    let log = service.log_after(3);
    assert!(log.contains("a signing key in memory"), "{log}");
    for secret in &secrets {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn searches_of_the_demo_with_roles_obey_them_or_start_only_where_they_are_enabled() {
    let program = env!("CARGO_BIN_EXE_soml");
    let flags = ["serve", "--demo", "star-wars", "--roles"];
    let root_fields = |service: &Serving| {
        let line = service.line("  admin ");
        let token = service.token("admin", line.split_whitespace().next().unwrap());
        let base = service.line("Gateway:").strip_suffix("/graphql").unwrap();
        let query = "{ __type(name: \"Query\") { fields { name } } }";
        let (status, answer) = post(base, query, token.as_deref());
        assert_eq!(status, 200, "{answer}");
        answer["data"].to_string()
    };
    let service = Serving::start(program, &flags, "Composed:");
    assert!(service.line("Search:").starts_with("http://"));
    assert!(root_fields(&service).contains("\"film_search\""));
    let log = service.log();
    assert!(!log.contains("search shows every caller"), "{log}");
    let line = service.line("  reader ");
    let token = service.token("reader", line.split_whitespace().next().unwrap());
    let base = service.line("Gateway:").strip_suffix("/graphql").unwrap();
    let query = "{ film_search(size: 1) { hits { film { name openingCrawl } } }
        hidden: film_search(query: {exists: {field: openingCrawl}}) { total { value } } }";
    let (_, answer) = post(base, query, token.as_deref());
    let denied = answer["errors"].to_string();
    assert!(denied.contains("ACCESS_DENIED"), "{answer}");
    let query = "{ film_search(size: 1) { hits { film { name openingCrawl } } } }";
    let (_, answer) = post(base, query, token.as_deref());
    let film = &answer["data"]["film_search"]["hits"][0]["film"];
    assert!(
        film["name"].is_string() && film["openingCrawl"].is_null(),
        "{answer}"
    );
    drop(service);

    let flags = [&flags[..], &["--set", "search.rbac.enabled=false"]].concat();
    let service = Serving::start(program, &flags, "Composed:");
    let search = service.line("Search:");
    for part in ["off", "`Film`", "`Reader`", "search.enabled=true"] {
        assert!(search.contains(part), "{part}: {search}");
    }
    let fields = root_fields(&service);
    assert!(
        fields.contains("\"film\"") && !fields.contains("_search"),
        "{fields}"
    );
    assert!(!service.log().contains("the search engine is embedded"));
    drop(service);

    let flags = [&flags[..], &["--set", "search.enabled=true"]].concat();
    let service = Serving::start(program, &flags, "Composed:");
    assert!(service.line("Search:").starts_with("http://"));
    assert!(root_fields(&service).contains("\"film_search\""));
    // It was said that this is known.
    assert!(!service.log().contains("search shows every caller"));
}

/// Runs an operation; returns its data, and the codes of its errors.
fn answer(service: &Serving, token: &str, query: &str) -> (Value, Vec<String>) {
    let (status, mut body) = service.post("/graphql", Some(token), &json!({ "query": query }));
    assert_eq!(status, 200, "{body}");
    let errors = body["errors"].as_array().into_iter().flatten();
    let codes = errors.map(|error| error["extensions"]["code"].as_str().unwrap().to_owned());
    let codes = codes.collect();
    (body["data"].take(), codes)
}

#[test]
fn each_user_of_the_demo_sees_what_the_page_says() {
    let program = env!("CARGO_BIN_EXE_soml");
    let flags = ["serve", "--demo", "star-wars", "--roles"];
    let service = Serving::start(program, &flags, "Log in:");
    let tokens = ["reader", "editor", "admin"].map(|user| {
        let line = service.line(&format!("  {user} "));
        let password = line.split_whitespace().next().unwrap();
        service.token(user, password).unwrap()
    });
    let removed = "ACCESS_FIELD_REMOVED".to_owned();
    let table = [
        (
            "{ film(limit: 1, orderBy: {name: ASC}) { name openingCrawl starship { name } } }",
            json!({ "film": [{ "name": "A New Hope" }] }),
            vec![removed.clone(), removed.clone()],
            "/film/0/starship/0/name",
        ),
        (
            "{ human(limit: 1, where: {name: {EQ: \"Luke Skywalker\"}}) { name mass } }",
            json!({ "human": [{ "name": "Luke Skywalker" }] }),
            vec![removed.clone()],
            "/human/0/mass",
        ),
        (
            "{ starship { name } }",
            json!({}),
            vec![removed],
            "/starship/0/name",
        ),
        (
            "{ film(orderBy: {openingCrawl: ASC}) { name } }",
            Value::Null,
            vec!["ACCESS_DENIED".to_owned()],
            "/film/0/name",
        ),
    ];
    for (query, data, codes, shown) in table {
        let [reader, others @ ..] = &tokens;
        assert_eq!(answer(&service, reader, query), (data, codes), "{query}");
        for token in others {
            let (data, codes) = answer(&service, token, query);
            assert_eq!(codes, Vec::<String>::new(), "{query}");
            assert!(!data.pointer(shown).unwrap().is_null(), "{query}: {data}");
        }
    }
    let page = include_str!("../../../docs/access.md");
    for shown in [
        "{ starship { name } }",
        "{ film(orderBy: {openingCrawl: ASC}) { name } }",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let schema = json!({});
    let manage = |token: &str| service.post("/soml", Some(token), &schema).0;
    assert_eq!(
        tokens.each_ref().map(|token| manage(token)),
        [403, 403, 415]
    );
}

#[test]
fn a_provisioning_file_is_all_that_a_service_with_security_needs() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("users.yaml");
    let users = "security:\n  roles: [{name: Admin, superRole: true}]\n  users:\n  \
                 - {username: anna, password: correct horse, roles: [Admin]}\n";
    fs::write(&path, users).unwrap();
    let file = format!("security.provisioning.file={}", path.display());
    let program = env!("CARGO_BIN_EXE_object-service");
    let service = Serving::start(
        program,
        &["--demo", "star-wars", "--set", &file],
        "Security:",
    );
    assert_eq!(service.line("Security:"), "on; requests need a token");
    assert_eq!(service.query(None).0, 401);
    let token = service.token("anna", "correct horse").unwrap();
    assert_eq!(service.query(Some(&token)).0, 200);
    assert!(
        !service.log_after(1).contains(path.to_str().unwrap()),
        "the property is not logged"
    );
}

#[test]
fn what_would_keep_users_out_is_refused() {
    for (setting, problem) in [
        ("security.enabled=false", "`security.enabled` is off"),
        (
            "security.rolesClaim=realm.roles",
            "`security.rolesClaim` is not `roles`",
        ),
        (
            "security.algorithms=RS256",
            "`security.algorithms` has no ES256",
        ),
        (
            "security.provisioning.file=users.yaml",
            "use only one of them",
        ),
    ] {
        let arguments = ["serve", "--demo", "star-wars", "--roles", "--set", setting];
        let output = soml(&arguments);
        assert_eq!(code(&output), Some(64), "{setting}: {}", err(&output));
        assert!(
            err(&output).contains(problem),
            "{setting}: {}",
            err(&output)
        );
    }
    let output = soml(&["serve", "--roles"]);
    assert!(err(&output).contains("--demo"), "{}", err(&output));
}

#[test]
fn a_schema_whose_row_rules_do_not_fit_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stored = |settings: &Settings, condition: &str| {
        let rules = format!("      filters: {{Film: {{read: {{{condition}}}}}}}\n");
        let text = format!("{}{rules}", STAR_WARS.schema_with_roles());
        let store = servers::store::in_memory().unwrap();
        let schemas = Arc::new(InMemorySchemaStore::default());
        let app = object_service(settings, store, schemas);
        runtime.block_on(async {
            let (stored, _) = app.store_schema(&text).await?;
            app.bind(&stored.id, &Expected::default(), None).await
        })
    };
    let mut secured = Settings::default();
    secured.security.secret = Some(Secret::new("x".repeat(32)));
    for settings in [Settings::default(), secured] {
        stored(&settings, "episodeId: {EQ: 4}").unwrap();
        let refused = stored(&settings, "episode: {EQ: 4}").unwrap_err();
        assert!(
            matches!(refused, SchemaChangeError::Invalid(_)),
            "{refused}"
        );
    }
}
