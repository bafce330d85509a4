//! The migration of schemas at the start of a service.

use schema_registry::{Fate, MigrationReport};
use service_runtime::with_causes;
use tokio::task::JoinHandle;

use super::CliError;
use crate::config::Settings;
use crate::migration::{self, Opened, PreparedMigration};

/// Moves schemas if the settings say so. One that runs beside the service is returned, to be started by [`beside`].
pub(super) async fn at_start(
    settings: &Settings,
    opened: &Opened,
) -> Result<Option<PreparedMigration>, CliError> {
    if !settings.storage.migration.enabled {
        return Ok(None);
    }
    let migration = migration::prepare(settings, opened).await?;
    if settings.storage.migration.is_async {
        return Ok(Some(migration));
    }
    let report = migration.run().await.map_err(CliError::Migration)?;
    log(&migration, &report);
    Ok(None)
}

/// Moves schemas while the service runs, and then calls a function. It ends with the service.
pub(super) fn run_in_background<F: Future<Output = ()> + Send>(
    migration: PreparedMigration,
    then: impl FnOnce() -> F + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        match migration.run().await {
            Ok(report) => {
                log(&migration, &report);
                drop(migration);
                then().await;
            }
            Err(error) => tracing::error!(
                error = with_causes(&error),
                code = crate::config::code::SCHEMA_MIGRATION_FAILED.as_str(),
                "schemas could not be moved; the service continues without them"
            ),
        }
    })
}

fn log(migration: &PreparedMigration, report: &MigrationReport) {
    let (from, to) = (migration.from.name(), migration.to.name());
    match &report.skipped {
        Some(reason) => tracing::info!("no schemas are moved from {from} to {to}: {reason}"),
        None => {
            let left = report.with_fate(Fate::Left);
            let removed = report.schemas.iter().filter(|it| it.is_removed).count();
            tracing::info!(
                schemas = report.schemas.len() - left,
                left,
                removed,
                bindings = report.bindings.len(),
                "schemas have been moved from {from} to {to}"
            );
        }
    }
}
