//! The object service alone.

use std::process::ExitCode;

use servers::cli::{ObjectService, run_service};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    run_service(ObjectService::run)
}
