//! Runs good and bad clients against a service, and says what the good ones noticed and what it held.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use benches::generator::Config;
use benches::http;
use benches::process::{Memory, Process};
use benches::soak::{Bad, Good, Harm, Mixed, Noticed, bad_clients};
use benches::workload::{TEMPLATES, Template};
use clap::{Parser, ValueEnum};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs good and bad clients against a service that holds the generated data.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Address of the service.
    #[arg(long, default_value = "http://127.0.0.1:9995")]
    url: String,
    /// Number of its process, whose memory and threads are watched.
    #[arg(long)]
    pid: u32,
    /// What is tried.
    #[arg(long, value_enum, default_value_t = Trial::Soak)]
    trial: Trial,
    /// Universities in its data.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// Seed of its data.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Seconds for each measurement.
    #[arg(long, default_value_t = 10)]
    time: u64,
    /// Bad clients of each kind, for the soak.
    #[arg(long, default_value_t = 4)]
    bad: usize,
    /// Kinds of bad clients, for the soak and the burst; all when none is named.
    #[arg(long, value_delimiter = ',', value_enum)]
    harm: Vec<Harm>,
    /// Templates whose throughput is measured at 1 to 64 connections.
    #[arg(long, value_delimiter = ',', default_value = "QT1,QT5")]
    templates: Vec<String>,
}

/// What is tried.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Trial {
    /// Good clients beside all kinds of bad ones.
    Soak,
    /// Good clients beside 20 that check schemas and 20 that have large responses compressed.
    Fairness,
    /// Throughput, memory and threads by number of connections.
    Connections,
    /// Short requests beside 64 connections with long ones.
    Beside,
    /// Forty hostile requests at once.
    Burst,
    /// A thousand clients one in ten of whose requests writes; needs a schema with mutations.
    Mixed,
}

struct Runner {
    arguments: Arguments,
    config: Config,
    process: Process,
    address: std::net::SocketAddr,
    report: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut runner = Runner {
        config: Config::new(arguments.universities, arguments.seed)?,
        process: Process(arguments.pid),
        address: http::address(&arguments.url)?,
        arguments,
        report: String::new(),
    };
    match runner.arguments.trial {
        Trial::Soak => {
            let each = runner.arguments.bad;
            let clients = runner.harm().iter().map(|harm| (*harm, each)).collect();
            runner.beside_bad_ones(clients).await?;
        }
        Trial::Fairness => {
            let clients = vec![(Harm::Schemas, 20), (Harm::Compresses, 20)];
            runner.beside_bad_ones(clients).await?;
        }
        Trial::Burst => {
            let kinds = runner.harm();
            let each = BURST / kinds.len();
            let clients = kinds.iter().map(|harm| (*harm, each)).collect();
            runner.beside_bad_ones(clients).await?;
        }
        Trial::Connections => runner.connections().await?,
        Trial::Beside => runner.beside_long_ones().await?,
        Trial::Mixed => runner.mixed().await?,
    }
    io::stdout().write_all(runner.report.as_bytes())?;
    Ok(())
}

/// Bad clients of a burst.
const BURST: usize = 40;

