//! Counts the allocations of an answer, and of straight loops that write the same bytes.

use std::alloc::System;
use std::error::Error;
use std::io::{self, Write};

use benches::floor::{Floor, OBJECTS, SCALARS};
use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Counts allocations on all threads; they take time to count, so nothing is timed here.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {}

fn main() -> Result<(), Box<dyn Error>> {
    Arguments::parse();
    let runtime = Runtime::new()?;
    let floor = Floor::new()?;
    // The first answer fills caches and starts threads.
    runtime.block_on(floor.service());
    let mut out = io::stdout().lock();
    writeln!(out, "{OBJECTS} objects of {SCALARS} scalars\n")?;
    writeln!(
        out,
        "| variant | allocations per object | bytes per object |"
    )?;
    writeln!(out, "|---|---:|---:|")?;
    count(&mut out, "loop, a scan per object", || {
        floor.by_object().map(drop)
    })??;
    count(&mut out, "loop, a look-up per value", || {
        floor.by_value().map(drop)
    })??;
    count(&mut out, "service in process", || {
        drop(runtime.block_on(floor.service()))
    })?;
    Ok(())
}

fn count<T>(out: &mut impl Write, way: &str, work: impl FnOnce() -> T) -> io::Result<T> {
    let region = Region::new(ALLOCATOR);
    let result = work();
    let counted = region.change();
    let allocations = (counted.allocations + counted.reallocations) as f64 / OBJECTS as f64;
    let bytes = counted.bytes_allocated as f64 / OBJECTS as f64;
    writeln!(out, "| {way} | {allocations:.1} | {bytes:.0} |")?;
    Ok(result)
}
