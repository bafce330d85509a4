//! The search API as a subgraph of a federation gateway.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use search_index::apollo_compiler::Schema;
use search_index::engine::{Answer, Hit, PhysicalName};
use search_index::graphql_service::{Request, RequestContext, Service};
use search_index::limits::SearchLimits;
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::{Value, json};

use crate::service::Scripted;
use crate::{indexes, schema};

/// An abstract object, one with a subclass, and one that is neither.
const CREW: &str = "
id: /soml/crew
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
config: {search: {index: yes}}
objects:
  Being: {kind: abstract, type: v:Being, label: Whoever lives, props: {title: {}, home: {range: Planet}}}
  Human: {inherits: Being}
  Pilot: {inherits: Human, props: {license: {range: int}}}
  Droid: {inherits: Being}
  Planet: {props: {title: {}, people: {range: Being, max: inf}}}
";

fn api() -> SearchApi {
    let indexes = indexes(CREW).expect("the schema can be searched");
    SearchApi::subgraph(Arc::new(schema(CREW)), indexes).expect("the API is valid")
}

/// Serves [`CREW`] over an engine with these documents.
fn serve(sources: &'static [&'static str], limits: SearchLimits) -> SearchService {
    let api = api();
    let targets = api.indexes().indexes.iter();
    let targets = targets.map(|index| SearchTarget::Ready(PhysicalName::new(index, 1)));
    let targets = targets.collect();
    let engine = Scripted::new(|_, _| {
        let hits = sources.iter().map(|source| Hit {
            id: "d".to_owned(),
            score: Some(1.0),
            sort: Vec::new(),
            source: Bytes::from_static(source.as_bytes()),
        });
        Ok(Answer {
            hits: hits.collect(),
            ..Answer::default()
        })
    });
    let options = SearchServiceOptions::default().with_search_limits(limits);
    SearchService::new(api, Arc::new(engine), targets, options)
}

async fn ask(service: &SearchService, request: Request) -> Value {
    let response = service.respond(request, RequestContext::new()).await;
    serde_json::from_slice(&response.body.to_bytes()).expect("JSON")
}

/// Set `UPDATE_EXPECT` to rewrite the file.
#[test]
fn objects_are_extensions_by_their_id_and_abstract_ones_interfaces() {
    let api = api();
    let printed = api.service_sdl().expect("a subgraph prints itself");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/crew.subgraph.graphql");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, printed).expect("the file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(printed == expected, "differs from {}", path.display());
    for part in [
        "interface Being {",
        "interface HumanInterface {",
        "extend type Human implements Being & HumanInterface @key(fields: \"id\") {",
        "extend type Planet @key(fields: \"id\") {",
        "  id: ID! @external",
        "  droid_search(",
    ] {
        assert!(printed.contains(part), "{part}");
    }
    for absent in ["_Entity", "_Any", "_Service", "_service", "license: Int"] {
        assert!(!printed.contains(absent), "{absent}");
    }
}

#[test]
fn without_federation_there_is_no_subgraph() {
    let indexes = indexes(CREW).expect("the schema can be searched");
    let api = SearchApi::new(Arc::new(schema(CREW)), indexes).expect("the API is valid");
    assert_eq!(api.service_sdl(), None);
    assert!(!api.sdl().contains("_service") && !api.sdl().contains("_entities"));
}

#[test]
fn the_whole_schema_has_what_the_machinery_of_federation_needs() {
    let api = api();
    let schema = Schema::parse_and_validate(api.sdl(), "schema.graphql").expect("a valid schema");
    let union = schema.get_union("_Entity").expect("the union of objects");
    let members: Vec<_> = union.members.iter().map(|member| member.as_str()).collect();
    assert_eq!(members, ["Human", "Pilot", "Droid", "Planet"]);
}

#[tokio::test]
async fn the_service_prints_its_schema() {
    let service = serve(&[], SearchLimits::default());
    let query = "{ s: _service { __typename sdl again: sdl } }";
    let answer = ask(&service, Request::new(query)).await;
    let sdl = service.api().service_sdl();
    let expected = json!({"data": {"s": {"__typename": "_Service", "sdl": sdl, "again": sdl}}});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn hits_are_of_the_most_derived_type_of_their_object() {
    let service = serve(
        &[
            r#"{"id": "http://e/1", "type": ["http://v/Being", "http://v/Human", "http://v/Pilot"]}"#,
            r#"{"id": "http://e/2", "type": ["http://v/Droid"]}"#,
        ],
        SearchLimits::default(),
    );
    let query = "{ being_search { hits { score being {
        id
        ...on HumanInterface { human: __typename }
        ...on Droid { droid: id }
        ...Pilots
    } } } }
    fragment Pilots on Pilot { __typename ...Again }
    fragment Again on Being { again: id }";
    let answer = ask(&service, Request::new(query)).await;
    let hits = &answer["data"]["being_search"]["hits"];
    let pilot =
        json!({"id": "http://e/1", "human": "Pilot", "__typename": "Pilot", "again": "http://e/1"});
    let droid = json!({"id": "http://e/2", "droid": "http://e/2"});
    assert_eq!(
        *hits,
        json!([{"score": 1.0, "being": pilot}, {"score": 1.0, "being": droid}]),
        "{answer:#}"
    );
}

