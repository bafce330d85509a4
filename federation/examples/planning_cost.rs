//! Measures what an operation costs that a gateway has never seen before, compared with one that it knows. Both are
//! answered in turn by the same gateway, whose subgraphs answer null at once.
//!
//!     planning_cost SUPERGRAPH OPERATION [ROUNDS]
//!
//! The operation begins with `query NAME {`. Its documents differ in what the first column says.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use federation::transport::InProcess;
use federation::{Gateway, GatewayOptions, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Fault = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [supergraph, operation, rounds @ ..] = arguments.as_slice() else {
        return Err("the files of a supergraph and of an operation are needed".into());
    };
    let (supergraph, operation) = (
        std::fs::read_to_string(supergraph)?,
        std::fs::read_to_string(operation)?,
    );
    let rounds = rounds.first().map_or(Ok(2_000), |text| text.parse())?;
    let gateway = gateway(&supergraph)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} characters, {rounds} rounds", operation.len())?;
    writeln!(out, "difference     new µs  known µs    more µs  ratio")?;
    let begin = operation.find("query ");
    let begin = begin.and_then(|at| Some(at + operation[at..].find('{')?));
    let begin = begin.ok_or("there is no operation with a name")?;
    let (head, tail) = (&operation[..begin], &operation[begin + 1..]);
    type Vary = fn(&str, &str, usize) -> String;
    let variants: [(&str, Vary); 3] = [
        ("alias", |head, tail, n| {
            format!("{head}{{ a{n}: __typename{tail}")
        }),
        ("comment", |head, tail, n| format!("{head}{{ # {n}\n{tail}")),
        ("literal", |head, tail, n| {
            format!("{head}{{ literal: user(id: \"{n}\") {{ name }} {tail}")
        }),
    ];
    for (name, vary) in variants {
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let text = vary(head, tail, round);
            for times in [&mut new, &mut known] {
                times.push(answer(&gateway, &text).await);
            }
        }
        let (new, known) = (usual(new), usual(known));
        let (more, ratio) = (new - known, new / known);
        writeln!(
            out,
            "{name:<10} {new:>10.1} {known:>9.1} {more:>10.1} {ratio:>6.2}"
        )?;
    }
    Ok(())
}

/// Returns how long it takes to answer a request, in microseconds.
async fn answer(gateway: &Gateway, text: &str) -> f64 {
    let request = Request::new(text);
    let begin = Instant::now();
    let response = gateway.respond(request, RequestContext::new()).await;
    let time = begin.elapsed();
    assert!(!response.body.is_empty(), "there is a response");
    time.as_secs_f64() * 1e6
}

/// Returns the time that one in ten does not exceed: other programs on the machine lengthen the rest.
fn usual(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 10]
}

fn gateway(text: &str) -> Result<Gateway, Fault> {
    let supergraph = Supergraph::parse(text, "supergraph.graphql");
    let supergraph = supergraph.map_err(|errors| format!("{errors:?}"))?;
    let mut transport = InProcess::new();
    for subgraph in supergraph.subgraphs() {
        transport = transport.with_function(&subgraph.name, |_| json!({ "data": null }));
    }
    let options = GatewayOptions::default();
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options)?;
    Ok(gateway)
}
