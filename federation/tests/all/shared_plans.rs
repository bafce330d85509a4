//! Which documents share a plan, and what subgraphs are sent in place of literals.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use federation::plan::Plan;
use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Limits, Request, RequestContext, Service};
use serde_json::{Value as Json, json};

const SDL: &str = r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query }
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__type(graph: join__Graph!, key: String) repeatable on OBJECT | INPUT_OBJECT | ENUM | SCALAR
directive @join__field(graph: join__Graph, requires: String, external: Boolean) repeatable on FIELD_DEFINITION
directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
enum join__Graph { A @join__graph(name: "a", url: "") B @join__graph(name: "b", url: "") }
scalar Any @join__type(graph: A)
enum Colour @join__type(graph: A) { RED @join__enumValue(graph: A) BLUE @join__enumValue(graph: A) }
input Filter @join__type(graph: A) { colour: Colour sizes: [Int!] not: Filter any: Any ratio: Float = 1.50 }
type Query @join__type(graph: A) @join__type(graph: B) {
  item(id: ID!): Item @join__field(graph: A)
  find(filter: Filter, first: Int = 10, ratio: Float, colours: [[Colour!]], any: Any, name: String): Item
    @join__field(graph: A)
}
type Item @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
  id: ID!
  name(in: String): String @join__field(graph: A)
  price(in: Colour): Int @join__field(graph: A) @join__field(graph: B, external: true)
  tax: Int @join__field(graph: B, requires: "price(in: RED)")
}
"#;

/// The bodies of requests to subgraphs.
type Sent = Arc<Mutex<Vec<Json>>>;

/// Returns a gateway over a subgraph that answers each item with the identifier that it is asked for.
fn gateway(sdl: &str) -> (Gateway, Sent) {
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let sent = Sent::default();
    let log = Arc::clone(&sent);
    let answer = move |request: &Request| {
        let values = request.variables.iter().flat_map(|values| values.iter());
        let values = values.map(|(name, value)| (name.as_str().to_owned(), json!(value)));
        let values: Json = values.collect::<serde_json::Map<_, _>>().into();
        log.lock()
            .unwrap()
            .push(json!({ "query": request.query, "variables": values }));
        json!({ "data": { "item": { "id": values["literal_0"] } } })
    };
    let transport = InProcess::new().with_function("a", answer);
    let transport = transport.with_function("b", |_| json!({ "data": null }));
    let options = GatewayOptions::default();
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options);
    (gateway.unwrap(), sent)
}

