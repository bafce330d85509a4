//! Measures what the line that is logged for each request costs.

use std::error::Error;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use benches::generator::Config;
use benches::log_line::{HEAD, Log, Served, log_request};
use benches::measure::cpu_time;
use benches::workload::{TEMPLATES, instances};
use benches::{SCHEMA, embedded, http};
use bytes::Bytes;
use clap::Parser;
use graph_store::image::ImageStore;
use service_log::{Background, LogFormat, LogOptions, start_in_background};
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lines that are logged before they are waited for: fewer than may wait, so that none is lost.
const BATCH: usize = 1_000;

/// Time for lines to be written.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures what the line that is logged for each request costs: of requests over HTTP, in turns with a server that
/// does not log them, and of lines alone.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities, from 1 to 1000.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// Seed of the data and the instances.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The template, a short one.
    #[arg(long, default_value = "QT3")]
    template: String,
    /// Random instances of it.
    #[arg(long, default_value_t = 50)]
    instances: usize,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Turns of each server.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of connections.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Where lines go.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "null,file,pipe"
    )]
    to: Vec<Log>,
    /// Logs JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Lines of each thread that are measured alone.
    #[arg(long, default_value_t = 200_000)]
    lines: usize,
    /// Serves with this value of `logging.level`, in a process that this program starts.
    #[arg(long, hide = true)]
    serve: Option<String>,
    /// Logs lines on so many threads, in a process that this program starts.
    #[arg(long, hide = true)]
    threads: Option<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    match (&arguments.serve, arguments.threads) {
        (Some(level), _) => arguments.serve(level),
        (None, Some(threads)) => arguments.lines_alone(threads),
        (None, None) => arguments.measure(),
    }
}

impl Arguments {
    fn measure(&self) -> Result<(), Box<dyn Error>> {
        let clients = Builder::new_current_thread().enable_io().build()?;
        let bodies = self.bodies()?;
        let time = Duration::try_from_secs_f64(self.seconds)?;
        let mut without = self.server(Log::Off)?;
        let servers = self.to.iter().map(|log| self.server(*log));
        let mut servers: Vec<Served> = servers.collect::<Result<_, _>>()?;
        // The first round is for warming up.
        for round in 0..=self.rounds {
            for server in std::iter::once(&mut without).chain(&mut servers) {
                clients.block_on(server.turn(&bodies, self.connections, time))?;
                if round == 0 {
                    server.forget();
                }
            }
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{HEAD}")?;
        for server in std::iter::once(&without).chain(&servers) {
            writeln!(out, "{}", server.compared(&without))?;
        }
        drop((without, servers));
        writeln!(out, "\n| threads | CPU, µs a line |\n|---:|---:|")?;
        for threads in ["1", "2"] {
            let mut command = self.command()?;
            let output = command.args(["--threads", threads]).stderr(Stdio::null());
            let output = output.output()?;
            let cpu = String::from_utf8(output.stdout)?;
            writeln!(out, "| {threads} | {} |", cpu.trim())?;
        }
        Ok(())
    }

    fn bodies(&self) -> Result<Vec<Bytes>, Box<dyn Error>> {
        let config = Config::new(self.universities, self.seed)?;
        let named = |name: &str| TEMPLATES.iter().find(|template| template.name == name);
        let template = named(&self.template).ok_or("there is no such template")?;
        let drawn = instances(template, config, self.instances);
        let bodies = drawn.iter().map(|instance| instance.body(template));
        Ok(bodies.map(|body| Bytes::from(body.to_string())).collect())
    }

    fn server(&self, log: Log) -> Result<Served, Box<dyn Error>> {
        let mut command = self.command()?;
        command.args(["--serve", log.level()]);
        Ok(Served::start(command, log)?)
    }

    /// Returns this program again, with the same data and the same format of lines.
    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--universities", &self.universities.to_string()]);
        command.args(["--seed", &self.seed.to_string()]);
        command.args(["--lines", &self.lines.to_string()]);
        if self.json {
            command.arg("--json");
        }
        Ok(command)
    }

    /// Serves until the input ends.
    fn serve(&self, level: &str) -> Result<(), Box<dyn Error>> {
        let lines = self.start_logging(level)?;
        let config = Config::new(self.universities, self.seed)?;
        let image = Arc::new(ImageStore::new(embedded::image(config)?));
        let runtime = Runtime::new()?;
        let address = runtime.block_on(http::start(SCHEMA, image, std::future::pending()))?;
        let mut out = io::stdout().lock();
        writeln!(out, "http://{address}")?;
        out.flush()?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
        lines.flush_within(PATIENCE);
        Ok(())
    }

    /// Writes the CPU time of a line, in microseconds.
    fn lines_alone(&self, threads: usize) -> Result<(), Box<dyn Error>> {
        let lines = self.start_logging("info")?;
        let id = "0b5c0c0e-6f0f-4b8a-9d0e-1c2d3e4f5a6b";
        let before = cpu_time();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for number in 1..=self.lines {
                        log_request(id);
                        if number.is_multiple_of(BATCH / threads) {
                            lines.flush_within(PATIENCE);
                        }
                    }
                });
            }
        });
        lines.flush_within(PATIENCE);
        let count = (self.lines * threads).max(1);
        let cpu = (cpu_time() - before).as_secs_f64() * 1e6 / count as f64;
        Ok(writeln!(io::stdout(), "{cpu:.2}")?)
    }

    /// Logs to standard error as a service does.
    fn start_logging(&self, level: &str) -> Result<Background, Box<dyn Error>> {
        let options = LogOptions {
            level: level.to_owned(),
            format: if self.json {
                LogFormat::Json
            } else {
                LogFormat::Text
            },
            coloured: false,
        };
        let lines = Background::start(io::stderr())?;
        start_in_background(&options, &lines)?;
        Ok(lines)
    }
}
