//! Values from contexts: supergraphs that are refused, requests with many values, and values that are missing.

use std::sync::{Arc, Mutex};

use federation::{Gateway, GatewayLimits, GatewayOptions, InProcess, Supergraph, SupergraphError};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value as Json, json};

use crate::http::runtime;

const SDL: &str = include_str!("../cases/bank/context-without-a-value/supergraph.graphql");

/// Reads the supergraph with one text replaced by another.
fn with(old: &str, new: &str) -> Result<Supergraph, Vec<SupergraphError>> {
    assert!(SDL.contains(old), "{old}");
    Supergraph::parse(&SDL.replacen(old, new, 1), "supergraph.graphql")
}

/// Returns the code, the message and the line of the only error.
fn refused(old: &str, new: &str) -> (&'static str, String, usize) {
    let errors = with(old, new).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let line = errors[0].location.map(|location| location.line);
    (
        errors[0].code.as_str(),
        errors[0].message.clone(),
        line.unwrap(),
    )
}

fn line_of(text: &str) -> usize {
    let before = &SDL[..SDL.find(text).unwrap()];
    before.matches('\n').count() + 1
}

#[test]
fn arguments_from_contexts_that_contradict_the_schema_are_refused_with_their_place() {
    let loose =
        r#"{context: "rates__rates", name: "rank", type: "String", selection: " { rank }"}"#;
    let line = line_of(loose);
    for (new, reason) in [
        (
            r#"{context: "other", name: "rank", type: "String", selection: " { rank }"}"#,
            "no type has the context `other` of `Payment.loose(rank:)`",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "Nothing", selection: " { rank }"}"#,
            "the type `Nothing` of `Payment.loose(rank:)` is not known",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "[String", selection: " { rank }"}"#,
            "the type `[String` of `Payment.loose(rank:)` is not known",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "Int", selection: " { rank }"}"#,
            "`rank` is `String`, not `Int`",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "ID", selection: " { id payments { id } }"}"#,
            "several fields are selected, but one is expected",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "String", selection: " { __typename }"}"#,
            "`__typename` cannot be taken",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "String", selection: " { none }"}"#,
            "does not have a field `none`",
        ),
        (
            r#"{context: "rates__rates", name: "rank", type: "String", selection: "} {"}"#,
            "the selection \"} {\" of `Payment.loose(rank:)` on `User`",
        ),
        (
            r#"{context: "rates__rates", name: "0", type: "String", selection: " { rank }"}"#,
            "has no `name`, `type`, `context` or `selection`",
        ),
    ] {
        let (code, message, at) = refused(loose, new);
        assert_eq!(
            (code, at),
            ("INVALID_FEDERATION_SUPERGRAPH", line),
            "{message}"
        );
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn fields_that_could_not_be_given_values_are_refused_with_their_place() {
    let (code, message, line) = refused("loose: String", "loose(rank: Int): String");
    assert!(
        message.contains("`Payment.loose(rank:)` is an argument for clients too"),
        "{message}"
    );
    assert_eq!(
        (code, line),
        ("INVALID_FEDERATION_SUPERGRAPH", line_of("loose: String"))
    );
    let plain = "note: String @join__field(graph: RATES)";
    let requires = "note: String @join__field(graph: RATES, requires: \"graded\")";
    let (code, message, line) = refused(plain, requires);
    assert!(
        message.contains("`Payment.graded` takes arguments from contexts"),
        "{message}"
    );
    assert_eq!((code, line), ("UNSUPPORTED_FEATURE", line_of(plain)));
    let payment = "type Payment @join__type(graph: PEOPLE, key: \"id\") @join__type(graph: RATES, key: \"id\")";
    let keyless = "type Payment @join__type(graph: PEOPLE, key: \"id\") @join__type(graph: RATES)";
    let errors = with(payment, keyless).unwrap_err();
    assert_eq!(errors.len(), 3);
    assert!(
        errors[0].message.contains("`Payment` has no key there"),
        "{}",
        errors[0]
    );
    assert!(errors[0].location.is_some());
    let (code, message, _) = refused("context/v0.1\"", "context/v0.2\"");
    assert_eq!(code, "UNSUPPORTED_FEATURE");
    assert!(message.contains("context v0.2"), "{message}");
}

/// A gateway over users with one payment each, and what the subgraph of the rates was asked.
fn rates(
    users: usize,
    rank: impl Fn(usize) -> Json + Send + Sync + 'static,
    limits: GatewayLimits,
) -> (Gateway, Arc<Mutex<Vec<Request>>>) {
    let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let people: Vec<Json> = (0..users)
        .map(|id| json!({ "id": id.to_string(), "payments": [{ "id": (id % 7).to_string() }] }))
        .collect();
    let transport = InProcess::new()
        .with_function("people", move |_| json!({ "data": { "people": people } }))
        .with_function("rates", move |request| {
            let is_of_users = request.query.contains("on User");
            if !is_of_users {
                log.lock().unwrap().push(request.clone());
            }
            let variables = serde_json::to_value(&request.variables).unwrap();
            let mut data = serde_json::Map::new();
            for (name, given) in variables.as_object().unwrap() {
                let Some(number) = name.strip_prefix("representations") else {
                    continue;
                };
                let rank_given = &variables[&format!("context_0{number}")];
                let entities = given.as_array().unwrap().iter().map(|it| {
                    let id: usize = it["id"].as_str().unwrap().parse().unwrap();
                    if is_of_users {
                        json!({ "rank": rank(id) })
                    } else {
                        json!({ "loose": format!("{id} of {rank_given}") })
                    }
                });
                data.insert(format!("_entities{number}"), entities.collect());
            }
            json!({ "data": data })
        });
    let mut options = GatewayOptions::default();
    options.gateway_limits = limits;
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options);
    (gateway.unwrap(), asked)
}

