//! What the answers of subgraphs may hold together.

use std::sync::Arc;

use federation::{Gateway, GatewayLimits, GatewayOptions, InProcess, Supergraph};
use graphql_service::{MemoryBudget, Request, RequestContext, Service};
use serde_json::{Value as Json, json};

use crate::http::runtime;
use crate::scripted::{Scripted, entities};

/// A gateway all of whose subgraphs answer with a list of many products.
fn many(count: usize, limits: GatewayLimits) -> Gateway {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let product = json!({ "__typename": "Product", "upc": "1", "name": "n" });
    let answer = json!({ "data": { "topProducts": vec![product; count] } });
    let other = answer.clone();
    let transport = InProcess::new()
        .with_function("products", move |_| answer.clone())
        .with_function("accounts", move |_| other.clone());
    let mut options = GatewayOptions::default();
    options.gateway_limits = limits;
    Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap()
}

fn respond(gateway: &Gateway, query: &str, context: RequestContext) -> Json {
    let response = runtime().block_on(gateway.respond(Request::new(query), context));
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

#[test]
fn all_answers_of_one_request_are_bounded_together() {
    let query = "{ topProducts { name } me { name } }";
    let messages = |limit: usize| -> Vec<String> {
        let limits = GatewayLimits::default().all_subgraph_bytes(limit);
        let response = respond(&many(1_000, limits), query, RequestContext::new());
        let errors = response["errors"].as_array().into_iter().flatten();
        errors.map(|error| error["message"].to_string()).collect()
    };
    assert_eq!(messages(100_000), [""; 0]);
    // Each of them is within the limit.
    let found = messages(60_000);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("together are longer than 60000 bytes"),
        "{found:?}"
    );
}

#[test]
fn all_requests_of_a_process_are_bounded_together_and_give_everything_back() {
    let gateway = many(20_000, GatewayLimits::default());
    let budget = MemoryBudget::new(64 << 20);
    let context = || RequestContext::new().with_memory(Arc::new(budget.account()));
    let fine = respond(&gateway, "{ topProducts { name } }", context());
    assert!(fine.get("errors").is_none());
    assert_eq!(budget.held(), 0);
    // Another request holds nearly everything.
    let other = budget.account();
    other.grow(63 << 20).unwrap();
    let before = budget.held();
    let refused = respond(&gateway, "{ topProducts { name } }", context());
    assert_eq!(refused["errors"][0]["extensions"]["code"], "OVERLOADED");
    assert_eq!(budget.held(), before);
}

#[test]
fn of_many_errors_the_first_are_listed_and_the_others_counted() {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let errors: Vec<Json> = (0..1_700)
        .map(|number| json!({ "message": number.to_string(), "path": ["users", number, "name"] }))
        .collect();
    let answer = json!({ "data": { "users": [] }, "errors": errors });
    let transport = InProcess::new().with_function("accounts", move |_| answer.clone());
    let gateway = Gateway::new(
        Arc::new(supergraph),
        Arc::new(transport),
        GatewayOptions::default(),
    );
    let response = respond(
        &gateway.unwrap(),
        "{ users { name } }",
        RequestContext::new(),
    );
    let errors = response["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1_001);
    assert_eq!(errors[999]["message"], "999");
    assert_eq!(errors[1_000]["message"], "700 more errors are not listed");
}

const FRIENDS: &str = r#"
  type Query { me: User }
  type User @key(fields: "id") { id: ID! friends: [User] }"#;
const BUDDIES: &str = r#"type User @key(fields: "id") { id: ID! buddies: [User] }"#;
const NAMES: &str = r#"type User @key(fields: "id") { id: ID! name: String }"#;

/// Answers that each user has the same one thirty times.
fn one_again_and_again(request: &Request) -> Json {
    let users = vec![json!({ "id": "1" }); 30];
    if request.query.contains("_entities") {
        return entities(request, |_| json!({ "friends": users, "buddies": users }));
    }
    json!({ "data": { "me": { "id": "1", "friends": users } } })
}

#[test]
fn an_entity_at_more_places_than_can_be_listed_is_bounded() {
    let down = |_: &Request| json!({ "errors": [{ "message": "down" }] });
    let wrong = |request: &Request| {
        let mut answer = entities(request, |_| json!({ "name": null }));
        let path = ["_entities", "0", "name"].map(|step| match step.parse::<usize>() {
            Ok(index) => json!(index),
            Err(_) => json!(step),
        });
        answer["errors"] = json!([{ "message": "wrong", "path": path }]);
        answer
    };
    // Two thousand million places, all of which have one object.
    let mut query = "name".to_owned();
    for field in [
        "buddies", "friends", "buddies", "friends", "buddies", "friends",
    ] {
        query = format!("{field} {{ {query} }}");
    }
    for names in [down as fn(&Request) -> Json, wrong] {
        let mut options = GatewayOptions::default();
        options.limits = options.limits.response_bytes(100_000);
        let gateway = Scripted::with(
            &[
                ("friends", FRIENDS, one_again_and_again),
                ("buddies", BUDDIES, one_again_and_again),
                ("names", NAMES, names),
            ],
            options,
        );
        let answer = gateway.answer(&format!("{{ me {{ {query} }} }}"));
        assert_eq!(answer["data"], Json::Null);
        let errors = answer["errors"].as_array().unwrap();
        assert!(errors.len() <= 1_002, "{} errors", errors.len());
        let is_limit = |error: &Json| error["extensions"]["code"] == "LIMIT_RESPONSE";
        assert!(errors.iter().any(is_limit));
    }
}
