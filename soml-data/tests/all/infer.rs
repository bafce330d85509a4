//! A schema inferred from data is valid, and an API over the data at once.

use std::sync::Arc;

use graph_store::CallContext;
use graph_store::image::ImageStore;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use soml_data::infer::{InferOptions, Inferred, infer};

use crate::images::from_turtle;

/// Infers a schema from what a store has.
pub(crate) fn inferred_from(store: &ImageStore, options: &InferOptions) -> Inferred {
    let inferred = infer(store.snapshot().as_ref(), options, &CallContext::new());
    inferred.expect("the store answers")
}

/// Answers a query over data by the schema that is inferred from them.
pub(crate) async fn answer(store: ImageStore, query: &str) -> serde_json::Value {
    let inferred = inferred_from(&store, &InferOptions::default());
    let loaded = soml_core::load(&inferred.yaml);
    assert!(
        loaded.diagnostics.is_empty(),
        "{:?}\n{}",
        loaded.diagnostics,
        inferred.yaml
    );
    let schema = Arc::new(loaded.schema.expect("no errors"));
    let store = Arc::new(store);
    let service = ObjectService::new(schema, store, ServiceOptions::default()).expect("an API");
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    serde_json::from_slice(&response.body.to_bytes()).expect("JSON")
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
    let body = answer(from_turtle(&data), query).await;
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
    let store = from_turtle(data);
    let options = InferOptions {
        id: "/soml/books".to_owned(),
        ..InferOptions::default()
    };
    let inferred = inferred_from(&store, &options);
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
    inherits: Person  # all instances are of both classes
";
    assert_eq!(inferred.yaml, expected);
}

#[tokio::test]
async fn data_without_types_gives_a_schema_without_objects() {
    let store = from_turtle("<http://r/1> <http://v/p> 1 .");
    let inferred = inferred_from(&store, &InferOptions::default());
    assert_eq!(inferred.objects, 0);
    assert!(
        soml_core::load(&inferred.yaml).schema.is_some(),
        "{}",
        inferred.yaml
    );
}

fn inferred(data: &str) -> String {
    inferred_from(&from_turtle(data), &InferOptions::default()).yaml
}

const ANIMALS: &str = "
    @prefix : <http://v/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Man rdfs:subClassOf :Human . :Human rdfs:subClassOf :Animal . :Dog rdfs:subClassOf :Animal .
    :Animal rdfs:subClassOf :Being .
    <http://r/m/1> a :Man ; :name 'One' ; :age 5 ; :owns <http://r/d/1> ; :beard true .
    <http://r/m/2> a :Man ; :name 'Two' ; :age 6 ; :owns <http://r/m/1> .
    <http://r/h/3> a :Human ; :name 'Three' ; :age 7 .
    <http://r/d/1> a :Dog ; :name 'Rex' ; :age 3 ; :tail 1 .
";

#[test]
fn superclasses_declare_what_their_own_instances_or_all_subclasses_have() {
    let expected = "\
id: /soml/inferred
specialPrefixes:
  vocab_iri: \"http://v/\"
  vocab_prefix: voc
objects:
  Animal:  # 4 instances
    kind: abstract  # no IRI has it as its type
    name: \"voc:name\"
    props:
      age: {range: integer, min: 1}  # 4 values of 4 instances
      \"voc:name\": {min: 1}  # 4 values of 4 instances
  Dog:  # 1 instance
    inherits: Animal  # by rdfs:subClassOf
    props:
      tail: {range: integer, min: 1}  # 1 value of 1 instance
  Human:  # 3 instances
    inherits: Animal  # by rdfs:subClassOf
  Man:  # 2 instances
    inherits: Human  # by rdfs:subClassOf
    prefix: \"http://r/m/\"
    props:
      beard: {range: boolean}  # 1 value of 1 instance
      owns: {range: Animal, min: 1}  # 2 values of 2 instances; of class Animal 2, Dog 1, Human 1, Man 1
";
    assert_eq!(inferred(ANIMALS), expected);
}

#[tokio::test]
async fn subclasses_are_answered_through_their_superclass() {
    let query = "{ animal(orderBy: {name: ASC}) { name age ... on Man { owns { name } } } }";
    let body = answer(from_turtle(ANIMALS), query).await;
    let expected = serde_json::json!({"data": {"animal": [
        {"name": "One", "age": "5", "owns": {"name": "Rex"}},
        {"name": "Rex", "age": "3"},
        {"name": "Three", "age": "7"},
        {"name": "Two", "age": "6", "owns": {"name": "One"}},
    ]}});
    assert_eq!(body, expected);
}

