//! Answers operations over subgraphs that are served over HTTP, one JSON object a line: `{"supergraph", "query",
//! "variables", "labels"}`. Writes the response for each line.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use federation::transport::http::{HttpOptions, HttpTransport};
use federation::{ActiveLabels, Gateway, GatewayOptions, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value, json};

type Fault = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let mut out = io::stdout().lock();
    let mut gateways = HashMap::new();
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let key = format!("{} {}", asked["labels"], asked["supergraph"]);
        if !gateways.contains_key(&key) {
            gateways.insert(key.clone(), gateway(&asked)?);
        }
        let gateway = &gateways[&key];
        let mut request = Request::new(asked["query"].as_str().unwrap_or_default());
        request.variables = serde_json::from_value(asked["variables"].clone())?;
        let reply = gateway.respond(request, RequestContext::new()).await;
        let answer: Value = serde_json::from_slice(&reply.body.to_bytes())?;
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

/// Creates the gateway that a line asks for.
fn gateway(asked: &Value) -> Result<Gateway, Fault> {
    let text = asked["supergraph"].as_str().unwrap_or_default();
    let supergraph = Supergraph::parse(text, "supergraph.graphql").map_err(|errors| {
        json!(errors.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
    })?;
    let transport = HttpTransport::of(&supergraph, HttpOptions::default())?;
    let wanted = asked["labels"].as_array().into_iter().flatten();
    let wanted: Vec<_> = wanted.filter_map(Value::as_str).collect();
    let labels = supergraph.labels().iter().enumerate();
    let labels = labels.filter(|(_, label)| wanted.contains(&label.as_str()));
    let labels: Vec<_> = labels.map(|(at, _)| supergraph.label_id(at)).collect();
    let mut options = GatewayOptions::default();
    options.labels = ActiveLabels::new(labels);
    Ok(Gateway::new(
        Arc::new(supergraph),
        Arc::new(transport),
        options,
    )?)
}
