//! Connections: all pages together are the list, whatever happens between two pages, on any store,
//! and at the same cost wherever a page is.

use std::sync::Arc;

use async_trait::async_trait;
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, LocalStore, StoreError, StoreInfo};
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::{GraphNameRef, Literal, NamedNode, Quad};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::back_end::written;
use crate::images;

const SCHEMA: &str = "
id: /soml/pages
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableConnections: true}
objects:
  Thing: {kind: abstract, name: v:label, props: {size: {range: decimal}, at: {range: dateTime}, next: {range: Thing}, checked: {range: Plant, rangeCheck: true}}}
  Plant: {inherits: Thing}
  Stone: {inherits: Thing}
";

/// A store that knows no shorter way than the default of each method.
struct Plain(Arc<ImageStore>);

#[async_trait]
impl GraphStore for Plain {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.0.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.0.hydrate(request, context).await
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.0.probe(context).await
    }
}

impl LocalStore for Plain {}

fn service(store: Arc<ImageStore>) -> ObjectService {
    crate::fixture::service(SCHEMA, store, ServiceOptions::default())
}

fn plain_service(store: Arc<ImageStore>) -> ObjectService {
    let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
    let store = Arc::new(Plain(store));
    ObjectService::new(Arc::new(schema), store, ServiceOptions::default()).expect("an API")
}

fn run(service: &ObjectService, query: &str, variables: Value) -> Value {
    let request = json!({"query": query, "variables": variables});
    let request: Request = serde_json::from_value(request).expect("a request");
    let context = RequestContext::default();
    let answer = crate::fixture::json(&crate::fixture::answer(service, request, context));
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].clone()
}

/// A thing of random data: its number and values, of which each may be missing.
#[derive(Clone, Debug)]
struct Thing {
    stone: bool,
    labels: Vec<u8>,
    size: Option<i8>,
    hour: Option<u8>,
    next: Vec<usize>,
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let thing = (
        any::<bool>(),
        prop::collection::vec(0..4_u8, 0..3),
        prop::option::of(-2..3_i8),
        prop::option::of(0..3_u8),
        prop::collection::vec(0..12_usize, 0..3),
    );
    let thing = thing.prop_map(|(stone, labels, size, hour, next)| Thing {
        stone,
        labels,
        size,
        hour,
        next,
    });
    prop::collection::vec(thing, 0..12)
}

fn id(number: usize) -> String {
    format!("http://e/{number:02}")
}

fn load(things: &[Thing]) -> Arc<ImageStore> {
    let mut turtle =
        "@prefix v: <http://v/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .\n".to_owned();
    for (number, thing) in things.iter().enumerate() {
        let class = if thing.stone { "Stone" } else { "Plant" };
        let mut add = |value: String| turtle.push_str(&format!("<{}> {value} .\n", id(number)));
        add(format!("a v:{class}"));
        for label in &thing.labels {
            let text = ["\"a\"", "\"b\"@en", "\"B\"@de", "\"é\""][usize::from(*label)];
            add(format!("v:label {text}"));
        }
        if let Some(size) = thing.size {
            add(format!("v:size {}.5", size));
        }
        if let Some(hour) = thing.hour {
            add(format!(
                "v:at \"2020-01-01T0{hour}:00:00+01:00\"^^x:dateTime"
            ));
        }
        for next in &thing.next {
            add(format!(
                "v:next <{}> ; v:checked <{}>",
                id(*next),
                id(*next)
            ));
        }
    }
    Arc::new(images::from_turtle(turtle))
}

const ORDERS: &[&str] = &[
    "{}",
    "{id: DESC}",
    "{name: ASC}",
    "{name: DESC, id: DESC}",
    "{size: ASC}",
    "{size: DESC, at: ASC}",
    "{at: DESC}",
    "{next: {size: DESC}, _typename: DESC}",
    "{next: {checked: {name: ASC}}, name: ASC}",
    "{checked: {size: ASC, _typename: ASC}}",
];

