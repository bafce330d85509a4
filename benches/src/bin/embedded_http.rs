//! Measures the query templates over HTTP: the service over an image, and Oxigraph behind a plain handler.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use benches::embedded_http::{Contest, HEAD, Load};
use benches::generator::Config;
use benches::log::Log;
use benches::workload::{TEMPLATES, chosen, instances};
use benches::{SCHEMA, embedded};
use clap::Parser;
use graph_store::image::ImageStore;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the query templates over HTTP, in turns: the service over an image, and hand-written SPARQL on
/// Oxigraph behind a plain handler. Both servers and all clients share this process. The service logs a line for each
/// request, as in operation, and in turns none; `2> FILE` takes the lines.
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
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let log = Log::start()?;
    let templates = chosen(TEMPLATES, &arguments.only)?;
    let config = Config::new(arguments.universities, arguments.seed)?;
    let load = Load {
        time: Duration::try_from_secs_f64(arguments.seconds)?,
        rounds: arguments.rounds,
        connections: arguments.connections,
        parsed_before: arguments.parsed_before,
    };
    let image = Arc::new(ImageStore::new(embedded::image(config)?));
    let contest = Contest::start(SCHEMA, image, embedded::load(config)?)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{HEAD}")?;
    for template in templates {
        let drawn = instances(template, config, arguments.instances);
        for row in contest.measure(template, &drawn, &load, &log)? {
            writeln!(out, "{row}")?;
        }
        out.flush()?;
    }
    Ok(())
}
