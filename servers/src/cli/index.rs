//! `soml index`.

use clap::Args;
use rdf_load::thousands;
use search_index::indexer::{Outcome, Report};
use search_service::Engines;

use super::config_args::ConfigArgs;
use super::index_build::{Searchable, build, reconcile};
use super::input::Input;
use super::store::{Opened, StoreArgs, over_served, runtime};
use super::{CliError, Console, Exit};
use crate::config::Settings;

#[derive(Debug, Args)]
pub(super) struct Index {
    /// Builds only the indexes of these objects, given by their GraphQL names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Option<Vec<String>>,
    /// Compares the indexes with the data afterwards and repairs differences
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Index {
    /// Builds the indexes that have changed, and prints a line for each.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let defaults = Settings {
            // The name under which `search-service` finds them.
            name: "search-service".to_owned(),
            ..Settings::default()
        };
        let settings = self.config.told_over(defaults, console)?;
        self.input.check_against(&settings)?;
        let (schema, Opened { store, .. }) =
            over_served(&self.input, &StoreArgs::none(), &settings, console)?;
        let engines = Engines::open(&settings.engine_options(), &settings.search_storage())?;
        let (report, repaired) = runtime()?.block_on(async {
            let engine = engines.written();
            let searchable = Searchable::new(schema.soml, &engine, &settings, console).await?;
            let mut options = settings.search_options().indexer(&settings.name);
            options.only = self.only.clone();
            let indexer = searchable.indexer(store, engine, options);
            let report = build(&indexer, console).await?;
            let repaired = if self.refresh {
                Some(reconcile(&indexer, &report).await?)
            } else {
                None
            };
            Ok::<_, CliError>((report, repaired))
        })?;
        print(&report, console)?;
        if let Some(repaired) = repaired {
            let repaired = thousands(repaired);
            writeln!(
                console.out,
                "{repaired} documents differed from the data, and are repaired"
            )?;
        }
        Ok(Exit::Success)
    }
}

fn print(report: &Report, console: &mut Console<'_>) -> Result<(), CliError> {
    for object in &report.objects {
        let (name, index) = (&object.object, &object.index);
        match &object.outcome {
            Outcome::Unchanged => writeln!(console.out, "{name}: {index} has not changed")?,
            Outcome::Built {
                documents,
                malformed,
                rejected,
                ..
            } => {
                let documents = thousands(*documents);
                writeln!(console.out, "{name}: {index} with {documents} documents")?;
                if malformed + rejected > 0 {
                    writeln!(
                        console.err,
                        "warning: {malformed} values and {rejected} documents of {name} are left out; \
                         `indexer.ignoreMalformed=false` lists them"
                    )?;
                }
            }
        }
    }
    for index in &report.superseded {
        writeln!(
            console.out,
            "{index} is replaced; it stays until indexes are built again"
        )?;
    }
    Ok(())
}
