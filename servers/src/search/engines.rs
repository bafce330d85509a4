//! The engines of a search service, from its settings.

use std::path::PathBuf;
use std::sync::Arc;

use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Engine, EngineError};

use super::kept::Storage;
use crate::config::Settings;

/// What is searched and what is written to, which are two where their addresses differ.
#[derive(Clone)]
pub struct Engines {
    /// The engine that searches run on.
    pub(super) searched: Engine,
    /// The engine that indexes are written to.
    pub(super) written: Engine,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnginesError {
    /// The embedded engine cannot be opened.
    #[error("failed to open the embedded search engine{}", place(.folder.as_ref()))]
    Embedded {
        /// The folder of its indexes, unless they are in memory.
        folder: Option<PathBuf>,
        /// The cause.
        #[source]
        source: EngineError,
    },
    /// The properties of the engine are inconsistent.
    #[cfg(feature = "opensearch")]
    #[error("the properties `indexer.*` are inconsistent")]
    Options(#[from] search_index::opensearch::OptionsError),
    /// The file of authorities cannot be read.
    #[cfg(feature = "opensearch")]
    #[error("failed to read `indexer.authorities`, {path}")]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// OpenSearch is named, and this build cannot talk to it.
    #[cfg(not(feature = "opensearch"))]
    #[error(
        "`indexer.host` or `indexer.rest.uris` name OpenSearch, and this build has the embedded \
         search engine only; it needs the feature `opensearch`"
    )]
    Unavailable,
}

fn place(folder: Option<&PathBuf>) -> String {
    folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()))
}

impl Engines {
    /// Uses one engine for everything.
    #[must_use]
    pub fn of(engine: Engine) -> Self {
        Engines {
            written: Arc::clone(&engine),
            searched: engine,
        }
    }

    /// Returns the engine that searches run on.
    #[must_use]
    pub fn searched(&self) -> Engine {
        Arc::clone(&self.searched)
    }

    /// Returns the engine that indexes are written to.
    #[must_use]
    pub fn written(&self) -> Engine {
        Arc::clone(&self.written)
    }

    /// Opens the engines that the settings name; embedded where they name none.
    ///
    /// Does not connect yet, so that a service can start while the engine is down.
    ///
    /// # Errors
    ///
    /// Fails if the settings are inconsistent, or the folder of indexes cannot be opened.
    pub fn open(settings: &Settings, storage: &Storage) -> Result<Self, EnginesError> {
        if !settings.search.is_embedded() {
            return connect(settings);
        }
        let folder = storage.indexes();
        let opened = match &folder {
            Some(folder) => EmbeddedEngine::open(folder),
            None => EmbeddedEngine::in_memory(),
        };
        match opened {
            Ok(engine) => Ok(Engines::of(Arc::new(engine))),
            Err(source) => Err(EnginesError::Embedded { folder, source }),
        }
    }
}

#[cfg(feature = "opensearch")]
fn connect(settings: &Settings) -> Result<Engines, EnginesError> {
    use search_index::opensearch::{OpenSearch, OpenSearchOptions};

    let search = &settings.search;
    let authorities = search.authorities_file().map(|path| {
        std::fs::read(&path).map_err(|source| EnginesError::Authorities { path, source })
    });
    let authorities = authorities.transpose()?;
    let open = |addresses: &graph_store::remote::http::Addresses| {
        let mut options = OpenSearchOptions::new(addresses.clone(), settings.name.clone());
        options.username.clone_from(&search.username);
        options.password.clone_from(&search.credentials);
        options.authorities.clone_from(&authorities);
        options.access_timeout = search.access_timeout.0;
        options.health_check_timeout = search.health_check_time();
        OpenSearch::new(options)
    };
    let searched: Engine = Arc::new(open(search.searched_nodes())?);
    let written = match search.searched_nodes() == search.written_nodes() {
        true => Arc::clone(&searched),
        false => Arc::new(open(search.written_nodes())?),
    };
    Ok(Engines { searched, written })
}

#[cfg(not(feature = "opensearch"))]
fn connect(_: &Settings) -> Result<Engines, EnginesError> {
    Err(EnginesError::Unavailable)
}
