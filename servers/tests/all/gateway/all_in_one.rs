//! The gateway of `soml serve`, over the services of its own process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use servers::demo::STAR_WARS;

use super::subgraph::{Said, Subgraph};

/// A running `soml serve`, which ends when this is dropped.
struct Process {
    child: Child,
    said: Vec<String>,
}

impl Process {
    /// Starts the demo, and waits until it says where everything is.
    fn demo(arguments: &[&str], variables: &[(&str, &str)], last: &str) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(["serve", "--demo", "star-wars", "--port", "0"]);
        command.args(arguments).envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut said = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            said.push(line.unwrap());
            if said.last().unwrap().starts_with(last) {
                return Process { child, said };
            }
        }
        let _ = child.wait();
        panic!("it has ended: {said:#?}");
    }

    /// Returns the address of a service by the word before it.
    fn base(&self, word: &str) -> &str {
        let line = self.said.iter().find(|line| line.starts_with(word));
        let line = line.unwrap_or_else(|| panic!("{:#?}", self.said));
        let url = line.split_whitespace().nth(1).unwrap();
        url.trim_end_matches("/graphql")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(base: &str, query: &str, token: Option<&str>) -> (u16, Value) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let request = agent.post(format!("{base}/graphql"));
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    let body = json!({ "query": query }).to_string();
    let mut answer = request
        .content_type("application/json")
        .send(&body)
        .unwrap();
    let status = answer.status().as_u16();
    let text = answer.body_mut().read_to_string().unwrap();
    (status, serde_json::from_str(&text).unwrap())
}

fn get(base: &str, path: &str) -> Value {
    let mut answer = ureq::get(format!("{base}{path}")).call().unwrap();
    serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
}

