//! What is sent of entities whose keys a subgraph does not give as it should.

use std::sync::{Arc, Mutex};

use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value as Json, json};

/// Asks for the stock of products; returns the representations that were sent, and the answer.
fn asked(products: Json) -> (Vec<Json>, Json) {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    let transport = InProcess::new()
        .with_function(
            "products",
            move |_| json!({ "data": { "topProducts": products } }),
        )
        .with_function("inventory", move |request| {
            let variables = serde_json::to_value(&request.variables).unwrap();
            let representations = variables["representations"].as_array().unwrap().clone();
            let entities = vec![json!({ "inStock": true }); representations.len()];
            log.lock().unwrap().extend(representations);
            json!({ "data": { "_entities": entities } })
        });
    let gateway = Gateway::new(supergraph, Arc::new(transport), GatewayOptions::default()).unwrap();
    let request = Request::new("{ topProducts { inStock } }");
    let answer = gateway.respond(request, RequestContext::new());
    let answer = futures::executor::block_on(answer).body.to_bytes();
    let sent = sent.lock().unwrap().clone();
    (sent, serde_json::from_slice(&answer).unwrap())
}

#[test]
fn a_null_key_is_sent_as_null() {
    let (sent, answer) = asked(json!([{ "upc": "1" }, { "upc": null }]));
    let expected = [
        json!({ "__typename": "Product", "upc": "1" }),
        json!({ "__typename": "Product", "upc": null }),
    ];
    assert_eq!(sent, expected);
    let all = json!({ "data": { "topProducts": [{ "inStock": true }, { "inStock": true }] } });
    assert_eq!(answer, all);
}

#[test]
fn an_entity_without_its_key_is_not_asked_for() {
    let (sent, answer) = asked(json!([{}, { "upc": "2" }]));
    assert_eq!(sent, [json!({ "__typename": "Product", "upc": "2" })]);
    let some = json!([{ "inStock": null }, { "inStock": true }]);
    assert_eq!(answer["data"]["topProducts"], some);
}

#[test]
fn nobody_is_asked_where_no_entity_has_its_key() {
    let (sent, answer) = asked(json!([{}, null]));
    assert_eq!(sent, Vec::<Json>::new());
    assert_eq!(
        answer["data"]["topProducts"],
        json!([{ "inStock": null }, null])
    );
}

#[test]
fn entities_of_different_types_with_one_key_are_told_apart() {
    let sdl = include_str!("../cases/store/supergraph.graphql");
    let supergraph = Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap());
    let item = |ty: &str| json!({ "item": { "__typename": ty, "sku": "1", "region": "EU" } });
    let stock = json!([item("Book"), item("Chair"), item("Book")]);
    let transport = InProcess::new()
        .with_function(
            "inventory",
            move |_| json!({ "data": { "warehouses": [{ "stock": stock }] } }),
        )
        .with_function("products", |request| {
            let variables = serde_json::to_value(&request.variables).unwrap();
            let representations = variables["representations"].as_array().unwrap();
            let entity =
                |it: &Json| json!({ "__typename": it["__typename"], "name": it["__typename"] });
            let entities: Vec<Json> = representations.iter().map(entity).collect();
            assert_eq!(entities.len(), 2);
            json!({ "data": { "_entities": entities } })
        });
    let gateway = Gateway::new(supergraph, Arc::new(transport), GatewayOptions::default()).unwrap();
    let query = "{ warehouses { stock { item { ... on Product { name } } } } }";
    let answer = gateway.respond(Request::new(query), RequestContext::new());
    let answer = futures::executor::block_on(answer).body.to_bytes();
    let answer: Json = serde_json::from_slice(&answer).unwrap();
    let stock = answer["data"]["warehouses"][0]["stock"].as_array().unwrap();
    let names: Vec<&Json> = stock.iter().map(|it| &it["item"]["name"]).collect();
    assert_eq!(names, ["Book", "Chair", "Book"]);
}
