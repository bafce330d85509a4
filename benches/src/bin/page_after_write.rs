//! Times pages after writes, at several numbers of objects.

use std::error::Error;
use std::io::{self, Write};

use benches::measure::Samples;
use benches::page_after_write::{Before, Library, PAGE};
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Times pages of a connection by title, in turns: after nothing was written, after an object of its type was created,
/// after a thousand were, and after one of another type was.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Numbers of objects of each of the two types.
    #[arg(long, value_delimiter = ',', default_value = "2000,20000,200000")]
    objects: Vec<usize>,
    /// Turns that are measured, each of all kinds; one more warms up.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut out = io::stdout().lock();
    writeln!(out, "Pages of {PAGE} objects by title, microseconds\n")?;
    writeln!(
        out,
        "| page | written before | objects | median | p95 | to that after nothing | to that of fewer objects |"
    )?;
    writeln!(out, "|---|---|---:|---:|---:|---:|---:|")?;
    for is_first in [true, false] {
        let mut smaller: Option<[f64; Before::ALL.len()]> = None;
        for &objects in &arguments.objects {
            let found = measure(objects, is_first, arguments.rounds)?;
            let medians = found.each_ref().map(|samples| samples.summary().median);
            for (place, before) in Before::ALL.into_iter().enumerate() {
                let summary = found[place].summary();
                writeln!(
                    out,
                    "| {} | {} | {objects} | {:.0} | {:.0} | {:.2} | {} |",
                    if is_first { "first" } else { "in the middle" },
                    before.name(),
                    summary.median,
                    summary.p95,
                    summary.median / medians[0],
                    smaller.map_or(String::new(), |of| format!(
                        "{:.2}",
                        summary.median / of[place]
                    )),
                )?;
            }
            out.flush()?;
            smaller = Some(medians);
        }
    }
    Ok(())
}

/// Returns the times of the page after each kind of write.
fn measure(
    objects: usize,
    is_first: bool,
    rounds: usize,
) -> Result<[Samples; Before::ALL.len()], Box<dyn Error>> {
    let mut library = Library::new(objects)?;
    let after = library.cursor(if is_first { 0 } else { objects / 2 })?;
    let mut found: [Samples; Before::ALL.len()] = Default::default();
    for round in 0..=rounds {
        for (before, samples) in Before::ALL.into_iter().zip(&mut found) {
            let took = library.turn(before, after.as_deref())?;
            if round > 0 {
                samples.add(took);
            }
        }
    }
    Ok(found)
}
