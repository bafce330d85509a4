//! Values of input types at the gateway: refused with a code and a place, or passed on as they are.

use std::sync::{Arc, Mutex};

use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Map, Value as Json, json};

const SDL: &str = r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION)
  @link(url: "https://specs.apollo.dev/inaccessible/v0.2", for: SECURITY) { query: Query }
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__type(graph: join__Graph!) repeatable on OBJECT | INPUT_OBJECT | ENUM | SCALAR
directive @inaccessible on ENUM_VALUE | INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION
directive @oneOf on INPUT_OBJECT
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
enum join__Graph { A @join__graph(name: "a", url: "") }
scalar Any @join__type(graph: A)
enum Size @join__type(graph: A) { SMALL LARGE HIDDEN @inaccessible }
input By @oneOf @join__type(graph: A) { id: ID name: String sub: By tags: [String!] }
input Filter @join__type(graph: A) {
  count: Int limit: Int! = 10 sizes: [Size!] by: By nested: Filter any: Any secret: Int @inaccessible
}
type Query @join__type(graph: A) {
  find(by: By, n: Int = 3, size: Size, any: Any, id: ID, f: Float, b: Boolean, s: String, all: [By!], filter: Filter, must: Int! = 7): Int
}
"#;

/// Sends an operation; returns the response and what the subgraph was sent.
fn sent(query: &str, variables: &Json) -> (Json, Option<(String, Json)>) {
    let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
    let log: Arc<Mutex<Option<(String, Json)>>> = Arc::default();
    let seen = Arc::clone(&log);
    let transport = InProcess::new().with_function("a", move |request| {
        let variables = serde_json::to_value(&request.variables).unwrap();
        *seen.lock().unwrap() = Some((request.query.clone(), variables));
        json!({ "data": { "find": 1 } })
    });
    let options = GatewayOptions::default();
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap();
    let variables: Map<String, Json> = variables.as_object().cloned().unwrap_or_default();
    let request = Request::new(query).with_variables(variables);
    let response = futures::executor::block_on(gateway.respond(request, RequestContext::new()));
    let response: Json = serde_json::from_slice(&response.body.to_bytes()).unwrap();
    let sent = log.lock().unwrap().take();
    (response, sent)
}

/// Sends an operation that is refused; returns the code and the message of the first error, and its place in the
/// variables.
fn refused(query: &str, variables: &Json) -> (String, String, Option<String>) {
    let (response, sent) = sent(query, variables);
    assert_eq!(sent, None, "{query}");
    let error = &response["errors"][0];
    assert!(error["locations"][0]["line"].is_number(), "{response}");
    let text = |value: &Json| value.as_str().map(str::to_owned);
    (
        text(&error["extensions"]["code"]).unwrap(),
        text(&error["message"]).unwrap(),
        text(&error["extensions"]["variable"]),
    )
}

/// Sends an operation that is passed on; returns what the subgraph was sent.
fn passed(query: &str, variables: &Json) -> (String, Json) {
    let (response, sent) = sent(query, variables);
    assert_eq!(
        response,
        json!({ "data": { "find": 1 } }),
        "{query} {variables}"
    );
    sent.unwrap()
}

#[test]
fn literals_that_do_not_fit_are_refused() {
    for (argument, reason) in [
        ("n: 2147483648", "2147483648"),
        ("n: -2147483649", "-2147483649"),
        ("n: 1.0", "Int cannot represent"),
        ("n: \"1\"", "Int cannot represent"),
        ("f: \"1\"", "Float cannot represent"),
        ("b: 1", "Boolean cannot represent"),
        ("s: 1", "String cannot represent"),
        ("s: SMALL", "String cannot represent"),
        ("id: 1.5", "ID cannot represent"),
        ("size: MEDIUM", "MEDIUM"),
        ("size: HIDDEN", "HIDDEN"),
        ("size: \"SMALL\"", "Size"),
        ("must: null", "Int cannot represent value: null"),
        ("filter: { count: 2147483648 }", "2147483648"),
        ("filter: { sizes: [SMALL, MEDIUM] }", "MEDIUM"),
        ("filter: { sizes: [SMALL, null] }", "null"),
        (
            "filter: { limit: null }",
            "Int cannot represent value: null",
        ),
        ("filter: { none: 1 }", "none"),
        ("filter: { secret: 1 }", "secret"),
        (
            "by: {}",
            "has 0 fields, but exactly one of `id`, `name`, `sub`, `tags` is expected",
        ),
        ("by: { id: 1, name: \"x\" }", "a value of `By` has 2 fields"),
        ("by: { id: null }", "it must have a value"),
        ("by: { id: 1, name: null }", "has 2 fields"),
        ("by: { sub: { id: 1, name: \"x\" } }", "has 2 fields"),
        ("all: [{ id: 1 }, { id: 1, name: \"x\" }]", "has 2 fields"),
        ("filter: { nested: { by: {} } }", "has 0 fields"),
    ] {
        let (code, message, variable) = refused(&format!("{{ find({argument}) }}"), &json!({}));
        assert_eq!(code, "GRAPHQL_VALIDATION_FAILED", "{argument}");
        assert!(message.contains(reason), "{argument}: {message}");
        assert_eq!(variable, None);
    }
}

