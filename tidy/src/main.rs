//! Prints what depends on what: `tidy crates`, or `tidy modules CRATE`.

use std::path::Path;
use std::process::ExitCode;

use tidy::workspace::Workspace;
use tidy::{Finding, crates, modules};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints a table on demand"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = match arguments[..] {
        ["crates"] => workspace().map(|it| crates::table(&it)),
        ["modules", name] => workspace().and_then(|it| modules::table(&it, name)),
        _ => {
            eprintln!("usage: tidy crates | tidy modules CRATE");
            return ExitCode::from(2);
        }
    };
    match printed {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(finding) => {
            eprintln!("{finding}");
            ExitCode::FAILURE
        }
    }
}

fn workspace() -> Result<Workspace, Finding> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Workspace::read(&root)
}
