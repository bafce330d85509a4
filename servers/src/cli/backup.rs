//! `soml backup`.

use std::path::Path;

use clap::Args;
use object_service::folder::DataFolder;

use super::config_args::ConfigArgs;
use super::folder_args::{FolderArgs, quads};
use super::remote::{RemoteService, TokenArgs};
use super::store::runtime;
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// Folder to create, which must not exist; with `--url`, the name of the backup inside the service's
    /// `store.backupDir`.
    #[arg(value_name = "TARGET")]
    target: String,
    #[command(flatten)]
    folder: FolderArgs,
    /// Asks a running service to back up its folder while it keeps serving.
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    url: Option<String>,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Backup {
    /// Copies the data and schemas of an unused folder or of a running service.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        match &self.url {
            Some(url) => self.ask(url, console)?,
            None => self.copy(console)?,
        }
        Ok(Exit::Success)
    }

    fn ask(&self, url: &str, console: &mut Console<'_>) -> Result<(), CliError> {
        let service = RemoteService::new(url, &self.token)?;
        runtime()?.block_on(service.put(&["backups", &self.target]))?;
        writeln!(
            console.out,
            "the service has created the backup {}",
            self.target
        )?;
        Ok(())
    }

    fn copy(&self, console: &mut Console<'_>) -> Result<(), CliError> {
        let settings = self.config.told(console)?;
        let folder = self.folder.of(&settings)?;
        let data = DataFolder::open(&folder, &settings.folder_options())?;
        data.backup(Path::new(&self.target))?;
        let (quads, folder) = (quads(&data), folder.display());
        writeln!(console.out, "copied {quads} of {folder} to {}", self.target)?;
        Ok(())
    }
}