#[test]
fn one_of_is_checked_in_fragments_defaults_and_with_variables_inside() {
    let fragment = "{ ...F } fragment F on Query { ... { find(by: { id: 1, name: \"x\" }) } }";
    assert_eq!(refused(fragment, &json!({})).0, "GRAPHQL_VALIDATION_FAILED");
    let default = "query($by: By = { id: 1, name: \"x\" }) { find(by: $by) }";
    assert_eq!(refused(default, &json!({})).0, "GRAPHQL_VALIDATION_FAILED");
    let unused = "query($by: By = { id: 1, name: \"x\" }) { find(by: $by) }";
    let given = json!({ "by": { "id": "1" } });
    assert_eq!(refused(unused, &given).0, "GRAPHQL_VALIDATION_FAILED");
    let nullable = "query($id: ID) { find(by: { id: $id }) }";
    let (code, message, _) = refused(nullable, &json!({ "id": "1" }));
    assert_eq!(code, "GRAPHQL_VALIDATION_FAILED");
    assert!(message.contains("it must have a value"), "{message}");
    let (text, variables) = passed(
        "query($id: ID!) { find(by: { id: $id }) }",
        &json!({ "id": 1 }),
    );
    assert_eq!(text, "query($id: ID!) { find(by: {id: $id}) }");
    assert_eq!(variables, json!({ "id": 1 }));
}

#[test]
fn variables_that_do_not_fit_are_refused_with_their_place() {
    for (ty, argument, value, place, reason) in [
        (
            "Int",
            "n",
            json!(2_147_483_648_i64),
            "$v",
            "2147483648, which is not a value of `Int`",
        ),
        (
            "Int",
            "n",
            json!(-2_147_483_649_i64),
            "$v",
            "not a value of `Int`",
        ),
        ("Int", "n", json!(1.5), "$v", "not a value of `Int`"),
        (
            "Int",
            "n",
            json!("1"),
            "$v",
            "\"1\", which is not a value of `Int`",
        ),
        ("Int", "n", json!(true), "$v", "not a value of `Int`"),
        ("Float", "f", json!("1"), "$v", "not a value of `Float`"),
        ("Boolean", "b", json!(0), "$v", "not a value of `Boolean`"),
        ("String", "s", json!(1), "$v", "not a value of `String`"),
        ("ID", "id", json!(1.5), "$v", "not a value of `ID`"),
        (
            "Size",
            "size",
            json!("MEDIUM"),
            "$v",
            "\"MEDIUM\", which is not a value of `Size`",
        ),
        (
            "Size",
            "size",
            json!("HIDDEN"),
            "$v",
            "not a value of `Size`",
        ),
        ("Size", "size", json!(1), "$v", "not a value of `Size`"),
        (
            "Int!",
            "must",
            json!(null),
            "$v",
            "is null, but its type is `Int!`",
        ),
        (
            "Filter",
            "filter",
            json!({ "count": 2_147_483_648_i64 }),
            "$v.count",
            "not a value of `Int`",
        ),
        (
            "Filter",
            "filter",
            json!({ "sizes": ["SMALL", "BIG"] }),
            "$v.sizes[1]",
            "`Size`",
        ),
        (
            "Filter",
            "filter",
            json!({ "sizes": ["SMALL", null] }),
            "$v.sizes[1]",
            "is null",
        ),
        (
            "Filter",
            "filter",
            json!({ "sizes": "BIG" }),
            "$v.sizes",
            "`Size`",
        ),
        (
            "Filter",
            "filter",
            json!({ "nested": { "limit": null } }),
            "$v.nested.limit",
            "is null",
        ),
        (
            "Filter",
            "filter",
            json!({ "none": 1 }),
            "$v.none",
            "is not a field of `Filter`",
        ),
        (
            "Filter",
            "filter",
            json!({ "secret": 1 }),
            "$v.secret",
            "is not a field of `Filter`",
        ),
        (
            "Filter",
            "filter",
            json!("x"),
            "$v",
            "not a value of `Filter`",
        ),
        (
            "By",
            "by",
            json!({}),
            "$v",
            "has 0 fields, but exactly one of",
        ),
        (
            "By",
            "by",
            json!({ "id": 1, "name": "x" }),
            "$v",
            "has 2 fields",
        ),
        (
            "By",
            "by",
            json!({ "id": null }),
            "$v",
            "it must have a value",
        ),
        (
            "By",
            "by",
            json!({ "id": 1, "name": null }),
            "$v",
            "has 2 fields",
        ),
        (
            "By",
            "by",
            json!({ "sub": { "sub": {} } }),
            "$v.sub.sub",
            "has 0 fields",
        ),
        (
            "By",
            "by",
            json!({ "tags": ["a", null] }),
            "$v.tags[1]",
            "is null",
        ),
        (
            "[By!]",
            "all",
            json!([{ "id": 1 }, {}]),
            "$v[1]",
            "has 0 fields",
        ),
        (
            "Filter",
            "filter",
            json!({ "nested": { "by": {} } }),
            "$v.nested.by",
            "has 0 fields",
        ),
    ] {
        let query = format!("query($v: {ty}) {{ find({argument}: $v) }}");
        let (code, message, at) = refused(&query, &json!({ "v": value }));
        assert_eq!(
            (code.as_str(), at.as_deref()),
            ("VARIABLE_INVALID", Some(place)),
            "{message}"
        );
        assert!(
            message.contains(reason) && message.contains(place),
            "{message}"
        );
    }
    let (code, message, at) = refused("query($v: Int!) { find(n: $v) }", &json!({}));
    assert_eq!(
        (code.as_str(), at.as_deref()),
        ("VARIABLE_INVALID", Some("$v")),
        "{message}"
    );
}

