//! What it costs to write objects by mutations, compared with one plain SPARQL update of the same triples.

use std::error::Error;
use std::io::{self, StdoutLock, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use benches::embedded;
use benches::log::Log;
use benches::measure::Samples;
use benches::writes::{Batches, Contest, HEAD, SCHEMA, body, update};
use clap::{Parser, ValueEnum};
use graph_store::GraphStore;
use graph_store::remote::http::ConnectionOptions;
use graphql_service::{Request, RequestContext};
use object_engine::ObjectService;
use servers::store::DataStore;
use test_support::repository::{MEMORY, repository};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Writes objects of six properties in requests of one, ten and a thousand, in turns, and prints the ratio of each: over
/// HTTP by mutations of the default store and by plain SPARQL updates of Oxigraph in memory, or with `--rdf4j` in
/// process by mutations and updates of a server. The service logs a line for each request over HTTP, as in operation, and
/// in turns none; `2> FILE` takes the lines.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Objects in all, for each size of requests and each way.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// Objects of one request.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 1_000])]
    sizes: Vec<usize>,
    /// Folder in which the service keeps its data, with a new folder for each size of requests, so that each commit
    /// is synced. They are in memory otherwise.
    #[arg(long, value_name = "FOLDER", conflicts_with = "rdf4j")]
    data_dir: Option<PathBuf>,
    /// Address of an RDF4J server, in place of the default store. Two repositories are made for each size
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

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if arguments.sizes.contains(&0) {
        return Err("a request creates one object or more".into());
    }
    let mut out = io::stdout().lock();
    match &arguments.rdf4j {
        None => over_http(&arguments, &mut out),
        Some(server) => over_rdf4j(&arguments, server, &mut out),
    }
}

/// Measures the default store and Oxigraph, each behind HTTP.
fn over_http(arguments: &Arguments, out: &mut StdoutLock<'_>) -> Result<(), Failure> {
    let log = Log::start()?;
    writeln!(out, "{HEAD}")?;
    for &size in &arguments.sizes {
        let folder = arguments.data_dir.as_ref();
        let folder =
            folder.map(|folder| folder.join(format!("writes-{}-{size}", std::process::id())));
        let contest = Contest::start(folder.as_deref())?;
        let batches = Batches {
            objects: arguments.objects,
            size,
        };
        writeln!(out, "{}", contest.measure(batches, Some(&log))?.line())?;
        out.flush()?;
    }
    Ok(())
}

/// Measures repositories of an RDF4J server.
fn over_rdf4j(
    arguments: &Arguments,
    server: &str,
    out: &mut StdoutLock<'_>,
) -> Result<(), Failure> {
    let runtime = Runtime::new()?;
    writeln!(
        out,
        "| objects a request | SPARQL update, µs an object | mutation | ratio |\n|---:|---:|---:|---:|"
    )?;
    for &size in &arguments.sizes {
        let ways = runtime.block_on(Repositories::make(server, arguments.sail, size))?;
        let (mut by_update, mut by_mutation) = (Samples::default(), Samples::default());
        for (turn, first) in (0..arguments.objects).step_by(size).enumerate() {
            let size = size.min(arguments.objects - first);
            let update = update(first, size);
            let request: Request = serde_json::from_value(body(first, size))?;
            for plainly in [turn % 2 == 0, turn % 2 == 1] {
                let request = request.clone();
                let started = Instant::now();
                if plainly {
                    runtime.block_on(ways.update(&update))?
                } else {
                    runtime.block_on(ways.mutate(request))?
                }
                let samples = if plainly {
                    &mut by_update
                } else {
                    &mut by_mutation
                };
                samples.add(started.elapsed());
            }
        }
        if !runtime.block_on(ways.have_all(arguments.objects))? {
            return Err("both ways must write the same triples".into());
        }
        let of = |samples: &Samples| samples.summary().median / size as f64;
        let (plain, mutation) = (of(&by_update), of(&by_mutation));
        writeln!(
            out,
            "| {size} | {plain:.1} | {mutation:.1} | {:.2} |",
            mutation / plain
        )?;
    }
    Ok(())
}

/// Two repositories of a server: one is written to by updates, the other by mutations.
struct Repositories {
    client: reqwest::Client,
    plain: String,
    mutated: String,
    service: ObjectService,
}

const SITE: &str = "INSERT DATA { <http://example.org/site> a <http://example.org/v#Site> }";

/// Counts the objects that were written.
const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?s a <http://example.org/v#Sensor> ; ?p ?o }";

impl Repositories {
    async fn make(server: &str, sail: Sail, size: usize) -> Result<Self, Failure> {
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
        let ways = Repositories {
            client,
            plain: format!("{base}/repositories/{plain}"),
            mutated: format!("{base}/repositories/{mutated}"),
            service: embedded::writable_service(SCHEMA, store as Arc<dyn GraphStore>)?,
        };
        ways.update(SITE).await?;
        let site = r#"mutation { create_Site(objects: [{id: "http://example.org/site"}])
            { affected_count { count } } }"#;
        ways.mutate(Request::new(site)).await?;
        Ok(ways)
    }

    async fn update(&self, text: &str) -> Result<(), Failure> {
        let sent = self
            .client
            .post(format!("{}/statements", self.plain))
            .header("content-type", "application/sparql-update")
            .body(text.to_owned());
        sent.send().await?.error_for_status()?;
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

    /// Returns whether both repositories hold all that was to be written.
    async fn have_all(&self, objects: usize) -> Result<bool, Failure> {
        let expected = (7 * objects).to_string();
        for repository in [&self.plain, &self.mutated] {
            let asked = self
                .client
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

/// A store on disk.
const NATIVE: &str = "[ sail:sailType \"openrdf:NativeStore\" ]";
