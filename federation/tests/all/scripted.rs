//! Gateways over subgraphs that answer as a test says, and what these were asked.

use std::sync::{Arc, Mutex};

use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::{Gateway, GatewayOptions, InProcess, SubgraphTransport, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Map, Value as Json, json};

const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [
  "@key" "@requires" "@provides" "@external" "@shareable" "@inaccessible" "@interfaceObject" "@tag"
])
"#;

/// A subgraph: its name, its schema, and its answer to a request.
pub(crate) type Script = (&'static str, &'static str, fn(&Request) -> Json);

/// A gateway with what its subgraphs were asked.
pub(crate) struct Scripted {
    gateway: Gateway,
    sent: Arc<Mutex<Vec<(&'static str, Json)>>>,
}

impl Scripted {
    /// Composes subgraphs.
    pub(crate) fn new(subgraphs: &[Script]) -> Self {
        Scripted::with(subgraphs, GatewayOptions::default())
    }

    /// Composes subgraphs for a gateway with options.
    pub(crate) fn with(subgraphs: &[Script], options: GatewayOptions) -> Self {
        Scripted::made(&composed(subgraphs), subgraphs, options)
    }

    /// Takes the supergraph of subgraphs as it is.
    pub(crate) fn over(sdl: &str, subgraphs: &[Script]) -> Self {
        Scripted::made(sdl, subgraphs, GatewayOptions::default())
    }

    /// Returns a gateway over subgraphs that are composed and reached in another way.
    pub(crate) fn gateway(
        subgraphs: &[Script],
        transport: Arc<dyn SubgraphTransport>,
        options: GatewayOptions,
    ) -> Gateway {
        let supergraph = supergraph(&composed(subgraphs));
        Gateway::new(supergraph, transport, options).unwrap()
    }

    fn made(sdl: &str, subgraphs: &[Script], options: GatewayOptions) -> Self {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let mut transport = InProcess::new();
        for (name, _, answer) in subgraphs.iter().copied() {
            let sent = Arc::clone(&sent);
            transport = transport.with_function(name, move |request| {
                let representations = representations(request).into_iter();
                let all = representations.flat_map(|(_, representations)| representations);
                sent.lock().unwrap().extend(all.map(|it| (name, it)));
                answer(request)
            });
        }
        let gateway = Gateway::new(supergraph(sdl), Arc::new(transport), options).unwrap();
        Scripted { gateway, sent }
    }

    /// Answers a query.
    pub(crate) fn answer(&self, query: &str) -> Json {
        let answer = self
            .gateway
            .respond(Request::new(query), RequestContext::new());
        let answer = futures::executor::block_on(answer);
        serde_json::from_slice(&answer.body.to_bytes()).unwrap()
    }

    /// Returns the plan of a query as text.
    pub(crate) fn plan(&self, query: &str) -> String {
        let plan = self
            .gateway
            .plan(&Request::new(query), &RequestContext::new());
        plan.unwrap().text(self.gateway.supergraph())
    }

    /// Returns the representations that a subgraph was sent.
    pub(crate) fn sent(&self, subgraph: &str) -> Vec<Json> {
        let sent = self.sent.lock().unwrap();
        let there = sent.iter().filter(|(name, _)| *name == subgraph);
        there.map(|(_, it)| it.clone()).collect()
    }
}

/// Composes subgraphs.
fn composed(subgraphs: &[Script]) -> String {
    let sources = subgraphs.iter().map(|(name, sdl, _)| SubgraphSource {
        name: (*name).to_owned(),
        url: String::new(),
        sdl: format!("{LINK}{sdl}"),
    });
    let sources: Vec<SubgraphSource> = sources.collect();
    let composed = compose(&sources, &ComposeOptions::default());
    let composed = composed.unwrap_or_else(|errors| panic!("{errors:#?}"));
    composed.supergraph_sdl
}

fn supergraph(sdl: &str) -> Arc<Supergraph> {
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql");
    Arc::new(supergraph.unwrap_or_else(|errors| panic!("{errors:#?}\n{sdl}")))
}

/// Answers what a request asks for of entities.
pub(crate) fn entities(request: &Request, entity: impl Fn(&Json) -> Json) -> Json {
    let lists = representations(request).into_iter();
    let data = lists.map(|(key, list)| (key, list.iter().map(&entity).collect()));
    json!({ "data": data.collect::<Map<String, Json>>() })
}

/// Returns the representations of a request by the keys of their entities in the answer.
fn representations(request: &Request) -> Vec<(String, Vec<Json>)> {
    let variables = serde_json::to_value(&request.variables).unwrap();
    let variables = variables.as_object().into_iter().flatten();
    let lists = variables.filter_map(|(name, value)| {
        let key = match name.strip_prefix("representations")? {
            "" => "_entities",
            key => key,
        };
        Some((key.to_owned(), value.as_array()?.clone()))
    });
    lists.collect()
}
