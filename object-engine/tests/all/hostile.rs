//! Operations made to be expensive are refused with the code of the limit they exceed, or answered.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphql_service::{Outcome, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};

use crate::images;

const SCHEMA: &str = "
id: /soml/hostile
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Thing: {kind: abstract, name: v:name, props: {name: {}, near: {range: Thing, max: inf}, size: {range: decimal}}}
  Stone: {inherits: Thing, props: {weight: {range: double}}}
  Tree: {inherits: Thing, props: {height: {range: integer}}}
";

const DATA: &str = "
@prefix v: <http://v/> .
<http://r/1> a v:Stone ; v:name \"one\" ; v:near <http://r/2>, <http://r/1> ; v:weight 2.5e0 ; v:size 1.5 .
<http://r/2> a v:Tree ; v:name \"two\" ; v:near <http://r/1>, <http://r/2> ; v:height 7 .
";

fn service() -> ObjectService {
    service_with(ServiceOptions::default())
}

fn service_with(options: ServiceOptions) -> ObjectService {
    service_over(SCHEMA, DATA, options)
}

fn service_over(schema: &str, data: &str, options: ServiceOptions) -> ObjectService {
    let schema = soml_core::load(schema).schema.expect("the schema is valid");
    let store = images::from_turtle(data);
    let store = Arc::new(store);
    ObjectService::new(Arc::new(schema), store, options).expect("an API")
}

/// Runs a document and returns the codes of the errors; none when it was answered.
async fn codes(service: &ObjectService, document: String) -> Vec<String> {
    let response = service
        .execute(Request::new(document), RequestContext::default())
        .await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    assert_eq!(
        response.outcome == Outcome::RequestError,
        body.get("data").is_none()
    );
    errors
        .iter()
        .map(|e| e["extensions"]["code"].as_str().unwrap_or("?").to_owned())
        .collect()
}

fn nested(depth: usize) -> String {
    format!(
        "{}id{}",
        "{ near ".repeat(depth).replacen("near", "thing", 1) + "{ ",
        " }".repeat(depth + 1)
    )
}

#[tokio::test]
async fn deep_selections_are_refused() {
    let service = service();
    assert_eq!(codes(&service, nested(10)).await, [""; 0]);
    assert_eq!(codes(&service, nested(60)).await, ["LIMIT_DEPTH"]);
    assert_eq!(codes(&service, nested(10_000)).await, ["LIMIT_DEPTH"]);
}

#[tokio::test]
async fn answers_that_grow_beyond_the_limit_or_the_deadline_stop() {
    let mut options = ServiceOptions::default();
    options.limits.response_bytes = 1 << 20;
    let service = service_with(options);
    assert_eq!(codes(&service, nested(35)).await, ["LIMIT_RESPONSE"]);

    let mut context = RequestContext::new();
    context.call.deadline = Some(Instant::now() + Duration::from_millis(200));
    // Objects with several values of a field are written anew wherever they are reached.
    let data = DATA.replace("\"one\"", "\"one\", \"eins\"");
    let data = data.replace("\"two\"", "\"two\", \"zwei\"");
    let service = service_over(SCHEMA, &data, ServiceOptions::default());
    let query = nested(35).replace("near {", "name near {");
    let response = service.execute(Request::new(query), context).await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    assert_eq!(body["errors"][0]["extensions"]["code"], "DEADLINE_EXCEEDED");
    assert_eq!(body["data"], serde_json::Value::Null);
}

#[tokio::test]
async fn fans_of_fragments_are_refused_before_they_are_followed() {
    let mut document = String::from("{ thing { ...F0 } } ");
    for level in 0..40 {
        let next = level + 1;
        write!(
            document,
            "fragment F{level} on Thing {{ a: near {{ ...F{next} }} b: near {{ ...F{next} }} }} "
        )
        .expect("writing to a string");
    }
    document.push_str("fragment F40 on Thing { id }");
    let found = codes(&service(), document).await;
    assert!(
        found == ["LIMIT_DEPTH"] || found == ["LIMIT_FIELDS"],
        "{found:?}"
    );
}