impl Runner {
    fn harm(&self) -> Vec<Harm> {
        match self.arguments.harm.as_slice() {
            [] => Harm::ALL.to_vec(),
            named => named.to_vec(),
        }
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.arguments.time)
    }

    fn good(&self, name: &str, connections: usize) -> Result<Good, String> {
        let template: &Template = TEMPLATES
            .iter()
            .find(|template| template.name == name)
            .ok_or_else(|| format!("there is no template {name}"))?;
        Ok(Good::of_template(
            self.address,
            template,
            self.config,
            connections,
        ))
    }

    fn row(&mut self, name: &str, noticed: &Noticed, peak: Memory) {
        let Noticed {
            times,
            throughput,
            refused,
        } = noticed;
        let (median, p99) = (times.median / 1e3, times.p99 / 1e3);
        let (memory, threads) = (peak.resident >> 20, peak.threads);
        writeln!(
            self.report,
            "| {name} | {throughput:.0} | {median:.2} | {p99:.2} | {refused} | {memory} | {threads} |"
        )
        .expect("writing to a string");
    }

    fn head(&mut self) {
        self.report.push_str(
            "| clients | requests per second | median ms | p99 ms | refused | peak MiB | threads |\n\
             |---|---:|---:|---:|---:|---:|---:|\n",
        );
    }

    async fn beside_bad_ones(&mut self, clients: Vec<(Harm, usize)>) -> Result<(), Box<dyn Error>> {
        let idle = self.process.memory();
        self.head();
        let alone = self.good("QT3", 4)?;
        let watch = self.process.watch();
        let noticed = alone.run(self.time() / 4).await?;
        let peak = watch.end().await;
        self.row("QT3, 4 connections, alone", &noticed, peak);
        let bad = Bad {
            address: self.address,
            clients,
            schema: schema(1_000).into(),
        };
        let watch = self.process.watch();
        let bad = tokio::spawn(bad_clients(bad, self.time()));
        let noticed = self.good("QT3", 4)?.run(self.time()).await?;
        let statuses = bad.await?;
        let peak = watch.end().await;
        self.row("QT3, 4 connections, beside bad clients", &noticed, peak);
        tokio::time::sleep(Duration::from_secs(5)).await;
        let after = self.process.memory();
        writeln!(
            self.report,
            "\nMemory: {} MiB before, {} MiB at most, {} MiB afterwards. The service {}.\n",
            idle.resident >> 20,
            peak.resident >> 20,
            after.resident >> 20,
            if self.process.is_running() {
                "runs"
            } else {
                "IS GONE"
            }
        )?;
        self.report
            .push_str("| bad clients | status | times |\n|---|---:|---:|\n");
        for ((harm, status), times) in statuses {
            writeln!(self.report, "| {harm:?} | {status} | {times} |")?;
        }
        Ok(())
    }

    async fn connections(&mut self) -> Result<(), Box<dyn Error>> {
        self.head();
        for name in self.arguments.templates.clone() {
            for connections in [1, 2, 4, 8, 16, 32, 64] {
                let watch = self.process.watch();
                let noticed = self.good(&name, connections)?.run(self.time()).await?;
                let peak = watch.end().await;
                self.row(
                    &format!("{name}, {connections} connections"),
                    &noticed,
                    peak,
                );
            }
        }
        Ok(())
    }

    /// Reads alone and with writes, by few clients and by a thousand.
    async fn mixed(&mut self) -> Result<(), Box<dyn Error>> {
        self.head();
        let watch = self.process.watch();
        let noticed = self.good("QT3", 32)?.run(self.time() / 4).await?;
        let peak = watch.end().await;
        self.row("QT3, 32 connections", &noticed, peak);
        for (connections, time) in [(32, self.time() / 4), (1_000, self.time())] {
            let process = self.process;
            let early = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(10)).await;
                process.memory().resident
            });
            let reads = self.good("QT3", connections)?;
            let watch = self.process.watch();
            let noticed = Mixed { reads }.run(time).await?;
            let peak = watch.end().await;
            let name = format!("QT3 and 10 % writes, {connections} connections");
            self.row(&name, &noticed.all, peak);
            self.row("its writes", &noticed.writes, peak);
            let (early, late) = (early.await?, self.process.memory().resident);
            let name = format!("| memory after 10 s and at the end, {connections} connections");
            let (early, late) = (early >> 20, late >> 20);
            writeln!(self.report, "{name} | | | | | {early}, {late} | |")?;
        }
        Ok(())
    }

    async fn beside_long_ones(&mut self) -> Result<(), Box<dyn Error>> {
        self.head();
        let watch = self.process.watch();
        let noticed = self.good("QT1", 1)?.run(self.time()).await?;
        let peak = watch.end().await;
        self.row("QT1, 1 connection, alone", &noticed, peak);
        let watch = self.process.watch();
        let long = tokio::spawn(self.good("QT5", 64)?.run(self.time()));
        let noticed = self.good("QT1", 1)?.run(self.time()).await?;
        let long = long.await??;
        let peak = watch.end().await;
        self.row("QT1, 1 connection, beside QT5", &noticed, peak);
        self.row("QT5, 64 connections, beside QT1", &long, peak);
        Ok(())
    }
}

/// Returns a valid SOML document with many objects.
fn schema(objects: usize) -> String {
    let mut text =
        "id: /soml/large\nspecialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}\nobjects:\n"
            .to_owned();
    for object in 0..objects {
        let next = (object + 1) % objects;
        writeln!(
            text,
            "  Thing{object}: {{props: {{label: {{}}, size: {{range: decimal}}, next: {{range: Thing{next}, max: inf}}}}}}"
        )
        .expect("writing to a string");
    }
    text
}
