//! How schemas are moved between stores at the start.

use std::time::Duration;

use service_config::Setting;

use super::setting::Programs;

/// How schemas are moved from another store at the start (`soml.storage.migration.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationSettings {
    /// Whether they are (`.enabled`).
    pub enabled: bool,
    /// The store that they are moved from (`.source`).
    pub source: Option<LastingStore>,
    /// The store that they are moved to (`.destination`).
    pub destination: MigrationDestination,
    /// Whether schemas of the destination are overwritten (`.forceStoreUpdate`).
    pub force: bool,
    /// Whether the destination is emptied first (`.cleanBeforeMigration`).
    pub clean_before: bool,
    /// Whether all schemas are moved, not only those that are bound (`.somlMigration`).
    pub all: bool,
    /// Whether the origin is emptied afterwards (`.cleanOnComplete`).
    pub clean_after: bool,
    /// Whether the service runs meanwhile (`.async`).
    pub is_async: bool,
    /// How often a migration that fails is tried again (`.retries`).
    pub retries: u32,
    /// The delay before that (`.delay`).
    pub delay: Duration,
}

/// A store that keeps schemas over a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastingStore {
    /// The folder of the data.
    File,
    /// A server of RDF4J's protocol.
    Rdf4j,
    /// A MongoDB server.
    MongoDb,
}

/// The store that schemas are moved to; without one, it is the one in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MigrationDestination(pub Option<LastingStore>);

/// What stands for the store in use.
const IN_USE: &str = "${soml.storage.provider}";

impl Default for MigrationSettings {
    fn default() -> Self {
        MigrationSettings {
            enabled: false,
            source: None,
            destination: MigrationDestination::default(),
            force: false,
            clean_before: false,
            all: false,
            clean_after: false,
            is_async: false,
            retries: 3,
            delay: Duration::from_secs(10),
        }
    }
}

impl MigrationSettings {
    /// Returns whether schemas are moved while the service runs.
    #[must_use]
    pub fn runs_beside(&self) -> bool {
        self.enabled && self.is_async
    }
}

impl LastingStore {
    /// Returns the name of the store in properties.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LastingStore::File => "file",
            LastingStore::Rdf4j => "rdf4j",
            LastingStore::MongoDb => "mongodb",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let all = [
            LastingStore::File,
            LastingStore::Rdf4j,
            LastingStore::MongoDb,
        ];
        all.into_iter().find(|store| store.name() == name)
    }
}

impl Setting<Programs> for Option<LastingStore> {
    const TYPE: &'static str = "`mongodb`, `rdf4j`, `file` or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match LastingStore::of_name(text) {
            None if matches!(text, "" | "none") => Ok(None),
            None => Err(Self::TYPE),
            store => Ok(store),
        }
    }

    fn show(&self) -> String {
        self.map_or("none", LastingStore::name).to_owned()
    }
}

impl Setting<Programs> for MigrationDestination {
    const TYPE: &'static str = "`${soml.storage.provider}`, `rdf4j`, `mongodb` or `file`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match LastingStore::of_name(text) {
            None if text == IN_USE => Ok(MigrationDestination(None)),
            None if text == "in-memory" => Err(
                "`${soml.storage.provider}`, `rdf4j`, `mongodb` or `file`, which keep schemas over a restart",
            ),
            None => Err(Self::TYPE),
            store => Ok(MigrationDestination(store)),
        }
    }

    fn show(&self) -> String {
        self.0.map_or(IN_USE, LastingStore::name).to_owned()
    }
}
