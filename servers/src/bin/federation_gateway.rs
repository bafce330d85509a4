//! The federation gateway alone.

use std::process::ExitCode;

use servers::cli::{FederationGateway, run_service};

// Errors of RocksDB are freed by Rust and allocated by C, so both need the same allocator.
#[cfg(not(feature = "rocksdb"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    run_service(FederationGateway::run)
}
