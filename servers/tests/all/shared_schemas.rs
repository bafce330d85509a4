//! Instances that share a store of schemas: as processes, over a running RDF4J Server (`scripts/servers.sh start rdf4j`), or
//! over one that a test starts and kills.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::soml::post;
use crate::kills::Rdf4j;
use crate::processes::{Running, agent, base, eventually, output};
use crate::random_tests::setting;

/// How often an instance looks what others have bound.
const INTERVAL: &str = "soml.storage.followInterval=50";

/// Clients that query while schemas are bound.
const CLIENTS: usize = 50;

/// Makes names that no other run has.
static NAMES: AtomicU64 = AtomicU64::new(0);

/// A store of schemas, and an application.
struct Store {
    address: String,
    repository: String,
    application: String,
}

impl Store {
    /// Chooses a repository that is not there yet.
    fn at(address: &str) -> Self {
        let number = NAMES.fetch_add(1, Ordering::Relaxed);
        let repository = format!("schemas-{}-{number}", std::process::id());
        Store {
            address: address.trim_end_matches('/').to_owned(),
            application: "films".to_owned(),
            repository,
        }
    }

    fn of_running_server() -> Self {
        Store::at(&std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server"))
    }

    fn properties(&self) -> Vec<String> {
        vec![
            "soml.storage.provider=rdf4j".to_owned(),
            format!("soml.storage.rdf4j.address={}", self.address),
            format!("soml.storage.rdf4j.repository={}", self.repository),
            format!("application.name={}", self.application),
            "soml.storage.rdf4j.maxRetries=0".to_owned(),
            "health.cacheTime=0".to_owned(),
            INTERVAL.to_owned(),
        ]
    }

    fn start(&self, more: &[&str]) -> Instance {
        let mut properties = self.properties();
        properties.extend(["search.enabled=false", "gateway.enabled=false"].map(str::to_owned));
        properties.extend(more.iter().map(|property| (*property).to_owned()));
        Instance::start(&properties)
    }
}

/// A running instance.
struct Instance {
    base: String,
    said: Vec<String>,
    running: Running,
}

impl Instance {
    fn start(properties: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(["serve", "--port", "0"]);
        for property in properties {
            command.args(["--set", property]);
        }
        let running = Running::start(command.stderr(Stdio::null()));
        let said = running.said_until("Security:");
        Instance {
            base: base(&said, "GraphQL:").to_owned(),
            said,
            running,
        }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}{path}", self.base);
        let request = ureq::http::Request::builder().method(method).uri(url);
        let request = request.header("content-type", "text/yaml");
        let request = request.body(body.to_owned()).expect("a request");
        let mut answer = agent().run(request).expect("an answer");
        let text = answer.body_mut().read_to_string().expect("a text");
        let value = serde_json::from_str(&text).unwrap_or(Value::Null);
        (answer.status().as_u16(), value)
    }

    fn store(&self, id: &str, text: &str) {
        let (status, answer) = self.send("POST", "/soml", text);
        assert_eq!(status, 201, "{id}: {answer}");
    }

    fn bind(&self, id: &str) {
        let (status, answer) = self.send("PUT", &format!("/soml/{id}/objects"), "");
        assert_eq!(status, 200, "{id}: {answer}");
    }

    /// Returns which schema is served.
    fn served(&self) -> Option<String> {
        let about = self.send("GET", "/__about", "").1;
        about["schema"].as_str().map(str::to_owned)
    }

    fn wait_until_served(&self, id: Option<&str>) {
        eventually(|| self.served().as_deref() == id);
    }