#[tokio::test]
async fn fragments_in_cycles_are_refused() {
    let document = "{ thing { ...A } } fragment A on Thing { near { ...B } } fragment B on Thing { near { ...A } }";
    let found = codes(&service(), document.to_owned()).await;
    assert!(
        found.iter().all(|code| code == "GRAPHQL_VALIDATION_FAILED") && !found.is_empty(),
        "{found:?}"
    );
}

#[tokio::test]
async fn floods_of_aliases_and_tokens_are_refused() {
    let service = service();
    let aliases: String = (0..2_000)
        .map(|n| format!("a{n}: thing {{ id }} "))
        .collect();
    assert_eq!(
        codes(&service, format!("{{ {aliases} }}")).await,
        ["LIMIT_ALIASES"]
    );
    let fields = "id ".repeat(25_000);
    assert_eq!(
        codes(&service, format!("{{ thing {{ {fields} }} }}")).await,
        ["LIMIT_FIELDS"]
    );
    let tokens = "id ".repeat(200_000);
    assert_eq!(
        codes(&service, format!("{{ thing {{ {tokens} }} }}")).await,
        ["LIMIT_TOKENS"]
    );
}

#[tokio::test]
async fn filters_at_the_limits_are_answered_and_beyond_them_refused() {
    let service = service();
    let any = |n: usize| {
        let parts: String = (0..n)
            .map(|i| format!("{{name: {{EQ: \"n{i}\"}}}} "))
            .collect();
        format!("{{ thing(where: {{OR: [{parts}]}}) {{ id }} }}")
    };
    assert_eq!(codes(&service, any(900)).await, [""; 0]);
    assert_eq!(
        codes(&service, any(1_500)).await,
        ["LIMIT_WHERE_CONDITIONS"]
    );
    let list = |n: usize| {
        let items: String = (0..n).map(|i| format!("\"{i}.1\" ")).collect();
        format!("{{ thing(where: {{size: {{IN: [{items}]}}}}) {{ id }} }}")
    };
    assert_eq!(codes(&service, list(10_000)).await, [""; 0]);
    assert_eq!(codes(&service, list(10_001)).await, ["LIMIT_LIST_LENGTH"]);
    let ids = |n: usize| {
        let items: String = (0..n).map(|i| format!("\"http://r/{i}\" ")).collect();
        format!("{{ thing(ID: [{items}]) {{ id }} }}")
    };
    assert_eq!(codes(&service, ids(10_000)).await, [""; 0]);
    assert_eq!(codes(&service, ids(10_001)).await, ["LIMIT_LIST_LENGTH"]);
    let deep = |n: usize| {
        format!(
            "{{ thing(where: {}{{}}{}) {{ id }} }}",
            "{near: ".repeat(n),
            "}".repeat(n)
        )
    };
    assert_eq!(codes(&service, deep(15)).await, [""; 0]);
    assert_eq!(codes(&service, deep(50)).await, ["LIMIT_WHERE_DEPTH"]);
}

#[tokio::test]
async fn heavy_regular_expressions_are_refused() {
    let service = service();
    let regex =
        |pattern: &str| format!("{{ thing(where: {{name: {{RE: {pattern:?}}}}}) {{ id }} }}");
    assert_eq!(
        codes(&service, regex(&"a".repeat(1_001))).await,
        ["LIMIT_REGEX"]
    );
    assert_eq!(
        codes(&service, regex("((a{50}){50}){50}")).await,
        ["LIMIT_REGEX"]
    );
    assert_eq!(codes(&service, regex("(a+)+$")).await, [""; 0]);
    assert_eq!(codes(&service, regex("(?=a)")).await, ["REGEX_UNSUPPORTED"]);
    assert_eq!(codes(&service, regex("(")).await, ["REGEX_INVALID"]);
}

