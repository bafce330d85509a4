//! `soml check`.

use clap::Args;
use graph_store::CallContext;
use graph_store::remote::IsolationReport;
use schema_registry::Checked;
use serde_json::json;
use soml_core::access::other_ways;
use soml_core::span::LineIndex;
use soml_data::check::{CheckInput, CheckOptions, CheckReport, CheckSeverity, check};
use soml_data::classes::DataView;

use super::config_args::ConfigArgs;
use super::format::Format;
use super::input::{Input, usable};
use super::store::{Opened, StoreArgs, over_data, runtime};
use super::validate::plural;
use super::{CliError, Console, Exit};
use crate::check_output;
use crate::render::{self, Style};
use crate::store::DataStore;

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
    /// Checks that the SPARQL server isolates concurrent writers: two writers race N times for the same nodes, in a
    /// graph that is removed afterwards. Do not write to a server that lets both win.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    writers: Option<u32>,
    /// Checks the roles of the schema instead of the data: warns about properties that a role is denied but can
    /// still read in another way.
    #[arg(long, conflicts_with_all = ["data", "store", "writers"])]
    roles: bool,
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
        if self.roles {
            return self.check_roles(console);
        }
        let settings = self.config.told(console)?;
        let has_store = self.store.is_given()
            || !settings.sparql.addresses.is_empty()
            || settings.store.data_dir.is_some();
        if !self.input.has_data() && !has_store {
            let message = "data are needed: use --data FILE or --store URL";
            return Err(CliError::Usage(message.to_owned()));
        }
        self.input.check_against(&settings)?;
        let (schema, Opened { store, data }) =
            over_data(&self.input, &self.store, &settings, console)?;
        let plain = data.plain_data();
        let (statements, solutions) = match plain.view() {
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
        let races = match (self.writers, &data) {
            (Some(_), DataStore::Embedded(_)) => {
                let message = "--writers needs a SPARQL server: use --store URL";
                return Err(CliError::Usage(message.to_owned()));
            }
            (Some(rounds), DataStore::Remote(store)) => Some((rounds, store)),
            (None, _) => None,
        };
        let context = CallContext::new();
        let runtime = runtime()?;
        let report = runtime
            .block_on(check(&input, &context))
            .map_err(CliError::Check)?;
        let races = races.map(|(rounds, store)| {
            let races = runtime.block_on(store.probe_isolation(rounds, &context));
            races.map_err(CliError::Check)
        });
        let races = races.transpose()?;
        self.print(&report, races, console)?;
        let is_broken = races.is_some_and(|races| !races.is_isolated());
        Ok(match report.count(CheckSeverity::Error) {
            0 if !is_broken => Exit::Success,
            _ => Exit::Misfit,
        })
    }

    /// Prints on which other ways roles read what they are denied.
    fn check_roles(&self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let named = self.input.schema_text(true)?;
        let Some((name, text)) = named else {
            let message = "a schema is needed: use --schema FILE";
            return Err(CliError::Usage(message.to_owned()));
        };
        let schema = usable(&name, &text, console)?;
        let lines = LineIndex::new(&text);
        let findings = other_ways(&schema.soml).into_iter();
        let checked = Checked {
            schema: None,
            valid: true,
            notes: findings.map(|finding| finding.locate(&lines)).collect(),
            suppressed: 0,
        };
        match self.format {
            Format::Text => {
                let rendered = render::text(&name, &text, &checked, Style::Plain);
                console.out.write_all(rendered.as_bytes())?;
                let roles = plural(schema.soml.rbac.roles.len(), "role");
                let warnings = plural(checked.notes.len(), "warning");
                writeln!(console.out, "{roles}; {warnings}")?;
            }
            Format::Json => {
                writeln!(console.out, "{:#}", schema_registry::json(&name, &checked))?;
            }
        }
        Ok(Exit::Success)
    }

    fn print(
        &self,
        report: &CheckReport,
        races: Option<IsolationReport>,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        match self.format {
            Format::Text => {
                console
                    .out
                    .write_all(check_output::text(report).as_bytes())?;
                if let Some(races) = races {
                    writeln!(console.out, "{}", check_output::races(races))?;
                }
            }
            Format::Json => {
                let mut document = check_output::json(report);
                if let Some(races) = races {
                    document["writers"] = json!({
                        "races": races.rounds,
                        "wonByBoth": races.broken,
                        "wonByNone": races.undecided,
                        "keptApart": races.is_isolated(),
                    });
                }
                writeln!(console.out, "{document:#}")?;
            }
        }
        Ok(())
    }
}
