//! The gateway of `soml serve`, over the services of its own process.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use servers::demo::STAR_WARS;
use tempfile::TempDir;

use super::listener::Socket;
use super::soml::{Soml, get, log_in, post, send, wait_until_indexed};
use super::subgraph::{Said, Subgraph};
use crate::command_line::{code, err, soml};
use crate::processes::{PATIENCE, Running, agent, eventually};

#[test]
fn the_demo_is_a_gateway_over_its_object_service_its_search_service_and_an_extension_service() {
    let demo = Soml::demo(&[], &[], "Composed:");
    let gateway = demo.base("Gateway:");
    let own = [demo.base("GraphQL:"), demo.base("Search:")];
    assert!(!own.contains(&gateway));
    wait_until_indexed(own[1]);
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
fn refused_requests_are_told_what_is_meant_by_every_service() {
    let demo = Soml::demo(&[], &[], "Composed:");
    let [objects, search, gateway] =
        ["GraphQL:", "Search:", "Gateway:"].map(|word| demo.base(word));
    let told = |base: &str, query: &str, variables: Value| {
        let body = json!({ "query": query, "variables": variables });
        let (_, answer) = send(base, "/graphql", None, &body);
        answer["errors"][0].clone()
    };
    let create = "mutation { create_Planet(objects: [{name: \"x\"}]) { planet { id } } }";
    let error = told(objects, create, json!({}));
    assert!(
        error["message"].to_string().contains("rdfs_label"),
        "{error}"
    );
    let with = "query ($w: Planet_Where_Multi) { planet(where: $w) { id } }";
    let search_with = "query ($q: Planet_Search_Query) { planet_search(query: $q) { max_score } }";
    for (bases, query, variables, hint) in [
        (
            &[objects, gateway][..],
            "{ planet(where: {name: \"Tatooine\"}) { id } }",
            json!({}),
            "{EQ: \"Tatooine\"}",
        ),
        (
            &[objects, gateway],
            "{ planet(first: 3) { id } }",
            json!({}),
            "\"limit\"",
        ),
        (
            &[search, gateway],
            "{ planet_search(first: 3) { max_score } }",
            json!({}),
            "\"size\"",
        ),
        (
            &[search, gateway],
            "{ planet_search(offset: 3) { max_score } }",
            json!({}),
            "\"from\"",
        ),
        (
            &[objects, gateway],
            with,
            json!({"w": {"nmae": {}}}),
            "\"name\"",
        ),
        (
            &[search, gateway],
            search_with,
            json!({"q": {"mach": {}}}),
            "\"match\"",
        ),
    ] {
        for base in bases {
            let error = told(base, query, variables.clone());
            let message = error["message"].as_str().unwrap();
            let end = format!("id you mean {hint}?");
            assert!(message.ends_with(&end), "{query}: {error}");
            assert!(error["locations"][0]["line"].is_number(), "{error}");
            let is_variable = variables != json!({});
            assert_eq!(
                error["extensions"]["code"] == "VARIABLE_INVALID",
                is_variable,
                "{error}"
            );
            assert_eq!(
                error["extensions"]["variable"].is_string(),
                is_variable,
                "{error}"
            );
        }
    }
    for base in [objects, search, gateway] {
        let message = told(base, "{ __typename ", json!({}))["message"].to_string();
        assert_eq!(message.matches("EOF").count(), 1, "{message}");
    }
}

#[cfg(feature = "otlp")]
#[test]
fn subgraphs_of_the_process_have_spans_too() {
    use super::collector::{Collector, Manner, Span};

    let collector = Collector::start(Manner::Takes);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.base.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    let demo = Soml::demo(&[], &variables, "Composed:");
    wait_until_indexed(demo.base("Search:"));
    let (_, answer) = post(demo.base("Gateway:"), STAR_WARS.gateway_query, None);
    assert!(answer.get("errors").is_none(), "{answer:#}");
    // A request ends after all its parts.
    let is_request = |span: &Span| span.parent.is_empty() && span.name == "POST /graphql";
    let spans = collector.until(|spans| spans.iter().any(is_request));
    let request = spans.iter().find(|span| is_request(span)).unwrap();
    let below = |parent: &Span| spans.iter().find(|span| span.parent == parent.id);
    let operation = below(request).unwrap();
    for subgraph in ["objects", "search", "extension"] {
        let name = |span: &str| span == subgraph;
        let mut of_subgraph = spans
            .iter()
            .filter(|span| name(span.attribute("graphql.subgraph.name")));
        let first = of_subgraph.next().unwrap_or_else(|| panic!("{spans:#?}"));
        assert_eq!(first.attribute("error.type"), "");
        assert!(of_subgraph.all(|span| span.parent == operation.id));
        assert_eq!(first.parent, operation.id);
        // What the service does is below that.
        let asked = below(first).unwrap_or_else(|| panic!("{spans:#?}"));
        assert_eq!(asked.attribute("graphql.operation.type"), "query");
    }
}

#[test]
fn mutations_of_the_object_service_stay_there() {
    let demo = Soml::demo(&[], &[], "Composed:");
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
fn objects_of_an_extended_type_are_written_at_the_object_service_and_read_through_the_gateway() {
    let demo = Soml::demo(&[], &[], "Composed:");
    let (objects, gateway) = (demo.base("GraphQL:"), demo.base("Gateway:"));
    // The demo says `extend: true` of fleets: the extension service owns them.
    let sdl = post(objects, "{ _service { sdl } }", None).1["data"].to_string();
    assert!(sdl.contains("extend type Fleet "), "{sdl}");
    let mutation = "mutation { create_Fleet(objects: [{id: \"https://swapi.co/resource/fleet/900\", \
                    rdfs_label: \"New\"}]) { fleet { id } } }";
    let (_, answer) = post(objects, mutation, None);
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let query = "{ fleet(ID: \"https://swapi.co/resource/fleet/900\") { name } }";
    let (_, answer) = post(gateway, query, None);
    assert_eq!(answer, json!({"data": {"fleet": [{"name": "New"}]}}));
}

#[test]
fn the_caller_reaches_the_services_of_the_process() {
    let demo = Soml::demo(&["--roles"], &[], "Composed:");
    let gateway = demo.base("Gateway:");
    let code = |answer: &Value| answer["errors"][0]["extensions"]["code"].clone();
    let (status, refused) = post(gateway, "{ film { name } }", None);
    assert_eq!(
        (status, code(&refused)),
        (401, json!("AUTHENTICATION_REQUIRED"))
    );
    let (status, _) = post(gateway, "{ film { name } }", Some("a.b.c"));
    assert_eq!(status, 401);
    let token = reader(&demo);
    let token = Some(&*token);
    let (_, allowed) = post(gateway, "{ film(limit: 1) { name } }", token);
    assert!(allowed.get("errors").is_none(), "{allowed:#}");
    // The role of the caller reads no starships.
    let (_, denied) = post(gateway, "{ starship(limit: 1) { name } }", token);
    assert!(denied["errors"][0]["message"].is_string(), "{denied:#}");
    assert!(!denied["data"].to_string().contains("name"), "{denied:#}");
}

/// Logs in as the reader of the demo.
fn reader(demo: &Soml) -> String {
    let line = demo
        .said
        .iter()
        .find(|line| line.trim_start().starts_with("reader "));
    let password = line.unwrap().split_whitespace().nth(1);
    log_in(demo.base("GraphQL:"), "reader", password.unwrap())
}

#[test]
fn where_every_request_needs_a_token_websockets_may_bring_it_later() {
    let demo = Soml::demo(&["--roles"], &[], "Composed:");
    let gateway = demo.base("Gateway:");
    let mut nobody = Socket::at(gateway, &[]);
    nobody.say(json!({"type": "connection_init"}));
    let (code, reason) = nobody.closed();
    assert_eq!(code, 4403);
    assert!(reason.starts_with("AUTHENTICATION_REQUIRED: "), "{reason}");
    let mut caller = Socket::at(gateway, &[]);
    let bearer = format!("Bearer {}", reader(&demo));
    caller.say(json!({"type": "connection_init", "payload": {"Authorization": bearer}}));
    assert_eq!(caller.heard(), json!({"type": "connection_ack"}));
    caller.subscribe("a", "{ film(limit: 1) { name } }");
    let answer = caller.next("next", "a");
    assert!(answer["data"]["film"][0]["name"].is_string(), "{answer}");
    assert_eq!(caller.heard()["type"], "complete");
    // The role of the caller reads no starships.
    caller.subscribe("b", "{ starship(limit: 1) { name } }");
    let answer = caller.next("next", "b");
    assert!(answer["errors"][0]["message"].is_string(), "{answer}");
    // Nothing else is open to those who only say that they want a WebSocket.
    let refused = |path: &str, headers: &[(&str, &str)]| {
        let request = agent().get(format!("{gateway}{path}"));
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        request.call().unwrap().status().as_u16()
    };
    let upgrade = ("upgrade", "websocket");
    for path in [
        "/schema.graphql",
        "/examples",
        "/metrics",
        "//graphql",
        "/__health?x&cache=false",
    ] {
        assert_eq!(refused(path, &[upgrade]), 401, "{path}");
    }
    for path in [
        "/__health?x=1",
        "/__gtg?cache=true&x",
        "/__about?x",
        "/__trouble?x",
        "/docs",
        "/docs/gateway",
    ] {
        assert_eq!(refused(path, &[]), 200, "{path}");
    }
    let query = "/graphql?query=%7B__typename%7D";
    assert_eq!(refused(query, &[upgrade]), 400);
    assert_eq!(refused(query, &[("upgrade", "other")]), 401);
    assert_eq!(
        refused(query, &[upgrade, ("authorization", "Bearer a.b.c")]),
        401
    );
}

#[test]
fn a_service_of_ones_own_is_added_to_the_demo_by_its_address() {
    let squads = Subgraph::start(
        "extend type Query { squads: Int }
         type Planet @key(fields: \"id\") @extends { id: ID! @external moons: Int }",
        |asked| {
            let data = if asked.query.contains("_entities") {
                let wanted = asked.variables["representations"].as_array().unwrap();
                let found = wanted.iter().map(|it| {
                    assert!(it["id"].as_str().unwrap().contains("swapi"), "{it}");
                    json!({"__typename": "Planet", "moons": 2})
                });
                json!({"_entities": found.collect::<Vec<_>>()})
            } else {
                json!({"squads": 3})
            };
            Said::from(json!({ "data": data }))
        },
    );
    let url = squads.url("/graphql");
    let variables = [
        ("GRAPHQL_SERVICE_0", url.as_str()),
        ("GRAPHQL_SERVICE_0_NAME", "squads"),
    ];
    let demo = Soml::demo(&[], &variables, "Composed:");
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
    let demo = Soml::demo(&[], &variables, "Subgraph: squads");
    let (objects, gateway) = (demo.base("GraphQL:"), demo.base("Gateway:"));
    let query = "{ film(limit: 1) { name } }";
    let (status, waiting) = post(gateway, query, None);
    assert_eq!(status, 503, "{waiting}");
    let (_, answer) = post(objects, query, None);
    assert!(answer.get("errors").is_none(), "{answer}");
    squads.resume();
    let begun = Instant::now();
    while post(gateway, query, None).0 == 503 {
        assert!(begun.elapsed() < PATIENCE, "it still waits");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(post(gateway, query, None).1, answer);
}

#[test]
fn without_the_demo_there_is_a_gateway_only_where_it_is_asked_for() {
    let demo = Soml::demo(&["--set", "gateway.enabled=false"], &[], "Search:");
    assert!(
        !demo.said.iter().any(|line| line.starts_with("Gateway:")),
        "{:?}",
        demo.said
    );
}

/// Documents and data of an example in the documentation.
fn people() -> [String; 4] {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples");
    let file = |end: &str| format!("{folder}/people.{end}");
    [
        "--schema".to_owned(),
        file("yaml"),
        "--data".to_owned(),
        file("ttl"),
    ]
}

#[test]
fn without_a_schema_and_data_a_named_subgraph_makes_a_gateway_and_nothing_else() {
    let planets = Subgraph::planets();
    let url = planets.url("/graphql");
    let variables = [("GRAPHQL_SERVICE_0", url.as_str())];
    let alone = Soml::start(&[], &variables, "Composed:");
    for absent in ["GraphQL:", "Search:", "No schema"] {
        let mut said = alone.said.iter();
        assert!(
            !said.any(|line| line.starts_with(absent)),
            "{:?}",
            alone.said
        );
    }
    let gateway = alone.base("Gateway:");
    let (_, answer) = post(gateway, "{ planets { title } }", None);
    assert_eq!(answer["data"]["planets"][1]["title"], "Hoth", "{answer}");
    assert_eq!(get(gateway, "/__about")["name"], "federation-gateway");
    let absent = agent().get(format!("{gateway}/soml")).call().unwrap();
    assert_eq!(absent.status(), 404);
    // So does a file of properties, and the file of a supergraph.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("gateway.properties");
    std::fs::write(&file, format!("graphql.service.0={url}\n")).unwrap();
    let named = Soml::start(&["--config", file.to_str().unwrap()], &[], "Composed:");
    assert!(named.base("Gateway:").starts_with("http://"));
    let supergraph = folder.path().join("supergraph.graphql");
    let supergraph = supergraph.to_str().unwrap();
    let subgraph = format!("planets={url}");
    let composed = soml(&["compose", "--subgraph", &subgraph, "-o", supergraph]);
    assert_eq!(code(&composed), Some(0), "{}", err(&composed));
    let variables = [("GATEWAY_SUPERGRAPH_FILE", supergraph)];
    let of_file = Soml::start(&[], &variables, "Composed:");
    let (_, answer) = post(of_file.base("Gateway:"), "{ planets { title } }", None);
    assert_eq!(answer["data"]["planets"][1]["title"], "Hoth", "{answer}");
}

#[test]
fn an_object_service_beside_a_named_subgraph_is_a_subgraph_too() {
    let stars = Subgraph::start("type Query { stars: Int }", |_| {
        Said::from(json!({"data": {"stars": 7}}))
    });
    let url = stars.url("/graphql");
    let people = people();
    let arguments: Vec<_> = people.iter().map(String::as_str).collect();
    let variables = [("GRAPHQL_SERVICE_0", url.as_str())];
    let both = Soml::start(&arguments, &variables, "Composed:");
    let query = "{ stars people_person(orderBy: {name: ASC}, limit: 1) { name } }";
    let (_, answer) = post(both.base("Gateway:"), query, None);
    let expected = json!({"data": {"stars": 7, "people_person": [{"name": "Ada"}]}});
    assert_eq!(answer, expected);
    let said = both
        .said
        .iter()
        .filter(|line| line.starts_with("Subgraph:"));
    let said: Vec<_> = said.collect();
    assert_eq!(said[0], "Subgraph: objects  (in this process)");
    assert!(
        said[1].starts_with("Subgraph: service_0  (http://"),
        "{said:?}"
    );
    // Asked for and without a subgraph elsewhere, there is a gateway over the object service.
    let asked = ["--set", "gateway.enabled=true"];
    let own: Vec<_> = arguments.iter().copied().chain(asked).collect();
    let own = Soml::start(&own, &[], "Composed:");
    let (_, answer) = post(
        own.base("Gateway:"),
        "{ people_person(limit: 1) { id } }",
        None,
    );
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[test]
fn settings_that_contradict_each_other_about_a_gateway_are_refused_before_anything_starts() {
    let people = people();
    let people: Vec<_> = people.iter().map(String::as_str).collect();
    let subgraph = "graphql.service.3=http://127.0.0.1:9/graphql";
    let off = "graphql.federation.enabled=false";
    let file = "gateway.supergraph.file=supergraph.graphql";
    for (own, properties, named) in [
        (
            &people[..],
            &[subgraph, off][..],
            [
                "`graphql.service.3` (GRAPHQL_SERVICE_3)",
                "`graphql.federation.enabled`",
            ],
        ),
        (
            &people,
            &["gateway.enabled=true", off],
            ["`gateway.enabled`", "`graphql.federation.enabled`"],
        ),
        (&people, &[file], ["`gateway.supergraph.file`", "--schema"]),
        (
            &["--demo", "star-wars"],
            &[file],
            ["`gateway.supergraph.file`", "--demo"],
        ),
        (
            &[],
            &[file, "sparql.endpoint.address=http://127.0.0.1:9/"],
            ["`gateway.supergraph.file`", "`sparql.endpoint.address`"],
        ),
    ] {
        let mut arguments = vec!["serve", "--port", "0"];
        arguments.extend(own);
        for property in properties {
            arguments.extend(["--set", property]);
        }
        let refused = soml(&arguments);
        let said = err(&refused);
        assert_eq!(code(&refused), Some(64), "{said}");
        assert!(
            named.iter().all(|name| said.contains(name)),
            "{named:?}: {said}"
        );
        assert!(!said.contains("loaded"), "{said}");
    }
}

#[test]
fn a_gateway_that_is_switched_off_is_said_to_leave_its_subgraphs_without_effect() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    let people = people();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0", "--set", "gateway.enabled=false"]);
    command.args(people);
    command.env("GRAPHQL_SERVICE_3", "http://127.0.0.1:9/graphql");
    command.stderr(std::fs::File::create(&log).unwrap());
    let running = Running::start(&mut command);
    while let Some(line) = running.line() {
        assert!(!line.starts_with("Gateway:"), "{line}");
        if line.starts_with("Writing:") {
            break;
        }
    }
    let said = "`gateway.enabled` is `false`, so there is no gateway, and `graphql.service.3` (GRAPHQL_SERVICE_3) has no \
                effect";
    eventually(|| std::fs::read_to_string(&log).unwrap().contains(said));
}