fn respond(gateway: &Gateway, query: &str) -> Json {
    let context = RequestContext::new();
    let response = runtime().block_on(gateway.respond(Request::new(query), context));
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

#[test]
fn each_value_has_a_list_of_its_own_and_requests_have_at_most_fifty() {
    let (gateway, asked) = rates(
        240,
        |id| json!((id / 2).to_string()),
        GatewayLimits::default(),
    );
    let response = respond(&gateway, "{ people { payments { loose } } }");
    assert_eq!(response.get("errors"), None);
    for (id, user) in response["data"]["people"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let expected = format!("{} of \"{}\"", id % 7, id / 2);
        assert_eq!(user["payments"][0]["loose"], expected);
    }
    let asked = asked.lock().unwrap();
    let lists = |request: &Request| request.query.matches("_entities(").count();
    assert_eq!(asked.iter().map(lists).collect::<Vec<_>>(), [50, 50, 20]);
}

#[test]
fn objects_with_the_same_value_share_a_list_and_the_same_entity_is_asked_for_once() {
    let (gateway, asked) = rates(
        240,
        |id| json!((id % 2).to_string()),
        GatewayLimits::default(),
    );
    let response = respond(&gateway, "{ people { payments { loose } } }");
    assert_eq!(
        response["data"]["people"][239]["payments"][0]["loose"],
        "1 of \"1\""
    );
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    let variables = serde_json::to_value(&asked[0].variables).unwrap();
    for name in ["representations", "representations_1"] {
        assert_eq!(variables[name].as_array().unwrap().len(), 7, "{variables}");
    }
}

#[test]
fn more_values_than_the_limit_are_an_error_and_the_others_are_answered() {
    let limits = GatewayLimits::default().context_values(30);
    let (gateway, asked) = rates(40, |id| json!(id.to_string()), limits);
    let response = respond(&gateway, "{ people { payments { loose } } }");
    let errors = response["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["extensions"]["code"], "LIMIT_GATEWAY_CONTEXTS");
    assert_eq!(errors[0]["path"], json!(["people"]));
    let loose = |user: &Json| user["payments"][0]["loose"].clone();
    let people = response["data"]["people"].as_array().unwrap();
    assert_eq!(
        people.iter().filter(|user| loose(user).is_null()).count(),
        10
    );
    assert_eq!(loose(&people[29]), "1 of \"29\"");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn a_field_whose_context_could_not_be_fetched_is_not_asked_for_and_gives_no_error_of_its_own() {
    let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
    let people = json!([{ "id": "1", "payments": [{ "id": "1" }] }]);
    let transport = InProcess::new()
        .with_function("people", move |_| json!({ "data": { "people": people } }))
        .with_function("rates", |request| {
            assert!(request.query.contains("on User"), "{}", request.query);
            json!({ "errors": [{ "message": "out of order" }] })
        });
    let options = GatewayOptions::default();
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap();
    let response = respond(&gateway, "{ people { payments { loose graded certain } } }");
    let errors = response["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["message"], "out of order");
    // The field that must have a value is explained by the error above it.
    assert_eq!(
        response["data"],
        json!({ "people": [{ "payments": [null] }] })
    );
}
