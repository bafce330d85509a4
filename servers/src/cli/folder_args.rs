//! The folder with data and schemas that a command works on.

use std::path::PathBuf;

use clap::Args;
use object_service::folder::DataFolder;
use rdf_load::thousands;

use super::CliError;
use crate::config::Settings;

#[derive(Debug, Args)]
pub(super) struct FolderArgs {
    /// Folder with data and schemas (`store.dataDir`).
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl FolderArgs {
    /// Has the settings name the folder that is named.
    pub(super) fn name_in(&self, settings: &mut Settings) {
        if let Some(folder) = &self.data_dir {
            settings.store.data_dir = Some(folder.clone());
        }
    }

    /// Returns the folder that is named, or else the one that the settings name.
    pub(super) fn of(&self, settings: &Settings) -> Result<PathBuf, CliError> {
        let folder = self.data_dir.as_ref().or(settings.store.data_dir.as_ref());
        folder.cloned().ok_or_else(|| {
            let message = "a folder is needed: use --data-dir DIR, or set `store.dataDir`";
            CliError::Usage(message.to_owned())
        })
    }
}

/// Describes how many quads a folder has.
pub(super) fn quads(folder: &DataFolder) -> String {
    match folder.image.quads() {
        1 => "1 quad".to_owned(),
        quads => format!("{} quads", thousands(quads)),
    }
}
