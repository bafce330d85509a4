//! Subgraphs that are written with `async-graphql`: what the library prints composes, and the gateway asks them.

use std::sync::Arc;

use async_graphql::{
    ComplexObject, EmptyMutation, EmptySubscription, ID, Object, Request, Schema, SimpleObject,
};
use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{RequestContext, Service};
use serde_json::{Value, json};

/// A planet where it is charted.
#[derive(SimpleObject)]
#[graphql(name = "Planet", shareable)]
struct Charted {
    id: ID,
    name: String,
    radius: i32,
}

struct Charts;

#[Object(name = "Query")]
impl Charts {
    async fn planets(&self) -> Vec<Charted> {
        [1, 2].map(charted).into()
    }

    #[graphql(entity)]
    async fn planet(&self, id: ID) -> Option<Charted> {
        id.parse().ok().map(charted)
    }
}

fn charted(number: i32) -> Charted {
    Charted {
        id: number.into(),
        name: format!("planet {number}"),
        radius: number * 1000,
    }
}

/// A planet where journeys lead to it.
#[derive(SimpleObject)]
#[graphql(name = "Planet", complex)]
struct Visited {
    id: ID,
    #[graphql(external)]
    radius: i32,
}

#[ComplexObject]
impl Visited {
    #[graphql(requires = "radius")]
    async fn days(&self) -> i32 {
        self.radius / 100
    }
}

#[derive(SimpleObject)]
struct Journey {
    to: Visited,
}

struct Journeys;

#[Object(name = "Query")]
impl Journeys {
    async fn journey(&self, to: ID) -> Journey {
        let to = Visited { id: to, radius: 0 };
        Journey { to }
    }

    #[graphql(entity)]
    async fn visited(&self, #[graphql(key)] id: ID, radius: Option<i32>) -> Visited {
        let radius = radius.unwrap_or_default();
        Visited { id, radius }
    }
}

fn answer<Q: async_graphql::ObjectType + 'static>(
    schema: &Schema<Q, EmptyMutation, EmptySubscription>,
    request: &graphql_service::Request,
) -> Value {
    let variables = json!(request.variables.clone().unwrap_or_default());
    let variables = async_graphql::Variables::from_json(variables);
    let request = Request::new(&request.query).variables(variables);
    let response = futures::executor::block_on(schema.execute(request));
    serde_json::to_value(response).expect("a response is JSON")
}

#[test]
fn subgraphs_of_async_graphql_compose_and_are_asked() {
    let charts = Schema::build(Charts, EmptyMutation, EmptySubscription).finish();
    let journeys = Schema::build(Journeys, EmptyMutation, EmptySubscription).finish();
    let printed = async_graphql::SDLExportOptions::new()
        .federation()
        .compose_directive();
    let source = |name: &str, sdl: String| SubgraphSource {
        name: name.to_owned(),
        url: String::new(),
        sdl,
    };
    let sources = [
        source("charts", charts.sdl_with_options(printed)),
        source("journeys", journeys.sdl_with_options(printed)),
    ];
    let composed = compose(&sources, &ComposeOptions::default());
    let composed = composed.unwrap_or_else(|errors| panic!("{errors:#?}\n{sources:#?}"));
    let supergraph = Supergraph::parse(&composed.supergraph_sdl, "supergraph.graphql");
    let transport = InProcess::new()
        .with_function("charts", move |request| answer(&charts, request))
        .with_function("journeys", move |request| answer(&journeys, request));
    let supergraph = Arc::new(supergraph.unwrap());
    let gateway = Gateway::new(supergraph, Arc::new(transport), GatewayOptions::default());
    let gateway = gateway.unwrap();
    let query = "{ planets { id days } journey(to: \"2\") { to { name days } } }";
    let request = graphql_service::Request::new(query);
    let reply = gateway.respond(request, RequestContext::new());
    // Subgraphs block the thread with an executor of their own.
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let reply = runtime.unwrap().block_on(reply);
    let answer: Value = serde_json::from_slice(&reply.body.to_bytes()).unwrap();
    let expected = json!({ "data": {
        "planets": [{ "id": "1", "days": 10 }, { "id": "2", "days": 20 }],
        "journey": { "to": { "name": "planet 2", "days": 20 } },
    }});
    assert_eq!(answer, expected);
}
