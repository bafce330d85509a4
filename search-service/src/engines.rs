//! The engines of a search service.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use outbound::{Addresses, Secret};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Engine, EngineError};

use super::storage::Storage;

/// The engines for searching and for writing, which are two if their addresses differ.
#[derive(Clone)]
pub struct Engines {
    /// The engine that searches run on.
    pub(super) searched: Engine,
    /// The engine that indexes are written to.
    pub(super) written: Engine,
}

/// Where the engines are.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The application whose indexes they are.
    pub application: String,
    /// Nodes that are searched; none for the embedded engine.
    pub searched: Addresses,
    /// Nodes that are written to.
    pub written: Addresses,
    /// User of the nodes.
    pub username: Option<String>,
    /// Password of the user.
    pub password: Option<Secret>,
    /// File of certificate authorities.
    pub authorities: Option<PathBuf>,
    /// Time to connect.
    pub access_timeout: Duration,
    /// Time to answer a health check.
    pub health_check_timeout: Duration,
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
        "`indexer.host` or `indexer.rest.uris` name OpenSearch, but this build has only the \
         embedded search engine; OpenSearch needs the feature `opensearch`"
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

    /// Opens the engines that the options name; embedded where they name none.
    ///
    /// Does not connect yet, so that a service can start while the engine is down.
    ///
    /// # Errors
    ///
    /// Fails if the options are inconsistent, or the folder of indexes cannot be opened.
    pub fn open(options: &EngineOptions, storage: &Storage) -> Result<Self, EnginesError> {
        if options.searched.is_empty() {
            Engines::embedded(storage)
        } else {
            connect(options)
        }
    }

    /// Opens the embedded engine.
    ///
    /// # Errors
    ///
    /// Fails if the folder of indexes cannot be opened.
    pub fn embedded(storage: &Storage) -> Result<Self, EnginesError> {
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
fn connect(options: &EngineOptions) -> Result<Engines, EnginesError> {
    use search_index::opensearch::{OpenSearch, OpenSearchOptions};

    let authorities = options.authorities.clone().map(|path| {
        std::fs::read(&path).map_err(|source| EnginesError::Authorities { path, source })
    });
    let authorities = authorities.transpose()?;
    let open = |addresses: &Addresses| {
        let mut of_engine = OpenSearchOptions::new(addresses.clone(), options.application.clone());
        of_engine.username.clone_from(&options.username);
        of_engine.password.clone_from(&options.password);
        of_engine.authorities.clone_from(&authorities);
        of_engine.access_timeout = options.access_timeout;
        of_engine.health_check_timeout = options.health_check_timeout;
        OpenSearch::new(of_engine)
    };
    let searched: Engine = Arc::new(open(&options.searched)?);
    let written = if options.searched == options.written {
        Arc::clone(&searched)
    } else {
        Arc::new(open(&options.written)?)
    };
    Ok(Engines { searched, written })
}

#[cfg(not(feature = "opensearch"))]
fn connect(_: &EngineOptions) -> Result<Engines, EnginesError> {
    Err(EnginesError::Unavailable)
}