#[test]
fn a_superclass_declares_what_several_subclasses_have_with_a_range_in_common() {
    let yaml = inferred(
        "@prefix : <http://v/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         :A rdfs:subClassOf :Top . :B rdfs:subClassOf :Top .
         :C rdfs:subClassOf :Top .
         <http://r/1> a :A ; :number 1 ; :mixed 'x' ; :list 1 ; :alone 1 .
         <http://r/2> a :B ; :number 2.5 ; :mixed 3 ; :list 1, 2 .
         <http://r/3> a :C .",
    );
    let top = yaml.split_once("  Top:").expect("a superclass").1;
    assert!(top.contains("      number: {range: decimal}"), "{yaml}");
    assert!(
        top.contains("      list: {range: integer, max: inf}"),
        "{yaml}"
    );
    assert!(!top.contains("mixed:") && !top.contains("alone:"), "{yaml}");
    assert_eq!(yaml.matches("      mixed: {").count(), 2, "{yaml}");
    assert_eq!(yaml.matches("      alone: {").count(), 1, "{yaml}");
}

#[test]
fn the_usual_properties_name_an_object_best_first() {
    let name = |properties: &str| {
        let yaml = inferred(&format!(
            "@prefix : <http://v/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
             @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
             @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
             @prefix s: <https://schema.org/> . @prefix dct: <http://purl.org/dc/terms/> .
             <http://r/1> a :A ; :p 1 ; :q 2 ; :r 3 ; :s 4 {properties} ."
        ));
        let loaded = soml_core::load(&yaml);
        assert!(
            loaded.diagnostics.is_empty(),
            "{:?}\n{yaml}",
            loaded.diagnostics
        );
        let line = yaml
            .lines()
            .find_map(|line| line.strip_prefix("    name: "));
        line.map(|name| name.trim_matches('"').to_owned())
    };
    for (properties, expected) in [
        (
            "; rdfs:label 'a' ; skos:prefLabel 'b' ; foaf:name 'c'",
            Some("rdfs:label"),
        ),
        (
            "; skos:prefLabel 'b' ; foaf:name 'c'",
            Some("skos:prefLabel"),
        ),
        ("; s:name 'b' ; foaf:name 'c'", Some("schema:name")),
        (
            "; foaf:name 'c'@en, 'd'@de ; dct:title 'e'",
            Some("foaf:name"),
        ),
        ("; dct:title 'e' ; :title 'f'", Some("dct:title")),
        ("; :title 'f' ; :fullName 'g'", Some("voc:fullName")),
        ("; :Label 'f'", Some("voc:label")),
        ("; rdfs:label 5", None),
        ("; :nickname 'f'", None),
    ] {
        assert_eq!(name(properties).as_deref(), expected, "{properties}");
    }
}

#[test]
fn namespaces_with_the_same_usual_prefix_do_not_clash() {
    let yaml = inferred(
        "@prefix : <http://v/> . <http://r/1> a :A ; :p 1 ; :q 2 ; <http://schema.org/url> 1 ;
         <https://schema.org/url> 2 .",
    );
    let loaded = soml_core::load(&yaml);
    assert!(
        loaded.diagnostics.is_empty(),
        "{:?}\n{yaml}",
        loaded.diagnostics
    );
    assert!(
        yaml.contains("\"schema:url\"") && yaml.contains("\"ns2:url\""),
        "{yaml}"
    );
}

#[test]
fn the_same_data_give_the_same_document() {
    let demo = include_str!("../../../servers/demo/star-wars/data.ttl");
    for data in [ANIMALS, demo] {
        let first = inferred(data);
        for _ in 0..3 {
            assert_eq!(inferred(data), first);
        }
    }
}

#[test]
fn species_of_the_star_wars_data_inherit_from_characters() {
    let yaml = inferred(include_str!("../../../servers/demo/star-wars/data.ttl"));
    let schema = soml_core::load(&yaml).schema.expect("no errors");
    let heirs = schema
        .objects()
        .filter(|(_, object)| object.inherits.is_some());
    let heirs: Vec<String> = heirs
        .map(|(id, object)| {
            let parent = object.inherits.unwrap_or(id);
            format!("{} {}", object.name.written, schema[parent].name.written)
        })
        .collect();
    assert!(heirs.contains(&"Human Character".to_owned()), "{heirs:?}");
    let character = yaml.split_once("  Character:").expect("characters").1;
    let character = character
        .split_once("\n  Clawdite:")
        .expect("the next class")
        .0;
    for property in [
        "film: {range: Film, min: 1, max: inf}",
        "mass: {range: ",
        "eyeColor: {",
    ] {
        assert!(character.contains(property), "{property} in {character}");
    }
}
