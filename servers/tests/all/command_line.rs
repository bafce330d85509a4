//! The `soml` command, run as a process: what it prints and how it ends.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{self, PATIENCE, Running};

const SCHEMA: &str = "demo/star-wars/schema.yaml";
const BROKEN: &str = "tests/data/soml/swapi-schema-broken.yaml";
const PLANETS: &str = "tests/data/soml/swapi-schema-planets.yaml";

pub(crate) fn soml(arguments: &[&str]) -> Output {
    soml_with_input(arguments, b"")
}

/// Runs the command with `input` on standard input.
pub(crate) fn soml_with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(arguments);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    processes::output(&mut command, input)
}

pub(crate) fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn validate_accepts_the_official_schema() {
    let output = soml(&["validate", SCHEMA]);
    assert_eq!(
        out(&output),
        "1 file: 56 objects, 68 properties; 0 errors, 0 warnings\n"
    );
    assert_eq!(code(&output), Some(0));
}

#[test]
fn validate_shows_the_line_the_caret_and_the_help() {
    let output = soml(&["validate", BROKEN]);
    let expected = "\
error[YAML_SYNTAX]: unexpected `:`
  --> tests/data/soml/swapi-schema-broken.yaml:24:10
   |
23 |   averageHeight
   |   ------------- the string begins here
24 |     descr: Average height of the species
   |          ^
   |
   = help: line 23 lacks its colon: write `averageHeight:`

1 file; 1 error, 0 warnings
";
    assert_eq!(out(&output), expected);
    assert_eq!(code(&output), Some(1));
}

#[test]
fn validate_reports_all_mistakes_at_once_as_json_too() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("three.yaml");
    let text = "id: /soml/three\nobjects:\n  Film:\n    props:\n      title: {rnage: string}\n      planet: {range: Plannet}\n      cost: {min: x}\n  Planet: {}\n";
    std::fs::write(&path, text).unwrap();
    let output = soml(&[
        "validate",
        "--format",
        "json",
        path.to_str().unwrap(),
        PLANETS,
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = &report["files"][0];
    let errors = file["errors"].as_array().unwrap();
    let lines: Vec<_> = errors
        .iter()
        .chain(file["warnings"].as_array().unwrap())
        .map(|e| e["line"].as_u64().unwrap())
        .collect();
    for line in [5, 6, 7] {
        assert!(lines.contains(&line), "{report:#}");
    }
    let help = errors.iter().find(|e| e["line"] == 6).unwrap().to_string();
    assert!(help.contains("Planet"), "{help}");
    assert_eq!(report["files"][1]["valid"], true);
    assert_eq!(code(&output), Some(1));
}

#[test]
fn validate_prints_the_json_ld_of_the_service() {
    let output = soml(&["validate", "--format", "json-ld", PLANETS]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = std::fs::read_to_string(PLANETS).unwrap();
    let expected = soml_core::report::json_ld("/soml/swapi-planets", &text, &[]);
    assert_eq!(report, expected);
    let output = soml(&["validate", "--format", "json-ld", PLANETS, BROKEN]);
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports[0], expected);
    assert_eq!(reports[1]["errors"][0]["code"], "YAML_SYNTAX");
    assert_eq!(code(&output), Some(1));
}

#[test]
fn a_missing_file_and_wrong_arguments_have_their_exit_codes() {
    let missing = soml(&["validate", "none.yaml"]);
    assert_eq!(code(&missing), Some(3));
    assert!(
        err(&missing).starts_with("error: failed to read none.yaml: No such file"),
        "{}",
        err(&missing)
    );
    assert_eq!(code(&soml(&["validate"])), Some(64));
    assert_eq!(code(&soml(&["query", "{ a }"])), Some(64));
    assert_eq!(code(&soml(&["serve", "--demo", "none"])), Some(64));
    assert_eq!(code(&soml(&["--version"])), Some(0));
    assert_eq!(
        code(&soml(&[
            "query",
            "--demo",
            "star-wars",
            "-v",
            "[]",
            "{ a }"
        ])),
        Some(64)
    );
}

#[test]
fn query_answers_without_a_server() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("q.graphql");
    std::fs::write(
        &path,
        "query A($i: [ID!]) { planet(ID: $i) { name } } query B { a: __typename }",
    )
    .unwrap();
    let file = format!("@{}", path.display());
    let variables = r#"{"i": "https://swapi.co/resource/planet/1"}"#;
    let output = soml(&[
        "query",
        "--demo",
        "star-wars",
        "-v",
        variables,
        "--operation",
        "A",
        &file,
    ]);
    assert_eq!(
        out(&output),
        "{\"data\":{\"planet\":[{\"name\":\"Tatooine\"}]}}\n"
    );
    assert_eq!(code(&output), Some(0));
}

