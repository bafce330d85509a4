//! `load-damaged FILE...` prints what of RDF files cannot be read, and how many statements can.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match load_damaged::load(&files) {
        Ok(loaded) => {
            for finding in &loaded.findings {
                eprintln!("{finding}");
            }
            println!("{} statements", loaded.summary.added);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
