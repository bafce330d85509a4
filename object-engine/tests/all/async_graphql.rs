//! What comes through `async-graphql` is what the service answers, for every scenario.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_graphql::{BatchRequest, BatchResponse, Executor, Request};
use graphql_service::RequestContext;
use graphql_service::executor::ServiceExecutor;
use object_engine::{ObjectService, ServiceOptions};
use oxrdfio::RdfFormat;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::images;

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.is_dir()).collect()
}

/// Reads a file of the case, or of its area.
fn shared(case: &Path, name: &str) -> String {
    let area = case.parent().expect("a case is in an area");
    let text = read(&case.join(name)).or_else(|| read(&area.join(name)));
    text.unwrap_or_else(|| panic!("{} has no {name}", case.display()))
}

fn service(case: &Path) -> ObjectService {
    let store = images::from_text(RdfFormat::TriG, shared(case, "data.trig"));
    let mut options = ServiceOptions::new();
    options.explain = true;
    crate::fixture::service(&shared(case, "schema.yaml"), Arc::new(store), options)
}

/// Returns the JSON of the request of a case, and what surrounds it.
fn request(case: &Path) -> (Value, RequestContext) {
    let parse = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
    let context = read(&case.join("context.json")).map_or(Value::Null, parse);
    let mut request = json!({"query": shared(case, "query.graphql")});
    if let Some(variables) = read(&case.join("variables.json")).map(parse) {
        request["variables"] = variables;
    }
    request["operationName"] = context["operationName"].clone();
    let languages = context["acceptLanguage"].as_array().cloned();
    let tags = languages.unwrap_or_default().into_iter();
    let mut surrounding = RequestContext::new();
    surrounding.call.accept_language = tags
        .filter_map(|tag| Some(tag.as_str()?.to_owned()))
        .collect();
    if context["cancelled"] == json!(true) {
        surrounding.call.cancellation.cancel();
    }
    (request, surrounding)
}

/// Answers directly; what cannot look the same in the types of `async-graphql` is brought into its
/// form.
fn directly(service: &ObjectService, request: &Value, context: RequestContext) -> Value {
    let request = serde_json::from_value(request.clone()).expect("a request");
    let mut answer = crate::fixture::json(&crate::fixture::answer(service, request, context));
    let members = answer.as_object_mut().expect("an answer is an object");
    members.entry("data").or_insert(Value::Null);
    without_times(&mut answer);
    answer
}

fn through(
    runtime: &Runtime,
    service: &ObjectService,
    request: &Value,
    context: RequestContext,
) -> Value {
    let request: Request = serde_json::from_value(request.clone()).expect("a request");
    let executor = ServiceExecutor::new(Arc::new(service.clone()));
    let response = runtime.block_on(executor.execute(request.data(context)));
    let mut answer = crate::fixture::json(&serde_json::to_vec(&response).expect("JSON"));
    without_times(&mut answer);
    answer
}