#[test]
fn all_faults_of_the_variables_are_reported_at_once_and_long_values_are_cut() {
    let value = json!({ "count": "x".repeat(500), "sizes": [1, 2], "by": {} });
    let query = "query($v: Filter) { find(filter: $v) }";
    let (response, _) = sent(query, &json!({ "v": value }));
    let errors = response["errors"].as_array().unwrap();
    let places: Vec<&str> = errors
        .iter()
        .map(|error| error["extensions"]["variable"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["$v.count", "$v.sizes[0]", "$v.sizes[1]", "$v.by"]);
    assert!(errors[0]["message"].as_str().unwrap().len() < 200);
    let many = json!({ "v": { "sizes": vec![1; 1_000] } });
    let (response, _) = sent(query, &many);
    assert_eq!(response["errors"].as_array().unwrap().len(), 100);
}

#[test]
fn what_fits_is_passed_on_as_it_is() {
    for (ty, argument, value) in [
        ("Int", "n", json!(2_147_483_647)),
        ("Int", "n", json!(-2_147_483_648_i64)),
        ("Int", "n", json!(null)),
        ("Float", "f", json!(3)),
        ("Float", "f", json!(0.5)),
        ("ID", "id", json!(7)),
        ("ID", "id", json!("seven")),
        ("Size", "size", json!("LARGE")),
        ("By", "by", json!({ "name": "x" })),
        ("By", "by", json!({ "sub": { "id": 1 } })),
        ("[By!]", "all", json!([{ "id": 1 }, { "name": "x" }])),
        (
            "Any",
            "any",
            json!({ "a": [1, null, 12_345_678_901_234_567_890_u64, "x"] }),
        ),
        ("Any", "any", json!("x")),
        ("Any", "any", json!(null)),
    ] {
        let query = format!("query($v: {ty}) {{ find({argument}: $v) }}");
        let (text, variables) = passed(&query, &json!({ "v": value }));
        assert_eq!(text, query);
        assert_eq!(variables, json!({ "v": value }));
    }
    let literal = "{ find(any: {a: [1, {b: null}], c: X}) }";
    assert_eq!(passed(literal, &json!({})).0, format!("query {literal}"));
    let inside = "query($v: Int) { find(any: {a: [$v]}) }";
    let (text, variables) = passed(inside, &json!({ "v": 1 }));
    assert_eq!((text.as_str(), variables), (inside, json!({ "v": 1 })));
}

#[test]
fn defaults_of_arguments_are_left_to_the_subgraph_and_those_of_variables_are_sent() {
    assert_eq!(
        passed("{ find }", &json!({})),
        ("query { find }".to_owned(), Json::Null)
    );
    // A variable without a value counts as an argument that is not given.
    let absent = "query($n: Int, $must: Int! = 4) { find(n: $n, must: $must) }";
    let (text, variables) = passed(absent, &json!({}));
    assert_eq!(text, absent);
    assert_eq!(variables, json!({ "must": 4 }));
    let (_, variables) = passed(absent, &json!({ "n": null, "must": 5 }));
    assert_eq!(variables, json!({ "n": null, "must": 5 }));
    // Of input objects those defaults are sent that all subgraphs agree on.
    let object = "query($v: Filter) { find(filter: $v) }";
    let (_, variables) = passed(object, &json!({ "v": { "count": 1, "sizes": "SMALL" } }));
    assert_eq!(
        variables,
        json!({ "v": { "count": 1, "limit": 10, "sizes": ["SMALL"] } })
    );
}

#[test]
fn one_of_input_objects_that_cannot_be_given_are_refused_with_their_place() {
    for (old, new) in [
        ("{ id: ID name", "{ id: ID! name"),
        ("name: String sub", "name: String = \"x\" sub"),
    ] {
        assert!(SDL.contains(old));
        let errors =
            Supergraph::parse(&SDL.replacen(old, new, 1), "supergraph.graphql").unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].code.as_str(), "INVALID_FEDERATION_SUPERGRAPH");
        assert!(
            errors[0]
                .message
                .contains("must be nullable and have no default")
        );
        assert!(errors[0].location.is_some());
    }
}
