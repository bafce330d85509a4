//! Entities that an operation leads to on several paths: subgraphs are asked once.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::{EntityMemo, GatewayOptions, SubgraphRequest, SubgraphTransport, TransportError};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;

use crate::scripted::{Script, Scripted, entities};

const PRODUCTS: &str = r#"
  type Query { products: [Product] product: Product }
  type Mutation { rename: Product }
  type Brand { name: String makers: [Maker] }
  type Maker { name: String }
  type Product @key(fields: "upc") {
    upc: ID!
    name: String
    price(currency: String): Int
    now: Int @tag(name: "volatile")
    brand: Brand
    weight: Int
  }"#;

const REVIEWS: &str = r#"
  type Query { latest: Review }
  type Review { id: ID! product: Product products: [Product] }
  type Product @key(fields: "upc", resolvable: false) { upc: ID! }"#;

const STOCK: &str = r#"
  type Brand { name: String @external }
  type Product @key(fields: "upc") {
    upc: ID!
    weight: Int @external
    brand: Brand @external
    inStock: Boolean
    shipping: Int @requires(fields: "weight")
    label: String @requires(fields: "brand { name }")
  }"#;

/// Returns what the products service says of a product.
fn product(upc: &Json) -> Json {
    let brand = json!({ "name": "B", "makers": [{ "name": "M" }, null] });
    json!({
        "__typename": "Product", "upc": upc, "name": format!("product {upc}"), "price": null, "eur": 1, "usd": 2,
        "price_1": 2, "now": 3, "brand": brand, "weight": 7,
    })
}

fn products(request: &Request) -> Json {
    if request.query.contains("_entities") {
        return entities(request, |representation| product(&representation["upc"]));
    }
    let one = product(&json!("1"));
    json!({ "data": { "products": [one, product(&json!("2"))], "product": one, "rename": one } })
}

fn reviews(_: &Request) -> Json {
    let product = |upc: &str| json!({ "upc": upc });
    json!({ "data": { "latest": {
        "id": "r", "product": product("1"), "products": [product("2"), product("1"), null],
    } } })
}

fn stock(request: &Request) -> Json {
    entities(request, |representation| {
        json!({
            "inStock": representation["upc"] == "1",
            "shipping": representation["weight"],
            "label": representation["brand"]["name"],
        })
    })
}

const ALL: [Script; 3] = [
    ("products", PRODUCTS, products),
    ("reviews", REVIEWS, reviews),
    ("stock", STOCK, stock),
];

fn with_memo(subgraphs: &[Script], memo: EntityMemo) -> Scripted {
    let mut options = GatewayOptions::default();
    options.entity_memo = memo;
    Scripted::with(subgraphs, options)
}

fn without_memo() -> EntityMemo {
    let mut memo = EntityMemo::default();
    memo.is_enabled = false;
    memo
}

/// Answers a query, which must be answered alike without the memo. Returns the keys that a subgraph is sent with the
/// memo, and without it.
fn sent(subgraph: &str, query: &str) -> [Vec<Json>; 2] {
    let gateways = [EntityMemo::default(), without_memo()].map(|memo| with_memo(&ALL, memo));
    let answers = gateways.each_ref().map(|gateway| gateway.answer(query));
    assert_eq!(answers[0], answers[1], "{query}");
    assert!(answers[0].get("errors").is_none(), "{}", answers[0]);
    gateways.map(|gateway| {
        let sent = gateway.sent(subgraph).into_iter();
        sent.map(|it| it["upc"].clone()).collect()
    })
}

#[test]
fn what_a_root_field_has_said_of_entities_is_not_asked_for_again() {
    let query = "{ products { upc name brand { name makers { name } } } \
                 latest { product { name brand { makers { name } } } products { name } } }";
    let [with, without] = sent("products", query);
    assert_eq!(with, Vec::<Json>::new());
    assert_eq!(without, ["1", "2", "1"]);
}

#[test]
fn what_was_said_under_another_alias_is_known_too() {
    let query = "{ all: products { it: upc label: name } latest { product { called: name } } }";
    let [with, without] = sent("products", query);
    assert_eq!(with, Vec::<Json>::new());
    assert_eq!(without, ["1"]);
}

#[test]
fn only_what_was_not_said_is_asked_for() {
    let query = "{ product { upc name } latest { products { name } } }";
    let [with, without] = sent("products", query);
    assert_eq!(with, ["2"]);
    assert_eq!(without, ["2", "1"]);
}

