//! `soml restore`.

use std::path::PathBuf;

use clap::Args;
use object_service::folder::restore;

use super::config_args::ConfigArgs;
use super::folder_args::{FolderArgs, quads};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// Folder created by `soml backup`.
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Restore {
    /// Copies a backup to a folder that is empty or not there, once it is checked.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        let folder = self.folder.of(&settings)?;
        let data = restore(&self.backup, &folder, &settings.folder_options())?;
        let (quads, backup) = (quads(&data), self.backup.display());
        writeln!(
            console.out,
            "restored {quads} of {backup} to {}",
            folder.display()
        )?;
        Ok(Exit::Success)
    }
}
