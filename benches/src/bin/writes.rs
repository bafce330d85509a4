//! What it costs to write objects by mutations, compared with one plain SPARQL update of the same triples.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use graph_store::GraphStore;
use graph_store::oxigraph::OxigraphStore;
use graph_store::remote::http::ConnectionOptions;
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxigraph::sparql::SparqlEvaluator;
use oxigraph::store::Store;
use serde_json::json;
use servers::store::DataStore;
use tokio::runtime::Runtime;

#[path = "../../../graph-store/tests/all/back_end/repository.rs"]
mod repository;

use repository::{MEMORY, repository};

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
    /// Objects of one request.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 1_000])]
    sizes: Vec<usize>,
    /// Address of an RDF4J server, in place of the embedded store. Two repositories are made for each size
    /// of requests.
    #[arg(long, value_name = "URL")]
    rdf4j: Option<String>,
    /// Where the repositories of the server keep their data.
    #[arg(
        long,
        value_name = "SAIL",
        default_value = "native",
        requires = "rdf4j"
    )]
    sail: Sail,
}

/// The kind of a repository.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sail {
    /// `NativeStore`: on disk.
    Native,
    /// `MemoryStore`: in memory, not kept.
    Memory,
}

type Failure = Box<dyn Error>;

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

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let runtime = Runtime::new()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| objects a request | SPARQL update, µs an object | mutation | ratio |\n|---:|---:|---:|---:|"
    )?;
    for size in arguments.sizes {
        let ways = match &arguments.rdf4j {
            None => Ways::embedded()?,
            Some(server) => runtime.block_on(Ways::rdf4j(server, arguments.sail, size))?,
        };
        let (mut by_update, mut by_mutation) = (Vec::new(), Vec::new());
        for (turn, first) in (0..arguments.objects).step_by(size).enumerate() {
            let size = size.min(arguments.objects - first);
            let update = update(first, size);
            let request = request(first, size);
            let mut run = |plainly: bool| -> Result<(), Failure> {
                let request = request.clone();
                let started = Instant::now();
                if plainly {
                    runtime.block_on(ways.update(&update))?;
                    by_update.push(started.elapsed());
                } else {
                    runtime.block_on(ways.mutate(request))?;
                    by_mutation.push(started.elapsed());
                }
                Ok(())
            };
            run(turn % 2 == 0)?;
            run(turn % 2 == 1)?;
        }
        if !runtime.block_on(ways.have_the_same(arguments.objects))? {
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

/// Two stores of one kind: one is written to by updates, the other by mutations.
struct Ways {
    plain: Plain,
    service: ObjectService,
    /// The store of the service, where it is at hand.
    mutated: Option<Store>,
}

/// A store that is written to by updates.
enum Plain {
    Embedded(Store),
    /// A client, the address of a repository, and that of the service's.
    Rdf4j(reqwest::Client, String, String),
}

const SITE: &str = "INSERT DATA { <http://example.org/site> a <http://example.org/v#Site> }";

/// Counts the objects that were written.
const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?s a <http://example.org/v#Sensor> ; ?p ?o }";

impl Ways {
    fn embedded() -> Result<Self, Failure> {
        let (plain, mutated) = (Store::new()?, Store::new()?);
        for store in [&plain, &mutated] {
            let update = SparqlEvaluator::new().parse_update(SITE)?;
            update.on_store(store).execute()?;
        }
        let store = OxigraphStore::new(mutated.clone());
        store.seal()?;
        Ok(Ways {
            plain: Plain::Embedded(plain),
            service: service(Arc::new(store))?,
            mutated: Some(mutated),
        })
    }

    async fn rdf4j(server: &str, sail: Sail, size: usize) -> Result<Self, Failure> {
        // One may have been chosen before.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = reqwest::Client::new();
        let base = server.trim_end_matches('/');
        let id = |way: &str| format!("writes-{}-{size}-{way}", std::process::id());
        let (plain, mutated) = (id("plain"), id("mutated"));
        let sail = match sail {
            Sail::Native => NATIVE,
            Sail::Memory => MEMORY,
        };
        for id in [&plain, &mutated] {
            let made = client
                .put(format!("{base}/repositories/{id}"))
                .header("content-type", "text/turtle")
                .body(repository(id, sail));
            made.send().await?.error_for_status()?;
        }
        let options = ConnectionOptions {
            addresses: base.parse()?,
            repository: Some(mutated.clone()),
            ..ConnectionOptions::default()
        };
        let DataStore::Remote(store) = DataStore::connect(&options)? else {
            unreachable!("there is an address");
        };
        let ways = Ways {
            plain: Plain::Rdf4j(
                client,
                format!("{base}/repositories/{plain}"),
                format!("{base}/repositories/{mutated}"),
            ),
            service: service(store)?,
            mutated: None,
        };
        ways.update(SITE).await?;
        let site = r#"mutation { create_Site(objects: [{id: "http://example.org/site"}])
            { affected_count { count } } }"#;
        ways.mutate(Request::new(site)).await?;
        Ok(ways)
    }

    async fn update(&self, text: &str) -> Result<(), Failure> {
        match &self.plain {
            Plain::Embedded(store) => {
                let update = SparqlEvaluator::new().parse_update(text)?;
                update.on_store(store).execute()?;
            }
            Plain::Rdf4j(client, repository, _) => {
                let sent = client
                    .post(format!("{repository}/statements"))
                    .header("content-type", "application/sparql-update")
                    .body(text.to_owned());
                sent.send().await?.error_for_status()?;
            }
        }
        Ok(())
    }

    async fn mutate(&self, request: Request) -> Result<(), Failure> {
        let response = self.service.execute(request, RequestContext::new()).await;
        let body = response.body.to_bytes();
        if body.windows(6).any(|part| part == b"errors") {
            return Err(String::from_utf8_lossy(&body).into());
        }
        Ok(())
    }

    /// Tells whether both stores hold all that was to be written.
    async fn have_the_same(&self, objects: usize) -> Result<bool, Failure> {
        match (&self.plain, &self.mutated) {
            (Plain::Embedded(plain), Some(mutated)) => Ok(plain.len()? == mutated.len()?),
            (Plain::Embedded(_), None) => unreachable!("the store is at hand"),
            (Plain::Rdf4j(client, plain, mutated), _) => {
                let expected = (7 * objects).to_string();
                for repository in [plain, mutated] {
                    let asked = client
                        .post(repository)
                        .header("content-type", "application/sparql-query")
                        .header("accept", "text/csv")
                        .body(COUNT);
                    let found = asked.send().await?.error_for_status()?.text().await?;
                    if found.lines().nth(1) != Some(expected.as_str()) {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// A store on disk.
const NATIVE: &str = "[ sail:sailType \"openrdf:NativeStore\" ]";

fn service(store: Arc<dyn GraphStore>) -> Result<ObjectService, Failure> {
    let schema = soml_core::load(SCHEMA);
    let schema = Arc::new(schema.schema.ok_or("the schema is not valid")?);
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
