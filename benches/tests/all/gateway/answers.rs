//! What the subgraphs answer, against an executor of others over the same data.

use apollo_compiler::response::JsonMap;
use benches::gateway::{Data, DataSet, Part, Subgraph};
use serde_json::{Value, json};

use super::reference;

const SETS: [DataSet; 2] = [DataSet::Original, DataSet::Spread];

fn body(query: &str, variables: &Value) -> Vec<u8> {
    json!({ "query": query, "variables": variables })
        .to_string()
        .into_bytes()
}

/// Demands that a subgraph answers as the reference does, text by text.
#[track_caller]
fn compare(part: Part, query: &str, variables: Value) {
    for set in SETS {
        let data = Data::new(set);
        let subgraph = Subgraph::new(part, &data);
        let map: JsonMap = serde_json::from_value(variables.clone()).unwrap();
        let expected = reference::answer(subgraph.schema(), &data, query, &map);
        // The second time from what is kept.
        for _ in 0..2 {
            let answer = subgraph.answer(&body(query, &variables)).body;
            assert_eq!(String::from_utf8(answer).unwrap(), expected);
        }
    }
}

fn said(part: Part, query: &str, variables: &Value) -> Value {
    let subgraph = Subgraph::new(part, &Data::new(DataSet::Original));
    serde_json::from_slice(&subgraph.answer(&body(query, variables)).body).unwrap()
}

#[test]
fn accounts_answer_as_the_reference() {
    compare(
        Part::Accounts,
        "{ users { id name username birthday __typename } me { id } }",
        json!({}),
    );
    let query = "query Q($id: ID!) { one: user(id: $id) { id } two: user(id: 2) { name } user(id: \"9\") { id } }";
    compare(Part::Accounts, query, json!({ "id": "6" }));
    let query = "query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on User { n: name id } } }";
    let users = ["3", "1", "none", "3"].map(|id| json!({ "__typename": "User", "id": id }));
    compare(Part::Accounts, query, json!({ "r": users }));
}

#[test]
fn products_are_as_many_as_are_asked_for() {
    let query = "{ topProducts { upc name price weight } all: topProducts(first: 99) { upc } }";
    compare(Part::Products, query, json!({}));
    let query = "query Q($n: Int) { topProducts(first: $n) { upc } }";
    compare(Part::Products, query, json!({ "n": 2 }));
    compare(Part::Products, query, json!({}));
    compare(Part::Products, query, json!({ "n": 0 }));
}

#[test]
fn shipping_follows_from_what_the_gateway_sends() {
    let query = "query($r: [_Any!]!) { _entities(representations: $r) { ... on Product { upc inStock shippingEstimate } } }";
    let data = Data::new(DataSet::Original);
    let products = data.products.iter().map(|it| {
        json!({ "__typename": "Product", "upc": it.upc, "price": it.price, "weight": it.weight })
    });
    let products: Vec<Value> = products.collect();
    compare(Part::Inventory, query, json!({ "r": products }));
    let sent = json!([
        { "__typename": "Product", "upc": "1", "price": 2000, "weight": 50 },
        { "__typename": "Product", "upc": "1", "price": 20, "weight": 51 },
        { "__typename": "Product", "upc": "1" },
    ]);
    let answer = said(Part::Inventory, query, &json!({ "r": sent }));
    let estimates = answer["data"]["_entities"].as_array().unwrap().iter();
    let estimates: Vec<_> = estimates.map(|it| it["shippingEstimate"].clone()).collect();
    assert_eq!(estimates, [json!(0), json!(25), Value::Null]);
}

#[test]
fn selections_of_fragments_and_aliases_are_merged() {
    let query = "
        query Q($r: [_Any!]!) {
          first: _entities(representations: $r) { ...U ...P ... on Review { body } }
          _entities(representations: [{ __typename: \"Review\", id: \"11\" }]) {
            ... on Review { product { upc } author { username } product { reviews { id } } }
            ... on Review { id again: product { upc } }
          }
        }
        fragment U on User { reviews { id } ... on _Entity { ... on User { reviews { author { id } } } } }
        fragment P on Product { upc reviews { body author { ...U } } }";
    let sent = json!([
        { "__typename": "User", "id": "2" },
        { "__typename": "Product", "upc": "2" },
        { "__typename": "Product", "upc": "9" },
        { "__typename": "Review", "id": "4" },
    ]);
    compare(Part::Reviews, query, json!({ "r": sent }));
}

#[test]
fn conditions_are_those_of_each_request() {
    let data = Data::new(DataSet::Spread);
    let subgraph = Subgraph::new(Part::Accounts, &data);
    let query = "
        query Q($a: Boolean!, $b: Boolean = true) {
          me { id name @skip(if: $a) ... @include(if: $b) { username } ...B @skip(if: true) }
        }
        fragment B on User { birthday }";
    for variables in [
        json!({ "a": true }),
        json!({ "a": false }),
        json!({ "a": true, "b": false }),
        json!({ "a": false, "b": false }),
    ] {
        let map: JsonMap = serde_json::from_value(variables.clone()).unwrap();
        let expected = reference::answer(subgraph.schema(), &data, query, &map);
        let answer = subgraph.answer(&body(query, &variables)).body;
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
}

#[test]
fn representations_are_counted_in_all_fields() {
    let subgraph = Subgraph::new(Part::Accounts, &Data::new(DataSet::Original));
    let query = "query($r: [_Any!]!) { a: _entities(representations: $r) { __typename } \
        b: _entities(representations: [{ __typename: \"User\", id: \"1\" }]) { __typename } }";
    let sent = ["1", "2"].map(|id| json!({ "__typename": "User", "id": id }));
    let answer = subgraph.answer(&body(query, &json!({ "r": sent })));
    assert_eq!(answer.representations, 3);
}

#[test]
fn each_subgraph_says_its_schema() {
    for part in Part::ALL {
        let answer = said(part, "{ _service { sdl } }", &json!({}));
        assert_eq!(answer["data"]["_service"]["sdl"], part.sdl());
    }
}

#[test]
fn what_is_not_valid_is_an_error() {
    for (query, variables) in [
        ("{ users { nobody } }", json!({})),
        ("{ users", json!({})),
        ("query($id: ID!) { user(id: $id) { id } }", json!({})),
        ("{ __schema { types { name } } }", json!({})),
        (
            "{ _entities(representations: [{ __typename: \"Moon\" }]) { __typename } }",
            json!({}),
        ),
    ] {
        let answer = said(Part::Accounts, query, &variables);
        assert!(answer["errors"][0]["message"].is_string(), "{answer}");
        assert!(answer.get("data").is_none(), "{answer}");
    }
}
