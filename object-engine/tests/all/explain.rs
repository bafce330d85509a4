//! `extensions.explain` tells the plan and what the store did, where service and schema allow it.

use std::sync::Arc;

use graphql_service::{Outcome, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::images;

const DATA: &str = include_str!("../../../servers/demo/star-wars/data.ttl");
const SCHEMA: &str = include_str!("../../../servers/demo/star-wars/schema.yaml");

async fn explain(service_allows: bool, schema: &str, query: &str) -> (Outcome, Value) {
    let schema = soml_core::load(schema).schema.expect("the schema is valid");
    let store = images::from_turtle(DATA);
    let mut options = ServiceOptions::new();
    options.explain = service_allows;
    let store = Arc::new(store);
    let service = ObjectService::new(Arc::new(schema), store, options).expect("an API");
    let request: Request =
        serde_json::from_value(json!({"query": query, "extensions": {"explain": true}}))
            .expect("a request");
    let response = service.execute(request, RequestContext::default()).await;
    (
        response.outcome,
        serde_json::from_slice(&response.body.to_bytes()).expect("JSON"),
    )
}

#[tokio::test]
async fn plan_steps_and_round_trips_are_told() {
    let query = "{ film(where: {name: {RE: \"^A\"}}, orderBy: {episodeId: ASC}) {
        name character(where: {height: {GT: 200}}) { homeworld { name } } } }";
    let (outcome, body) = explain(true, SCHEMA, query).await;
    assert_eq!(outcome, Outcome::Executed);
    assert_eq!(body["data"]["film"].as_array().map(Vec::len), Some(2));
    let explain = &body["extensions"]["explain"];
    // One selection, and one step for films, characters and planets each.
    assert_eq!(explain["roundTrips"], 4);
    let plan = explain["plan"].as_array().expect("lines");
    assert!(
        plan[0].as_str().expect("text").contains("matches \"^A\""),
        "{plan:?}"
    );
    assert_eq!(plan.len(), 4, "{plan:?}");
    // The embedded store answers without queries.
    let steps = explain["steps"].as_array().expect("steps");
    let works: Vec<&Value> = steps.iter().map(|step| &step["work"]).collect();
    assert_eq!(works, ["look-ups", "walks", "walks", "walks"]);
    assert_eq!(steps[0]["rows"], 2);
    assert!(steps.iter().all(|step| step.get("sparql").is_none()));
    assert!(!explain.to_string().contains("SELECT"), "{explain:#}");
}

#[tokio::test]
async fn plans_say_what_is_asked_in_words_and_not_in_sparql() {
    let query = "{ planet(ID: [\"https://swapi.co/resource/planet/1\"], where: {
        AND: [{OR: [{gravity: {EQ: \"1\"}}, {diameter: {GT: 3}}]}, {NOT: {film: {}}}]}) {
        name(lang: \"en,de~\") film(where: {episodeId: {GT: 3}}) { id } } }";
    let (_, body) = explain(true, SCHEMA, query).await;
    let plan = body["extensions"]["explain"]["plan"].to_string();
    for keyword in ["SELECT", "FILTER", "EXISTS", "?id"] {
        assert!(!plan.contains(keyword), "{keyword} in {plan}");
    }
    assert!(
        plan.contains("instance of <https://swapi.co/vocabulary/Planet>"),
        "{plan}"
    );
}

#[tokio::test]
async fn the_number_of_round_trips_does_not_depend_on_the_number_of_objects() {
    for limit in [1, 10, 80] {
        let query =
            format!("{{ character(limit: {limit}) {{ film {{ character {{ name }} }} }} }}");
        let (_, body) = explain(true, SCHEMA, &query).await;
        assert_eq!(body["extensions"]["explain"]["roundTrips"], 4, "{limit}");
    }
}

#[tokio::test]
async fn without_permission_it_is_refused() {
    let forbidding = SCHEMA.replacen(
        "objects:\n",
        "config: {enableGraphQlExplain: false}\nobjects:\n",
        1,
    );
    for (service, schema) in [(false, SCHEMA), (true, forbidding.as_str())] {
        let (outcome, body) = explain(service, schema, "{ film { name } }").await;
        assert_eq!(outcome, Outcome::RequestError);
        assert_eq!(body["errors"][0]["extensions"]["code"], "EXPLAIN_DISABLED");
        assert_eq!(body.get("extensions"), None);
    }
}
