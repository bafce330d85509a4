//! `soml load`.

use std::path::PathBuf;

use clap::Args;
use object_service::folder::{NewFolder, has_data, open_image};

use super::config_args::ConfigArgs;
use super::folder_args::FolderArgs;
use super::input::Reading;
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Load {
    /// RDF data: Turtle, TriG, N-Triples, N-Quads, JSON-LD or RDF/XML, optionally gzipped. A folder means all files in
    /// it, `-` means standard input.
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Load {
    /// Adds the files to a folder, all or none.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        let folder = self.folder.of(&settings)?;
        let loaded = if has_data(&folder)? {
            let image = open_image(&folder, &settings.folder_options())?;
            self.reading.load(&self.data, &image, console)?
        } else {
            let new = NewFolder::new(&folder, &settings.folder_options());
            self.reading.load(&self.data, &new, console)?
        };
        writeln!(console.out, "{loaded}")?;
        Ok(Exit::Success)
    }
}