#[tokio::test]
async fn lists_beyond_the_greatest_page_are_refused_and_never_cut() {
    let mut options = ServiceOptions::default();
    options.engine_limits.page = Some(1);
    let service = service_with(options);
    let answered = "{ thing(limit: 1) { id near(limit: 1) { id } } }";
    assert_eq!(codes(&service, answered.to_owned()).await, [""; 0]);
    for refused in [
        "{ thing(limit: 2) { id } }",
        "{ thing { id } }",
        "{ thing(limit: 1) { near { id } } }",
    ] {
        assert_eq!(
            codes(&service, refused.to_owned()).await,
            ["LIMIT_PAGE"],
            "{refused}"
        );
    }
}

#[tokio::test]
async fn more_errors_than_an_answer_lists_are_counted_by_an_entry_with_its_own_code() {
    let service = service();
    // Sixty times twenty values that are no numbers.
    let values: String = (0..20).map(|n| format!("\"none {n}\", ")).collect();
    let data = format!(
        "@prefix v: <http://v/> . <http://r/1> a v:Thing ; v:sizes {}\"last\" .",
        values
    );
    let schema = "
id: /soml/errors
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects: {Thing: {props: {sizes: {range: decimal, max: inf}}}}
";
    let of_values = service_over(schema, &data, ServiceOptions::default());
    let fields: String = (0..60).map(|n| format!("a{n}: sizes ")).collect();
    let found = codes(&of_values, format!("{{ thing {{ {fields} }} }}")).await;
    assert_eq!(found.len(), 1_001);
    assert!(found[..1_000].iter().all(|code| code == "VALUE_ILL_TYPED"));
    assert_eq!(found[1_000], "ERRORS_OMITTED");

    // The same for a document with more faults than are listed.
    let fields: String = (0..150).map(|n| format!("x{n} ")).collect();
    let found = codes(&service, format!("{{ thing {{ {fields} }} }}")).await;
    assert_eq!(found.len(), 101);
    assert!(
        found[..100]
            .iter()
            .all(|code| code == "GRAPHQL_VALIDATION_FAILED")
    );
    assert_eq!(found[100], "ERRORS_OMITTED");
    let fields: String = (0..100).map(|n| format!("x{n} ")).collect();
    assert_eq!(
        codes(&service, format!("{{ thing {{ {fields} }} }}"))
            .await
            .len(),
        100
    );
}

#[tokio::test]
async fn introspection_of_usual_clients_is_answered_and_a_flood_of_it_refused() {
    let service = service();
    let usual = include_str!("../../../graphql-gen/tests/data/introspection.graphql");
    assert_eq!(codes(&service, usual.to_owned()).await, [""; 0]);
    let one =
        "__schema { types { name fields { name args { name type { name } } type { name } } } }";
    let many = |count: usize| {
        let fields: String = (0..count).map(|n| format!("a{n}: {one} ")).collect();
        format!("{{ {fields} }}")
    };
    assert_eq!(codes(&service, many(3)).await, [""; 0]);
    assert_eq!(codes(&service, many(300)).await, ["LIMIT_INTROSPECTION"]);
    let nested: String = (0..300)
        .map(|n| format!("a{n}: types {{ fields {{ name description }} }} "))
        .collect();
    let nested = format!("{{ __schema {{ {nested} }} }}");
    assert_eq!(codes(&service, nested).await, ["LIMIT_INTROSPECTION"]);
}

#[tokio::test]
async fn long_names_are_quoted_in_part_and_at_once() {
    let service = service();
    let name = "nea".repeat(300_000);
    let started = Instant::now();
    let response = service
        .execute(
            Request::new(format!("{{ thing {{ {name} }} }}")),
            RequestContext::default(),
        )
        .await;
    assert!(response.body.len() < 3_000, "{} bytes", response.body.len());
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}