#[test]
fn entities_without_their_keys_are_not_known() {
    // The key of what the root field leads to is not asked for.
    let query = "{ product { name } latest { product { name } } }";
    assert_eq!(sent("products", query), [["1"], ["1"]]);
}

#[test]
fn other_fields_and_other_arguments_are_asked_for() {
    for fields in [
        "price(currency: \"USD\")",
        "name brand { name }",
        "brand { makers { name } }",
    ] {
        let query = format!(
            "{{ product {{ upc name price(currency: \"EUR\") brand {{ name }} }} latest {{ product {{ {fields} }} }} }}"
        );
        let is_known = fields == "name brand { name }";
        let [with, without] = sent("products", &query);
        assert_eq!(with.is_empty(), is_known, "{fields}");
        assert_eq!(without, ["1"]);
    }
}

#[test]
fn what_is_volatile_is_always_asked_for() {
    let query = "{ product { upc now } latest { product { now } } }";
    assert_eq!(sent("products", query), [["1"], ["1"]]);
}

#[test]
fn excepted_subgraphs_are_always_asked() {
    let query = "{ product { upc name } latest { product { name } } }";
    for (except, expected) in [("products", vec!["1"]), ("stock", vec![])] {
        let mut memo = EntityMemo::default();
        memo.except = [except.to_owned()].into();
        let gateway = with_memo(&ALL, memo);
        gateway.answer(query);
        let sent = gateway.sent("products").into_iter();
        let sent: Vec<Json> = sent.map(|it| it["upc"].clone()).collect();
        assert_eq!(sent, expected, "{except}");
    }
}

#[test]
fn what_other_entities_were_asked_for_with_their_inputs_is_known() {
    let query =
        "{ products { upc weight shipping inStock } latest { product { shipping inStock } } }";
    let [with, without] = sent("stock", query);
    assert_eq!(with, ["1", "2"]);
    assert!(without.len() > 2, "{without:?}");
}

#[test]
fn what_a_client_and_the_gateway_need_of_one_value_is_taken_together() {
    let query = "{
        products { upc brand { name makers { name } } label }
        latest { product { brand { makers { name } } label } }
    }";
    assert_eq!(sent("products", query), [vec![], vec![json!("1")]]);
}

#[test]
fn mutations_take_nothing_from_before() {
    let query = "mutation { rename { upc name } }";
    let gateway = with_memo(&ALL, EntityMemo::default());
    let plan = gateway.plan(query);
    assert!(plan.contains("waves 1"), "{plan}");
    let again: Script = (
        "again",
        "type Mutation { again: Product } type Product @key(fields: \"upc\", resolvable: false) { upc: ID! }",
        |_| json!({ "data": { "again": { "upc": "1" } } }),
    );
    let gateway = with_memo(&[ALL[0], ALL[1], ALL[2], again], EntityMemo::default());
    gateway.answer("mutation { rename { upc name } again { name } }");
    assert_eq!(gateway.sent("products").len(), 1);
}

#[test]
fn an_answer_with_errors_is_not_believed() {
    let failing: fn(&Request) -> Json = |request| {
        let mut answer = products(request);
        if !request.query.contains("_entities") {
            answer["errors"] =
                json!([{ "message": "not all is right", "path": ["product", "price"] }]);
        }
        answer
    };
    let gateway = with_memo(
        &[("products", PRODUCTS, failing), ALL[1], ALL[2]],
        EntityMemo::default(),
    );
    gateway.answer("{ product { upc name } latest { product { name } } }");
    assert_eq!(gateway.sent("products").len(), 1);
}

/// Subgraphs that answer when they are told to.
#[derive(Default)]
struct Waiting(Mutex<Vec<Asked>>);

/// A request that waits for its answer.
struct Asked {
    subgraph: String,
    body: Json,
    answer: oneshot::Sender<Json>,
}

#[async_trait]
impl SubgraphTransport for Waiting {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        _: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            subgraph: subgraph.name.clone(),
            body: serde_json::from_slice(&request.body).unwrap(),
            answer,
        };
        self.0.lock().unwrap().push(asked);
        let answer = answered.await.unwrap();
        Ok(serde_json::to_vec(&answer).unwrap().into())
    }
}

impl Waiting {
    /// Takes the last request to a subgraph that waits; nothing if there is none.
    fn take(&self, subgraph: &str) -> Option<Asked> {
        let mut asked = self.0.lock().unwrap();
        let position = asked.iter().rposition(|it| it.subgraph == subgraph)?;
        Some(asked.remove(position))
    }

