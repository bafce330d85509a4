//! Where an embedded store keeps its data.

use std::path::PathBuf;
use std::time::Duration;

use service_config::Setting;

use super::setting::Programs;

/// Where an embedded store keeps its data (`store.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreSettings {
    /// The folder of data and schemas; without one they are in memory (`store.dataDir`).
    pub data_dir: Option<PathBuf>,
    /// When a change is synced (`store.sync`).
    pub sync: SyncWhen,
    /// The time between two syncs with `interval` (`store.syncInterval`).
    pub sync_interval: Duration,
    /// Bytes that kept orders may take (`store.orderMemory`).
    pub order_memory: usize,
    /// The folder of backups that a running service makes (`store.backupDir`).
    pub backup_dir: Option<PathBuf>,
}

/// When changes are synced, so that they survive the end of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWhen {
    /// Before they are answered.
    Commit,
    /// From time to time.
    Interval,
}

impl Default for StoreSettings {
    fn default() -> Self {
        StoreSettings {
            data_dir: None,
            sync: SyncWhen::Commit,
            sync_interval: Duration::from_secs(1),
            order_memory: 64 << 20,
            backup_dir: None,
        }
    }
}

impl Setting<Programs> for SyncWhen {
    const TYPE: &'static str = "`commit` or `interval`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "commit" => Ok(SyncWhen::Commit),
            "interval" => Ok(SyncWhen::Interval),
            _ => Err("`commit` or `interval`"),
        }
    }

    fn show(&self) -> String {
        match self {
            SyncWhen::Commit => "commit".to_owned(),
            SyncWhen::Interval => "interval".to_owned(),
        }
    }
}
