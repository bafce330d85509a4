//! Writes university data.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use benches::generator::{Config, Format, Generator};
use clap::Parser;

/// Writes university data: about 127,000 triples a university, the same bytes for the same seed.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities, from 1 to 1000.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// What all random numbers depend on.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Syntax: N-Triples (which is N-Quads too) or Turtle.
    #[arg(long, value_enum, default_value_t = Format::Nt)]
    format: Format,
    /// File to write, `-` for the standard output.
    #[arg(long, default_value = "-")]
    output: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nowhere to say it when even that fails.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::new(arguments.universities, arguments.seed)?;
    let mut generator = Generator::new(config, arguments.format);
    if arguments.output.as_os_str() == "-" {
        return Ok(write(&mut generator, io::stdout().lock())?);
    }
    let name = arguments.output.display();
    let failed = |error: io::Error| format!("failed to write {name}: {error}");
    let file = File::create(&arguments.output).map_err(failed)?;
    Ok(write(&mut generator, BufWriter::new(file)).map_err(failed)?)
}

fn write(generator: &mut Generator, mut out: impl Write) -> io::Result<()> {
    while let Some(piece) = generator.piece() {
        out.write_all(piece)?;
    }
    out.flush()
}
