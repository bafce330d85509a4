//! The `soml` command.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use servers::allocator;
use servers::cli::{Console, Soml, arguments};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command: Soml = match arguments() {
        Ok(command) => command,
        Err(exit) => return exit.into(),
    };
    if command.is_large() {
        allocator::give_memory_back_soon();
    }
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let coloured = out.is_terminal() && !no_color;
    let interactive = err.is_terminal();
    command
        .run(&mut Console {
            out: &mut out,
            err: &mut err,
            coloured,
            interactive,
        })
        .into()
}
