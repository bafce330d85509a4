//! The commands over the data of a running RDF4J Server: `scripts/servers.sh start rdf4j`.

use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};
use crate::repository::{self, MEMORY};

const SCHEMA: &str = "
id: /soml/ships
specialPrefixes: {vocab_iri: 'http://ships.example/', vocab_prefix: s}
objects:
  Ship: {props: {name: {}, crew: {range: int}, port: {range: Port}}}
  Port: {props: {name: {}}}
";

const DATA: &str = "
@prefix s: <http://ships.example/> .
s:ship1 a s:Ship ; s:name \"Ø\" ; s:crew 12 ; s:port s:port1 .
s:ship2 a s:Ship ; s:name \"Argo\" ; s:crew \"many\" ; s:port s:port1 .
s:port1 a s:Port ; s:name \"Pegai\" .
";

/// A repository with ships in it.
struct Ships {
    server: String,
    repository: String,
    schema: TempDir,
}

impl Ships {
    fn new() -> Self {
        let server = std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server");
        let server = server.trim_end_matches('/').to_owned();
        let repository = format!("ships-{}", std::process::id());
        let config = repository::repository(&repository, MEMORY);
        let address = format!("{server}/repositories/{repository}");
        // It may be there already, from another test of this process.
        let _ = ureq::put(&address).content_type("text/turtle").send(config);
        ureq::put(format!("{address}/statements"))
            .content_type("text/turtle")
            .send(DATA)
            .expect("the data are loaded");
        let schema = TempDir::new().unwrap();
        std::fs::write(schema.path().join("ships.yaml"), SCHEMA).unwrap();
        Ships {
            server,
            repository,
            schema,
        }
    }

    fn run(&self, command: &str, named: &str, rest: &[&str]) -> Output {
        let schema = self.schema.path().join("ships.yaml");
        let schema = schema.display().to_string();
        let address = match named {
            "--set" => format!("sparql.endpoint.address={}", self.server),
            _ => self.server.clone(),
        };
        let repository = format!("sparql.endpoint.repository={}", self.repository);
        let mut arguments = vec![command, "--schema", &schema, named, &address];
        arguments.extend(["--set", &repository]);
        arguments.extend(rest);
        soml(&arguments)
    }
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn commands_answer_from_a_server() {
    let ships = Ships::new();
    let query = "{ ship(where: {name: {EQ: \"Ø\"}}) { name crew port { name } } }";
    let output = ships.run("query", "--set", &[query]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let ship = json!({"name": "Ø", "crew": 12, "port": {"name": "Pegai"}});
    assert_eq!(answer, json!({"data": {"ship": [ship]}}));

    let output = ships.run("explain-query", "--store", &["--format", "json", query]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let explained: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(explained["roundTrips"], 1);
    let steps = explained["steps"].as_array().unwrap();
    assert!(
        steps.iter().all(|step| step["work"] == "query"),
        "{steps:?}"
    );
    assert!(steps[0]["sparql"].as_str().unwrap().contains("SELECT"));

    let output = ships.run("check", "--store", &["--format", "json"]);
    assert_eq!(code(&output), Some(2), "{}", err(&output));
    assert!(out(&output).contains("ship2"), "{}", out(&output));
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let dir = TempDir::new().unwrap();
    let schema = dir.path().join("ships.yaml");
    std::fs::write(&schema, SCHEMA).unwrap();
    let schema = schema.display().to_string();
    let address = "sparql.endpoint.address=http://127.0.0.1:9/";
    let arguments = ["query", "--schema", &schema, "--set", address];
    let kind = [
        "--set",
        "sparql.endpoint.type=sparql11",
        "{ ship { name } }",
    ];
    let output = soml(&[&arguments[..], &kind[..]].concat());
    assert_eq!(code(&output), Some(1), "{}", err(&output));
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "STORE_UNAVAILABLE"
    );
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn writers_of_a_server_race() {
    let ships = Ships::new();
    let output = ships.run("check", "--store", &["--writers", "3", "--format", "json"]);
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(report["writers"]["races"], 3, "{}", err(&output));
    assert_eq!(report["writers"]["keptApart"], true);
    assert_eq!(report["writers"]["wonByBoth"], 0);
}
