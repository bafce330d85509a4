//! The federation gateway alone.

use std::process::ExitCode;

use servers::cli::{FederationGateway, run_service};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    run_service(FederationGateway::run)
}
