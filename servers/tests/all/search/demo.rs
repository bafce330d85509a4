//! The demo as a process: the object service and the search service in one.

use std::process::{Command, Stdio};

use graph_store::CallContext;
use search_index::engine::{Binding, PhysicalName, SearchEngine};
use search_index::mapping::{Indexes, MappingOptions, Owner};
use search_index::opensearch::{OpenSearch, OpenSearchOptions};
use serde_json::{Value, json};
use servers::demo::STAR_WARS;

use crate::gateway::soml;
use crate::processes::{Running, base, output};

fn post(base: &str, query: &str) -> Value {
    let (status, answer) = soml::post(base, query, None);
    assert_eq!(status, 200, "{answer:#}");
    answer
}

/// Starts a program; returns what it says on each line until one begins with `last`.
fn start(program: &str, arguments: &[&str], last: &str) -> (Running, Vec<String>) {
    let mut command = Command::new(program);
    let running = Running::start(command.args(arguments).stderr(Stdio::null()));
    let mut said = Vec::new();
    while let Some(line) = running.line() {
        let is_last = line.starts_with(last);
        said.push(line);
        if is_last {
            break;
        }
    }
    (running, said)
}

#[test]
fn the_demo_finds_tatooine_with_a_typing_error() {
    let program = env!("CARGO_BIN_EXE_soml");
    let arguments = ["serve", "--demo", "star-wars", "--port", "0"];
    let (_process, said) = start(program, &arguments, "Search:");
    let (objects, search) = (base(&said, "GraphQL:"), base(&said, "Search:"));
    assert_ne!(objects, search);
    soml::wait_until_indexed(search);
    let examples = soml::get(search, "/examples");
    let queries: Vec<_> = examples["examples"].as_array().unwrap().iter().collect();
    assert!(queries.len() > 2, "{examples}");
    for example in &queries {
        let answer = post(search, example["query"].as_str().unwrap());
        assert!(answer.get("errors").is_none(), "{example}: {answer:#}");
    }
    let first = queries[0]["query"].as_str().unwrap();
    assert!(first.contains("Tatoine"), "{first}");
    let answer = post(search, first);
    let planet = &answer["data"]["planet_search"]["hits"][0]["planet"];
    assert_eq!(planet["name"], "Tatooine", "{answer:#}");
    let objects = post(
        objects,
        "{ planet(ID: \"https://swapi.co/resource/planet/1\") { name } }",
    );
    assert_eq!(objects["data"]["planet"][0]["name"], "Tatooine");
}

#[test]
fn the_search_service_alone_serves_a_schema_over_data() {
    let program = env!("CARGO_BIN_EXE_search-service");
    let arguments = [
        "--demo",
        "star-wars",
        "--port",
        "0",
        "--set",
        "security.enabled=false",
    ];
    let (_process, said) = start(program, &arguments, "Search:");
    let search = base(&said, "Search:");
    soml::wait_until_indexed(search);
    let answer = post(search, "{ film_search(size: 0) { total { value } } }");
    assert_eq!(
        answer["data"]["film_search"]["total"]["value"], 7,
        "{answer:#}"
    );
}

#[test]
fn indexing_without_data_is_refused_with_a_hint() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_search-service"));
    command.args(["--port", "0", "--set", "security.enabled=false"]);
    command.args(["--set", "indexer.indexingEnabled=true"]);
    let output = output(&mut command, b"");
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("sparql.endpoint.address") && said.contains("--data"),
        "{said}"
    );
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn opensearch_takes_the_indexes_of_the_demo_within_its_limits() {
    let soml = soml_core::load(&STAR_WARS.searched_schema())
        .schema
        .unwrap();
    let indexes = Indexes::new(&soml, &MappingOptions::default()).unwrap();
    assert_eq!(indexes.findings, []);
    let names: Vec<_> = indexes
        .indexes
        .iter()
        .map(|index| index.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "Character",
            "Film",
            "Planet",
            "Species",
            "Starship",
            "Vehicle"
        ]
    );
    let address = std::env::var("OPENSEARCH_URL").unwrap().parse().unwrap();
    super::block_on(async {
        let engine = OpenSearch::new(OpenSearchOptions::new(address, "demo")).unwrap();
        let context = CallContext::new();
        for definition in &indexes.indexes {
            // A number that no other test has.
            let name = PhysicalName::new(definition, 1_000_002);
            let index = Binding {
                definition,
                name: &name,
            };
            engine
                .create(index, &Owner::new("demo"), &context)
                .await
                .unwrap();
            engine.delete(&name, &context).await.unwrap();
        }
    });
}

#[test]
fn a_demo_without_search_listens_on_one_port() {
    let program = env!("CARGO_BIN_EXE_soml");
    let arguments = [
        "serve",
        "--demo",
        "star-wars",
        "--port",
        "0",
        "--set",
        "search.enabled=false",
    ];
    let (_process, said) = start(program, &arguments, "Writing:");
    assert!(
        !said.iter().any(|line| line.starts_with("Search:")),
        "{said:#?}"
    );
}

#[test]
fn the_searches_of_the_page_find_what_they_say() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = std::fs::read_to_string(docs.join("search.md")).unwrap();
    let data = std::fs::read_to_string(docs.join("examples/planets.ttl")).unwrap();
    let soml = std::fs::read_to_string(docs.join("examples/planets.yaml")).unwrap();
    let world = super::World::embedded();
    let parts = world.parts(super::store(&data));
    let (service, _app) = crate::service::Service::search(parts, Some(&soml));
    let titles = page.split("```graphql\n").skip(1).map(|block| {
        let query = block.split("```").next().unwrap();
        let answer = service.post(&json!({ "query": query })).json();
        assert!(answer.get("errors").is_none(), "{query}: {answer:#}");
        let found = &answer["data"]["planet_search"];
        let buckets = found["aggregations"][0]["buckets"].as_array().map(Vec::len);
        let hits = found["hits"].as_array().into_iter().flatten();
        let titles: Vec<_> = hits.map(|hit| hit["planet"]["title"].clone()).collect();
        (titles, buckets)
    });
    let expected = [
        (json!(["Jupiter"]), None),
        (json!(["Mars"]), None),
        (json!(["Mars"]), None),
        (json!(["Jupiter"]), None),
        (json!(["Jupiter", "Venus"]), None),
        (json!([]), Some(3)),
        (json!(["Mars"]), None),
    ];
    let titles: Vec<_> = titles
        .map(|(titles, buckets)| (json!(titles), buckets))
        .collect();
    assert_eq!(titles, expected);
}