#[test]
fn the_demo_is_a_gateway_over_its_object_service_its_search_service_and_an_extension_service() {
    let demo = Process::demo(&[], &[], "Composed:");
    let gateway = demo.base("Gateway:");
    let own = [demo.base("GraphQL:"), demo.base("Search:")];
    assert!(!own.contains(&gateway));
    let first = get(gateway, "/examples")["examples"][0]["query"].clone();
    assert_eq!(first, STAR_WARS.gateway_query);
    let (_, answer) = post(gateway, STAR_WARS.gateway_query, None);
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let planet = &answer["data"]["planet_search"]["hits"][0]["planet"];
    assert_eq!(planet["name"], "Tatooine", "{answer:#}");
    assert!(planet["resident"][0]["name"].is_string(), "{answer:#}");
    let gravity = planet["calculatedGravity"].as_f64().unwrap();
    assert!((9.0..11.0).contains(&gravity), "{answer:#}");
    let fleet = &answer["data"]["fleets"][0];
    assert_eq!(fleet["commander"], "Darth Vader", "{answer:#}");
    assert_eq!(fleet["name"], "Death Squadron", "{answer:#}");
    assert_eq!(fleet["flagship"]["name"], "Executor", "{answer:#}");
    let record = get(gateway, "/__health?cache=false");
    let ids: Vec<_> = record["healthChecks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, ["object-service", "search-service", "extension"]);
    let checks = record["healthChecks"][0]["healthChecks"]
        .as_array()
        .unwrap();
    let kinds: Vec<_> = checks
        .iter()
        .map(|check| check["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "sparql",
            "soml",
            "soml-rbac",
            "queryService",
            "mutationService"
        ]
    );
    assert_eq!(get(gateway, "/__gtg")["gtg"], "OK");
    // The search service alone still shows whole objects.
    let (_, alone) = post(own[1], STAR_WARS.search_query, None);
    assert!(alone.get("errors").is_none(), "{alone:#}");
}

#[test]
fn mutations_of_the_object_service_stay_there() {
    let demo = Process::demo(&[], &[], "Composed:");
    let (objects, gateway) = (demo.base("GraphQL:"), demo.base("Gateway:"));
    let query = "{ __schema { mutationType { name } } }";
    assert_eq!(
        post(gateway, query, None).1["data"]["__schema"]["mutationType"],
        json!(null)
    );
    let mutation = "mutation { create_Planet(objects: [{id: \"https://swapi.co/resource/planet/900\", \
                    rdfs_label: \"New\"}]) { planet { id } } }";
    let (_, answer) = post(objects, mutation, None);
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let query = "{ planet(ID: \"https://swapi.co/resource/planet/900\") { id } }";
    let (_, answer) = post(gateway, query, None);
    assert_eq!(
        answer["data"]["planet"].as_array().unwrap().len(),
        1,
        "{answer:#}"
    );
}

#[test]
fn the_caller_reaches_the_services_of_the_process() {
    let demo = Process::demo(&["--roles"], &[], "Composed:");
    let gateway = demo.base("Gateway:");
    let code = |answer: &Value| answer["errors"][0]["extensions"]["code"].clone();
    let (status, refused) = post(gateway, "{ film { name } }", None);
    assert_eq!(
        (status, code(&refused)),
        (401, json!("AUTHENTICATION_REQUIRED"))
    );
    let (status, _) = post(gateway, "{ film { name } }", Some("a.b.c"));
    assert_eq!(status, 401);
    let line = demo
        .said
        .iter()
        .find(|line| line.trim_start().starts_with("reader "));
    let password = line.unwrap().split_whitespace().nth(1).unwrap();
    let body = json!({ "loginId": "reader", "password": password }).to_string();
    let mut answer = ureq::post(format!("{}/api/login", demo.base("GraphQL:")))
        .content_type("application/json")
        .send(&body)
        .unwrap();
    let answer: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    let token = answer["token"].as_str();
    let (_, allowed) = post(gateway, "{ film(limit: 1) { name } }", token);
    assert!(allowed.get("errors").is_none(), "{allowed:#}");
    // The role of the caller reads no starships.
    let (_, denied) = post(gateway, "{ starship(limit: 1) { name } }", token);
    assert!(denied["errors"][0]["message"].is_string(), "{denied:#}");
    assert!(!denied["data"].to_string().contains("name"), "{denied:#}");
}

#[test]
fn a_service_of_ones_own_is_added_to_the_demo_by_its_address() {
    let squads = Subgraph::start(
        "extend type Query { squads: Int }
         type Planet @key(fields: \"id\") @extends { id: ID! @external moons: Int }",
        |asked| {
            let data = match asked.query.contains("_entities") {
                true => {
                    let wanted = asked.variables["representations"].as_array().unwrap();
                    let found = wanted.iter().map(|it| {
                        assert!(it["id"].as_str().unwrap().contains("swapi"), "{it}");
                        json!({"__typename": "Planet", "moons": 2})
                    });
                    json!({"_entities": found.collect::<Vec<_>>()})
                }
                false => json!({"squads": 3}),
            };
            Said::from(json!({ "data": data }))
        },
    );
    let url = squads.url("/graphql");
    let variables = [
        ("GRAPHQL_SERVICE_0", url.as_str()),
        ("GRAPHQL_SERVICE_0_NAME", "squads"),
    ];
    let demo = Process::demo(&[], &variables, "Composed:");
    let query = "{ squads planet(limit: 2) { name moons } }";
    let (_, answer) = post(demo.base("Gateway:"), query, None);
    assert!(answer.get("errors").is_none(), "{answer:#}");
    assert_eq!(answer["data"]["squads"], 3);
    assert_eq!(answer["data"]["planet"][1]["moons"], 2, "{answer:#}");
    assert!(!answer.to_string().contains(&squads.address.to_string()));
}

#[test]
fn the_other_services_are_there_while_a_subgraph_is_waited_for() {
    let mut squads = Subgraph::planets();
    squads.set_sdl("type Query { squads: Int }");
    squads.pause();
    let url = squads.url("/graphql");
    let variables = [
        ("GRAPHQL_SERVICE_0", url.as_str()),
        ("GRAPHQL_SERVICE_0_NAME", "squads"),
        ("SERVICE_DWELL", "50"),
    ];
    let demo = Process::demo(&[], &variables, "Subgraph: squads");
    let (objects, gateway) = (demo.base("GraphQL:"), demo.base("Gateway:"));
    let query = "{ film(limit: 1) { name } }";
    let (status, waiting) = post(gateway, query, None);
    assert_eq!(status, 503, "{waiting}");
    let (_, answer) = post(objects, query, None);
    assert!(answer.get("errors").is_none(), "{answer}");
    squads.resume();
    while post(gateway, query, None).0 == 503 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(post(gateway, query, None).1, answer);
}

#[test]
fn without_the_demo_there_is_a_gateway_only_where_it_is_asked_for() {
    let demo = Process::demo(&["--set", "gateway.enabled=false"], &[], "Search:");
    assert!(
        !demo.said.iter().any(|line| line.starts_with("Gateway:")),
        "{:?}",
        demo.said
    );
}
