//! Counts beside lists and of types, where the schema asks for them.

use std::sync::Arc;

use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};

use crate::images;

const SCHEMA: &str = "
id: /soml/counts
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableCollectionCount: true, enableTypeCount: true}
objects:
  Animal: {kind: abstract, name: v:name, props: {name: {}, weight: {range: decimal, max: inf}, friend: {range: Animal, max: inf}}}
  Cat: {inherits: Animal}
  Dog: {inherits: Animal}
";

const DATA: &str = "
@prefix v: <http://v/> .
<http://r/1> a v:Cat ; v:name \"Tom\" ; v:weight 1, 1.0, 2e0 ; v:friend <http://r/2>, <http://r/3>, <http://r/4> .
<http://r/2> a v:Dog ; v:name \"Rex\" .
<http://r/3> a v:Dog ; v:name \"Ada\" .
<http://r/4> a v:Stone .
";

#[tokio::test]
async fn counts_equal_the_lengths_of_the_lists() {
    let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
    let store = images::from_turtle(DATA);
    let store = Arc::new(store);
    let service =
        ObjectService::new(Arc::new(schema), store, ServiceOptions::default()).expect("an API");
    let query = "{
        animal_count
        dog_count(where: {name: {EQ: \"Rex\"}})
        cat { friend_count friend(orderBy: {id: ASC}) { name } dogs: friend_count(where: {name: {RE: \"^A\"}}) weight(orderBy: ASC) weight_count }
    }";
    let response = service
        .execute(Request::new(query), RequestContext::default())
        .await;
    let body: serde_json::Value = serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
    let expected = serde_json::json!({"data": {
        "animal_count": 3,
        "dog_count": 1,
        "cat": [{
            "friend_count": 2,
            "friend": [{"name": "Rex"}, {"name": "Ada"}],
            "dogs": 1,
            "weight": ["1", "2"],
            "weight_count": 2,
        }],
    }});
    assert_eq!(body, expected);
}