fn without_times(answer: &mut Value) {
    match answer {
        Value::Object(members) => {
            members.retain(|name, _| !name.to_lowercase().ends_with("microseconds"));
            members.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

#[test]
fn every_scenario_has_the_same_answer_both_ways() {
    let runtime = Runtime::new().expect("a runtime starts");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut compared = 0;
    for area in folders(&root) {
        for case in folders(&area) {
            let service = service(&case);
            let (request, context) = request(&case);
            let expected = directly(&service, &request, context.clone());
            let answer = through(&runtime, &service, &request, context);
            assert_eq!(answer, expected, "{}", case.display());
            // `Value` compares objects without their order; the text of the data has it.
            let (answer, expected) = (answer["data"].to_string(), expected["data"].to_string());
            assert_eq!(answer, expected, "{}", case.display());
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} scenarios were found");
}

const SCHEMA: &str = "
id: /soml/numbers
config: {enableGraphQlExplain: true}
specialPrefixes: {vocab_iri: 'http://example.org/v#', vocab_prefix: v}
objects:
  Thing: {props: {size: {range: long}, share: {range: double}}}
";

fn things() -> ObjectService {
    let data = "@prefix v: <http://example.org/v#> .
        <http://r/1> a v:Thing ; v:size 9223372036854775807 ; v:share 0.1e0 .
        <http://r/2> a v:Thing ; v:size 9223372036854775806 ; v:share 1e21 .";
    let store = images::from_turtle(data);
    let mut options = ServiceOptions::new();
    options.explain = true;
    crate::fixture::service(SCHEMA, Arc::new(store), options)
}

#[test]
fn no_digit_of_a_variable_or_a_value_is_lost() {
    let runtime = Runtime::new().expect("a runtime starts");
    let request = json!({
        "query": "query Q($n: Long) { thing(where: {size: {EQ: $n}}) { size share } }",
        "variables": {"n": 9_223_372_036_854_775_807_i64},
    });
    let answer = through(&runtime, &things(), &request, RequestContext::default());
    let expected = r#"{"data":{"thing":[{"size":9223372036854775807,"share":0.1}]}}"#;
    assert_eq!(answer.to_string(), expected);
}

#[test]
fn data_can_be_read_by_the_program() {
    let runtime = Runtime::new().expect("a runtime starts");
    let executor = ServiceExecutor::new(Arc::new(things()));
    let request = Request::new("{ thing(orderBy: {size: DESC}, limit: 1) { share } }");
    let response = runtime.block_on(executor.execute(request));
    let data = response.data.into_json().expect("JSON");
    assert_eq!(data, json!({"thing": [{"share": 0.1}]}));
}

#[test]
fn explanations_come_through() {
    let runtime = Runtime::new().expect("a runtime starts");
    let request = json!({"query": "{ thing { size } }", "extensions": {"explain": true}});
    let service = things();
    let answer = through(&runtime, &service, &request, RequestContext::default());
    assert_eq!(
        answer["extensions"]["explain"]["roundTrips"], 2,
        "{answer:#}"
    );
    let expected = directly(&service, &request, RequestContext::default());
    assert_eq!(answer, expected);
}

fn code(response: &async_graphql::Response) -> String {
    let response = serde_json::to_value(response).expect("JSON");
    let code = &response["errors"][0]["extensions"]["code"];
    code.as_str().unwrap_or_default().to_owned()
}

#[test]
fn introspection_modes_hold() {
    let runtime = Runtime::new().expect("a runtime starts");
    let executor = ServiceExecutor::new(Arc::new(things()));
    let answer = |request: Request| code(&runtime.block_on(executor.execute(request)));
    let schema = || Request::new("query { __typename alias: __schema { queryType { name } } }");
    let data = || Request::new("{ thing { size } }");
    assert_eq!(answer(schema()), "");
    assert_eq!(
        answer(schema().disable_introspection()),
        "INTROSPECTION_MODE"
    );
    assert_eq!(answer(data().disable_introspection()), "");
    assert_eq!(answer(schema().only_introspection()), "");
    assert_eq!(answer(data().only_introspection()), "INTROSPECTION_MODE");
}

#[test]
fn files_are_refused() {
    let runtime = Runtime::new().expect("a runtime starts");
    let executor = ServiceExecutor::new(Arc::new(things()));
    let mut request = Request::new("query Q($f: String) { thing { size } }");
    request.variables.insert(
        async_graphql::Name::new("f"),
        async_graphql::Value::Binary(vec![1_u8].into()),
    );
    let response = runtime.block_on(executor.execute(request));
    assert_eq!(code(&response), "REQUEST_UNSUPPORTED");
}

#[test]
fn a_batch_is_answered_in_its_order() {
    let runtime = Runtime::new().expect("a runtime starts");
    let executor = ServiceExecutor::new(Arc::new(things()));
    let query = |n: usize| Request::new(format!("{{ thing(limit: {n}) {{ id }} }}"));
    let batch = BatchRequest::Batch((1..=20).map(|n| query(n % 3)).collect());
    let BatchResponse::Batch(answers) = runtime.block_on(executor.execute_batch(batch)) else {
        panic!("a batch gives a batch");
    };
    assert_eq!(answers.len(), 20);
    for (n, answer) in (1..=20).zip(answers) {
        let answer = serde_json::to_value(&answer).expect("JSON");
        let things = answer["data"]["thing"].as_array();
        match n % 3 {
            0 => assert!(!answer["errors"].is_null() || things.is_some_and(Vec::is_empty)),
            limit => assert_eq!(things.map(Vec::len), Some(limit), "{answer}"),
        }
    }
}
