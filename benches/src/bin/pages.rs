//! Times pages of a connection at several positions, in turns.

use std::error::Error;
use std::io::{self, Write};

use benches::measure::Samples;
use benches::pages::{OBJECTS, ORDERS, PAGE, POSITIONS, Pages, count};
use clap::Parser;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Times pages of a connection near its beginning and far from it.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Turns that are measured, each of all positions.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let pages = Pages::new(Runtime::new()?)?;
    let mut out = io::stdout().lock();
    writeln!(out, "Pages of {PAGE} of {OBJECTS} objects, microseconds\n")?;
    writeln!(
        out,
        "| order | after object | median | p95 | median relative to the first |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|")?;
    for (name, order) in ORDERS {
        let mut cursors = Vec::new();
        for position in POSITIONS {
            cursors.push((position, pages.cursor(order, position)?, Samples::default()));
        }
        for round in 0..=arguments.rounds {
            for (position, cursor, samples) in &mut cursors {
                let mut timed = Samples::default();
                let page = timed.time(|| pages.page(order, cursor));
                let found = count(&page)?;
                if found != PAGE {
                    return Err(format!("{found} objects behind {position}").into());
                }
                // The first round warms up.
                if round > 0 {
                    samples.merge(timed);
                }
            }
        }
        let mut first = None;
        for (position, _, samples) in cursors {
            let summary = samples.summary();
            let first = *first.get_or_insert(summary.median);
            writeln!(
                out,
                "| {name} | {position} | {:.0} | {:.0} | {:.2} |",
                summary.median,
                summary.p95,
                summary.median / first,
            )?;
        }
    }
    Ok(())
}
