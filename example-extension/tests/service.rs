//! The service as a gateway meets it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says where it stopped"
)]

use async_graphql::Request;
use federation::compose::{ComposeOptions, SubgraphSource, compose};
use serde_json::{Value, json};

/// What an object service has of planets, as far as it counts here.
const OBJECTS: &str = r#"
extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])
scalar Integer
type Planet @key(fields: "id") { id: ID! name(lang: String = "ANY"): String diameter: Integer }
extend type Fleet @key(fields: "id") { id: ID! name(lang: String = "ANY"): String ship: [Starship] }
type Starship @key(fields: "id") { id: ID! }
type Query { planet: [Planet] fleet: [Fleet] }
"#;

async fn answer(query: &str, variables: Value) -> Value {
    let request = Request::new(query).variables(async_graphql::Variables::from_json(variables));
    let response = example_extension::schema().execute(request).await;
    assert!(response.is_ok(), "{:?}", response.errors);
    response.data.into_json().unwrap()
}

async fn sdl() -> String {
    let answer = answer("{ _service { sdl } }", json!({})).await;
    answer["_service"]["sdl"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn it_composes_with_an_object_service() {
    let source = |name: &str, sdl: &str| SubgraphSource {
        name: name.to_owned(),
        url: String::new(),
        sdl: sdl.to_owned(),
    };
    let sources = [
        source("objects", OBJECTS),
        source("extension", &sdl().await),
    ];
    let composed = compose(&sources, &ComposeOptions::default());
    let composed = composed.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let sdl = composed.supergraph_sdl;
    for field in [
        "mass: Float",
        "calculatedGravity: Float",
        "commander: String!",
    ] {
        assert!(sdl.contains(field), "{field}");
    }
    assert!(sdl.contains(r#"requires: "diameter""#), "{sdl}");
}

#[tokio::test]
async fn planets_are_resolved_from_their_key_and_what_fields_require() {
    let query = "query($r: [_Any!]!) { _entities(representations: $r) {
        ... on Planet { id mass calculatedGravity } } }";
    let planet = |number: u32, diameter: Value| {
        let id = format!("https://swapi.co/resource/planet/{number}");
        json!({ "__typename": "Planet", "id": id, "diameter": diameter })
    };
    let planets = [
        planet(1, "10465".into()),
        planet(1, Value::Null),
        planet(99, 7.into()),
    ];
    let found = answer(query, json!({ "r": planets })).await;
    let gravity = found["_entities"][0]["calculatedGravity"].as_f64().unwrap();
    assert!((gravity - 9.81).abs() < 0.02, "{gravity}");
    assert_eq!(found["_entities"][0]["mass"], json!(4.023e24));
    assert_eq!(found["_entities"][1]["calculatedGravity"], Value::Null);
    assert_eq!(found["_entities"][2]["mass"], Value::Null);
}

#[tokio::test]
async fn fleets_are_resolved_from_their_key_and_listed() {
    let query = "query($r: [_Any!]!) { _entities(representations: $r) { ... on Fleet { commander } } fleets { id } }";
    let fleet = |number: u32| {
        let id = format!("https://swapi.co/resource/fleet/{number}");
        json!({ "__typename": "Fleet", "id": id })
    };
    let found = answer(query, json!({ "r": [fleet(2), fleet(9)] })).await;
    assert_eq!(
        found["_entities"],
        json!([{ "commander": "Gial Ackbar" }, null])
    );
    assert_eq!(found["fleets"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn it_says_how_it_is() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, example_extension::router()).await });
    let get = |path: &'static str| {
        tokio::task::spawn_blocking(move || {
            let mut answer = ureq::get(format!("http://{address}{path}")).call().unwrap();
            let text = answer.body_mut().read_to_string().unwrap();
            serde_json::from_str::<Value>(&text).unwrap()
        })
    };
    assert_eq!(get("/__gtg").await.unwrap(), json!({ "gtg": "OK" }));
    let health = get("/__health").await.unwrap();
    assert_eq!(health["status"], "OK");
    assert_eq!(health["healthChecks"], json!([]));
}
