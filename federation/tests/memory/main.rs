//! What hostile answers of subgraphs take in memory, against the budget of the process. A binary of its own, since it
//! counts all that the process allocates.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::{
    Gateway, GatewayOptions, SubgraphRequest, SubgraphTransport, Supergraph, TransportError,
};
use graphql_service::{MemoryBudget, Request, RequestContext, Service};

#[path = "../hostile/memory.rs"]
mod memory;

use memory::Watch;

/// What all requests together may hold.
const BUDGET: usize = 64 << 20;

/// What the process may take at most.
const PEAK: usize = BUDGET;

/// Length of an answer.
const LENGTH: usize = 6 << 20;

/// Requests at the same time.
const REQUESTS: usize = 3;

/// Says the same of every entity and of every root, without a copy.
struct Hostile {
    roots: Bytes,
    entities: Option<Bytes>,
}

#[async_trait]
impl SubgraphTransport for Hostile {
    async fn send(
        &self,
        _: &Subgraph,
        request: SubgraphRequest,
        _: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let is_root = !request.body.starts_with(b"{\"query\":\"query($rep");
        match &self.entities {
            Some(entities) if !is_root => Ok(entities.clone()),
            _ => Ok(self.roots.clone()),
        }
    }
}

/// Returns a text that is as long as an answer may be: something again and again within something.
fn text(before: &str, item: &str, after: &str) -> Bytes {
    let count = LENGTH / (item.len() + 1);
    let mut out = String::with_capacity(LENGTH + before.len() + after.len());
    out.push_str(before);
    for position in 0..count {
        if position > 0 {
            out.push(',');
        }
        out.push_str(item);
    }
    out.push_str(after);
    out.into()
}

const PRODUCTS: &str = "{ topProducts { upc name price brand { id name country } size { width weight } \
     inStock shippingEstimate shippingDollars reviews { id body } } }";

fn cases() -> Vec<(&'static str, &'static str, Hostile)> {
    let roots = |roots| Hostile {
        roots,
        entities: None,
    };
    let list = |item| text("{\"data\":{\"topProducts\":[", item, "]}}");
    let nested = "[[[[]]],[[],[{}]]]";
    let entity = format!(
        "{{\"data\":{{\"_entities\":[{{\"reviews\":[{}]}}]}}}}",
        vec!["{\"body\":\"b\"}"; 10_000].join(",")
    );
    let same = vec!["{\"upc\":\"1\"}"; 5_000].join(",");
    vec![
        ("empty objects", PRODUCTS, roots(list("{}"))),
        ("nulls", PRODUCTS, roots(list("null"))),
        ("empty lists", PRODUCTS, roots(list("[]"))),
        ("nested lists", PRODUCTS, roots(list(nested))),
        ("small objects", PRODUCTS, roots(list("{\"upc\":1}"))),
        (
            "objects of objects",
            PRODUCTS,
            roots(list("{\"brand\":{},\"size\":{}}")),
        ),
        (
            "long types",
            PRODUCTS,
            roots(list(
                "{\"__typename\":\"AVeryLongNameOfATypeThatIsNotThere\"}",
            )),
        ),
        (
            "errors",
            PRODUCTS,
            roots(text("{\"data\":{},\"errors\":[", "{}", "]}")),
        ),
        (
            "extensions of an error",
            PRODUCTS,
            roots(text(
                "{\"data\":{},\"errors\":[{\"extensions\":{\"a\":[",
                "0",
                "]}}]}",
            )),
        ),
        (
            "the path of an error",
            PRODUCTS,
            roots(text("{\"data\":{},\"errors\":[{\"path\":[", "0", "]}]}")),
        ),
        (
            "one entity at many places",
            "{ topProducts { reviews { body } } }",
            Hostile {
                roots: format!("{{\"data\":{{\"topProducts\":[{same}]}}}}").into(),
                entities: Some(entity.into()),
            },
        ),
    ]
}

#[test]
fn hostile_answers_stay_within_the_budget_of_the_process() {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap());
    for (name, query, transport) in cases() {
        let options = GatewayOptions::default();
        let gateway = Gateway::new(Arc::clone(&supergraph), Arc::new(transport), options);
        let gateway = gateway.unwrap();
        let budget = MemoryBudget::new(BUDGET);
        let watch = Watch::start();
        std::thread::scope(|scope| {
            for _ in 0..REQUESTS {
                scope.spawn(|| {
                    let context = RequestContext::new().with_memory(Arc::new(budget.account()));
                    let request = Request::new(query);
                    let response = futures::executor::block_on(gateway.respond(request, context));
                    assert!(!response.body.is_empty());
                });
            }
        });
        let highest = watch.stop();
        println!("{name}: {} MB", highest >> 20);
        assert!(highest < PEAK, "{name}: {} MB", highest >> 20);
        assert_eq!(budget.held(), 0, "{name}");
    }
}
