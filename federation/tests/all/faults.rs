//! Subgraphs that fail: what is wrong, what the answer says, and that the rest of it is right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::{
    Gateway, GatewayOptions, InProcess, SubgraphRequest, SubgraphTransport, Supergraph,
    TransportError,
};
use graphql_service::{CallContext, Request, RequestContext, Service};
use serde_json::{Value as Json, json};

use crate::http::{LONG, runtime};
use crate::sockets::PATIENCE;

/// What a subgraph does.
#[derive(Clone)]
enum Fault {
    Fails,
    TooLarge,
    Answers(&'static str),
    Never,
}

struct Faulty {
    rest: InProcess,
    subgraph: &'static str,
    fault: Fault,
    is_asked: AtomicBool,
}

#[async_trait]
impl SubgraphTransport for Faulty {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        if subgraph.name != self.subgraph {
            return self.rest.send(subgraph, request, context).await;
        }
        self.is_asked.store(true, Ordering::SeqCst);
        match &self.fault {
            Fault::Fails => Err(TransportError::Status(503)),
            Fault::TooLarge => Err(TransportError::TooLarge {
                limit: request.allowance.limit(),
            }),
            Fault::Answers(text) => Ok(Bytes::from_static(text.as_bytes())),
            Fault::Never => std::future::pending().await,
        }
    }
}

fn shop() -> Arc<Supergraph> {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap())
}

/// Subgraphs that always answer the same.
fn subgraphs() -> InProcess {
    let products = json!({ "data": { "topProducts": [
        { "__typename": "Product", "upc": "1", "name": "Table", "price": 3 },
        null,
        { "__typename": "Product", "upc": "2", "name": "Chair", "price": 4 },
    ] } });
    let accounts = json!({ "data": { "me": { "id": "1", "name": "Ada" } } });
    InProcess::new()
        .with_function("products", move |_| products.clone())
        .with_function("accounts", move |_| accounts.clone())
}

fn answer(subgraph: &'static str, fault: Fault, query: &str) -> Json {
    answer_within(LONG, subgraph, fault, query).0
}

/// Returns the answer, and whether the subgraph was asked before it.
fn answer_within(
    time: Duration,
    subgraph: &'static str,
    fault: Fault,
    query: &str,
) -> (Json, bool) {
    let transport = Arc::new(Faulty {
        rest: subgraphs(),
        subgraph,
        fault,
        is_asked: AtomicBool::new(false),
    });
    let gateway = Gateway::new(shop(), transport.clone(), GatewayOptions::default()).unwrap();
    let context = RequestContext::from(CallContext::new().with_timeout(time));
    let response = runtime().block_on(gateway.respond(Request::new(query), context));
    let answer = serde_json::from_slice(&response.body.to_bytes()).unwrap();
    (answer, transport.is_asked.load(Ordering::SeqCst))
}

const QUERY: &str = "{ me { name } items: topProducts { title: name there: inStock } }";