#[test]
fn query_reads_schema_and_data_and_fails_on_errors_without_data() {
    let arguments = [
        "query",
        "--schema",
        SCHEMA,
        "--data",
        "demo/star-wars/data.ttl",
    ];
    let run = |query| soml(&[&arguments[..], &[query]].concat());
    let good = run("{ starship(ID: \"https://swapi.co/resource/starship/9\") { name } }");
    assert_eq!(
        out(&good),
        "{\"data\":{\"starship\":[{\"name\":\"Death Star\"}]}}\n"
    );
    let bad = run("{ nope }");
    assert_eq!(code(&bad), Some(1));
    assert!(out(&bad).contains("GRAPHQL_VALIDATION_FAILED"));
}

#[test]
fn the_query_stands_before_or_behind_the_data_or_in_a_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("q.graphql");
    let query = "query { planet(limit: 1, orderBy: {name: ASC}) { name } }";
    std::fs::write(&path, query).unwrap();
    let file = format!("@{}", path.display());
    let start = ["query", "--schema", SCHEMA];
    let data = ["--data", "demo/star-wars/data.ttl"];
    for rest in [
        [&[query], &data[..]].concat(),
        [&data[..], &[query]].concat(),
        [&data[..], &[&file, "--strict"]].concat(),
        [&data[..], &["--", query]].concat(),
    ] {
        let output = soml(&[&start[..], &rest].concat());
        assert_eq!(
            out(&output),
            "{\"data\":{\"planet\":[{\"name\":\"Alderaan\"}]}}\n"
        );
    }
    let inferred = soml(&[&["query"], &data[..], &[query]].concat());
    assert!(out(&inferred).contains("Alderaan"), "{}", err(&inferred));
    assert!(err(&inferred).contains("since --schema names none"));
    let none = soml(&[&start[..], &data[..]].concat());
    assert!(err(&none).starts_with("error: a query is needed"));
}