#[tokio::test]
async fn a_hit_without_a_concrete_type_is_null_and_the_others_stay() {
    let service = serve(
        &[
            r#"{"id": "http://e/1", "type": ["http://v/Being"]}"#,
            r#"{"id": "http://e/2", "type": ["http://v/Droid"]}"#,
        ],
        SearchLimits::default(),
    );
    let query = "{ being_search { hits { being { __typename } } } }";
    let answer = ask(&service, Request::new(query)).await;
    let error = &answer["errors"][0];
    assert_eq!(
        error["extensions"]["code"], "HIT_TYPE_UNKNOWN",
        "{answer:#}"
    );
    assert_eq!(error["path"], json!(["being_search", "hits", 0, "being"]));
    let hits = json!([{"being": null}, {"being": {"__typename": "Droid"}}]);
    assert_eq!(answer["data"]["being_search"]["hits"], hits);
}

#[tokio::test]
async fn what_the_index_holds_is_not_shown_beside_the_id() {
    let service = serve(&[], SearchLimits::default());
    let query =
        "{ planet_search(query: {match: {title: {query: \"x\"}}}) { hits { planet { title } } } }";
    let answer = ask(&service, Request::new(query)).await;
    let code = &answer["errors"][0]["extensions"]["code"];
    assert_eq!(code, "GRAPHQL_VALIDATION_FAILED", "{answer:#}");
}

#[tokio::test]
async fn entities_are_what_their_representations_say() {
    let service = serve(&[], SearchLimits::default());
    let query = "query($r: [_Any!]!) { _entities(representations: $r) {
        __typename ...on Planet { id } ...on Being { being: id }
    } }";
    let ask_of = |representations: Value| {
        let Value::Object(variables) = json!({"r": representations}) else {
            unreachable!("an object");
        };
        ask(&service, Request::new(query).with_variables(variables))
    };
    let answer = ask_of(json!([
        {"__typename": "Planet", "id": "http://e/mars"},
        {"__typename": "Pilot", "id": "http://e/1"},
        {"__typename": "Planet", "id": "no IRI"},
    ]))
    .await;
    let expected = json!([
        {"__typename": "Planet", "id": "http://e/mars"},
        {"__typename": "Pilot", "being": "http://e/1"},
        null,
    ]);
    assert_eq!(answer["data"]["_entities"], expected, "{answer:#}");
    for wrong in [
        json!([{"__typename": "Being", "id": "http://e/1"}]),
        json!([{"__typename": "Comet", "id": "http://e/1"}]),
        json!([{"id": "http://e/1"}]),
        json!([{"__typename": "Planet"}]),
        json!(["http://e/1"]),
    ] {
        let answer = ask_of(wrong.clone()).await;
        let code = &answer["errors"][0]["extensions"]["code"];
        assert_eq!(code, "REPRESENTATION_INVALID", "{wrong}");
        assert_eq!(answer.get("data"), None, "{wrong}");
    }
}

#[tokio::test]
async fn representations_of_a_request_are_bounded_together() {
    let mut limits = SearchLimits::default();
    limits.representations = 3;
    let service = serve(&[], limits);
    let representation = "{__typename: \"Planet\", id: \"http://e/mars\"}";
    let query = |two: &str| {
        format!(
            "{{ one: _entities(representations: [{representation}, {representation}]) {{ __typename }}
                two: _entities(representations: [{two}]) {{ __typename }} }}"
        )
    };
    let fits = ask(&service, Request::new(query(representation))).await;
    assert_eq!(fits.get("errors"), None);
    let exceeds = ask(
        &service,
        Request::new(query(&format!("{representation} {representation}"))),
    )
    .await;
    let extensions = &exceeds["errors"][0]["extensions"];
    assert_eq!(
        *extensions,
        json!({"code": "LIMIT_REPRESENTATIONS", "limit": 3})
    );
}
