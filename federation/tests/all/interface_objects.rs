//! What the answer is where the subgraph that knows the types of an interface object's objects does not know
//! one, or fails.

use std::sync::Arc;

use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value as Json, json};

/// Answers a query where `ratings` has two objects and `catalog` answers as given.
fn answer(query: &str, catalog: Json) -> Json {
    let best = json!({ "data": { "best": [
        { "id": "1", "average": 1.5 },
        { "id": "2", "average": 2.5 },
    ] } });
    answer_with(query, best, catalog)
}

/// Answers a query where both subgraphs answer as given.
fn answer_with(query: &str, best: Json, catalog: Json) -> Json {
    let sdl = include_str!("../cases/library/supergraph.graphql");
    let supergraph = Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap());
    let transport = InProcess::new()
        .with_function("ratings", move |_| best.clone())
        .with_function("catalog", move |_| catalog.clone());
    let gateway = Gateway::new(supergraph, Arc::new(transport), GatewayOptions::default()).unwrap();
    let answer = gateway.respond(Request::new(query), RequestContext::new());
    let answer = futures::executor::block_on(answer);
    serde_json::from_slice(&answer.body.to_bytes()).unwrap()
}

fn catalog() -> Json {
    json!({ "data": { "_entities": [{ "__typename": "Book", "pages": 7 }, null] } })
}

#[test]
fn a_condition_does_not_match_an_object_of_unknown_type() {
    let answer = answer("{ best { average ... on Book { pages } } }", catalog());
    let expected =
        json!({ "data": { "best": [{ "average": 1.5, "pages": 7 }, { "average": 2.5 }] } });
    assert_eq!(answer, expected);
}

#[test]
fn an_object_of_unknown_type_is_null_where_its_type_is_asked_for() {
    // The items of the list are not null, so all of it is.
    let answer = answer("{ best { __typename average } }", catalog());
    assert_eq!(answer["data"], json!({ "best": null }));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(answer["errors"][0]["path"], json!(["best", 1]));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "NON_NULL_VIOLATED"
    );
}

#[test]
fn the_name_of_an_interface_object_never_reaches_the_client() {
    let answered =
        json!({ "data": { "_entities": [{ "__typename": "Media" }, { "__typename": "Film" }] } });
    let answer = answer("{ best { average ... on Film { __typename } } }", answered);
    assert_eq!(answer["data"]["best"], Json::Null);
    assert!(!answer.to_string().contains("Media"), "{answer}");
}

#[test]
fn what_is_known_without_types_is_kept_when_they_cannot_be_told() {
    let failed = json!({ "errors": [{ "message": "closed" }] });
    let answer = answer("{ best { average ... on Book { pages } } }", failed);
    let expected = json!({ "best": [{ "average": 1.5 }, { "average": 2.5 }] });
    assert_eq!(answer["data"], expected);
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(answer["errors"][0]["message"], "closed");
}

#[test]
fn an_error_is_at_the_aliases_of_the_type_that_is_told_later() {
    let best = json!({
        "data": { "best": [{ "id": "1", "average": null }, { "id": "2", "average": null }] },
        "errors": [
            { "message": "first", "path": ["best", 0, "average"] },
            { "message": "second", "path": ["best", 1, "average"] },
        ],
    });
    let catalog =
        json!({ "data": { "_entities": [{ "__typename": "Book" }, { "__typename": "Film" }] } });
    let query = "{ best { a: average ... on Book { b: average } } }";
    let answer = answer_with(query, best, catalog);
    let expected = json!({ "best": [{ "a": null, "b": null }, { "a": null }] });
    assert_eq!(answer["data"], expected);
    let errors = answer["errors"].as_array().unwrap();
    let found: Vec<String> = errors
        .iter()
        .map(|error| format!("{} {}", error["path"], error["message"]))
        .collect();
    let expected = [
        r#"["best",0,"a"] "first""#,
        r#"["best",0,"b"] "first""#,
        r#"["best",1,"a"] "second""#,
    ];
    assert_eq!(found, expected);
}
