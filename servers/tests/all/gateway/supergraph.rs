//! A gateway over a composed supergraph from a file, which is replaced and damaged while it is served.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use federation::compose::{ComposeOptions, SubgraphSource, compose};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::Gateway;
use super::sockets::nobody;
use super::subgraph::{MOONS, PLANETS, Said, Subgraph};
use crate::command_line::{code, err, soml};

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Two subgraphs, and the folder of their supergraph.
struct World {
    planets: Subgraph,
    moons: Subgraph,
    folder: TempDir,
}

/// Composes the planets and the moons at some addresses.
fn supergraph(planets: &str, moons: &str, addresses: [&str; 2]) -> String {
    let sources = [
        ("planets", planets, addresses[0]),
        ("moons", moons, addresses[1]),
    ];
    let sources = sources.map(|(name, sdl, url)| SubgraphSource {
        name: name.to_owned(),
        url: url.to_owned(),
        sdl: sdl.to_owned(),
    });
    let composed = compose(&sources, &ComposeOptions::default());
    composed.unwrap().supergraph_sdl
}

/// Replaces a file as a whole.
fn replace(path: &Path, text: impl AsRef<[u8]>) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

impl World {
    fn new() -> World {
        World {
            planets: Subgraph::planets(),
            moons: Subgraph::moons(),
            folder: TempDir::new().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("supergraph.graphql")
    }

    /// Returns the supergraph with one more field of the planets.
    fn text(&self, field: u32) -> String {
        let planets = format!("{PLANETS} extend type Query {{ field{field}: Int }}");
        let urls = [self.planets.url("/graphql"), self.moons.url("/graphql")];
        supergraph(&planets, MOONS, [&urls[0], &urls[1]])
    }

    /// Starts a gateway over the file, without waiting until it serves it.
    fn begin(&self, variables: &[(&str, &str)]) -> Gateway {
        let path = self.path();
        let own = [
            ("GATEWAY_SUPERGRAPH_FILE", path.to_str().unwrap()),
            ("SERVICE_DWELL", "50"),
        ];
        let all: Vec<_> = own.iter().chain(variables).copied().collect();
        Gateway::start(&all)
    }

    fn gateway(&self, variables: &[(&str, &str)]) -> Gateway {
        let mut gateway = self.begin(variables);
        gateway.composed();
        gateway
    }
}

fn has_field(gateway: &Gateway, number: u32) -> bool {
    let sdl = gateway.get("/schema.graphql").text;
    sdl.contains(&format!("field{number}: Int"))
}

/// Returns the record of changes that are not served, where there is one.
pub(super) fn stale(gateway: &Gateway) -> Option<Value> {
    let record = gateway.get("/__health").json();
    let checks = record["healthChecks"].as_array().unwrap();
    checks.iter().find(|check| check["id"] == "3300").cloned()
}

/// Returns whether it is said that changes are not served, and why.
pub(super) fn is_stale(gateway: &Gateway, why: &str) -> bool {
    let record = stale(gateway);
    record.is_some_and(|record| {
        record["status"] == "WARNING" && record["message"].as_str().unwrap().contains(why)
    })
}

const BOTH: &str = "{ planets { title moons } moonCount }";

fn both() -> Value {
    json!({"data": {"planets": [{"title": "Tatooine", "moons": 3}, {"title": "Hoth", "moons": 3}],
        "moonCount": 6}})
}

#[test]
fn what_compose_writes_is_served_and_followed_by_every_gateway_over_the_file() {
    let world = World::new();
    let path = world.path();
    let urls = [world.planets.url("/graphql"), world.moons.url("/graphql")];
    let named = [format!("planets={}", urls[0]), format!("moons={}", urls[1])];
    let write = || {
        let output = path.to_str().unwrap();
        let written = soml(&[
            "compose",
            "--subgraph",
            &named[0],
            "--subgraph",
            &named[1],
            "-o",
            output,
        ]);
        assert_eq!(code(&written), Some(0), "{}", err(&written));
    };
    write();
    let read = world.planets.asked_for_schema().len();
    let gateways = [world.gateway(&[]), world.gateway(&[])];
    for gateway in &gateways {
        assert_eq!(gateway.query(BOTH), both());
        let record = gateway.get("/__health").json();
        let checks = record["healthChecks"].as_array().unwrap();
        let ids: Vec<_> = checks.iter().map(|check| &check["id"]).collect();
        assert_eq!(ids, ["planets", "moons"], "{record:#}");
        assert_eq!(record["status"], "OK");
        let shown = gateway.said.iter().find(|it| it.contains(" moons  ("));
        assert!(
            shown.is_some_and(|it| it.contains(&urls[1])),
            "{:?}",
            gateway.said
        );
    }
    // Nobody is asked for a schema.
    assert_eq!(world.planets.asked_for_schema().len(), read);
    world
        .planets
        .set_sdl(&format!("{PLANETS} extend type Query {{ field1: Int }}"));
    write();
    for gateway in &gateways {
        gateway.wait("the field", |gateway| has_field(gateway, 1));
        assert_eq!(gateway.query(BOTH), both());
        assert_eq!(stale(gateway), None);
    }
    for gateway in gateways {
        assert_eq!(gateway.stop().0, Some(0));
    }
    // What was served last is served after a restart.
    assert!(has_field(&world.gateway(&[]), 1));
}

#[test]
fn a_file_that_cannot_be_served_leaves_what_is_served_and_health_and_log_say_why() {
    let world = World::new();
    let (path, good) = (world.path(), world.text(1));
    replace(&path, &good);
    let gateway = world.gateway(&[]);
    let half = &good[..good.len() * 2 / 3];
    let urls = [world.planets.url("/graphql"), String::new()];
    let nowhere = supergraph(PLANETS, MOONS, [&urls[0], &urls[1]]);
    let secret = supergraph(PLANETS, MOONS, [&urls[0], "http://u:hunter2@127.0.0.1:9/"]);
    let long = || {
        let file = fs::File::create(path.with_extension("new")).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
    };
    let faults: [(&dyn Fn(), &str, &str); 8] = [
        (
            &|| replace(&path, half),
            "INVALID_FEDERATION_SUPERGRAPH; see the log",
            "[INVALID_FEDERATION_SUPERGRAPH]",
        ),
        (
            &|| replace(&path, "type Query { a: Int }"),
            "INVALID_FEDERATION_SUPERGRAPH; see the log",
            "the enum `join__Graph` is missing",
        ),
        (
            &|| replace(&path, b"\xff"),
            "it is not UTF-8",
            "it is not UTF-8",
        ),
        (&|| replace(&path, " \n"), "it is empty", "it is empty"),
        (
            &long,
            "it is longer than",
            "it is longer than 67108864 bytes",
        ),
        (
            &|| fs::remove_file(&path).unwrap(),
            "there is no such file",
            "there is no such file",
        ),
        (
            &|| replace(&path, &nowhere),
            "its subgraphs cannot be called",
            "the subgraph `moons` has no address; help: correct `@join__graph(url:)`",
        ),
        (
            &|| replace(&path, &secret),
            "its subgraphs cannot be called",
            "the address of the subgraph `moons` is not an address such as",
        ),
    ];
    for (fault, why, logged) in faults {
        fault();
        gateway.wait(why, |gateway| is_stale(gateway, why));
        gateway.wait_for_log(logged, 1);
        assert!(has_field(&gateway, 1), "{why}");
        assert_eq!(gateway.query(BOTH), both(), "{why}");
        assert_eq!(gateway.get("/__gtg").status, 200, "{why}");
    }
    // The text that is served is no change.
    replace(&path, &good);
    gateway.wait("nothing to say", |gateway| stale(gateway).is_none());
    replace(&path, world.text(2));
    gateway.wait("the other field", |gateway| has_field(gateway, 2));
    let trouble = gateway.get("/__trouble").text;
    assert!(trouble.contains("id=\"3300\""), "{trouble}");
    let (_, log) = gateway.stop();
    for once in ["it is not UTF-8", "it is empty", "has no address; help"] {
        assert_eq!(log.matches(once).count(), 1, "{once}: {log}");
    }
    assert_eq!(
        log.matches("the composite schema has changed").count(),
        1,
        "{log}"
    );
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn a_file_that_is_written_in_place_is_served_once_it_is_whole() {
    use std::io::Write;
    let world = World::new();
    let path = world.path();
    replace(&path, world.text(1));
    let gateway = world.gateway(&[]);
    let text = world.text(2);
    let (first, second) = text.split_at(text.len() / 2);
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    gateway.wait("half of it", |gateway| stale(gateway).is_some());
    assert!(has_field(&gateway, 1));
    file.write_all(second.as_bytes()).unwrap();
    gateway.wait("all of it", |gateway| has_field(gateway, 2));
    gateway.wait("nothing to say", |gateway| stale(gateway).is_none());
}

#[test]
fn a_file_that_is_not_there_is_waited_for_and_one_that_cannot_be_served_ends_the_start() {
    let world = World::new();
    let mut gateway = world.begin(&[]);
    gateway.wait("it waits", |gateway| {
        let said = gateway.get("/__gtg").json();
        said["message"] == "the gateway waits for the file of its supergraph"
    });
    let refused = gateway.post(BOTH, &[]);
    assert_eq!(
        (refused.status, refused.code()),
        (503, json!("GATEWAY_STARTING"))
    );
    assert!(!refused.text.contains(world.folder.path().to_str().unwrap()));
    replace(&world.path(), world.text(1));
    gateway.composed();
    assert_eq!(gateway.query(BOTH), both());
    let (_, log) = gateway.stop();
    let line = format!("{}: there is no such file", world.path().display());
    assert!(log.contains(&line), "{log}");

    for (text, reason) in [
        (&world.text(1)[..900], "[INVALID_FEDERATION_SUPERGRAPH]"),
        (
            "type Query { a: Int }",
            "the enum `join__Graph` is missing: this is not a supergraph",
        ),
    ] {
        replace(&world.path(), text);
        let (code, log) = world.begin(&[]).end();
        assert_eq!(code, Some(1), "{log}");
        assert!(
            log.contains("`gateway.supergraph.file` cannot be served") && log.contains(reason),
            "{log}"
        );
    }
    fs::remove_file(world.path()).unwrap();
    fs::create_dir(world.path()).unwrap();
    let (code, log) = world.begin(&[]).end();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("it is not a file"), "{log}");
}

#[test]
fn addresses_and_checks_of_subgraphs_of_the_file_are_configured_by_their_names() {
    let world = World::new();
    let (away, planets) = (nobody(), world.planets.url("/graphql"));
    replace(&world.path(), supergraph(PLANETS, MOONS, [&planets, &away]));
    let (moons, health) = (
        world.moons.url("/graphql?key=hunter2"),
        world.moons.url("/__health"),
    );
    let named = ("GRAPHQL_SERVICE_4_NAME", "moons");
    let gateway = world.gateway(&[
        named,
        ("GRAPHQL_SERVICE_4", &moons),
        ("GRAPHQL_SERVICE_4_HEALTH", &health),
    ]);
    assert_eq!(gateway.query(BOTH), both());
    let record = gateway.get("/__health?cache=false").json();
    assert_eq!(record["healthChecks"][1]["id"], "9500", "{record:#}");
    let said = gateway.said.join("\n");
    let (_, log) = gateway.stop();
    for shown in [said, log] {
        assert!(shown.contains("/graphql?***"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    // The address in the file stands where nothing else is said.
    let gateway = world.gateway(&[named, ("GRAPHQL_SERVICE_4_HEALTH", &health)]);
    let answer = gateway.query("{ moonCount }");
    let error = &answer["errors"][0]["extensions"];
    assert_eq!(
        (&error["code"], &error["serviceName"]),
        (&json!("DOWNSTREAM_SERVICE_ERROR"), &json!("moons")),
        "{answer}"
    );
}

#[test]
fn settings_that_contradict_the_file_are_refused_by_name() {
    let world = World::new();
    replace(&world.path(), world.text(1));
    let address = ("GRAPHQL_SERVICE_2", "http://127.0.0.1:9/graphql");
    for (variables, named) in [
        (
            &[address][..],
            ["gateway.supergraph.file", "GRAPHQL_SERVICE_2_NAME"],
        ),
        (
            &[("POLL_INTERVAL", "1")],
            ["gateway.supergraph.file", "poll.interval"],
        ),
        (
            &[
                ("GRAPHQL_SERVICE_2_NAME", "moons"),
                ("GRAPHQL_SERVICE_3_NAME", "moons"),
            ],
            ["both named `moons`", "graphql.service.N.name"],
        ),
    ] {
        let mut gateway = world.begin(variables);
        assert_eq!(gateway.base, "", "{variables:?}");
        let (code, log) = gateway.end();
        assert_eq!(code, Some(64), "{variables:?}: {log}");
        assert!(named.iter().all(|name| log.contains(name)), "{log}");
    }
    // What names are there is known once the file is read.
    let unknown = [address, ("GRAPHQL_SERVICE_2_NAME", "stars")];
    let (code, log) = world.begin(&unknown).end();
    assert_eq!(code, Some(1), "{log}");
    assert!(
        log.contains("the name `stars` of GRAPHQL_SERVICE_2_NAME")
            && log.contains("its subgraphs are planets, moons"),
        "{log}"
    );
}

#[test]
fn a_subgraph_that_moves_is_called_counted_and_checked_at_its_new_address() {
    let world = World::new();
    let (path, planets) = (world.path(), world.planets.url("/graphql"));
    replace(&path, supergraph(PLANETS, MOONS, [&planets, &nobody()]));
    let gateway = world.gateway(&[("GATEWAY_METRICS_ENABLED", "true")]);
    gateway.wait("the record", |gateway| {
        gateway.get("/__health").json()["status"] == "ERROR"
    });
    let moons = world.moons.url("/graphql");
    replace(&path, supergraph(PLANETS, MOONS, [&planets, &moons]));
    gateway.wait("the switch", |gateway| gateway.query(BOTH) == both());
    gateway.wait("the record", |gateway| {
        gateway.get("/__health").json()["status"] == "OK"
    });
    // Another name for the same service.
    let renamed = fs::read_to_string(&path).unwrap();
    replace(
        &path,
        renamed.replace("name: \"moons\"", "name: \"sa\\\"tellites\""),
    );
    gateway.wait("the name", |gateway| {
        let record = gateway.get("/__health").json();
        record["healthChecks"][1]["id"] == "sa\"tellites"
    });
    gateway.wait("an answer that is counted", |gateway| {
        assert_eq!(gateway.query(BOTH), both());
        let metrics = gateway.get("/metrics").text;
        metrics.lines().any(|line| {
            let counted = "graphql_subgraph_request_duration_seconds_count{service_name=\"federation-gateway\",\
                           graphql_subgraph_name=\"sa\\\"tellites\",graphql_subgraph_outcome=\"answered\"} ";
            line.strip_prefix(counted).is_some_and(|count| count != "0")
        })
    });
}

#[test]
fn switches_to_other_addresses_under_load_fail_no_request() {
    const SWITCHES: u32 = 20;
    const CLIENTS: usize = 8;
    let world = World::new();
    let others = [Subgraph::moons(), Subgraph::moons()];
    let planets = world.planets.url("/graphql");
    let text = |switch: u32| {
        let sdl = format!("{PLANETS} extend type Query {{ field{switch}: Int }}");
        let moons = others[switch as usize % 2].url("/graphql");
        supergraph(&sdl, MOONS, [&planets, &moons])
    };
    replace(&world.path(), text(0));
    let gateway = world.gateway(&[("LOGGING_LEVEL", "warn"), ("SERVICE_DWELL", "20")]);
    let answered = AtomicU64::new(0);
    std::thread::scope(|scope| {
        // The clients end with it, also where a switch does not come.
        let switching = Arc::new(());
        for _ in 0..CLIENTS {
            let switching = Arc::downgrade(&switching);
            let (gateway, answered) = (&gateway, &answered);
            scope.spawn(move || {
                while switching.strong_count() > 0 {
                    assert_eq!(gateway.query(BOTH), both());
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for switch in 1..=SWITCHES {
            replace(&world.path(), text(switch));
            let before = answered.load(Ordering::Relaxed);
            gateway.wait("the switch, and an answer", |gateway| {
                has_field(gateway, switch) && answered.load(Ordering::Relaxed) > before
            });
        }
    });
}

#[test]
fn a_supergraph_that_demands_something_of_callers_is_served_only_where_tokens_are_verified() {
    let world = World::new();
    let guarded = r#"
        extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@authenticated"])
        type Query { moonCount: Int secretCount: Int @authenticated }"#;
    let planets = r#"type Query { planets: [Planet!] } type Planet { title: String }"#;
    let urls = [world.planets.url("/graphql"), world.moons.url("/graphql")];
    let text = supergraph(planets, guarded, [&urls[0], &urls[1]]);
    replace(&world.path(), &text);
    let (code, log) = world.begin(&[]).end();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("`Query.secretCount`"), "{log}");

    // The same of a file that changes.
    replace(&world.path(), world.text(1));
    let gateway = world.gateway(&[]);
    replace(&world.path(), &text);
    gateway.wait_for_log("`Query.secretCount`", 1);
    gateway.wait("health", |gateway| stale(gateway).is_some());
    let record = stale(&gateway).unwrap().to_string();
    assert!(!record.contains("secretCount"), "{record}");
    assert!(has_field(&gateway, 1));
    drop(gateway);

    // Nobody logs in: there are no schemas to read.
    let secret = ("SECURITY_SECRET", "a secret of at least thirty-two bytes");
    let gateway = world.gateway(&[secret, ("SECURITY_ENABLED", "true")]);
    let answer = gateway.query("{ moonCount secretCount }");
    assert_eq!(answer["data"], json!({"moonCount": 6, "secretCount": null}));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "UNAUTHORIZED_FIELD_OR_TYPE"
    );
    let asked = world.moons.asked();
    assert!(
        asked.iter().all(|it| !it.query.contains("secret")),
        "{asked:?}"
    );
}

#[test]
fn mutations_of_a_supergraph_can_be_switched_off() {
    let world = World::new();
    replace(&world.path(), world.text(1));
    let gateway = world.gateway(&[("GATEWAY_MUTATIONS_ENABLED", "false")]);
    let schema = gateway.query("{ __schema { mutationType { name } } }");
    assert_eq!(schema["data"]["__schema"]["mutationType"], json!(null));
}

#[test]
fn an_error_of_a_subgraph_is_not_named_after_its_address() {
    let broken = |_: &super::subgraph::Asked| {
        Said::from(json!({"data": {"moonCount": null}, "errors": [{"message": "lost"}]}))
    };
    let (planets, broken) = (Subgraph::planets(), Subgraph::start(MOONS, broken));
    let urls = [planets.url("/graphql"), broken.url("/graphql")];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &[]);
    let answer = gateway.query("{ moonCount }");
    assert_eq!(
        answer["errors"][0]["extensions"]["serviceName"], "service_1",
        "{answer}"
    );
    let (named, shown) = (broken.address.port().to_string(), answer.to_string());
    assert!(!shown.contains(&named), "{shown}");
    // A name that is given is shown.
    let gateway = Gateway::over(
        &[&urls[0], &urls[1]],
        &[("GRAPHQL_SERVICE_1_NAME", "satellites")],
    );
    let answer = gateway.query("{ moonCount }");
    assert_eq!(
        answer["errors"][0]["extensions"]["serviceName"],
        "satellites"
    );
}

#[test]
fn types_that_no_operation_reaches_are_left_out_where_that_is_asked_for() {
    let world = World::new();
    let lonely = format!("{PLANETS} type Lonely {{ a: Int }}");
    let urls = [world.planets.url("/graphql"), world.moons.url("/graphql")];
    replace(
        &world.path(),
        supergraph(&lonely, MOONS, [&urls[0], &urls[1]]),
    );
    for (prunes, is_there) in [("false", true), ("true", false)] {
        let gateway = world.gateway(&[("GATEWAY_PRUNEUNREACHABLETYPES", prunes)]);
        let sdl = gateway.get("/schema.graphql").text;
        assert_eq!(sdl.contains("type Lonely"), is_there, "{sdl}");
        assert_eq!(gateway.query(BOTH), both());
    }
}

#[test]
fn traces_of_the_stack_of_subgraphs_are_shown_only_where_that_is_configured() {
    let broken = |_: &super::subgraph::Asked| {
        let error = json!({"message": "lost", "extensions": {"hint": "h", "stacktrace": ["at f"]}});
        Said::from(json!({"data": {"moonCount": null}, "errors": [error]}))
    };
    let moons = Subgraph::start("type Query { moonCount: Int }", broken);
    let url = moons.url("/graphql");
    for (shown, is_there) in [("false", false), ("true", true)] {
        let gateway = Gateway::over(&[&url], &[("GATEWAY_SUBGRAPH_STACKTRACES", shown)]);
        let answer = gateway.query("{ moonCount }").to_string();
        assert_eq!(answer.contains("at f"), is_there, "{answer}");
        assert!(answer.contains("\"hint\""), "{answer}");
    }
}
