//! Operations over supergraphs, and answers of subgraphs: each operation is refused or answered with JSON, whatever the
//! subgraphs say.
//!
//! The input is the text of an operation; behind a NUL byte may stand what all subgraphs answer. Without that they
//! answer what they are asked for. Compiled by its target alone and by the tests of `federation`.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use federation::supergraph::Subgraph;
use federation::{
    Gateway, GatewayLimits, GatewayOptions, SubgraphRequest, SubgraphTransport, Supergraph,
    TransportError,
};
use futures::executor::block_on;
use graphql_service::apollo_compiler::ast::{Definition, Document, Selection};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Map, Value, json};

const SUPERGRAPHS: [&str; 8] = [
    include_str!("../../federation/tests/cases/bank/supergraph.graphql"),
    include_str!("../../federation/tests/cases/legacy/supergraph.graphql"),
    include_str!("../../federation/tests/cases/library/supergraph.graphql"),
    include_str!("../../federation/tests/cases/media/supergraph.graphql"),
    include_str!("../../federation/tests/cases/shop/supergraph.graphql"),
    include_str!("../../federation/tests/cases/store/supergraph.graphql"),
    include_str!("../../federation/tests/cases/travel/supergraph.graphql"),
    include_str!("../../federation/tests/cases/works/supergraph.graphql"),
];

/// Errors that no one can provoke who asks for something and owns a subgraph.
const FAILURES: [&str; 2] = ["INTERNAL", "PLAN_IMPOSSIBLE"];

/// Sends an operation to gateways over all supergraphs; returns the number of those that have executed it.
pub fn run(input: &[u8]) -> usize {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let operation = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let answer = parts.next().map(<[u8]>::to_vec);
    ANSWER.set(answer);
    let gateways = GATEWAYS.iter();
    let executed = gateways.filter(|gateway| {
        let response = block_on(respond(gateway, &operation));
        let errors = response["errors"].as_array().cloned().unwrap_or_default();
        for error in &errors {
            let code = error["extensions"]["code"].as_str();
            let code = code.unwrap_or_else(|| panic!("{error}"));
            assert!(!FAILURES.contains(&code), "{operation}: {response}");
        }
        let is_executed = response.get("data").is_some();
        assert!(is_executed || !errors.is_empty(), "{response}");
        is_executed
    });
    executed.count()
}

thread_local! {
    /// What all subgraphs say to whoever asks on this thread.
    static ANSWER: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

static GATEWAYS: LazyLock<Vec<Gateway>> =
    LazyLock::new(|| SUPERGRAPHS.iter().map(|text| gateway(text)).collect());

fn gateway(text: &str) -> Gateway {
    let supergraph = Supergraph::parse(text, "supergraph.graphql").expect("it is valid");
    let mut options = GatewayOptions::default();
    options.gateway_limits = GatewayLimits::default()
        .candidates(100)
        .plan(10_000)
        .subgraph_bytes(1 << 20);
    // Nothing is kept, so that each run is like the next.
    (options.document_cache_bytes, options.plan_cache_fields) = (0, 0);
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(Says), options);
    gateway.expect("nothing is required")
}

async fn respond(gateway: &Gateway, operation: &str) -> Value {
    let request = Request::new(operation).with_variables(variables(operation));
    let response = gateway.respond(request, RequestContext::new());
    let body = response.await.body.to_bytes();
    serde_json::from_slice(&body).expect("answers are JSON")
}

/// Returns values for the variables of an operation whose types are built in.
fn variables(operation: &str) -> Map<String, Value> {
    let mut values = Map::new();
    let Ok(document) = Document::parse(operation, "operation.graphql") else {
        return values;
    };
    for definition in &document.definitions {
        let Definition::OperationDefinition(operation) = definition else {
            continue;
        };
        for variable in &operation.variables {
            let value = match variable.ty.inner_named_type().as_str() {
                "Boolean" => json!(hash(&variable.name, 0).is_multiple_of(2)),
                "Int" => json!(3),
                "ID" | "String" => json!("1"),
                _ => continue,
            };
            values.insert(variable.name.to_string(), value);
        }
    }
    values
}

/// Subgraphs that all say the same, or what they are asked for.
struct Says;

#[async_trait]
impl SubgraphTransport for Says {
    async fn send(
        &self,
        _: &Subgraph,
        request: SubgraphRequest,
        _: &RequestContext,
    ) -> Result<bytes::Bytes, TransportError> {
        let text = ANSWER.with_borrow(Clone::clone);
        let text = text.unwrap_or_else(|| mirrored(&request.body));
        Ok(text.into())
    }
}

/// Answers a request with values that follow from the names of its fields.
fn mirrored(body: &[u8]) -> Vec<u8> {
    let request: Value = serde_json::from_slice(body).expect("requests are JSON");
    let text = request["query"].as_str().expect("requests have a document");
    let document = Document::parse(text, "request.graphql").expect("documents are valid");
    let operation = document.definitions.iter().find_map(|it| match it {
        Definition::OperationDefinition(operation) => Some(operation),
        _ => None,
    });
    let operation = operation.expect("there is an operation");
    let mut data = object(&operation.selection_set, 1);
    for (name, representations) in request["variables"].as_object().into_iter().flatten() {
        let Some(representations) = representations.as_array() else {
            continue;
        };
        let suffix = name.strip_prefix("representations").unwrap_or_default();
        let key = match suffix {
            "" => "_entities".to_owned(),
            suffix => suffix.to_owned(),
        };
        if let Some(entity) = data.get(&key).cloned() {
            let entity = entity.as_array().and_then(|it| it.first()).cloned();
            let entities = vec![entity.unwrap_or_default(); representations.len()];
            data.insert(key, Value::Array(entities));
        }
    }
    json!({ "data": data }).to_string().into_bytes()
}

fn object(selections: &[Selection], seed: u64) -> Map<String, Value> {
    let mut members = Map::new();
    for selection in selections {
        match selection {
            Selection::Field(field) => {
                let key = field.alias.as_ref().unwrap_or(&field.name).to_string();
                let hash = hash(&field.name, seed);
                let value = match field.name.as_str() {
                    "__typename" => json!(typename(selections, hash)),
                    _ if field.selection_set.is_empty() => leaf(hash),
                    name => {
                        let object = Value::Object(object(&field.selection_set, hash));
                        if name == "_entities" || name.ends_with('s') {
                            json!([object, object])
                        } else {
                            object
                        }
                    }
                };
                members.insert(key, value);
            }
            Selection::InlineFragment(inline) => {
                members.extend(object(&inline.selection_set, seed));
            }
            Selection::FragmentSpread(_) => {}
        }
    }
    members
}

/// Returns a type that a fragment asks for.
fn typename(selections: &[Selection], hash: u64) -> String {
    let names = selections.iter().filter_map(|selection| match selection {
        Selection::InlineFragment(inline) => inline.type_condition.as_ref(),
        _ => None,
    });
    let names: Vec<_> = names.collect();
    match names.len() {
        0 => "Unknown".to_owned(),
        count => names[usize::try_from(hash).unwrap_or(0) % count].to_string(),
    }
}

fn leaf(hash: u64) -> Value {
    match hash % 6 {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(hash),
        3 => json!([hash % 7]),
        _ => json!("text"),
    }
}

fn hash(name: &str, seed: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, seed).hash(&mut hasher);
    hasher.finish()
}
