//! What it costs to write objects by mutations, compared with one plain SPARQL update of the same triples.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use graph_store::GraphStore;
use graph_store::oxigraph::OxigraphStore;
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxigraph::sparql::SparqlEvaluator;
use oxigraph::store::Store;
use serde_json::json;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Writes objects of six properties in requests of one, ten and a thousand, by mutations and by plain
/// SPARQL updates in turns, and prints the ratio of each.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Objects in all, for each size of requests and each way.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
}

const SCHEMA: &str = "
id: /soml/writes
specialPrefixes: {base_iri: 'http://example.org/', vocab_iri: 'http://example.org/v#', vocab_prefix: v}
objects:
  Sensor:
    props:
      label: {min: 1}
      serial: {regex: '^[A-Z0-9-]+$'}
      count: {range: integer}
      weight: {range: decimal}
      installed: {range: date}
      site: {range: Site, min: 1}
  Site: {props: {label: {}}}
";

const MUTATION: &str = "mutation ($objects: [Sensor_Create_Input!]!) {
  create_Sensor(objects: $objects) { affected_count { count } } }";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let runtime = Runtime::new()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| objects a request | SPARQL update, µs an object | mutation | ratio |\n|---:|---:|---:|---:|"
    )?;
    for size in [1, 10, 1_000] {
        let (plain, mutations) = (store()?, store()?);
        let service = service(&mutations)?;
        let (mut by_update, mut by_mutation) = (Vec::new(), Vec::new());
        for (turn, first) in (0..arguments.objects).step_by(size).enumerate() {
            let update = update(first, size);
            let request = request(first, size);
            let mut run = |plainly: bool| -> Result<(), Box<dyn Error>> {
                let started = Instant::now();
                if plainly {
                    let update = SparqlEvaluator::new().parse_update(&update)?;
                    update.on_store(&plain).execute()?;
                    by_update.push(started.elapsed());
                } else {
                    let context = RequestContext::new();
                    let response = runtime.block_on(service.execute(request.clone(), context));
                    by_mutation.push(started.elapsed());
                    let body = response.body.to_bytes();
                    if body.windows(6).any(|part| part == b"errors") {
                        return Err(String::from_utf8_lossy(&body).into());
                    }
                }
                Ok(())
            };
            run(turn % 2 == 0)?;
            run(turn % 2 == 1)?;
        }
        if plain.len()? != mutations.len()? {
            return Err("both ways must write the same triples".into());
        }
        let of = |times: &mut Vec<_>| median(times) / size as f64;
        let (plain, mutation) = (of(&mut by_update), of(&mut by_mutation));
        writeln!(
            out,
            "| {size} | {plain:.1} | {mutation:.1} | {:.2} |",
            mutation / plain
        )?;
    }
    Ok(())
}

/// Returns a store with one site.
fn store() -> Result<Store, Box<dyn Error>> {
    let store = Store::new()?;
    let site = "INSERT DATA { <http://example.org/site> a <http://example.org/v#Site> }";
    let update = SparqlEvaluator::new().parse_update(site)?;
    update.on_store(&store).execute()?;
    Ok(store)
}

fn service(store: &Store) -> Result<ObjectService, Box<dyn Error>> {
    let schema = soml_core::load(SCHEMA);
    let schema = Arc::new(schema.schema.ok_or("the schema is not valid")?);
    let store = OxigraphStore::new(store.clone());
    store.seal()?;
    let store: Arc<dyn GraphStore> = Arc::new(store);
    let options = ServiceOptions::new().with_api(ApiOptions::default().with_mutations(true));
    Ok(ObjectService::new(schema, store, options)?)
}

/// Returns the mutation that creates `size` sensors from a number on.
fn request(first: usize, size: usize) -> Request {
    let sensor = |n: usize| {
        json!({
            "id": format!("http://example.org/sensor/{n}"),
            "label": format!("Sensor {n}"),
            "serial": format!("S-{n:06}"),
            "count": n.to_string(),
            "weight": format!("{n}.5"),
            "installed": "2024-02-29",
            "site": [{"ids": ["http://example.org/site"]}],
        })
    };
    let objects: Vec<_> = (first..first + size).map(sensor).collect();
    let variables = json!({ "objects": objects });
    let variables = variables.as_object().expect("an object").clone();
    Request::new(MUTATION).with_variables(variables)
}

/// Returns the update that inserts the same triples.
fn update(first: usize, size: usize) -> String {
    let mut text = String::from(
        "PREFIX v: <http://example.org/v#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\nINSERT DATA {\n",
    );
    for n in first..first + size {
        writeln!(
            text,
            "<http://example.org/sensor/{n}> a v:Sensor ; v:label \"Sensor {n}\" ; v:serial \"S-{n:06}\" ; \
             v:count {n} ; v:weight {n}.5 ; v:installed \"2024-02-29\"^^xsd:date ; \
             v:site <http://example.org/site> ."
        )
        .expect("writing to a string");
    }
    text.push('}');
    text
}

/// Returns the median in microseconds.
fn median(times: &mut [std::time::Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}
