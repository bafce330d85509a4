//! What a transport is told of a request to a subgraph.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::{SubgraphRequest, SubgraphTransport, TransportError};
use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::json;

use crate::http::runtime;

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
