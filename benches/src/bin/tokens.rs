//! Measures what it costs to verify a token, algorithm by algorithm, in turns.

use std::error::Error;
use std::io::{self, Write};

use benches::measure::Samples;
use benches::tokens::tokens;
use clap::Parser;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures what it costs to verify a token: signature, claims, and who sent it.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Turns that are measured, each of all algorithms.
    #[arg(long, default_value_t = 2_000)]
    rounds: usize,
    /// Writes JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Turns before those that count.
const WARM_UP: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let tokens = tokens()?;
    let mut samples = vec![Samples::default(); tokens.len()];
    for round in 0..arguments.rounds + WARM_UP {
        if round == WARM_UP {
            samples = vec![Samples::default(); tokens.len()];
        }
        for (token, samples) in tokens.iter().zip(&mut samples) {
            let verify = || runtime.block_on(token.verifier.verify(&token.token));
            samples.time(verify)?;
        }
    }
    let mut out = io::stdout().lock();
    let rows = tokens.iter().zip(&samples);
    let rows = rows.map(|(token, samples)| (&token.name, samples.summary()));
    if arguments.json {
        let report: Value = rows
            .map(|(name, summary)| (name.clone(), json!(summary)))
            .collect();
        return Ok(writeln!(out, "{report:#}")?);
    }
    writeln!(out, "| algorithm | median in microseconds | p95 | p99 |")?;
    writeln!(out, "|---|---:|---:|---:|")?;
    for (name, summary) in rows {
        let (median, p95, p99) = (summary.median, summary.p95, summary.p99);
        writeln!(out, "| {name} | {median:.1} | {p95:.1} | {p99:.1} |")?;
    }
    Ok(())
}
