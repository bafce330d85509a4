//! The printed schema is served under `_service`.

use std::sync::Arc;

use graphql_gen::request::{Request, RequestContext};
use graphql_gen::service::{ObjectService, ServiceOptions};
use graphql_gen::store::oxigraph::OxigraphStore;
use graphql_gen::typesystem::{ApiOptions, FederationMode};
use oxigraph::store::Store;

const SCHEMA: &str = "
id: /soml/printed
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Cat: {name: v:name, props: {name: {label: The name}, lives: {range: int, min: 1}}}
rbac: {roles: {Reader: {actions: ['*/*/read']}}}
";

async fn service(federation: FederationMode) -> serde_json::Value {
    let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
    let store = Arc::new(OxigraphStore::new(Store::new().expect("a store in memory")));
    let mut options = ServiceOptions::default();
    options.api = ApiOptions {
        federation,
        ..options.api
    };
    let service = ObjectService::new(Arc::new(schema), store, options).expect("an API");
    let query = "{ s: _service { __typename sdl full: full_sdl } }";
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    let body: serde_json::Value = serde_json::from_slice(&response.body).expect("JSON");
    assert_eq!(body.get("errors"), None);
    body["data"]["s"].clone()
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
async fn with_federation_types_have_keys() {
    let printed = service(FederationMode::V1).await;
    let sdl = printed["sdl"].as_str().expect("text");
    assert!(
        sdl.contains("type Cat implements Object & Nameable @key(fields: \"id\")"),
        "{sdl}"
    );
}
