//! Measures what the metrics of one request cost: a request of an HTTP server, its GraphQL operation, and two look-ups in
//! caches, on as many threads as are named (1 by default), with the recorder that `soml` has.
//!
//! ```sh
//! cargo run --profile bench-fast -p soml-service-metrics --example cost -- 2
//! ```

use std::io::Write;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use metrics_exporter_prometheus::PrometheusBuilder;
use service_metrics::{
    BOUNDS, CacheMetrics, OperationKind, OperationMetrics, OperationOutcome, ServerMetrics,
};

/// Requests of each thread in a round, and rounds.
const REQUESTS: u32 = 1_000_000;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args()
        .nth(1)
        .map_or(Ok(1), |text| text.parse::<usize>())?;
    let without = median(threads);
    let handle = PrometheusBuilder::new()
        .set_buckets(BOUNDS)?
        .install_recorder()?;
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            handle.run_upkeep();
        }
    });
    let with = median(threads);
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{threads} threads: {with:.0} ns for each request, {without:.0} ns without a recorder"
    )?;
    Ok(())
}

/// Returns the median of the nanoseconds that the metrics of a request take.
fn median(threads: usize) -> f64 {
    let server = ServerMetrics::new("service", ["/", "/graphql"]);
    let operations = OperationMetrics::new("service");
    let caches = ["documents", "plans"].map(CacheMetrics::new);
    let request = || {
        let begun = Instant::now();
        // The log looks at the clock at the begin and at the end of each request, whether there are metrics or not.
        let request = server.begin_at(&Method::POST, Some(1), begun);
        caches.iter().for_each(|cache| cache.count(true));
        let (kind, outcome) = (OperationKind::Query, OperationOutcome::Executed);
        let taken = begun.elapsed();
        operations.record(kind, outcome, taken);
        request.end_after(StatusCode::OK, taken);
    };
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| (0..REQUESTS).for_each(|_| request()));
                }
            });
            begun.elapsed().as_nanos() as f64 / f64::from(REQUESTS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}
