//! Reading the settings, and the page about them.

use graphql_service::ErrorCode;
use service_config::ConfigError;

use super::code;
use super::defaults::contract_table;
use super::edge_routes::EDGE_ROUTES;
use super::loggers::loggers_table;
use super::settings::Settings;
use super::subgraphs::SUBGRAPHS;
use super::table::CATALOGUE;

/// The sources of the configuration; later ones override earlier ones.
pub type Sources<'a> = service_config::Sources<'a, Settings>;

/// Reads the settings from all `sources`; also returns warnings.
///
/// Properties of the interface that have no effect are one warning, from whatever source.
///
/// # Errors
///
/// Fails on a file that cannot be read, on an unknown property in a file or flag, on a value that
/// does not fit, and on one that asks for protection that there is not. An unknown name in the
/// environment is only a warning.
pub fn read(sources: &Sources<'_>) -> Result<(Settings, Vec<String>), ConfigError> {
    let read = service_config::read(&CATALOGUE, sources)?;
    Ok((read.settings, read.warnings))
}

/// Returns the code of an error that has one.
#[must_use]
pub fn code_of(error: &ConfigError) -> Option<ErrorCode> {
    match error {
        ConfigError::Protection { .. } => Some(code::PROTECTION_UNAVAILABLE),
        _ => None,
    }
}

/// Returns the tables of `docs/configuration.md`.
#[must_use]
pub fn markdown() -> String {
    let properties = CATALOGUE.table(&Settings::default());
    let numbered = |family| CATALOGUE.numbered_table(family);
    let (subgraphs, edge) = (numbered(SUBGRAPHS.family), numbered(EDGE_ROUTES.family));
    let aliases = CATALOGUE.alias_table();
    let (loggers, planned) = (loggers_table(), CATALOGUE.planned_table());
    let contract = contract_table();
    format!(
        "{properties}\n## Subgraphs of the gateway\n\n{subgraphs}\n## Routes of the edge\n\n{edge}{LOGGERS_HEAD}{loggers}\n## Other names\n\n{aliases}\
         {PLANNED_HEAD}{planned}{CONTRACT_HEAD}{contract}"
    )
}

const LOGGERS_HEAD: &str = "
## Levels of individual loggers

`logging.level.NAME` sets the level of one logger: `TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR`, `OFF`, or
`FATAL`, which is `ERROR`. In the environment, it is `LOGGING_LEVEL_SEARCH_SERVICE` or
`LOGGING_LEVEL_COM_VENDOR_PLATFORM_SEARCH`. The most specific name wins, whatever source it comes from: a
logger in the table below wins over a Java package, and a package over the packages that contain it. It also wins over a
directive of `logging.level` for the same logger; a directive for one of its modules, such as `object_engine::plan=trace`, is
more specific still. `logging.level.root` replaces the level without a logger in `logging.level`. Any other name
causes a warning.

";

const PLANNED_HEAD: &str = "
## Known properties without effect

These properties of the interface are accepted from every source, and one warning lists those that are set. Their values
are checked like other values. There is no warning about a value that matches what the service does anyway. A value that
requests protection which the service does not have prevents the start with `PROTECTION_UNAVAILABLE`, whatever else is
configured; `false` does not request any. With `security.enabled: false`, `security.roles` and
`security.users` cause only the warning.

";

const CONTRACT_HEAD: &str = "
## Defaults of the interface

The defaults that the interface gives to properties, and those of this implementation. If they differ, the last column
gives the reason.

";
