//! Measures gateways in turns: our own, `@apollo/gateway`, and any other that is named.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use benches::gateway::{Contestant, DataSet, Place, Report, Trial};
use benches::http;
use clap::{Parser, ValueEnum};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures gateways in turns over the same subgraphs, each gateway on a core that it has for itself.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Data sets.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "original,spread"
    )]
    data: Vec<DataSet>,
    /// Numbers of connections.
    #[arg(long, value_delimiter = ',', default_value = "1,50,500")]
    connections: Vec<usize>,
    /// Turns of each gateway with each number of connections.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Milliseconds of a turn.
    #[arg(long, default_value_t = 5_000)]
    time: u64,
    /// Milliseconds for which each gateway is kept busy before the turns.
    #[arg(long, default_value_t = 10_000)]
    warm_up: u64,
    /// Milliseconds that each answer of a subgraph waits under load.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// Core of the gateways.
    #[arg(long, default_value_t = 1)]
    gateway_core: usize,
    /// Core of the clients and the subgraphs.
    #[arg(long, default_value_t = 0)]
    load_core: usize,
    /// Our gateway; by default the one that was built beside this program.
    #[arg(long)]
    ours: Option<PathBuf>,
    /// The script that serves `@apollo/gateway`; `none` leaves it out.
    #[arg(long, default_value = "benches/peers/apollo-gateway/server.mjs")]
    apollo: String,
    /// Another gateway, such as "other=gateway --schema {supergraph} --port {port}"; may be given several times.
    #[arg(long = "gateway", value_name = "NAME=COMMAND")]
    gateways: Vec<Contestant>,
    /// File that gets the reports as JSON, every turn of them.
    #[arg(long)]
    json: Option<PathBuf>,
}

impl Arguments {
    fn contestants(&self) -> Result<Vec<Contestant>, Box<dyn Error>> {
        let ours = match &self.ours {
            Some(path) => path.clone(),
            None => beside("federation-gateway")?,
        };
        let named = |name: &str, command: String| Contestant {
            name: name.to_owned(),
            command,
        };
        let ours = format!("{} --port {{port}}", ours.display());
        let mut contestants = vec![named("federation-gateway", ours)];
        if self.apollo != "none" {
            let command = format!("node {} {{supergraph}} {{port}}", self.apollo);
            contestants.push(named("@apollo-gateway", command));
        }
        contestants.extend(self.gateways.iter().cloned());
        Ok(contestants)
    }
}

/// Returns the program that was built beside this one.
fn beside(name: &str) -> io::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    if path.exists() {
        Ok(path)
    } else {
        Err(io::Error::other(format!("{} is missing", path.display())))
    }
}

/// The subgraphs in a process of their own, which ends when this is dropped.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    /// Starts them on the core of this process.
    fn start(set: DataSet) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(beside("gateway_subgraphs")?)
            .args(["--port", "0", "--data", &name(set)])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("the output is piped")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = http::address(line.trim())?;
        Ok(Served { child, address })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn name(set: DataSet) -> String {
    let value = set.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Binds this process, and those that it starts, to a core.
fn bind(core: usize) -> Result<(), Box<dyn Error>> {
    let process = std::process::id().to_string();
    let status = Command::new("taskset")
        .args(["-a", "-cp", &core.to_string(), &process])
        .stdout(Stdio::null())
        .status();
    let status = status.map_err(|error| format!("`taskset`, of util-linux, is needed: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("there is no core {core} to run on").into())
    }
}

async fn measure(
    arguments: &Arguments,
    set: DataSet,
    folder: &Path,
) -> Result<Report, Box<dyn Error>> {
    let served = Served::start(set)?;
    let place = Place {
        core: arguments.gateway_core,
        subgraphs: served.address,
        folder: folder.to_owned(),
    };
    let mut running = Vec::new();
    for contestant in arguments.contestants()? {
        running.push(contestant.start(&place).await?);
    }
    let trial = Trial {
        subgraphs: served.address,
        connections: arguments.connections.clone(),
        rounds: arguments.rounds,
        time: Duration::from_millis(arguments.time),
        warm_up: Duration::from_millis(arguments.warm_up),
        delay: arguments.delay,
    };
    let note = |text: String| {
        // Without a place to say it, the report still comes.
        let _ = writeln!(io::stderr(), "{}: {text}", name(set));
    };
    let gateways = trial.run(&running, note).await?;
    Ok(Report {
        data: name(set),
        delay: arguments.delay,
        gateways,
    })
}

// One thread: clients share a core with the subgraphs.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    bind(arguments.load_core)?;
    let folder = std::env::temp_dir().join(format!("gateway-benchmark-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut reports = Vec::new();
    for set in &arguments.data {
        let report = measure(&arguments, *set, &folder).await?;
        writeln!(io::stdout(), "{}", report.table())?;
        reports.push(report);
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_vec_pretty(&reports)?)?;
    }
    // Logs are of use where something failed.
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
