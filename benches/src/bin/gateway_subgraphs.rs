//! Serves the four subgraphs of the gateway benchmark.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use benches::gateway::{DataSet, Subgraphs};
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Serves the four subgraphs of the gateway benchmark at `/accounts`, `/inventory`, `/products` and `/reviews`, and
/// prints the address.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port; 0 for any that is free.
    #[arg(long, default_value_t = 4200)]
    port: u16,
    /// Which data they have.
    #[arg(long, value_enum, default_value_t = DataSet::Original)]
    data: DataSet,
    /// Milliseconds that each answer waits.
    #[arg(long, default_value_t = 0)]
    delay: u64,
}

// All share one thread: they run on one core.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let delay = Duration::from_millis(arguments.delay);
    let subgraphs = Subgraphs::new(arguments.data, delay);
    let address = subgraphs.serve(arguments.port).await?;
    // The only line, for whoever starts this.
    writeln!(io::stdout(), "http://{address}")?;
    std::future::pending::<()>().await;
    Ok(())
}