#[test]
fn the_query_of_the_demo_has_an_answer_without_errors() {
    let output = soml(&["query", "--demo", "star-wars"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let films = answer["data"]["film"].as_array().unwrap();
    assert_eq!(films.len(), 7);
    assert!(
        films
            .iter()
            .all(|film| film["character"].as_array().unwrap().len() == 3),
        "{answer:#}"
    );
}

#[test]
fn plan_says_why_there_is_none() {
    const SUPERGRAPH: &str = "../docs/examples/supergraph.graphql";
    let unknown = soml(&[
        "plan",
        "--supergraph",
        SUPERGRAPH,
        "--label",
        "x",
        "{ me { name } }",
    ]);
    assert_eq!(
        err(&unknown),
        "error: the supergraph has no label `x`; it has none\n"
    );
    assert_eq!(code(&unknown), Some(64));
    let other = soml(&[
        "plan",
        "--supergraph",
        "demo/star-wars/query.graphql",
        "{ a }",
    ]);
    assert!(
        err(&other).starts_with("error[INVALID_FEDERATION_SUPERGRAPH]: demo/star-wars/"),
        "{}",
        err(&other)
    );
    assert_eq!(code(&other), Some(1));
    let several = [
        "query A { me { id } } query B { me { name } }",
        "--operation",
        "C",
    ];
    let missing = soml(&[&["plan", "--supergraph", SUPERGRAPH][..], &several].concat());
    assert!(
        err(&missing).starts_with("error[OPERATION_NOT_FOUND]: "),
        "{}",
        err(&missing)
    );
    assert_eq!((code(&missing), out(&missing).as_str()), (Some(1), ""));
}

/// The two subgraphs of the documentation.
const SUBGRAPHS: [&str; 2] = [
    "planets=../docs/examples/planets.graphql",
    "moons=../docs/examples/moons.graphql",
];

#[test]
fn compose_prints_a_supergraph_or_writes_it() {
    let [planets, moons] = SUBGRAPHS;
    let url = "planets=http://localhost/planets";
    let output = soml(&[
        "compose",
        "--subgraph",
        planets,
        "--subgraph",
        moons,
        "--url",
        url,
    ]);
    assert_eq!((code(&output), err(&output).as_str()), (Some(0), ""));
    let supergraph = out(&output);
    assert!(
        supergraph
            .contains("PLANETS @join__graph(name: \"planets\", url: \"http://localhost/planets\")")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("supergraph.graphql");
    let file = file.to_str().unwrap();
    let written = soml(&[
        "compose",
        "--subgraph",
        planets,
        "--subgraph",
        moons,
        "--url",
        url,
        "-o",
        file,
    ]);
    assert_eq!((code(&written), out(&written).as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(file).unwrap(), supergraph);
    let plan = soml(&[
        "plan",
        "--supergraph",
        file,
        "{ planets { moons { name } } }",
    ]);
    assert_eq!(code(&plan), Some(0), "{}", err(&plan));
}

#[test]
fn compose_shows_the_lines_that_are_wrong() {
    let [planets, _] = SUBGRAPHS;
    let output = soml(&[
        "compose",
        "--subgraph",
        planets,
        "--subgraph",
        "again=../docs/examples/planets.graphql",
    ]);
    assert_eq!(code(&output), Some(1));
    let text = err(&output);
    assert!(
        text.contains(
            "error[INVALID_FIELD_SHARING]: `Query.planets` is resolved by `planets`, `again`"
        ),
        "{text}"
    );
    assert!(
        text.contains("../docs/examples/planets.graphql:4:"),
        "{text}"
    );
    let output = soml(&[
        "compose",
        "--subgraph",
        planets,
        "--subgraph",
        "again=../docs/examples/planets.graphql",
        "--format",
        "json",
    ]);
    let answer: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(answer["errors"][0]["code"], "INVALID_FIELD_SHARING");
    assert_eq!(answer["errors"][0]["places"][0]["subgraph"], "planets");
}

#[test]
fn compose_refuses_what_it_cannot_use() {
    let [planets, _] = SUBGRAPHS;
    let unknown = soml(&[
        "compose",
        "--subgraph",
        planets,
        "--url",
        "other=http://localhost",
    ]);
    assert_eq!(code(&unknown), Some(64));
    assert!(
        err(&unknown).contains("--url names `other`"),
        "{}",
        err(&unknown)
    );
    let nameless = soml(&["compose", "--subgraph", "../docs/examples/planets.graphql"]);
    assert_eq!(code(&nameless), Some(64));
    let missing = soml(&["compose", "--subgraph", "planets=nowhere.graphql"]);
    assert_eq!(code(&missing), Some(3));
    let down = soml(&[
        "compose",
        "--subgraph",
        "planets=http://127.0.0.1:1/graphql",
    ]);
    assert_eq!(code(&down), Some(3), "{}", err(&down));
}

#[test]
fn serving_beyond_this_machine_must_be_said() {
    let output = soml(&[
        "serve",
        "--demo",
        "star-wars",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
    ]);
    assert_eq!(code(&output), Some(64));
    assert!(err(&output).contains("--insecure"));
}

#[test]
fn a_port_that_is_taken_is_a_clear_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = soml(&["serve", "--demo", "star-wars", "--port", &port]);
    assert_eq!(code(&output), Some(3));
    assert!(
        err(&output).contains("choose another with --port"),
        "{}",
        err(&output)
    );
}

#[test]
fn serve_says_which_page_to_open_and_ends_on_a_signal() {
    for binary in [
        env!("CARGO_BIN_EXE_soml"),
        env!("CARGO_BIN_EXE_object-service"),
    ] {
        // Beside a gateway, its page is the one to open.
        let (serve, said): (&[&str], _) = if binary.ends_with("soml") {
            (&["serve"], "for objects")
        } else {
            let open = &["--set", "security.enabled=false"];
            (open, "open this in a browser")
        };
        let mut command = Command::new(binary);
        command.args(serve);
        command.args(["--demo", "star-wars", "--port", "0"]);
        let mut service = Running::start(command.stderr(Stdio::piped()));
        let log = processes::all(service.child.stderr.take().unwrap());
        let graphql = service.line().unwrap();
        assert!(
            graphql.starts_with("GraphQL:  http://127.0.0.1:"),
            "{graphql}"
        );
        let page = service.line().unwrap();
        assert!(page.contains(said), "{page}");
        let security = service.line().unwrap();
        assert!(security.starts_with("Security: off; "), "{security}");
        let url = format!(
            "{}?query=%7B__typename%7D",
            graphql.trim_start_matches("GraphQL:  ")
        );
        assert_eq!(
            ureq::get(&url)
                .config()
                .timeout_global(Some(PATIENCE))
                .build()
                .call()
                .unwrap()
                .body_mut()
                .read_to_string()
                .unwrap(),
            r#"{"data":{"__typename":"Query"}}"#
        );
        assert!(service.stop().success());
        let log = String::from_utf8(log.recv_timeout(PATIENCE).unwrap()).unwrap();
        assert!(log.contains("loaded 3,996 triples"), "{log}");
        assert!(
            log.contains("answered") && log.contains("request_id"),
            "{log}"
        );
    }
}

#[test]
fn labels_of_the_multilingual_set_are_answered_by_language() {
    let query = r#"{
        country(ID: "http://www.wikidata.org/entity/Q1032") {
            bg: rdfs_label(lang: "bg") { value lang }
            all: rdfs_label(lang: "ALL") { value lang }
        }
    }"#;
    let folder = "tests/data/star-wars-multilingual";
    let schema = format!("{folder}/schema.yaml");
    let data = format!("{folder}/data.ttl.gz");
    let output = soml(&["query", "--schema", &schema, query, "--data", &data]);
    assert_eq!(code(&output), Some(0));
    assert_eq!(err(&output).matches("warning: ").count(), 38);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let niger = &answer["data"]["country"][0];
    assert_eq!(
        niger["bg"],
        serde_json::json!([{ "value": "Нигер", "lang": "bg" }])
    );
    // The literal whose tag is malformed is there too.
    let all = niger["all"].as_array().unwrap();
    let kept = serde_json::json!({ "value": "尼日", "lang": "zh-classical" });
    assert!(all.contains(&kept), "{niger:#}");
}

#[test]
fn completions_know_commands_flags_and_values() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = soml(&["completions", shell]);
        assert_eq!(code(&output), Some(0), "{}", err(&output));
        let script = out(&output);
        for word in [
            "explain-query",
            "completions",
            "min-instances",
            "federation",
        ] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    assert_eq!(code(&soml(&["completions", "sh"])), Some(64));
    assert_eq!(code(&soml(&["completions"])), Some(64));
}

#[test]
fn bash_completes_a_command() {
    let script = out(&soml(&["completions", "bash"]));
    let test = format!(
        "{script}\nCOMP_WORDS=(soml exp); COMP_CWORD=1; _soml soml exp soml; echo \"${{COMPREPLY[*]}}\""
    );
    let output = processes::output(Command::new("bash").args(["-c", &test]), b"");
    let text = out(&output);
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    assert_eq!(words, ["explain", "explain-query"], "{}", err(&output));
}

#[test]
fn keys_that_are_parsed_and_not_served_are_said_once_in_the_log() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("films.yaml");
    let text = "id: /soml/films\nspecialPrefixes: {vocab_iri: 'http://films.example/', vocab_prefix: f}\n\
        objects:\n  Film:\n    sparqlFederatedService: remote\n    search: {index: yes}\n    \
        props:\n      title: {search: {index: yes}}\n  Actor: {search: {index: no}}\n";
    std::fs::write(&path, text).unwrap();
    let schema = path.to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0", "--schema", schema]);
    let mut service = Running::start(command.stderr(Stdio::piped()));
    let log = processes::all(service.child.stderr.take().unwrap());
    let graphql = service.line().unwrap();
    assert!(graphql.starts_with("GraphQL:"), "{graphql}");
    assert!(service.stop().success());
    let log = String::from_utf8(log.recv_timeout(PATIENCE).unwrap()).unwrap();
    let said = log.matches("accepted but have no effect").count();
    assert_eq!(said, 1, "{log}");
    assert!(log.contains("keys=sparqlFederatedService"), "{log}");
}

#[test]
fn a_service_that_is_asked_for_protection_does_not_start() {
    let output = soml(&[
        "serve",
        "--demo",
        "star-wars",
        "--port",
        "0",
        "--set",
        "search.rbac.enabled=true",
    ]);
    assert_eq!(code(&output), Some(64));
    let message = err(&output);
    let start = "error[PROTECTION_UNAVAILABLE]: `search.rbac.enabled` needs security, which is off";
    assert!(message.starts_with(start), "{message}");
    let explained = soml(&["explain", "PROTECTION_UNAVAILABLE"]);
    assert_eq!(code(&explained), Some(0), "{}", err(&explained));
}
