//! `typeCast: true` takes values from their text; what does not fit is as if absent.

use std::sync::Arc;

use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::images;

const SCHEMA: &str = "
id: /soml/cast
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
types: {Colour: {values: [{name: RED}, {name: BLUE}]}}
objects:
  Thing:
    props:
      size: {range: integer, typeCast: true, max: inf}
      weight: {range: decimal, typeCast: true}
      code: {range: string, typeCast: true}
      link: {range: iri, typeCast: true}
      day: {range: date, typeCast: true}
      colour: {range: Colour, typeCast: true}
      plain: {range: integer}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://r/1> a v:Thing ; v:size '5', 7, 'none' ; v:weight ' 1.50 ' ; v:code 12 ; v:link 'http://l/1' ;
    v:day '2020-02-01' ; v:colour 'RED'^^xsd:token ; v:plain '5' .
<http://r/2> a v:Thing ; v:size '4' ; v:weight 2e0 ; v:code 'x'@en ; v:link <http://l/2> ; v:day 'soon' .
";

async fn answer(query: &str) -> Value {
    let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
    let store = images::from_turtle(DATA);
    let store = Arc::new(store);
    let service =
        ObjectService::new(Arc::new(schema), store, ServiceOptions::default()).expect("an API");
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    serde_json::from_slice(&response.body.to_bytes()).expect("JSON")
}

#[tokio::test]
async fn fields_give_cast_values() {
    let query =
        "{ thing(orderBy: {weight: ASC}) { size(orderBy: ASC) weight code link day colour } }";
    let expected = json!({"data": {"thing": [
        {"size": ["5", "7"], "weight": "1.5", "code": "12", "link": "http://l/1",
         "day": "2020-02-01", "colour": "RED"},
        {"size": ["4"], "weight": "2", "code": "x", "link": "http://l/2", "day": null, "colour": null},
    ]}});
    assert_eq!(answer(query).await, expected);
}

#[tokio::test]
async fn without_it_a_text_is_no_number() {
    let body = answer("{ thing(ID: \"http://r/1\") { plain } }").await;
    assert_eq!(body["errors"][0]["extensions"]["code"], "VALUE_ILL_TYPED");
}

#[tokio::test]
async fn filters_compare_cast_values() {
    for (filter, count) in [
        ("{size: {EQ: 5}}", 1),
        ("{size: {LT: 6}}", 2),
        ("{size: {ALL: {GT: 4}}}", 1),
        ("{day: {}}", 1),
        ("{weight: {GTE: \"1.5\"}}", 2),
        ("{weight: {EQ: \"1.5\"}}", 1),
        ("{code: {EQ: \"12\"}}", 1),
        ("{code: {RE: \"x\"}}", 1),
        ("{link: {IN: [\"http://l/1\", \"http://l/2\"]}}", 2),
        ("{day: {EQ: \"2020-02-01\"}}", 1),
        ("{day: {NEQ: \"2021-02-01\"}}", 1),
        ("{colour: {EQ: RED}}", 1),
        ("{plain: {EQ: 5}}", 0),
    ] {
        let body = answer(&format!("{{ thing(where: {filter}) {{ id }} }}")).await;
        let found = body["data"]["thing"].as_array().map(Vec::len);
        assert_eq!(found, Some(count), "{filter}: {body}");
    }
}
