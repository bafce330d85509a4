//! `soml migrate`.

use clap::Args;
use schema_registry::{Fate, MigrationReport, Moved};

use super::config_args::ConfigArgs;
use super::folder_args::FolderArgs;
use super::store::runtime;
use super::{CliError, Console, Exit};
use crate::migration::{Opened, PreparedMigration, prepare, prepare_plan};

#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// Store to move schemas from: `file`, `rdf4j` or `mongodb` (`soml.storage.migration.source`).
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    /// Store to move schemas to (`soml.storage.migration.destination`) [default: the one in use].
    #[arg(long, value_name = "STORE")]
    to: Option<String>,
    /// Moves bound schemas even if the destination already has schemas, overwriting those with the same id
    /// (`soml.storage.migration.forceStoreUpdate`).
    #[arg(long)]
    force: bool,
    /// With `--force`, moves all schemas, not only those that are bound (`soml.storage.migration.somlMigration`).
    #[arg(long)]
    all: bool,
    /// Empties the destination first (`soml.storage.migration.cleanBeforeMigration`).
    #[arg(long)]
    clean_before: bool,
    /// Removes moved schemas from the origin (`soml.storage.migration.cleanOnComplete`).
    #[arg(long)]
    clean_after: bool,
    /// Prints what would be moved, without changing anything.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Migrate {
    /// Moves schemas from one store to another, and prints what becomes of each.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let mut settings = self.config.told_as_service(&self.properties(), console)?;
        self.folder.name_in(&mut settings);
        runtime()?.block_on(async {
            let migration = if self.dry_run {
                prepare_plan(&settings).await?
            } else {
                prepare(&settings, &Opened::default()).await?
            };
            let report = if self.dry_run {
                migration.plan().await
            } else {
                migration.run().await
            };
            let report = report.map_err(CliError::Migration)?;
            self.print(&migration, &report, console)
        })?;
        Ok(Exit::Success)
    }

    /// Returns the properties that flags set.
    fn properties(&self) -> Vec<String> {
        let stores = [("source", &self.from), ("destination", &self.to)];
        let stores = stores
            .into_iter()
            .filter_map(|(name, store)| Some((name, store.as_deref()?)));
        let flags = [
            ("forceStoreUpdate", self.force),
            ("somlMigration", self.all),
            ("cleanBeforeMigration", self.clean_before),
            ("cleanOnComplete", self.clean_after),
        ];
        let flags = flags
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| (name, "true"));
        let all = stores.chain(flags);
        all.map(|(name, value)| format!("soml.storage.migration.{name}={value}"))
            .collect()
    }

    fn print(
        &self,
        migration: &PreparedMigration,
        report: &MigrationReport,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        if let Some(lacks) = &migration.lacks {
            writeln!(console.out, "{lacks}; it would be created")?;
        }
        if report.is_resumed {
            writeln!(console.out, "continues an interrupted migration")?;
        }
        for entry in &report.cleaned {
            let (id, bytes) = (&entry.id, entry.bytes);
            writeln!(
                console.out,
                "schema {id}, {bytes} bytes: removed from the destination"
            )?;
        }
        if let Some(rights) = &report.rights {
            let (bytes, fate) = (rights.item, fate(rights));
            writeln!(console.out, "rights, {bytes} bytes: {fate}")?;
        }
        for schema in &report.schemas {
            let (id, bytes, fate) = (&schema.item.id, schema.item.bytes, fate(schema));
            writeln!(console.out, "schema {id}, {bytes} bytes: {fate}")?;
        }
        for moved in &report.bindings {
            let Some(id) = moved.item.binding.id() else {
                continue;
            };
            let (service, fate) = (moved.item.service.title(), fate(moved));
            let application = match moved.item.application.as_str() {
                "" => String::new(),
                name => format!(" of {name}"),
            };
            writeln!(console.out, "{id} bound to {service}{application}: {fate}")?;
        }
        let (from, to) = (migration.from.name(), migration.to.name());
        let left = report.with_fate(Fate::Left);
        let moved = match report.schemas.len() - left {
            1 => "1 schema".to_owned(),
            moved => format!("{moved} schemas"),
        };
        match &report.skipped {
            Some(reason) => writeln!(console.out, "nothing to move from {from} to {to}: {reason}")?,
            None if self.dry_run => writeln!(
                console.out,
                "{moved} to move from {from} to {to}; nothing was changed"
            )?,
            None => writeln!(console.out, "{moved} moved from {from} to {to}")?,
        }
        if left > 0 {
            writeln!(
                console.err,
                "note: {left} not bound and left in {from}; use --all to move all, without \
                 --clean-before, which would remove what has been moved"
            )?;
        }
        Ok(())
    }
}

/// Describes what happens to an item.
fn fate<T>(moved: &Moved<T>) -> String {
    if moved.is_removed {
        format!("{}, removed from the origin", moved.fate)
    } else {
        moved.fate.to_string()
    }
}