fn plan(gateway: &Gateway, text: &str) -> Arc<Plan> {
    let values = json!({ "i": "1", "s": false });
    let request = Request::new(text).with_variables(values.as_object().unwrap().clone());
    let plan = gateway.plan(&request, &RequestContext::new());
    plan.unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn share(gateway: &Gateway, one: &str, other: &str) -> bool {
    Arc::ptr_eq(&plan(gateway, one), &plan(gateway, other))
}

fn respond(gateway: &Gateway, request: Request) -> Json {
    let response = futures::executor::block_on(gateway.respond(request, RequestContext::new()));
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

/// Returns the query and the variables that the subgraph is sent.
fn sent(request: Request) -> (String, Json) {
    let (gateway, sent) = gateway(SDL);
    let text = request.query.clone();
    respond(&gateway, request);
    let body = sent.lock().unwrap().pop();
    let body = body.unwrap_or_else(|| panic!("{text} is not sent"));
    let query = body["query"].as_str().unwrap().to_owned();
    (query, body["variables"].clone())
}

#[test]
fn documents_that_differ_in_spelling_share_a_plan() {
    let (gateway, _) = gateway(SDL);
    let text = "query Q($i: ID!, $s: Boolean!) { item(id: $i) { ...F ...G name @skip(if: $s) } }
                fragment F on Item { id } fragment G on Item { tax }";
    for other in [
        "query Q($i:ID!$s:Boolean!){item(id:$i){...F...G name@skip(if:$s)}}fragment F on Item{id}fragment G on Item{tax}",
        "# a comment\nquery Q($i: ID!, $s: Boolean!) {\n item(id: $i) {\n  ...F, ...G\n  name @skip(if: $s) # here\n } }
         fragment F on Item { id }\n\nfragment G on Item { tax }",
        "fragment G on Item { tax } fragment F on Item { id }
         query Q($i: ID!, $s: Boolean!) { item(id: $i) { ...F ...G name @skip(if: $s) } }",
        "query Other($i: ID!, $s: Boolean!) { item: item(id: $i) { ...F ...G name: name @skip(if: $s) } }
         fragment F on Item { id: id } fragment G on Item { tax }",
    ] {
        assert!(share(&gateway, text, other), "{other}");
    }
    for other in [
        "query Q($i: ID!, $s: Boolean!) { item(id: $i) { ...G ...F name @skip(if: $s) } }
         fragment F on Item { id } fragment G on Item { tax }",
        "query Q($i: ID!, $s: Boolean!) { item(id: $i) { ...F ...G name @include(if: $s) } }
         fragment F on Item { id } fragment G on Item { tax }",
        "query Q($i: ID!, $s: Boolean!) { item(id: $i) { ...F ...G n: name @skip(if: $s) } }
         fragment F on Item { id } fragment G on Item { tax }",
        "query Q($i: ID = \"1\", $s: Boolean!) { find(name: \"a\") { id @skip(if: $s) } item(id: $i) { id } }",
    ] {
        assert!(!share(&gateway, text, other), "{other}");
    }
}

#[test]
fn operations_of_one_document_have_plans_of_their_own() {
    let (gateway, _) = gateway(SDL);
    let text = "query A { item(id: 1) { ...F } } query B { item(id: 2) { ...F } } query C { item(id: 3) { name } }
                fragment F on Item { id }";
    let plan = |name: &str| {
        let request = Request::new(text).with_operation_name(name);
        gateway.plan(&request, &RequestContext::new()).unwrap()
    };
    assert!(Arc::ptr_eq(&plan("A"), &plan("B")));
    assert!(!Arc::ptr_eq(&plan("A"), &plan("C")));
}

#[test]
fn operations_that_differ_in_literals_share_a_plan_and_have_answers_of_their_own() {
    let (gateway, sent) = gateway(SDL);
    let text = |id: &str| format!("{{ item(id: {id}) {{ id }} }}");
    let ids = [
        (r#""1""#, "1"),
        (r#""two""#, "two"),
        (r#""""a "block" """"#, "a \"block\" "),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
    ];
    for (literal, id) in ids {
        assert!(
            share(&gateway, &text(r#""1""#), &text(literal)),
            "{literal}"
        );
        let response = respond(&gateway, Request::new(text(literal)));
        assert_eq!(response, json!({ "data": { "item": { "id": id } } }));
        let body = sent.lock().unwrap().pop().unwrap();
        assert_eq!(
            body["query"],
            "query($literal_0: ID!) { item(id: $literal_0) { id } }"
        );
        assert_eq!(body["variables"], json!({ "literal_0": id }));
    }
}

#[test]
fn literals_are_sent_as_values_of_the_types_of_their_arguments() {
    let arguments = r#"filter: { colour: RED, sizes: [1, 2], not: { any: "x", colour: null }, ratio: 2 }, first: 3,
                       ratio: 0.5, colours: [[RED], null, [BLUE, RED]], any: true, name: null"#;
    let (query, variables) = sent(Request::new(format!("{{ find({arguments}) {{ id }} }}")));
    assert_eq!(
        query,
        "query($literal_0: Filter, $literal_1: Int, $literal_2: Float, $literal_3: [[Colour!]], $literal_4: Any, \
         $literal_5: String) { find(filter: $literal_0, first: $literal_1, ratio: $literal_2, colours: $literal_3, \
         any: $literal_4, name: $literal_5) { id } }"
    );
    let expected = json!({
        "literal_0": {
            "colour": "RED", "sizes": [1, 2], "not": { "any": "x", "colour": null }, "ratio": 2
        },
        "literal_1": 3,
        "literal_2": 0.5,
        "literal_3": [["RED"], null, ["BLUE", "RED"]],
        "literal_4": true,
        "literal_5": null,
    });
    assert_eq!(variables, expected);
}

#[test]
fn literals_stay_where_a_value_might_be_read_otherwise() {
    for argument in [
        "any: 12",
        "any: 1.5",
        "any: RED",
        "any: {a: 1}",
        "any: [true]",
        "ratio: 1.50",
        "ratio: 1e3",
        "ratio: 0.12345678901234567890123",
        "filter: {any: 1}",
        "filter: {ratio: 2.0e0}",
        "colours: RED",
        "filter: {sizes: 1}",
    ] {
        let text = format!("{{ find({argument}) {{ id }} }}");
        let (query, variables) = sent(Request::new(&text));
        assert_eq!(query.replace("query ", ""), text);
        assert_eq!(variables, json!({}), "{argument}");
    }
    let request = Request::new(
        "query ($c: Colour) { find(filter: {colour: $c, sizes: [1]}, first: 2) { id } }",
    );
    let (query, variables) =
        sent(request.with_variables(json!({ "c": "RED" }).as_object().unwrap().clone()));
    assert_eq!(
        query,
        "query($c: Colour, $literal_0: Int) { find(filter: {colour: $c, sizes: [1]}, first: $literal_0) { id } }"
    );
    assert_eq!(variables, json!({ "c": "RED", "literal_0": 2 }));
}

#[test]
fn equal_literals_are_one_variable_and_different_ones_another_plan() {
    let (gateway, _) = gateway(SDL);
    let text =
        |a: &str, b: &str| format!("{{ a: item(id: {a}) {{ id }} b: item(id: {b}) {{ name }} }}");
    assert!(share(&gateway, &text("1", "1"), &text("2", "2")));
    assert!(share(&gateway, &text("1", "2"), &text("3", "4")));
    assert!(!share(&gateway, &text("1", "1"), &text("1", "2")));
    let same = r#"{ item(id: "1") { id } ... on Query { item(id: "1") { name(in: "1") } } }"#;
    let (query, variables) = sent(Request::new(same));
    assert_eq!(
        query,
        "query($literal_0: ID!, $literal_1: String) { item(id: $literal_0) { id name(in: $literal_1) } }"
    );
    assert_eq!(variables, json!({ "literal_0": "1", "literal_1": "1" }));
}

#[test]
fn a_client_may_have_variables_of_the_same_names() {
    let text = "query ($literal_0: ID!, $literal: String) {
                  item(id: $literal_0) { id } find(name: $literal, first: 5) { id } }";
    let values = json!({ "literal_0": "1", "literal": "x", "literal___0": 7 });
    let (query, variables) =
        sent(Request::new(text).with_variables(values.as_object().unwrap().clone()));
    assert!(query.contains("first: $literal___0"), "{query}");
    let expected = json!({ "literal_0": "1", "literal": "x", "literal___0": 5 });
    assert_eq!(variables, expected);
}

#[test]
fn digits_of_a_variable_that_no_document_declares_are_not_those_of_a_literal() {
    let body = r#"{"query":"{ find(first: 5) { id } }","variables":{"literal_0":1.50}}"#;
    let request = Request::from_json(body.as_bytes(), &Limits::default()).unwrap();
    assert!(!request.digits.is_empty());
    assert_eq!(sent(request).1, json!({ "literal_0": 5 }));
}

#[test]
fn conditions_that_are_written_out_are_constants() {
    let (gateway, _) = gateway(SDL);
    let text = |skip: bool| format!("{{ item(id: 1) {{ id name @skip(if: {skip}) }} }}");
    assert!(!share(&gateway, &text(true), &text(false)));
    let plan = plan(&gateway, &text(true));
    assert!(!plan.requests[0].document.contains("name"));
}

#[test]
fn a_field_that_is_required_with_the_same_arguments_is_fetched_once() {
    let (gateway, _) = gateway(SDL);
    let both = plan(&gateway, "{ item(id: 1) { id tax price(in: RED) } }");
    let one = plan(&gateway, "{ item(id: 1) { id tax } }");
    assert_eq!(both.cost, one.cost);
    let other = plan(&gateway, "{ item(id: 1) { id tax price(in: BLUE) } }");
    assert_eq!(other.cost.fields, one.cost.fields + 1);
}

#[test]
fn refusals_are_about_what_the_client_has_written() {
    let (gateway, sent) = gateway(SDL);
    let text = "{\n  # the price\n  item(id: 1) { price(in: GREEN) }\n}";
    let response = respond(&gateway, Request::new(text));
    let error = &response["errors"][0];
    assert_eq!(error["locations"], json!([{ "line": 3, "column": 27 }]));
    assert!(
        error["message"].as_str().unwrap().contains("GREEN"),
        "{error}"
    );
    assert!(sent.lock().unwrap().is_empty());
}

#[test]
fn a_gateway_begins_with_plans_of_the_operations_in_use() {
    let later = Instant::now() + Duration::from_secs(3_600);
    let rare = "query ($s: Boolean!) { item(id: 3) { id @skip(if: $s) } }";
    let (old, _) = gateway(SDL);
    for text in [r#"{ item(id: "1") { id } }"#, r#"{ item(id: "2") { id } }"#] {
        respond(&old, Request::new(text));
    }
    let values = json!({ "s": true });
    let request = Request::new(rare).with_variables(values.as_object().unwrap().clone());
    respond(&old, request.clone());

    let (new, _) = gateway(SDL);
    assert_eq!(new.warm(&old, 10, Instant::now()), 0);
    assert_eq!(new.warm(&old, 1, later), 1);
    // What is planned for a request, and what was planned before, is the same.
    new.plan(&request, &RequestContext::new()).unwrap();
    plan(&new, "# other\n{ item(id: \"5\") { id } }");
    assert_eq!(new.warm(&old, 10, later), 0);

    // With a schema that does not have all of it.
    let (other, _) = gateway(&SDL.replace("item(id: ID!)", "item(id: Int!)"));
    assert_eq!(other.warm(&old, 10, later), 0);
    let (other, _) = gateway(&SDL.replace("name(in: String): String", "title: String"));
    assert_eq!(other.warm(&old, 10, later), 2);
}