    fn check_of_schemas(&self) -> (u16, Value, Value) {
        let (good, gtg) = self.send("GET", "/__gtg", "");
        let health = self.send("GET", "/__health?cache=false", "").1;
        let checks = health["healthChecks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["id"] == "1300");
        (good, gtg, check.expect("a check of schemas").clone())
    }
}

/// Returns the code of an error.
fn code(answer: &Value) -> Option<&str> {
    answer["errors"][0]["extensions"]["code"].as_str()
}

/// Returns a schema whose object and property have the name of the schema in them.
fn schema(id: &str) -> String {
    format!(
        "id: /soml/{id}\nobjects:\n  Film: {{props: {{{id}Title: {{}}}}}}\n  Only_{id}: {{props: {{name: {{}}}}}}\n"
    )
}

/// Asks for what a schema says in three places, and for data.
const LOOK: &str = "{ film { id } type: __type(name: \"Film\") { fields { name } } \
                    schema: __schema { queryType { fields { name } } types { name } } }";

/// Returns whose answer it is; `None` if parts of it are those of different schemas.
fn whose(answer: &Value) -> Option<&'static str> {
    let data = &answer["data"];
    let parts = [
        data["type"].to_string(),
        data["schema"]["queryType"].to_string(),
        data["schema"]["types"].to_string(),
    ];
    let is = |id: &str, other: &str| {
        let (own, foreign) = (id.to_lowercase(), other.to_lowercase());
        let mut parts = parts.iter().map(|part| part.to_lowercase());
        parts.all(|part| part.contains(&own) && !part.contains(&foreign))
    };
    match () {
        () if answer.get("errors").is_some() => None,
        () if is("apple", "melon") => Some("apple"),
        () if is("melon", "apple") => Some("melon"),
        () => None,
    }
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn what_one_process_stores_and_binds_is_served_by_another_after_a_restart_of_both() {
    let store = Store::of_running_server();
    let (mut one, mut two) = (store.start(&[]), store.start(&[]));
    assert!(
        one.said
            .iter()
            .any(|line| line.starts_with("No schema is bound: POST one")),
        "{:#?}",
        one.said
    );
    one.store("apple", &schema("apple"));
    one.store("melon", &schema("melon"));
    one.bind("apple");
    two.wait_until_served(Some("apple"));
    two.bind("melon");
    one.wait_until_served(Some("melon"));
    // What is replaced at one is served by the other.
    let replaced = schema("melon").replace("melonTitle", "melonName");
    assert_eq!(two.send("PUT", "/soml/melon", &replaced).0, 200);
    eventually(|| {
        post(&one.base, LOOK, None)
            .1
            .to_string()
            .contains("melonName")
    });
    // Nobody removes what another has bound.
    let (status, answer) = one.send("DELETE", "/soml/melon", "");
    assert_eq!((status, code(&answer)), (409, Some("SCHEMA_BOUND")));
    assert!(one.running.stop().success() && two.running.stop().success());

    let (one, two) = (store.start(&[]), store.start(&[]));
    one.wait_until_served(Some("melon"));
    assert_eq!(whose(&post(&two.base, LOOK, None).1), Some("melon"));
    let (good, gtg, check) = two.check_of_schemas();
    assert_eq!(
        (good, &check["status"]),
        (200, &json!("OK")),
        "{gtg} {check}"
    );
    // An unbind is shared too, and so is another application not.
    let other = Store {
        application: "others".to_owned(),
        ..Store::at(&store.address)
    };
    let other = Store {
        repository: store.repository.clone(),
        ..other
    };
    let other = other.start(&[]);
    assert_eq!(other.served(), None);
    other.bind("apple");
    assert_eq!(one.send("DELETE", "/soml/melon/objects", "").0, 204);
    two.wait_until_served(None);
    assert_eq!(one.send("DELETE", "/soml/melon", "").0, 204);
    assert_eq!(two.send("GET", "/soml/melon", "").0, 404);
    assert_eq!(other.served().as_deref(), Some("apple"));
}

/// `REBINDINGS` sets how often a schema is bound.
#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn no_client_sees_a_failed_or_mixed_answer_while_schemas_are_bound() {
    let store = Store::of_running_server();
    let instances = [store.start(&[]), store.start(&[])];
    for id in ["apple", "melon"] {
        instances[0].store(id, &schema(id));
    }
    instances[0].bind("apple");
    instances[1].wait_until_served(Some("apple"));
    let is_over = Arc::new(AtomicBool::new(false));
    let clients = (0..CLIENTS).map(|client| {
        let (base, is_over) = (instances[client % 2].base.clone(), Arc::clone(&is_over));
        thread::spawn(move || {
            let mut seen = [0_u64; 2];
            while !is_over.load(Ordering::Relaxed) {
                let (status, answer) = post(&base, LOOK, None);
                match (status, whose(&answer)) {
                    (200, Some("apple")) => seen[0] += 1,
                    (200, Some("melon")) => seen[1] += 1,
                    _ => panic!("{status}: {answer}"),
                }
            }
            seen
        })
    });
    let clients: Vec<_> = clients.collect();
    for round in 0..setting("REBINDINGS", 20) as usize {
        let id = ["melon", "apple"][round % 2];
        instances[(round / 2) % 2].bind(id);
        for instance in &instances {
            instance.wait_until_served(Some(id));
        }
        if clients.iter().any(thread::JoinHandle::is_finished) {
            break;
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let mut seen = [0; 2];
    for client in clients {
        let of_client = client.join().expect("every answer is that of one schema");
        seen = [seen[0] + of_client[0], seen[1] + of_client[1]];
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn what_is_bound_is_served_while_the_store_is_gone_and_followed_once_it_is_back() {
    let mut server = Rdf4j::start();
    let store = Store::at(&server.base);
    let one = store.start(&[]);
    one.store("apple", &schema("apple"));
    one.store("melon", &schema("melon"));
    one.bind("apple");
    server.kill();
    eventually(|| {
        let (good, gtg, check) = one.check_of_schemas();
        let is_said = check["message"] == "the server that stores the schemas cannot be reached";
        good == 503 && check["status"] == "ERROR" && is_said && !gtg.to_string().contains("127.0")
    });
    assert_eq!(whose(&post(&one.base, LOOK, None).1), Some("apple"));
    let (status, answer) = one.send("PUT", "/soml/melon/objects", "");
    let unavailable = (503, Some("SCHEMA_STORE_UNAVAILABLE"));
    assert_eq!((status, code(&answer)), unavailable, "{answer}");
    // It starts without a schema, and says so.
    let two = store.start(&[]);
    assert_eq!(two.served(), None);
    let line = "No schema is bound: the store of schemas does not answer yet";
    assert!(two.said.iter().any(|said| said == line), "{:#?}", two.said);
    assert_eq!(two.send("GET", "/__gtg", "").0, 503);
    server.restart();
    two.wait_until_served(Some("apple"));
    two.bind("melon");
    one.wait_until_served(Some("melon"));
    eventually(|| one.check_of_schemas().0 == 200);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn a_repository_that_is_missing_and_must_not_be_created_is_said_by_health() {
    let store = Store::of_running_server();
    let one = store.start(&["soml.storage.rdf4j.autoCreateRepository=false"]);
    let (good, _, check) = one.check_of_schemas();
    assert_eq!((good, &check["status"]), (503, &json!("ERROR")), "{check}");
    assert_eq!(one.send("POST", "/soml", &schema("apple")).0, 500);
    let two = store.start(&[]);
    two.store("apple", &schema("apple"));
    eventually(|| one.send("GET", "/soml/apple", "").0 == 200);
}

#[test]
fn the_address_of_a_service_is_shown_and_can_be_its_name() {
    let start = |properties: &[&str]| {
        let off = ["search.enabled=false", "gateway.enabled=false"];
        let properties = properties.iter().chain(&off);
        let properties: Vec<String> = properties.map(|it| (*it).to_owned()).collect();
        Instance::start(&properties).send("GET", "/__about", "").1
    };
    let address = "application.address=films.example.org:81";
    let about = start(&[address, "application.scheme=https"]);
    let (shown, name) = (&about["address"], &about["name"]);
    assert_eq!(
        (shown, name),
        (
            &json!("https://films.example.org:81"),
            &json!("object-service")
        )
    );
    let about = start(&[
        address,
        "application.useNetworkAddressAsName=true",
        "application.name=a",
    ]);
    assert_eq!(about["name"], "http://films.example.org:81");
    assert_eq!(start(&["application.name=a"])["name"], "a");
    let refused = refused(&["application.useNetworkAddressAsName=true"], 64);
    assert!(refused.contains("set `application.address`"), "{refused}");
}

/// Returns what a start says that fails with an exit code.
fn refused(properties: &[&str], code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0"]);
    for property in properties {
        command.args(["--set", property]);
    }
    let refused = output(&mut command, b"");
    let text = String::from_utf8(refused.stderr).expect("a text");
    assert_eq!(refused.status.code(), Some(code), "{text}");
    text
}

#[test]
fn a_store_that_cannot_be_had_stops_the_start() {
    for (properties, said) in [
        (
            &["soml.storage.provider=rdf4j"][..],
            "`soml.storage.rdf4j.address`",
        ),
        (
            &["soml.storage.rdf4j.address=http://localhost:1"],
            "`application.name`",
        ),
        (&["soml.storage.provider=file"], "`store.dataDir`"),
        (
            &["soml.storage.migration.enabled=true"],
            "`soml.storage.migration.source`",
        ),
        (&["soml.storage.provider=somewhere"], "`in-memory`"),
    ] {
        let text = refused(properties, 64);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn a_schema_of_the_command_line_waits_for_the_store_as_often_as_is_said() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("apple.yaml");
    std::fs::write(&path, schema("apple")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0", "--schema"]).arg(path);
    // Nobody listens there.
    let mut properties = Store::at("http://127.0.0.1:1").properties();
    properties.push("task.default.retry.maxRetries=2".to_owned());
    properties.push("task.default.retry.delay=1".to_owned());
    for property in properties {
        command.args(["--set", &property]);
    }
    let refused = output(&mut command, b"");
    let text = String::from_utf8(refused.stderr).expect("a text");
    assert!(!refused.status.success(), "{text}");
    let tries = text.matches("retrying the store of schemas").count();
    assert_eq!(tries, 2, "{text}");
    assert!(text.contains("the schema store is unavailable"), "{text}");
}

#[test]
fn the_gateway_of_a_process_serves_what_is_bound_there_at_once() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("apple.yaml");
    std::fs::write(&path, schema("apple")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0", "--schema"]).arg(path);
    command.args([
        "--set",
        "gateway.enabled=true",
        "--set",
        "search.enabled=false",
    ]);
    let running = Running::start(command.stderr(Stdio::null()));
    let said = running.said_until("Composed:");
    let gateway = base(&said, "Gateway:").to_owned();
    assert_eq!(whose(&post(&gateway, LOOK, None).1), Some("apple"));
    let objects = Instance {
        base: base(&said, "GraphQL:").to_owned(),
        said: said.clone(),
        running,
    };
    for id in ["melon", "apple", "melon"] {
        if id == "melon" && objects.send("GET", "/soml/melon", "").0 == 404 {
            objects.store(id, &schema(id));
        }
        objects.bind(id);
        eventually(|| whose(&post(&gateway, LOOK, None).1) == Some(id));
    }
}
