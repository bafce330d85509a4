//! Where the schemas are, whose bindings are kept there, and how the repository is made when it is missing.

use std::time::Duration;

use graph_store::remote::http::{ConnectionOptions, OptionsError, ServerKind, ServerType};

use super::template;

/// Options of a [`Rdf4jSchemaStore`](super::Rdf4jSchemaStore).
///
/// A time of zero disables the timeout wherever [`ConnectionOptions`] says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rdf4jSchemaOptions {
    /// Addresses of the server, credentials, timeouts and retries. Without a repository, it is
    /// [`Rdf4jSchemaOptions::REPOSITORY`].
    pub connection: ConnectionOptions,
    /// The application whose bindings these are. Processes that name the same one share what is bound.
    pub application: String,
    /// Whether the repository is created when it is missing.
    pub auto_create_repository: bool,
    /// The configuration of the repository in Turtle, used when it is created. `%id%` stands for the name of the
    /// repository.
    pub repository_config: Option<String>,
    /// Whether the built-in configurations are left out. By default they are if there is a
    /// [`repository_config`](Self::repository_config).
    pub disable_default: Option<bool>,
    /// How long a call of the store may take, with all that is repeated; never zero.
    pub timeout: Duration,
}

impl Rdf4jSchemaOptions {
    /// The repository where none is named.
    pub const REPOSITORY: &str = "svc-system";

    /// Returns the default options, with the bindings of an application. An address is still to be given.
    #[must_use]
    pub fn new(application: impl Into<String>) -> Self {
        Rdf4jSchemaOptions {
            connection: ConnectionOptions::default(),
            application: application.into(),
            auto_create_repository: true,
            repository_config: None,
            disable_default: None,
            timeout: Duration::from_secs(60),
        }
    }

    /// Checks that the options are consistent.
    ///
    /// # Errors
    /// When something is missing, contradicts something else, or the configuration is not that of the repository.
    pub fn validate(&self) -> Result<(), Rdf4jOptionsError> {
        if self.application.is_empty() {
            return Err(Rdf4jOptionsError::NoApplication);
        }
        if self.timeout.is_zero() {
            return Err(Rdf4jOptionsError::NoTimeout);
        }
        if let ServerType::Known(kind) = self.connection.server
            && !matches!(kind, ServerKind::Rdf4j | ServerKind::GraphDb)
        {
            return Err(Rdf4jOptionsError::Server {
                kind: kind.as_str(),
            });
        }
        self.connection.validate()?;
        if self.may_create() {
            template::check_name(self.repository())?;
        }
        match &self.repository_config {
            Some(config) => template::check(config, self.repository()),
            None => Ok(()),
        }
    }

    /// Returns the name of the repository.
    #[must_use]
    pub fn repository(&self) -> &str {
        let named = self.connection.repository.as_deref();
        named.unwrap_or(Rdf4jSchemaOptions::REPOSITORY)
    }

    /// Returns whether the repository is created when it is missing: not where connections to several servers are forced
    /// although it is.
    #[must_use]
    pub fn may_create(&self) -> bool {
        let connection = &self.connection;
        let is_forced = connection.fails_over() && connection.force_connection;
        self.auto_create_repository && !is_forced
    }

    /// Returns whether a missing repository may be created from the built-in configurations.
    #[must_use]
    pub fn uses_defaults(&self) -> bool {
        let is_disabled = self.disable_default;
        !is_disabled.unwrap_or(self.repository_config.is_some())
    }
}

/// Why a store cannot be made from its options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Rdf4jOptionsError {
    /// No application is named.
    #[error("the application whose schemas are bound has no name")]
    NoApplication,
    /// Calls would have no end.
    #[error("the time that a call may take must not be zero")]
    NoTimeout,
    /// A server of another kind.
    #[error("schemas are stored on servers of type `rdf4j` or `graphdb`, not `{kind}`")]
    Server {
        /// The kind that is configured.
        kind: &'static str,
    },
    /// The name of the repository cannot be written into a configuration.
    #[error(
        "a repository named `{name}` cannot be created: use letters, digits, `-`, `_` and `.`, or create it yourself and \
         disable its creation"
    )]
    RepositoryName {
        /// The name.
        name: String,
    },
    /// The configuration of the repository is not Turtle.
    #[error("the configuration of the repository is not Turtle: {cause}")]
    ConfigSyntax {
        /// What is wrong with it, and where.
        cause: String,
    },
    /// The configuration names no repository.
    #[error("the configuration names no repository: give it the id `{repository}` or `%id%`")]
    ConfigUnnamed {
        /// The name of the repository.
        repository: String,
    },
    /// The configuration is that of another repository.
    #[error(
        "the configuration is for the repository `{found}`, but schemas are stored in \
         `{repository}`: use one name, or `%id%` in the configuration"
    )]
    ConfigName {
        /// The name in the configuration.
        found: String,
        /// The name of the repository.
        repository: String,
    },
    /// The options of the connection contradict each other.
    #[error(transparent)]
    Connection(#[from] OptionsError),
}
