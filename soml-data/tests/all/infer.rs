//! A schema inferred from data is valid, and an API over the data at once.

use std::sync::Arc;

use graph_store::CallContext;
use graph_store::oxigraph::OxigraphStore;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxigraph::io::RdfFormat;
use oxigraph::store::Store;
use soml_data::infer::{InferOptions, infer};

fn store(data: &str) -> Store {
    let store = Store::new().expect("a store in memory");
    store
        .load_from_slice(RdfFormat::Turtle, data)
        .expect("the data is valid");
    store
}

async fn answer(store: Store, query: &str) -> serde_json::Value {
    let options = InferOptions::default();
    let inferred = infer(&store, &options, &CallContext::new()).expect("the store answers");
    let loaded = soml_core::load(&inferred.yaml);
    assert!(
        loaded.diagnostics.is_empty(),
        "{:?}\n{}",
        loaded.diagnostics,
        inferred.yaml
    );
    let schema = Arc::new(loaded.schema.expect("no errors"));
    let store = Arc::new(OxigraphStore::new(store));
    let service = ObjectService::new(schema, store, ServiceOptions::default()).expect("an API");
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    serde_json::from_slice(&response.body).expect("JSON")
}

#[tokio::test]
async fn star_wars_without_its_schema_answers() {
    let data = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../servers/demo/star-wars/data.ttl"
    ))
    .expect("the demo data");
    let query = "{ film(orderBy: {episodeId: ASC}, limit: 1) {
        name planet(orderBy: {name: ASC}, limit: 2) { name diameter } } }";
    let body = answer(store(&data), query).await;
    let expected = serde_json::json!({"data": {"film": [{
        "name": "The Phantom Menace",
        "planet": [{"name": "Coruscant", "diameter": "12240"}, {"name": "Naboo", "diameter": "12120"}],
    }]}});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn names_ranges_and_cardinalities_follow_the_data() {
    let data = "
        @prefix a: <http://a/v#> . @prefix b: <http://b/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <http://r/1> a a:Book ; rdfs:label 'One'@en, 'Eins'@de ; a:name 'n' ; a:Pages 5 ; a:by <http://r/9> ;
            b:seen '2020'^^xsd:gYear, '2020-01-01'^^xsd:date ; a:same-as <http://elsewhere/1> .
        <http://r/2> a a:Book ; rdfs:label 'Two' ; a:Pages 5.5 ; a:by <http://r/9>, <http://r/8> .
        <http://r/8> a a:Person . <http://r/9> a a:Person, b:Author .
    ";
    let store = store(data);
    let options = InferOptions {
        id: "/soml/books".to_owned(),
        ..InferOptions::default()
    };
    let inferred = infer(&store, &options, &CallContext::new()).expect("the store answers");
    let expected = "\
id: /soml/books
specialPrefixes:
  vocab_iri: \"http://a/v#\"
  vocab_prefix: voc
prefixes:
  ns1: \"http://b/\"
  rdfs: \"http://www.w3.org/2000/01/rdf-schema#\"
objects:
  Book:  # 2 instances
    name: \"rdfs:label\"
    props:
      pages: {range: decimal, min: 1, rdfProp: \"http://a/v#Pages\"}  # 2 values of 2 instances; xsd:decimal 1, xsd:integer 1
      by: {range: Person, min: 1, max: inf}  # 3 values of 2 instances; of class Person 3, ns1:Author 2
      \"voc:name\": {}  # 1 value of 1 instance
      same-as: {range: iri}  # 1 value of 1 instance
      \"ns1:seen\": {range: dateOrYearOrMonth, max: inf}  # 2 values of 1 instance; xsd:date 1, xsd:gYear 1
      \"rdfs:label\": {range: stringOrLangString, min: 1, max: inf}  # 3 values of 2 instances; langString 2, xsd:string 1
  Person:  # 2 instances
  \"ns1:Author\":  # 1 instance
";
    assert_eq!(inferred.yaml, expected);
}

#[tokio::test]
async fn data_without_types_gives_a_schema_without_objects() {
    let store = store("<http://r/1> <http://v/p> 1 .");
    let options = InferOptions::default();
    let inferred = infer(&store, &options, &CallContext::new()).expect("the store answers");
    assert_eq!(inferred.objects, 0);
    assert!(
        soml_core::load(&inferred.yaml).schema.is_some(),
        "{}",
        inferred.yaml
    );
}
