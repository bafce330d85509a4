//! Measures the query templates: the service in process and over HTTP, and SPARQL beside it.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use benches::drive::{Driver, Load, Peer, Report, table};
use benches::generator::{Config, Format, Generator};
use benches::log::Log;
use benches::workload::{TEMPLATES, chosen};
use benches::{SCHEMA, embedded, http, measure};
use clap::Parser;
use graph_store::image::ImageStore;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the query templates: in process, over HTTP, and as SPARQL on the same store, in turns.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// Seed of the data and the instances.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Instances of each template.
    #[arg(long, default_value_t = 20)]
    instances: usize,
    /// Milliseconds for the turns of each template, and for each number of connections.
    #[arg(long, default_value_t = 2_000)]
    time: u64,
    /// Numbers of connections.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16,32,64")]
    connections: Vec<usize>,
    /// Only these templates, such as QT1,QT5.
    #[arg(long, value_delimiter = ',')]
    templates: Vec<String>,
    /// A service that runs elsewhere and holds the same data, such as http://127.0.0.1:9995.
    #[arg(long)]
    url: Option<String>,
    /// Another program to compare with, such as "node benches/peers/graphql-ld/peer.mjs".
    #[arg(long)]
    peer: Option<String>,
    /// File that gets the report as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Starts another program over the same data.
fn beside(command: &str, config: Config) -> Result<Peer, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("universities-{}.nt", std::process::id()));
    let mut file = BufWriter::new(File::create(&path)?);
    io::copy(&mut Generator::new(config, Format::Nt), &mut file)?;
    file.into_inner()?.sync_all()?;
    let peer = Peer::start(command, &path);
    std::fs::remove_file(&path)?;
    Ok(peer?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    // One line of the log for each request, as in operation; `2> FILE` takes them.
    let log = Log::start()?;
    let templates = chosen(TEMPLATES, &arguments.templates)?;
    let config = Config::new(arguments.universities, arguments.seed)?;
    let store = embedded::load(config)?;
    let graph_store = Arc::new(ImageStore::new(embedded::image(config)?));
    let serving = Runtime::new()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let address = match &arguments.url {
        Some(url) => http::address(url)?,
        None => serving.block_on(http::start(SCHEMA, graph_store.clone(), async {
            // Either way there is nothing more to serve.
            let _ = stopped.await;
        }))?,
    };
    let peer = match &arguments.peer {
        Some(command) => Some(Mutex::new(beside(command, config)?)),
        None => None,
    };
    let driver = Driver {
        service: embedded::service(SCHEMA, graph_store)?,
        runtime: Runtime::new()?,
        address,
        // What a service elsewhere logs is not changed from here.
        log: arguments.url.is_none().then_some(log),
        store,
        peer,
    };
    let load = Load {
        config,
        instances: arguments.instances,
        time: Duration::from_millis(arguments.time),
        connections: arguments.connections,
    };
    let mut rows = Vec::new();
    for template in templates {
        writeln!(io::stderr(), "{}", template.name)?;
        rows.push(driver.measure(template, &load)?);
    }
    drop(stop);
    let report = Report {
        universities: config.universities,
        seed: config.seed,
        triples: driver.store.len()?,
        rows,
        memory: measure::memory(),
        peak_memory: measure::peak_memory(),
    };
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_vec_pretty(&report)?)?;
    }
    io::stdout().write_all(table(&report).as_bytes())?;
    Ok(())
}
