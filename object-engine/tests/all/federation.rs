//! What a federation gateway asks of a service: the printed schema, and objects by type and id.

use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};

use crate::images;

const SCHEMA: &str = "
id: /soml/printed
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Cat: {name: v:name, props: {name: {label: The name}, lives: {range: int, min: 1}}}
rbac: {roles: {Reader: {actions: ['*/*/read']}}}
";

async fn service(federation: FederationMode) -> serde_json::Value {
    let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
    let store = Arc::new(images::empty());
    let mut options = ServiceOptions::default();
    options.api = options.api.with_federation(federation);
    let service = ObjectService::new(Arc::new(schema), store, options).expect("an API");
    let query = "{ s: _service { __typename sdl full: full_sdl } }";
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    assert_eq!(body.get("errors"), None);
    body["data"]["s"].clone()
}

#[test]
fn the_service_serves_the_default_api() {
    let schema = || Arc::new(soml_core::load(SCHEMA).schema.expect("the schema is valid"));
    let store = Arc::new(images::empty());
    let service = ObjectService::new(schema(), store, ServiceOptions::default()).expect("an API");
    let api = Api::new(schema(), &ApiOptions::default()).expect("an API");
    assert_eq!(service.sdl(), api.sdl());
}

#[tokio::test]
async fn without_federation_only_the_full_schema_is_printed() {
    let printed = service(FederationMode::Off).await;
    assert_eq!(printed["__typename"], "_Service");
    assert_eq!(printed["sdl"], serde_json::Value::Null);
    let full = printed["full"].as_str().expect("text");
    assert!(full.contains("@constraints(minCount: 1"), "{full}");
    assert!(full.contains("@hasRole"), "{full}");
}

#[tokio::test]
async fn representations_of_a_superclass_are_instances_of_subclasses_too() {
    let soml = "
id: /soml/entities
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Person: {props: {age: {range: int}}}
  Pupil: {inherits: Person}
";
    let schema = soml_core::load(soml).schema.expect("the schema is valid");
    let data = "<http://e/pip> a <http://v/Pupil> ; <http://v/age> 10 .";
    let store = images::from_turtle(data);
    let mut options = ServiceOptions::default();
    options.api = options.api.with_federation(FederationMode::V1);
    let store = Arc::new(store);
    let service = ObjectService::new(Arc::new(schema), store, options).expect("an API");
    let query = "{ _entities(representations: [{__typename: \"Person\", id: \"http://e/pip\"}])
        { ... on Person { age } } }";
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    let expected = serde_json::json!({"data": {"_entities": [{"age": 10}]}});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn with_federation_types_have_keys() {
    let printed = service(FederationMode::V1).await;
    let sdl = printed["sdl"].as_str().expect("text");
    assert!(
        sdl.contains("type Cat implements Object & Nameable @key(fields: \"id\")"),
        "{sdl}"
    );
}

#[tokio::test]
async fn entities_are_found_by_type_and_id() {
    let schema = "
id: /soml/entities
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Animal: {kind: abstract, name: v:name, props: {name: {}}}
  Cat: {inherits: Animal, props: {lives: {range: int}}}
  Dog: {inherits: Animal}
";
    let data = "@prefix v: <http://v/> .
        <http://r/1> a v:Cat ; v:name \"Tom\" ; v:lives 7 . <http://r/2> a v:Dog ; v:name \"Rex\" .";
    let schema = soml_core::load(schema).schema.expect("the schema is valid");
    let store = images::from_turtle(data);
    let mut options = ServiceOptions::default();
    options.api = options.api.with_federation(FederationMode::V1);
    let store = Arc::new(store);
    let service = ObjectService::new(Arc::new(schema), store, options).expect("an API");
    let query = "query($r: [_Any!]!) { _entities(representations: $r) {
        __typename ... on Animal { name } ... on Cat { lives } } }";
    let variables = serde_json::json!({"r": [
        {"__typename": "Dog", "id": "http://r/2"},
        {"__typename": "Cat", "id": "http://r/1"},
        {"__typename": "Cat", "id": "http://r/2"},
        {"__typename": "Animal", "id": "http://r/1"},
        {"__typename": "Dog", "id": "http://r/2"},
        {"__typename": "Dog", "id": "nothing"},
    ]});
    let request: Request =
        serde_json::from_value(serde_json::json!({"query": query, "variables": variables}))
            .expect("a request");
    let response = service.execute(request, RequestContext::default()).await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    let expected = serde_json::json!({"data": {"_entities": [
        {"__typename": "Dog", "name": "Rex"},
        {"__typename": "Cat", "name": "Tom", "lives": 7},
        null,
        {"__typename": "Cat", "name": "Tom", "lives": 7},
        {"__typename": "Dog", "name": "Rex"},
        null,
    ]}});
    assert_eq!(body, expected);
}
