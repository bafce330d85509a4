//! Reading the settings, and the page about them.

use graphql_service::ErrorCode;
use service_config::ConfigError;

use super::code;
use super::settings::Settings;
use super::table::CATALOGUE;

/// The sources of the configuration; later ones override earlier ones.
pub type Sources<'a> = service_config::Sources<'a, Settings>;

/// The property that says what searches do with roles, once it is built.
const SEARCH_ROLES: &str = "search.rbac.enabled";

/// Reads the settings from all `sources`; also returns warnings.
///
/// Properties of the interface that are not built yet are one warning, from whatever source.
///
/// # Errors
///
/// Fails on a file that cannot be read, on an unknown property in a file or flag, on a value that
/// does not fit, and on one that asks for protection that is not built yet. An unknown name in the
/// environment is only a warning.
pub fn read(sources: &Sources<'_>) -> Result<(Settings, Vec<String>), ConfigError> {
    let read = service_config::read(&CATALOGUE, sources)?;
    let mut settings = read.settings;
    settings.search.says_about_roles = read.planned.iter().any(|name| name == SEARCH_ROLES);
    Ok((settings, read.warnings))
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
    let (subgraphs, aliases) = (CATALOGUE.numbered_table(), CATALOGUE.alias_table());
    let planned = CATALOGUE.planned_lists();
    format!(
        "{properties}\n## Subgraphs of the gateway\n\n{subgraphs}\n## Other names\n\n{aliases}{PLANNED_HEAD}{planned}"
    )
}

const PLANNED_HEAD: &str = "
## Known properties that are not built yet

They are accepted from every source, with one warning that lists them. A value that asks for protection
stops the start with `PROTECTION_UNAVAILABLE`, whatever else is configured; `false` does not. With
`security.enabled: false`, the properties of `security` ask for nothing. `soml.storage.provider:
in-memory` is what the service does.
";