/// Walks all pages; returns the ids in the order of the list.
fn walk(service: &ObjectService, order: &str, size: usize, backwards: bool) -> Vec<String> {
    let window = if backwards {
        "last: $n, before: $cursor"
    } else {
        "first: $n, after: $cursor"
    };
    let query = format!(
        "query($n: Int, $cursor: String) {{ thingConnection({window}, orderBy: {order}) {{ \
         edges {{ cursor node {{ id }} }} nodes {{ id }} totalCount \
         pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
    );
    let mut pages: Vec<Vec<String>> = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let answer = run(service, &query, json!({"n": size, "cursor": cursor}));
        let page = &answer["thingConnection"];
        let edges = page["edges"].as_array().expect("edges");
        let (info, nodes) = (&page["pageInfo"], page["nodes"].as_array().expect("nodes"));
        let ids: Vec<String> = edges.iter().map(|edge| text(&edge["node"]["id"])).collect();
        assert_eq!(
            ids,
            nodes.iter().map(|n| text(&n["id"])).collect::<Vec<_>>()
        );
        let end = |edge: Option<&Value>| edge.map_or(Value::Null, |edge| edge["cursor"].clone());
        assert_eq!(info["startCursor"], end(edges.first()));
        assert_eq!(info["endCursor"], end(edges.last()));
        let is_first = pages.is_empty();
        pages.push(ids);
        let (on, back) = if backwards {
            ("hasPreviousPage", "hasNextPage")
        } else {
            ("hasNextPage", "hasPreviousPage")
        };
        assert_eq!(info[back], json!(!is_first), "something lies behind us");
        if info[on] == json!(false) {
            let count: usize = pages.iter().map(Vec::len).sum();
            assert_eq!(page["totalCount"], json!(count));
            break;
        }
        assert_eq!(
            pages.last().map(Vec::len),
            Some(size),
            "only the last page is short"
        );
        let side = if backwards {
            "startCursor"
        } else {
            "endCursor"
        };
        cursor = info[side].clone();
    }
    if backwards {
        pages.reverse();
    }
    pages.concat()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn all_pages_together_are_the_list() {
    let mut runner = TestRunner::new(Config::with_cases(24));
    let input = (things(), 0..ORDERS.len(), 1..5_usize, any::<bool>());
    let walked = runner.run(&input, |(things, order, size, backwards)| {
        let order = ORDERS[order];
        let store = load(&things);
        let plain = plain_service(Arc::clone(&store));
        let embedded = service(store);
        let query = format!("{{ thing(orderBy: {order}, offset: 0) {{ id }} }}");
        let answer = run(&embedded, &query, json!({}));
        let list = answer["thing"].as_array().expect("a list");
        let list: Vec<String> = list.iter().map(|thing| text(&thing["id"])).collect();
        prop_assert_eq!(&walk(&embedded, order, size, backwards), &list);
        prop_assert_eq!(&walk(&plain, order, size, backwards), &list);
        Ok(())
    });
    walked.unwrap_or_else(|error| panic!("{error}"));
}

const PAGE: &str = "query($cursor: String) { thingConnection(first: 2, after: $cursor, orderBy: \
                    {size: DESC}) { nodes { id } pageInfo { endCursor hasNextPage } } }";

fn numbered(sizes: &[i8]) -> Vec<Thing> {
    let thing = |size: &i8| Thing {
        stone: true,
        labels: Vec::new(),
        size: Some(*size),
        hour: None,
        next: Vec::new(),
    };
    sizes.iter().map(thing).collect()
}

fn ids(page: &Value) -> Vec<String> {
    let nodes = page["thingConnection"]["nodes"].as_array();
    nodes
        .expect("nodes")
        .iter()
        .map(|n| text(&n["id"]))
        .collect()
}

#[test]
fn a_cursor_outlives_its_object_and_sees_what_comes_behind_it() {
    let store = load(&numbered(&[50, 40, 30, 20, 10]));
    let service = service(Arc::clone(&store));
    let first = run(&service, PAGE, json!({}));
    assert_eq!(ids(&first), [id(0), id(1)]);
    let cursor = &first["thingConnection"]["pageInfo"]["endCursor"];

    let last = NamedNode::new_unchecked(id(1));
    let quads = store.snapshot();
    let of_last = quads
        .iter()
        .filter(|quad| quad.subject == last.clone().into());
    written::write(store.as_ref(), of_last.collect(), Vec::new());
    let add = |number, size: &str| {
        let thing = NamedNode::new_unchecked(id(number));
        let node = NamedNode::new_unchecked;
        let decimal = node("http://www.w3.org/2001/XMLSchema#decimal");
        let class = node("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
        let graph = GraphNameRef::DefaultGraph;
        let size = Literal::new_typed_literal(size, decimal);
        let quads = vec![
            Quad::new(thing.clone(), class, node("http://v/Stone"), graph),
            Quad::new(thing, node("http://v/size"), size, graph),
        ];
        written::write(store.as_ref(), Vec::new(), quads);
    };
    add(6, "45");
    add(7, "35");

    let second = run(&service, PAGE, json!({"cursor": cursor}));
    assert_eq!(
        ids(&second),
        [id(7), id(2)],
        "what came in front stays in front"
    );
    let cursor = &second["thingConnection"]["pageInfo"]["endCursor"];
    let third = run(&service, PAGE, json!({"cursor": cursor}));
    assert_eq!(ids(&third), [id(3), id(4)]);
    assert_eq!(
        third["thingConnection"]["pageInfo"]["hasNextPage"],
        json!(false)
    );
}

#[test]
fn a_plan_of_a_connection_tells_its_window() {
    let store = load(&numbered(&[2, 1]));
    let mut options = ServiceOptions::new();
    options.explain = true;
    let service = crate::fixture::service(SCHEMA, store, options);
    let query =
        "{ thingConnection(first: 1, orderBy: {size: DESC}) { nodes { size } totalCount } }";
    let request = json!({"query": query, "extensions": {"explain": true}});
    let request: Request = serde_json::from_value(request).expect("a request");
    let answer = crate::fixture::json(&crate::fixture::answer(
        &service,
        request,
        RequestContext::default(),
    ));
    let explain = &answer["extensions"]["explain"];
    let plan = text(&explain["plan"][0]);
    for part in [
        "thingConnection: select instance of <",
        "then by <http://v/size> descending, the first 1, counted, level 0",
    ] {
        assert!(plan.contains(part), "{plan}");
    }
    // The count is the length of the order that the window is cut from.
    assert_eq!(explain["roundTrips"], json!(2));
}
