//! Values in hits look as those of the object service do.

use std::sync::Arc;

use bytes::Bytes;
use search_index::engine::{Answer, Hit, PhysicalName};
use search_index::graphql_service::{Request, RequestContext, Service};
use search_index::mapping::{Indexes, MappingOptions};
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::{Value, json};

use crate::schema;
use crate::service::Scripted;

const SCHEMA: &str = "
id: /soml/sky
objects:
  Planet:
    search: yes
    props:
      label: {range: langString, max: inf}
      small: {range: unsignedByte}
      huge: {range: unsignedLong, max: inf}
      heat: {range: positiveFloat}
      cold: {range: negativeFloat, max: inf}
      size: {range: int}
      long: {range: long}
      mass: {range: double}
";

const PLANET: &str = r#"{"id":"http://e/1","type":["http://e/Planet"],"small":255,
    "huge":[1,18446744073709551615],"heat":1.5,"cold":[-1e+300,-2.0],"size":7,"long":-3,"mass":2.0,
    "$shown":{"label":[{"value":"a","lang":"en-gb"},{"value":"b","lang":"zh-hant-tw"}]}}"#;

async fn planet(fields: &str) -> Value {
    let schema = schema(SCHEMA);
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
    let targets = indexes.indexes.iter();
    let targets = targets.map(|index| SearchTarget::Ready(PhysicalName::new(index, 1)));
    let targets = targets.collect();
    let engine = Scripted::new(|_, _| {
        Ok(Answer {
            took: 1,
            total: None,
            max_score: None,
            hits: vec![Hit {
                id: "1".to_owned(),
                score: None,
                sort: Vec::new(),
                source: Bytes::from_static(PLANET.as_bytes()),
            }],
            aggregations: Vec::new(),
        })
    });
    let api = SearchApi::new(Arc::new(schema), indexes).expect("the API is valid");
    let options = SearchServiceOptions::default();
    let service = SearchService::new(api, Arc::new(engine), targets, options);
    let query = format!("{{ planet_search {{ hits {{ planet {{ {fields} }} }} }} }}");
    let answer = service.respond(Request::new(query), RequestContext::new());
    let bytes = answer.await.body.to_bytes();
    let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(answer["errors"], Value::Null);
    answer["data"]["planet_search"]["hits"][0]["planet"].take()
}

#[tokio::test]
async fn language_tags_are_in_the_case_of_bcp_47() {
    let expected =
        json!({"label": [{"value": "a", "lang": "en-GB"}, {"value": "b", "lang": "zh-Hant-TW"}]});
    assert_eq!(planet("label { value lang }").await, expected);
}

#[tokio::test]
async fn numbers_have_the_json_form_of_the_object_service() {
    let expected = json!({
        "small": "255", "huge": ["1", "18446744073709551615"], "heat": "1.5", "cold": ["-1e+300", "-2.0"],
        "size": 7, "long": -3, "mass": 2.0,
    });
    assert_eq!(
        planet("small huge heat cold size long mass").await,
        expected
    );
}
