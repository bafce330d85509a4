//! Measures the query templates over a SPARQL server, beside hand-written SPARQL sent to the same one.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use benches::generator::Config;
use benches::log::Log;
use benches::remote::{Contest, Failure, Kind, Load, RemoteServer, table};
use benches::workload::{TEMPLATES, chosen};
use benches::{SCHEMA, embedded, http};
use clap::Parser;
use graph_store::GraphStore;
use graph_store::remote::RemoteStore;
use graph_store::remote::http::{HttpEndpoint, HttpStore};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the query templates over a SPARQL server: round trips, and the throughput of the service
/// beside that of the fastest hand-written SPARQL, in turns.
#[derive(Debug, Parser)]
#[command(version)]
#[command(group(clap::ArgGroup::new("server").required(true)))]
struct Arguments {
    /// Address of a Fuseki server with administration.
    #[arg(long, value_name = "URL", group = "server")]
    fuseki: Option<String>,
    /// Address of an RDF4J server.
    #[arg(long, value_name = "URL", group = "server")]
    rdf4j: Option<String>,
    /// Number of universities.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// Seed of the data and the instances.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Instances of each template.
    #[arg(long, default_value_t = 20)]
    instances: usize,
    /// Milliseconds of each template for the service, and as many for SPARQL.
    #[arg(long, default_value_t = 4_000)]
    time: u64,
    /// Requests at once.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Read one level after the other, never several in one query.
    #[arg(long)]
    level_by_level: bool,
    /// Only these templates, such as QT1,QT5.
    #[arg(long, value_delimiter = ',')]
    templates: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let config = Config::new(arguments.universities, arguments.seed)?;
    Runtime::new()?.block_on(run(arguments, config))
}

async fn run(arguments: Arguments, config: Config) -> Result<(), Failure> {
    let templates = chosen(TEMPLATES, &arguments.templates)?;
    let (kind, address) = match (&arguments.fuseki, &arguments.rdf4j) {
        (Some(address), _) => (Kind::Fuseki, address),
        (None, Some(address)) => (Kind::Rdf4j, address),
        (None, None) => return Err("no server is given".into()),
    };
    let server = RemoteServer::fill(kind, address, config).await?;
    let endpoint = Arc::new(HttpEndpoint::new(server.options())?);
    let store: Arc<dyn GraphStore> = if arguments.level_by_level {
        let mut options = server.asked();
        options.tree_form = None;
        Arc::new(RemoteStore::new(endpoint, options))
    } else {
        Arc::new(HttpStore::new(endpoint))
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = http::start(SCHEMA, store.clone(), async {
        // Either way there is nothing more to serve.
        let _ = stopped.await;
    });
    let contest = Contest {
        server: &server,
        address: serving.await?,
        log: Log::start()?,
        service: embedded::service(SCHEMA, store)?,
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
        rows.push(contest.measure(template, &load).await?);
    }
    drop(stop);
    server.clear().await?;
    io::stdout().write_all(table(&rows).as_bytes())?;
    Ok(())
}