    /// Answers the request to a subgraph as it would without waiting.
    fn answer(&self, subgraph: &str) {
        let asked = self.take(subgraph).unwrap();
        let mut request = Request::new(asked.body["query"].as_str().unwrap());
        request.variables = serde_json::from_value(asked.body["variables"].clone()).unwrap();
        let (.., answer) = ALL.iter().find(|(name, ..)| *name == subgraph).unwrap();
        asked.answer.send(answer(&request)).unwrap();
    }
}

/// Answers a query over subgraphs that wait; `act` is called whenever all requests are waited for.
fn stepwise(query: &str, mut act: impl FnMut(usize, &Waiting)) -> Json {
    let transport = Arc::new(Waiting::default());
    let shared: Arc<Waiting> = Arc::clone(&transport);
    let gateway = Scripted::gateway(&ALL, shared, GatewayOptions::default());
    let context = RequestContext::new();
    let answer = gateway.respond(Request::new(query), context);
    let mut answer = std::pin::pin!(answer);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for step in 0.. {
        if let std::task::Poll::Ready(answer) = answer.as_mut().poll(&mut cx) {
            return serde_json::from_slice(&answer.body.to_bytes()).unwrap();
        }
        act(step, &transport);
    }
    Json::Null
}

#[test]
fn a_request_for_what_another_one_is_asking_for_waits_where_that_saves_it() {
    let query = "{ products { upc weight shipping } latest { product { shipping } } }";
    let answer = stepwise(query, |step, waiting| match step {
        0 => {
            waiting.answer("products");
            waiting.answer("reviews");
        }
        // The weight of the product of the review is known, and its shipping is being asked for.
        1 => {
            assert_eq!(waiting.0.lock().unwrap().len(), 1);
            waiting.answer("stock");
        }
        _ => panic!("nothing else is asked"),
    });
    let expected = json!({ "data": {
        "products": [
            { "upc": "1", "weight": 7, "shipping": 7 }, { "upc": "2", "weight": 7, "shipping": 7 },
        ],
        "latest": { "product": { "shipping": 7 } },
    } });
    assert_eq!(answer, expected);
}

#[test]
fn a_request_that_is_needed_anyway_waits_for_nobody() {
    let query = "{ product { upc weight shipping } latest { products { shipping } } }";
    let mut asked = Vec::new();
    stepwise(query, |step, waiting| match step {
        0 => {
            waiting.answer("products");
            waiting.answer("reviews");
        }
        _ => {
            let all = waiting.0.lock().unwrap();
            let names: Vec<String> = all.iter().map(|it| it.subgraph.clone()).collect();
            drop(all);
            // What was asked for last is answered first.
            waiting.answer(names.last().unwrap());
            asked.push(names);
        }
    });
    // The stock of the first product, then the weight of the second; while the former waits, the latter's stock is
    // asked for.
    assert_eq!(asked[0], ["stock", "products"]);
    assert_eq!(asked[1], ["stock", "stock"]);
}

#[test]
fn steps_whose_entities_are_being_asked_for_share_a_request_in_whatever_order_those_arrive() {
    let query = "{ products { upc inStock } latest { products { inStock } } }";
    for order in [["products", "reviews"], ["reviews", "products"]] {
        let mut asked = Vec::new();
        stepwise(query, |step, waiting| match step {
            0 | 1 => {
                let all = waiting.0.lock().unwrap().len();
                assert_eq!(all, 2 - step, "{order:?}");
                waiting.answer(order[step]);
            }
            _ => {
                asked.push(waiting.0.lock().unwrap().len());
                waiting.answer("stock");
            }
        });
        assert_eq!(asked, [1], "{order:?}");
    }
}

#[test]
fn a_request_that_has_waited_for_nothing_is_sent() {
    let query = "{ products { upc weight shipping } latest { product { shipping } } }";
    let mut asked = 0;
    let answer = stepwise(query, |step, waiting| match step {
        0 => {
            waiting.answer("products");
            waiting.answer("reviews");
        }
        1 => {
            let first = waiting.take("stock").unwrap();
            let failed = json!({ "data": null, "errors": [{ "message": "not now" }] });
            first.answer.send(failed).unwrap();
        }
        _ => {
            asked += 1;
            waiting.answer("stock");
        }
    });
    assert_eq!(asked, 1);
    assert_eq!(answer["data"]["latest"]["product"]["shipping"], 7);
    assert_eq!(answer["data"]["products"][0]["shipping"], Json::Null);
}
