//! Measures the query templates over HTTP: the service over an image, and Oxigraph behind a plain handler.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use benches::embedded_http::{Contest, HEAD, Load};
use benches::generator::Config;
use benches::workload::TEMPLATES;
use benches::{SCHEMA, embedded, http};
use clap::Parser;
use graph_store::image::ImageStore;
use servers::config::Settings;
use servers::logging::{self, Background};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the query templates over HTTP, in turns: the service over an image, and hand-written SPARQL on
/// Oxigraph behind a plain handler. Both servers and all clients share this process.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities, from 1 to 1000.
    #[arg(long, default_value_t = 10)]
    universities: usize,
    /// Seed of the data and the instances.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Random instances of each template.
    #[arg(long, default_value_t = 50)]
    instances: usize,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Turns of each way, at each number of connections.
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Numbers of connections.
    #[arg(long, value_delimiter = ',', default_value = "1,8,32")]
    connections: Vec<usize>,
    /// Only these templates, such as `QT5`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Parses SPARQL before the clock runs, where the form is a single query.
    #[arg(long)]
    parsed_before: bool,
    /// Logs a line for each request of the service, as in operation; `2> FILE` takes them.
    #[arg(long)]
    log: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let lines = Background::start(io::stderr())?;
    if arguments.log {
        logging::start_in_background(&Settings::default(), false, &lines)?;
    }
    let config = Config::new(arguments.universities, arguments.seed)?;
    let load = Load {
        config,
        instances: arguments.instances,
        time: Duration::try_from_secs_f64(arguments.seconds)?,
        rounds: arguments.rounds,
        connections: arguments.connections,
        parsed_before: arguments.parsed_before,
    };
    let servers = Runtime::new()?;
    let image = Arc::new(ImageStore::new(embedded::image(config)?));
    let (stop, stopped) = oneshot::channel::<()>();
    let contest = Contest {
        service: servers.block_on(http::start(SCHEMA, image, async {
            // Either way there is nothing more to serve.
            let _ = stopped.await;
        }))?,
        store: embedded::load(config)?,
        servers,
        // One thread: whatever clients take is taken from both servers.
        clients: Builder::new_current_thread().enable_io().build()?,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{HEAD}")?;
    let wanted = &arguments.only;
    for template in TEMPLATES {
        if wanted.is_empty() || wanted.iter().any(|name| name == template.name) {
            for row in contest.measure(template, &load)? {
                writeln!(out, "{row}")?;
            }
            out.flush()?;
        }
    }
    drop(stop);
    Ok(())
}