/// Checks that nothing but what comes from `inventory` is missing, and returns the only error.
fn only_stock_is_missing(answer: &Json) -> Json {
    let expected = json!({
        "me": { "name": "Ada" },
        "items": [{ "title": "Table", "there": null }, null, { "title": "Chair", "there": null }],
    });
    assert_eq!(answer["data"].to_string(), expected.to_string());
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

#[test]
fn a_failing_subgraph_costs_its_fields_and_one_error_at_their_common_path() {
    let faults = [
        (Fault::Fails, "the status is 503"),
        (Fault::TooLarge, "longer than"),
        (
            Fault::Answers("<html>busy</html>"),
            "not a GraphQL response",
        ),
        (
            Fault::Answers(r#"{"data":{"_entities":[{"inStock":tr"#),
            "not a GraphQL response",
        ),
        (Fault::Answers("[]"), "not a GraphQL response"),
        (Fault::Answers(r#"{"data":null}"#), "there are no data"),
        (Fault::Answers("{}"), "there are no data"),
        (
            Fault::Answers(r#"{"data":[]}"#),
            "the data are not an object",
        ),
        (Fault::Answers(r#"{"data":{}}"#), "the wrong length"),
        (
            Fault::Answers(r#"{"data":{"_entities":[{"inStock":true}]}}"#),
            "the wrong length",
        ),
        (
            Fault::Answers(r#"{"data":{"_entities":7}}"#),
            "the wrong length",
        ),
    ];
    for (fault, reason) in faults {
        let error = only_stock_is_missing(&answer("inventory", fault, QUERY));
        assert_eq!(error["path"], json!(["items"]), "{reason}");
        assert_eq!(error["extensions"]["code"], "DOWNSTREAM_SERVICE_ERROR");
        assert_eq!(error["extensions"]["serviceName"], "inventory");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_subgraph_that_never_answers_is_given_up_at_the_deadline() {
    let mut time = Duration::from_millis(200);
    let answer = loop {
        let (answer, is_asked) = answer_within(time, "inventory", Fault::Never, QUERY);
        if is_asked {
            break answer;
        }
        // On a busy machine the time may be over before.
        assert!(time < PATIENCE, "the subgraph is never asked: {answer}");
        time *= 2;
    };
    let error = only_stock_is_missing(&answer);
    assert_eq!(error["extensions"]["code"], "DEADLINE_EXCEEDED");
    assert_eq!(error["path"], json!(["items"]));
}

#[test]
fn an_error_of_an_entity_is_at_its_place_in_the_answer() {
    let text = r#"{"data":{"_entities":[{"inStock":true},{"inStock":null}]},
        "errors":[{"message":"lost","path":["_entities",1,"inStock"],"locations":[{"line":1,"column":1}],
        "extensions":{"code":"LOST","shelf":3}}]}"#;
    let answer = answer("inventory", Fault::Answers(text), QUERY);
    let expected = json!([{
        "message": "lost", "path": ["items", 2, "there"],
        "extensions": { "code": "DOWNSTREAM_SERVICE_ERROR", "serviceName": "inventory",
            "subgraph": { "code": "LOST", "shelf": 3 } },
    }]);
    assert_eq!(answer["errors"], expected);
    assert_eq!(answer["data"]["items"][0]["there"], true);
}

/// Returns the errors that clients see of what a subgraph has under `errors`, beside data that are right.
fn errors_beside_data(errors: &str) -> Json {
    let text = format!(
        r#"{{"data":{{"_entities":[{{"inStock":true}},{{"inStock":false}}]}},"errors":{errors}}}"#
    );
    let fault = Fault::Answers(Box::leak(text.into_boxed_str()));
    let answer = answer("inventory", fault, QUERY);
    let items = &answer["data"]["items"];
    let stock = json!([items[0]["there"], items[2]["there"]]);
    assert_eq!(stock, json!([true, false]), "{errors}: {answer}");
    answer["errors"].clone()
}

#[test]
fn a_malformed_error_is_reported_and_takes_no_data_away() {
    let code = "SUBGRAPH_ERROR_MALFORMED";
    let common = json!(["items"]);
    let place = json!(["items", 2, "there"]);
    for (errors, reason, path) in [
        ("{}", "`errors` is not a list", &common),
        (r#""lost""#, "`errors` is not a list", &common),
        ("[null]", "it is not an object", &common),
        (r#"["lost"]"#, "it is not an object", &common),
        (
            r#"[{"path":["_entities",1,"inStock"]}]"#,
            "it has no `message`",
            &place,
        ),
        (
            r#"[{"message":{},"path":["_entities",1,"inStock"]}]"#,
            "its `message` is not a string",
            &place,
        ),
        (
            r#"[{"message":"lost","path":"_entities"}]"#,
            "its `path` is not a list of names and numbers; its message: lost",
            &common,
        ),
        (
            r#"[{"message":"lost","locations":7}]"#,
            "its `locations` are not a list; its message: lost",
            &common,
        ),
        (
            r#"[{"message":"lost","path":["_entities",1,"inStock"],"extensions":"x"}]"#,
            "its `extensions` are not an object; its message: lost",
            &place,
        ),
    ] {
        let told = errors_beside_data(errors);
        let message = format!("the subgraph `inventory` answered a malformed error: {reason}");
        let expected = json!([{
            "message": message, "path": path,
            "extensions": { "code": code, "serviceName": "inventory" },
        }]);
        assert_eq!(told, expected, "{errors}");
    }
    for none in ["null", "[]"] {
        assert_eq!(errors_beside_data(none), Json::Null, "{none}");
    }
}

#[test]
fn errors_beside_a_malformed_one_are_kept() {
    let told = errors_beside_data(
        r#"[{"message":"first","extensions":{"code":"A"}},7,{"message":"last"}]"#,
    );
    let told: Vec<[&Json; 2]> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|error| [&error["message"], &error["extensions"]["code"]])
        .collect();
    assert_eq!(told.len(), 3);
    assert_eq!(
        told[0],
        [&json!("first"), &json!("DOWNSTREAM_SERVICE_ERROR")]
    );
    assert_eq!(told[1][1], "SUBGRAPH_ERROR_MALFORMED");
    assert_eq!(told[2][0], "last");
    let many = format!("[{}]", ["7"; 5_000].join(","));
    let told = errors_beside_data(&many);
    assert!(told.as_array().unwrap().len() <= 1_001, "they are bounded");
}

#[test]
fn traces_of_the_stack_reach_clients_only_where_that_is_configured() {
    let text = r#"{"data":{"_entities":[{"inStock":true},{"inStock":null}]},
        "errors":[{"message":"lost","path":["_entities",1,"inStock"],
        "extensions":{"code":"LOST","stackTrace":["at f"],"exception":{"stacktrace":["at f"]}}}]}"#;
    let told = answer("inventory", Fault::Answers(text), QUERY);
    let extensions = &told["errors"][0]["extensions"];
    assert_eq!(extensions["subgraph"], json!({ "code": "LOST" }));
    let transport = InProcess::new();
    let transport = Arc::new(Faulty {
        rest: transport,
        subgraph: "accounts",
        fault: Fault::Answers(
            r#"{"data":{"me":null},"errors":[{"message":"lost","extensions":{"stacktrace":["at f"]}}]}"#,
        ),
        is_asked: AtomicBool::new(false),
    });
    let mut options = GatewayOptions::default();
    options.subgraph_stacktraces = true;
    let gateway = Gateway::new(shop(), transport, options).unwrap();
    let request = Request::new("{ me { name } }");
    let response = runtime().block_on(gateway.respond(request, RequestContext::new()));
    let told: Json = serde_json::from_slice(&response.body.to_bytes()).unwrap();
    let extensions = &told["errors"][0]["extensions"];
    assert_eq!(extensions["subgraph"], json!({ "stacktrace": ["at f"] }));
}

#[test]
fn a_value_that_does_not_fit_its_type_is_null_with_an_error() {
    let text = r#"{"data":{"_entities":[{"inStock":"yes"},{"inStock":false}]}}"#;
    let answer = answer("inventory", Fault::Answers(text), QUERY);
    assert_eq!(answer["data"]["items"][0]["there"], Json::Null);
    assert_eq!(answer["data"]["items"][2]["there"], false);
    assert_eq!(answer["errors"][0]["path"], json!(["items", 0, "there"]));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "SUBGRAPH_VALUE_INVALID"
    );
}

#[test]
fn what_requires_a_failed_field_is_not_asked_for_and_gives_no_second_error() {
    // The price comes from the subgraph that fails after the keys were known.
    let text = r#"{"data":null,"errors":[{"message":"closed"}]}"#;
    let answer = answer(
        "products",
        Fault::Answers(text),
        "{ topProducts { shippingEstimate } }",
    );
    assert_eq!(answer["data"], json!({ "topProducts": null }));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(answer["errors"][0]["message"], "closed");
}

#[test]
fn a_null_in_a_non_null_place_propagates_with_one_error() {
    let text = r#"{"data":{"users":[{"id":"1","name":"a"},null]}}"#;
    let answer = answer("accounts", Fault::Answers(text), "{ users { name } }");
    assert_eq!(answer["data"], Json::Null);
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(answer["errors"][0]["path"], json!(["users", 1]));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "NON_NULL_VIOLATED"
    );
}

#[test]
fn errors_beside_a_null_that_propagates_are_kept() {
    // `users` is missing, so the whole answer is null; what failed beside it is still said.
    let text = r#"{"data":{"_entities":[{"inStock":true},{"inStock":null}]},
        "errors":[{"message":"lost","path":["_entities",1,"inStock"]}]}"#;
    let query = "{ users { name } topProducts { inStock } }";
    let answer = answer("inventory", Fault::Answers(text), query);
    assert_eq!(answer["data"], Json::Null);
    let errors = answer["errors"].as_array().unwrap().iter();
    let errors: Vec<(&Json, &Json)> = errors
        .map(|error| (&error["path"], &error["extensions"]["code"]))
        .collect();
    let expected = [
        (
            json!(["topProducts", 2, "inStock"]),
            json!("DOWNSTREAM_SERVICE_ERROR"),
        ),
        (json!(["users"]), json!("NON_NULL_VIOLATED")),
    ];
    let expected: Vec<(&Json, &Json)> = expected.iter().map(|(path, code)| (path, code)).collect();
    assert_eq!(errors, expected);
}

#[test]
fn an_impossible_or_hidden_type_is_null_with_an_error() {
    let text = r#"{"data":{"search":[{"__typename":"Brand","name":"b"},{"__typename":"Ghost"}]}}"#;
    let query = "{ search { __typename ... on Brand { name } } }";
    let answer = answer("products", Fault::Answers(text), query);
    assert_eq!(answer["data"], Json::Null);
    assert_eq!(answer["errors"][0]["path"], json!(["search", 1]));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "SUBGRAPH_VALUE_INVALID"
    );
}

#[test]
fn an_error_about_a_field_of_all_entities_is_at_that_field_wherever_the_client_asked_for_it() {
    let text = r#"{"data":{"_entities":[{},{}]},
        "errors":[{"message":"WARN: hidden","path":["_entities","inStock"],"extensions":{"code":"HIDDEN"}}]}"#;
    let paths = |query: &str| {
        let answer = answer("inventory", Fault::Answers(text), query);
        let errors = answer["errors"].as_array().unwrap().iter();
        let said = errors.inspect(|error| {
            assert_eq!(error["message"], "WARN: hidden");
            assert_eq!(error["extensions"]["subgraph"]["code"], "HIDDEN");
        });
        said.map(|error| error["path"].clone())
            .collect::<Vec<Json>>()
    };
    assert_eq!(paths(QUERY), [json!(["items", "there"])]);
    let twice = "{ items: topProducts { name x: inStock y: inStock } }";
    let expected = [json!(["items", "x"]), json!(["items", "y"])];
    assert_eq!(paths(twice), expected);
}

#[test]
fn an_error_about_a_field_of_all_objects_of_a_list_explains_the_nulls_that_it_leaves() {
    // The id of a user is non-null, and so are the users.
    let text = r#"{"data":{"users":[{"name":"a"},{"name":"b"}]},"errors":[{"message":"hidden","path":["users","id"]}]}"#;
    let answer = answer("accounts", Fault::Answers(text), "{ users { id name } }");
    assert_eq!(answer["data"], Json::Null);
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{answer}");
    assert_eq!(errors[0]["path"], json!(["users", "id"]));
}
