//! What the observer of a request learns, and what a transport is told of a request to a subgraph.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::{SubgraphRequest, SubgraphTransport, TransportError};
use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{ObservedOperation, Request, RequestContext, RequestObserver, Service};
use serde_json::json;

use crate::http::runtime;

/// Remembers operations, and whether they were planned.
#[derive(Debug, Default)]
struct Remembering(Mutex<Vec<(String, Option<String>, bool)>>);

impl RequestObserver for Remembering {
    fn operation(&self, operation: ObservedOperation<'_>) {
        let planned = operation.planned;
        assert!(planned.is_none_or(|(begun, ended)| begun <= ended));
        self.0.lock().unwrap().push((
            operation.operation_type.name().to_owned(),
            operation.name.map(str::to_owned),
            planned.is_some(),
        ));
    }

    fn for_part(self: Arc<Self>) -> Arc<dyn RequestObserver> {
        self
    }
}

/// Remembers how many entities each subgraph was asked for.
struct Counting {
    subgraphs: InProcess,
    representations: Arc<Mutex<Vec<(String, usize)>>>,
}

#[async_trait]
impl SubgraphTransport for Counting {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let counted = (subgraph.name.to_string(), request.representations);
        self.representations.lock().unwrap().push(counted);
        self.subgraphs.send(subgraph, request, context).await
    }
}

fn shop(representations: &Arc<Mutex<Vec<(String, usize)>>>) -> Gateway {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let product = |upc: &str| json!({ "__typename": "Product", "upc": upc, "name": "n" });
    let products = json!({ "data": { "topProducts": [product("1"), product("2"), product("3")] } });
    let reviews =
        json!({ "data": { "_entities": [{"reviews": []}, {"reviews": []}, {"reviews": []}] } });
    let transport = Counting {
        subgraphs: InProcess::new()
            .with_function("products", move |_| products.clone())
            .with_function("reviews", move |_| reviews.clone()),
        representations: Arc::clone(representations),
    };
    let options = GatewayOptions::default();
    Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap()
}

#[test]
fn an_observer_learns_of_each_operation_and_of_planning_where_the_plan_is_new() {
    let gateway = shop(&Arc::default());
    let observer = Arc::new(Remembering::default());
    let ask = |query: &str| {
        let observer = Arc::clone(&observer) as Arc<dyn RequestObserver>;
        let context = RequestContext::new().with_observer(observer);
        runtime().block_on(gateway.respond(Request::new(query), context));
    };
    ask("query Top { topProducts { name } }");
    ask("query Top { topProducts { name } }");
    ask("{ unknownField }");
    ask("{ topProducts { upc } }");
    let top = Some("Top".to_owned());
    let expected = [
        ("query".to_owned(), top.clone(), true),
        ("query".to_owned(), top, false),
        ("query".to_owned(), None, true),
    ];
    assert_eq!(*observer.0.lock().unwrap(), expected);
}

#[test]
fn a_transport_is_told_how_many_entities_a_subgraph_is_asked_for() {
    let representations = Arc::default();
    let gateway = shop(&representations);
    let query = Request::new("{ topProducts { name reviews { body } } }");
    let response = runtime().block_on(gateway.respond(query, RequestContext::new()));
    let text = String::from_utf8(response.body.to_bytes().to_vec()).unwrap();
    assert!(!text.contains("errors"), "{text}");
    let expected = [("products".to_owned(), 0), ("reviews".to_owned(), 3)];
    assert_eq!(*representations.lock().unwrap(), expected);
}
