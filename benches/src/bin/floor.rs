//! Compares the service with straight loops over the quads, in turns.

use std::error::Error;
use std::io::{self, Write};

use benches::floor::{Floor, OBJECTS, SCALARS};
use benches::measure::{Samples, Summary, cpu_time};
use clap::Parser;
use serde_json::json;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compares the service with straight loops that read the same quads and write the same bytes.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Turns that are measured, each of all ways.
    #[arg(long, default_value_t = 60)]
    rounds: usize,
    /// Writes JSON instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let runtime = Runtime::new()?;
    let floor = Floor::new()?;
    let mut ways: [Samples; 3] = Default::default();
    for round in 0..arguments.rounds + WARM_UP {
        let expected = floor.by_object()?;
        if round == WARM_UP {
            ways = Default::default();
        }
        let [by_object, by_value, service] = &mut ways;
        let bytes = measured(by_object, || floor.by_object())?;
        let same = bytes == expected;
        let bytes = measured(by_value, || floor.by_value())?;
        let same = same && bytes == expected;
        let bytes = measured(service, || runtime.block_on(floor.service()))
            .body
            .to_bytes();
        if !same || bytes != expected {
            return Err("the ways do not write the same bytes".into());
        }
    }
    let [by_object, by_value, service] = ways.map(|samples| samples.summary());
    let mut out = io::stdout().lock();
    if arguments.json {
        let report = json!({"byObject": by_object, "byValue": by_value, "service": service});
        return Ok(writeln!(out, "{report:#}")?);
    }
    let least = by_object.cpu.min(by_value.cpu);
    writeln!(
        out,
        "{OBJECTS} objects of {SCALARS} scalars, milliseconds\n"
    )?;
    writeln!(
        out,
        "| variant | median | p95 | CPU | CPU relative to the least |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|")?;
    row(
        &mut out,
        "loop, a look through the columns per object",
        by_object,
        least,
    )?;
    row(&mut out, "loop, a look-up per value", by_value, least)?;
    row(&mut out, "service in process", service, least)?;
    Ok(())
}

const WARM_UP: usize = 5;

fn measured<T>(samples: &mut Samples, work: impl FnOnce() -> T) -> T {
    let before = cpu_time();
    let result = samples.time(work);
    samples.add_cpu(cpu_time() - before);
    result
}

fn row(out: &mut impl Write, way: &str, summary: Summary, least: f64) -> io::Result<()> {
    let (median, p95, cpu) = (summary.median, summary.p95, summary.cpu);
    writeln!(
        out,
        "| {way} | {:.2} | {:.2} | {:.2} | {:.2} |",
        median / 1e3,
        p95 / 1e3,
        cpu / 1e3,
        cpu / least,
    )
}
