//! Measures what the edge adds to a request, at a fixed rate.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use benches::edge::{at_rate, headers, in_front_of};
use benches::http::serve;
use benches::measure::Samples;
use bytes::Bytes;
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures what the edge adds to a request: with tokens and rates, in turns with the same requests sent to the server
/// behind it. The server answers at once; it, the edge and the client share the process.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Requests a second.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Turns of each way.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Bytes of an answer.
    #[arg(long, default_value_t = 10_000)]
    bytes: usize,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let answer = Bytes::from(format!("{{\"data\":{:?}}}", "x".repeat(arguments.bytes)));
    let server = serve(move |_| {
        let answer = answer.clone();
        async move { Some(answer) }
    })
    .await?;
    let edge = in_front_of(server).await?;
    let (headers, body) = (headers()?, Bytes::from_static(b"1"));
    let time = Duration::try_from_secs_f64(arguments.seconds)?;
    let (mut direct, mut through) = (Samples::default(), Samples::default());
    // The first round is for warming up.
    for round in 0..=arguments.rounds {
        for (address, samples) in [(server, &mut direct), (edge, &mut through)] {
            let turn = at_rate(address, &headers, &body, arguments.rate, time).await?;
            if round > 0 {
                samples.merge(turn);
            }
        }
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| way | requests | median, µs | p95, µs | p99, µs |\n|---|---:|---:|---:|---:|"
    )?;
    let (direct, through) = (direct.summary(), through.summary());
    for (way, it) in [("direct", &direct), ("through the edge", &through)] {
        let (count, median, p95, p99) = (it.count, it.median, it.p95, it.p99);
        writeln!(
            out,
            "| {way} | {count} | {median:.0} | {p95:.0} | {p99:.0} |"
        )?;
    }
    writeln!(
        out,
        "\nadded: {:.0} µs in the median, {:.0} µs at p99",
        through.median - direct.median,
        through.p99 - direct.p99
    )?;
    Ok(())
}
