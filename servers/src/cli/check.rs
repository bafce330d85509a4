//! `soml check`.

use clap::Args;
use graph_store::CallContext;
use soml_data::check::{CheckInput, CheckOptions, CheckReport, CheckSeverity, check};
use soml_data::classes::DataView;

use super::config_args::ConfigArgs;
use super::format::Format;
use super::input::Input;
use super::store::{Opened, StoreArgs, over_data, runtime};
use super::{CliError, Console, Exit};
use crate::misfits;

const EXIT_CODES: &str = "Exit codes:
   0  the data conform to the schema; there may be warnings and notes
   1  the schema has errors, or the data are malformed
   2  the data do not conform to the schema
   3  a file cannot be read, or the store failed
  64  wrong arguments or configuration";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Check {
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Maximum number of examples per finding.
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().examples)]
    examples: usize,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Check {
    /// Prints where the data do not fit the schema; the outcome tells whether they do.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        if self.input.schema.is_none() && self.input.demo.is_none() {
            let message = "a schema is needed: use --schema FILE";
            return Err(CliError::Usage(message.to_owned()));
        }
        let settings = self.config.told(console)?;
        let has_store = self.store.is_given() || !settings.sparql.addresses.is_empty();
        if !self.input.has_data() && !has_store {
            let message = "data are needed: use --data FILE or --store URL";
            return Err(CliError::Usage(message.to_owned()));
        }
        self.input.check_against(&settings)?;
        let (schema, Opened { store, data }) =
            over_data(&self.input, &self.store, &settings, console)?;
        let (statements, solutions) = match data.data_view() {
            DataView::Statements(statements) => (Some(statements), None),
            DataView::Queries(solutions) => (None, Some(solutions)),
        };
        let input = CheckInput {
            schema: &schema.soml,
            store: store.as_ref(),
            statements,
            solutions,
            options: CheckOptions {
                examples: self.examples,
                ..CheckOptions::default()
            },
        };
        let context = CallContext::new();
        let report = runtime()?.block_on(check(&input, &context));
        let report = report.map_err(CliError::Check)?;
        self.print(&report, console)?;
        Ok(match report.count(CheckSeverity::Error) {
            0 => Exit::Success,
            _ => Exit::Misfit,
        })
    }

    fn print(&self, report: &CheckReport, console: &mut Console<'_>) -> Result<(), CliError> {
        match self.format {
            Format::Text => console.out.write_all(misfits::text(report).as_bytes())?,
            Format::Json => writeln!(console.out, "{:#}", misfits::json(report))?,
        }
        Ok(())
    }
}
