//! The command line: `soml` with its subcommands, `object-service`, `search-service` and
//! `federation-gateway`.
//!
//! Nothing here prints by itself; text goes to the [`Console`] that the binary hands in.

mod background_load;
mod backup;
mod changes;
mod check;
mod completions;
mod compose;
mod compose_watch;
mod config_args;
mod diff;
mod dump;
mod explain;
mod explain_query;
mod folder_args;
mod format;
mod graphql_file;
mod index;
mod index_build;
mod infer;
mod input;
mod json_schema;
mod kept_login;
mod lines;
mod load;
mod login;
mod logins;
mod migrate;
mod opened_stores;
mod operation;
mod other_data;
mod output_file;
mod own_provider;
mod plan;
mod progress;
mod provision;
mod query;
mod remote;
mod restore;
mod running_edge;
mod running_gateway;
mod running_search;
mod running_service;
mod sdl;
mod search;
mod serve;
mod serve_edge;
mod serve_gateway;
mod serve_search;
mod startup_migration;
mod store;
mod token;
mod users;
mod validate;
mod whoami;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use edge_service::EdgeError;
use gateway_service::{SetupError, StartError};
use graph_store::StoreError;
use graphql_service::ErrorCode;
use object_service::folder::{FolderError, code as folder_code, image_code, schemas_code};
use rdf_load::LoadError;
use schema_registry::{MigrationError, SchemaStoreError};
use search_index::engine::EngineError;
use search_index::indexer::IndexerError;
use search_service::EnginesError;
use service_auth::identity::ProviderError;
use service_auth::idp::IdpError;
use service_auth::oauth::OauthError;
use service_auth::provisioning::ProvisioningError;
use service_auth::{ClientError, KeyError, VerifierError};
use service_config::ConfigError;
use service_runtime::ServeError;
use service_runtime::with_causes;
use soml_data::infer::InferError;

use crate::allocator;
use crate::config::{IdpIncomplete, code, code_of};
use crate::edge::EdgeSettingsError;
use crate::migration::MigrationSetupError;
use crate::schemas::OpenSchemasError;
use crate::store::OpenError;
use crate::traces::TracesError;

/// GraphQL over RDF knowledge graphs: generates a GraphQL API from a SOML schema and serves it over
/// RDF data.
#[derive(Debug, Parser)]
#[command(name = "soml", version, after_help = EXIT_CODES)]
pub struct Soml {
    #[command(subcommand)]
    command: Command,
}

/// Serves the GraphQL API of a SOML schema over RDF data.
#[derive(Debug, Parser)]
#[command(name = "object-service", version, after_help = EXIT_CODES)]
pub struct ObjectService {
    #[command(flatten)]
    serve: serve::Serve,
}

/// Serves searches over the objects of a SOML schema.
#[derive(Debug, Parser)]
#[command(name = "search-service", version, after_help = EXIT_CODES)]
pub struct SearchService {
    #[command(flatten)]
    serve: serve_search::Serve,
}

/// Serves the schemas of several GraphQL services as one.
#[derive(Debug, Parser)]
#[command(name = "federation-gateway", version, after_help = EXIT_CODES)]
pub struct FederationGateway {
    #[command(flatten)]
    serve: serve_gateway::Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves a GraphQL API over HTTP, with GraphiQL for browsers.
    Serve(Box<serve::Serve>),
    /// Serves other services at one address: routes, tokens, rate limits, TLS.
    Edge(Box<serve_edge::Serve>),
    /// Validates SOML documents and prints their errors and warnings.
    Validate(validate::Validate),
    /// Prints the GraphQL schema generated from a SOML document.
    Sdl(sdl::Sdl),
    /// Compares two SOML documents or two GraphQL schemas and reports what changes for clients.
    Diff(diff::Diff),
    /// Infers a SOML document from RDF data.
    Infer(infer::Infer),
    /// Runs one GraphQL operation, without a server.
    ///
    /// With --demo, QUERY defaults to the sample query of the demo. QUERY may also come after the files of --data.
    Query(Box<query::Query>),
    /// Builds the indexes that a SOML document declares, in OpenSearch or in a folder.
    Index(Box<index::Index>),
    /// Searches for objects by text, without a server.
    Search(Box<search::Search>),
    /// Runs one GraphQL operation and prints its plan and the cost of each step.
    ///
    /// With --demo, QUERY defaults to the sample query of the demo. QUERY may also come after the files of --data.
    ExplainQuery(Box<explain_query::ExplainQuery>),
    /// Composes subgraph schemas into a supergraph.
    Compose(compose::Compose),
    /// Prints how a gateway would answer one GraphQL operation over a supergraph.
    Plan(plan::Plan),
    /// Validates RDF data against a SOML document.
    Check(Box<check::Check>),
    /// Loads RDF data into a folder, for `soml serve --data-dir`.
    Load(load::Load),
    /// Backs up a folder with data and schemas, even while a service is serving it.
    Backup(backup::Backup),
    /// Restores a folder with data and schemas from a backup.
    Restore(restore::Restore),
    /// Moves schemas from one store to another, with their access rights and the record of what is bound.
    Migrate(Box<migrate::Migrate>),
    /// Exports all data of a folder, a store or a running service as N-Quads or TriG.
    Dump(Box<dump::Dump>),
    /// Prints the changes made by mutations, as recorded by a running service.
    Changes(changes::Changes),
    /// Creates the roles and users of a provisioning file in an identity provider.
    Provision(provision::Provision),
    /// Explains a diagnostic code, an error code or a configuration property.
    Explain(explain::Explain),
    /// Prints the JSON Schema of SOML documents, for completion and validation in editors.
    JsonSchema(json_schema::JsonSchema),
    /// Logs in, so that commands with `--url` send a token.
    Login(login::Login),
    /// Logs out: revokes the token and forgets it.
    Logout(login::Logout),
    /// Creates a development token signed with `security.secret`, or prints the token of a log-in.
    Token(token::Token),
    /// Prints whose token it is and what they may do, or why the token is rejected.
    Whoami(whoami::Whoami),
    /// Prints the completion script for a shell.
    Completions(completions::Completions),
}

const EXIT_CODES: &str = "Exit codes:
   0  success
   1  invalid input: a schema with errors, malformed data, an operation with errors and no data
   2  `soml diff` found a breaking change, or `soml check` found data that do not conform
   3  a system error: a file cannot be read, a port is in use
  64  wrong arguments or configuration";

/// The output of a command.
pub struct Console<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Messages.
    pub err: &'a mut dyn Write,
    /// Whether [`Console::out`] supports colours.
    pub coloured: bool,
    /// Whether [`Console::err`] is a terminal that can show progress.
    pub interactive: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Success,
    /// The input is invalid, which has been reported.
    BadInput,
    /// The schemas have breaking differences.
    Breaking,
    /// The data do not conform to the schema.
    Misfit,
    /// The arguments or the configuration are wrong.
    Usage,
    /// A system error.
    System,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::BadInput => 1,
            Exit::Breaking | Exit::Misfit => 2,
            Exit::System => 3,
            Exit::Usage => 64,
        })
    }
}

/// Parses the arguments of the process. Help, the version and argument errors are printed and end
/// the command.
///
/// # Errors
///
/// Returns the exit code when there is no command to run.
pub fn arguments<C: Parser>() -> Result<C, Exit> {
    C::try_parse().map_err(|error| {
        // When even this cannot be written there is no one to tell.
        let _ = error.print();
        if error.use_stderr() {
            Exit::Usage
        } else {
            Exit::Success
        }
    })
}

/// Runs a program that is only a service: parses the arguments of the process and serves until stopped.
pub fn run_service<C: Parser>(run: impl FnOnce(C, &mut Console<'_>) -> Exit) -> ExitCode {
    let command = match arguments() {
        Ok(command) => command,
        Err(exit) => return exit.into(),
    };
    allocator::give_memory_back_soon();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let interactive = err.is_terminal();
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        coloured: false,
        interactive,
    };
    run(command, &mut console).into()
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("failed to read {name}")]
    Read { name: String, source: io::Error },
    #[error("failed to write the result")]
    Write(#[from] io::Error),
    #[error("failed to write {name}")]
    WriteFile { name: String, source: io::Error },
    #[error("failed to read the data")]
    Dump(#[source] StoreError),
    #[error("failed to check the data")]
    Check(#[source] StoreError),
    #[error("failed to infer a schema from the data")]
    Infer(#[source] InferError),
    #[error("{0}")]
    Input(String),
    #[error(
        "security is on, but there is nothing to verify tokens with: set `security.secret` or \
         `security.jwks.url`, or `security.enabled` to `false`"
    )]
    TokenKeysMissing,
    #[error(
        "`search.rbac.enabled` needs security, which is off, so the roles of callers are unknown: set \
         `security.secret` or `security.jwks.url`, or leave the property out"
    )]
    RolesWithoutSecurity,
    #[error("`security.secret` cannot be used")]
    TokenKey(#[from] KeyError),
    #[error("`security.jwks.url` cannot be used")]
    TokenKeys(#[from] ClientError),
    #[error(transparent)]
    Verifier(VerifierError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("failed to read the stored schemas")]
    Schemas(#[source] SchemaStoreError),
    #[error(transparent)]
    OpenSchemas(#[from] OpenSchemasError),
    #[error(transparent)]
    MigrationSetup(MigrationSetupError),
    #[error("failed to move the schemas")]
    Migration(#[source] MigrationError),
    #[error(transparent)]
    Engines(#[from] EnginesError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Indexer(#[from] IndexerError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Identity(#[from] IdpError),
    #[error(transparent)]
    Oauth(#[from] OauthError),
    /// A log-in that is kept cannot be refreshed.
    #[error("the log-in at {issuer} has ended: {why}; log in again: {command}")]
    LoginEnded {
        issuer: String,
        why: String,
        command: String,
    },
    #[error(transparent)]
    GatewaySetup(#[from] SetupError),
    #[error(transparent)]
    EdgeSettings(#[from] EdgeSettingsError),
    #[error(transparent)]
    Edge(#[from] EdgeError),
    /// What a log-in of the gateway needs is not configured.
    #[error(transparent)]
    IdpIncomplete(#[from] IdpIncomplete),
    #[error(transparent)]
    GatewayStart(#[from] StartError),
    #[error(transparent)]
    Traces(#[from] TracesError),
    #[error("failed to ask the service: {0}")]
    Service(String),
    #[error("failed to start")]
    Start(#[source] io::Error),
}

impl From<MigrationSetupError> for CliError {
    fn from(error: MigrationSetupError) -> Self {
        match error {
            MigrationSetupError::Store(error) => error.into(),
            MigrationSetupError::Folder(error) => error.into(),
            other => CliError::MigrationSetup(other),
        }
    }
}

impl From<VerifierError> for CliError {
    fn from(error: VerifierError) -> Self {
        match error {
            VerifierError::Key(error) => error.into(),
            VerifierError::Client(error) => error.into(),
            other => CliError::Verifier(other),
        }
    }
}

fn identity_code(error: &IdpError) -> ErrorCode {
    match error {
        IdpError::Unreachable(_) | IdpError::GaveUp { .. } => code::IDP_UNAVAILABLE,
        IdpError::Refused { status, .. } if status.is_server_error() => code::IDP_UNAVAILABLE,
        IdpError::Credentials
        | IdpError::NotRegistered
        | IdpError::Account(_)
        | IdpError::ApiKey
        | IdpError::Client { .. }
        | IdpError::Forbidden { .. } => code::IDP_LOGIN_REFUSED,
        IdpError::HashedPasswords { .. }
        | IdpError::OtherUser { .. }
        | IdpError::ProfileRequired { .. } => code::IDP_USERS_UNUSABLE,
        _ => code::IDP_FAILED,
    }
}

fn oauth_code(error: &OauthError) -> ErrorCode {
    match error {
        error if error.may_pass() => code::IDP_UNAVAILABLE,
        OauthError::Denied(_) | OauthError::AccessDenied | OauthError::Expired => {
            code::IDP_LOGIN_REFUSED
        }
        _ => code::IDP_FAILED,
    }
}

impl CliError {
    fn code(&self) -> Option<ErrorCode> {
        match self {
            CliError::Config(error) => code_of(error),
            CliError::Provider(ProviderError::Provisioning(_)) => Some(code::PROVISIONING_INVALID),
            CliError::Provider(_) => Some(code::SIGNING_KEY_UNUSABLE),
            CliError::Folder(error) | CliError::Store(OpenError::Folder(error)) => {
                Some(error.code())
            }
            CliError::Load(LoadError::Image(error)) => Some(image_code(error)),
            CliError::Schemas(
                error @ (SchemaStoreError::Missing { .. }
                | SchemaStoreError::Version { .. }
                | SchemaStoreError::Damaged { .. }
                | SchemaStoreError::InUse { .. }
                | SchemaStoreError::Access { .. }
                | SchemaStoreError::DiskFull),
            ) => Some(schemas_code(error)),
            CliError::Load(error) => error.code(),
            CliError::Migration(_) | CliError::MigrationSetup(MigrationSetupError::Look(_)) => {
                Some(code::SCHEMA_MIGRATION_FAILED)
            }
            CliError::MigrationSetup(MigrationSetupError::ReadOnly { .. }) => {
                Some(folder_code::DATA_READ_ONLY)
            }
            CliError::TokenKeysMissing => Some(code::TOKEN_KEYS_MISSING),
            CliError::RolesWithoutSecurity => Some(code::PROTECTION_UNAVAILABLE),
            CliError::TokenKey(_) => Some(code::TOKEN_KEY_INVALID),
            CliError::Identity(error) => Some(identity_code(error)),
            CliError::Oauth(error) => Some(oauth_code(error)),
            CliError::LoginEnded { .. } => Some(code::LOGIN_ENDED),
            _ => None,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            CliError::Config(ConfigError::Read { .. })
            | CliError::Load(LoadError::Read { .. } | LoadError::Image(_) | LoadError::Stopped)
            | CliError::Read { .. }
            | CliError::Write(_)
            | CliError::WriteFile { .. }
            | CliError::Check(_)
            | CliError::Dump(_)
            | CliError::Infer(InferError::Store(_))
            | CliError::Serve(_)
            | CliError::Service(_)
            | CliError::Provider(
                ProviderError::Provisioning(ProvisioningError::Read { .. })
                | ProviderError::KeyFile { .. }
                | ProviderError::Cryptography,
            )
            | CliError::Store(OpenError::Embedded(_) | OpenError::Folder(_))
            | CliError::Folder(_)
            | CliError::Schemas(_)
            | CliError::Migration(_)
            | CliError::MigrationSetup(
                MigrationSetupError::Look(_) | MigrationSetupError::ReadOnly { .. },
            )
            | CliError::Engines(EnginesError::Embedded { .. })
            | CliError::Engine(_)
            | CliError::Start(_) => Exit::System,
            CliError::Config(_)
            | CliError::TokenKeysMissing
            | CliError::RolesWithoutSecurity
            | CliError::TokenKey(_)
            | CliError::TokenKeys(_)
            | CliError::Verifier(_)
            | CliError::Usage(_)
            | CliError::Traces(_)
            | CliError::OpenSchemas(_)
            | CliError::MigrationSetup(_)
            | CliError::Store(_)
            | CliError::Engines(_)
            | CliError::GatewaySetup(_)
            | CliError::EdgeSettings(_)
            | CliError::Edge(_)
            | CliError::IdpIncomplete(_)
            | CliError::Load(
                LoadError::FormatUnknown { .. }
                | LoadError::BaseInvalid { .. }
                | LoadError::FolderEmpty { .. },
            ) => Exit::Usage,
            CliError::Indexer(IndexerError::Malformed(_)) => Exit::BadInput,
            CliError::Indexer(IndexerError::UnknownObject(_)) => Exit::Usage,
            CliError::Indexer(_) => Exit::System,
            CliError::GatewayStart(_) => Exit::BadInput,
            CliError::Identity(IdpError::Address | IdpError::MasterRealm)
            | CliError::Oauth(OauthError::Issuer) => Exit::Usage,
            CliError::Identity(
                IdpError::HashedPasswords { .. }
                | IdpError::OtherUser { .. }
                | IdpError::ProfileRequired { .. },
            )
            | CliError::Oauth(OauthError::AccessDenied | OauthError::Expired)
            | CliError::Provider(_)
            | CliError::Load(_)
            | CliError::Infer(_)
            | CliError::Input(_) => Exit::BadInput,
            CliError::Identity(_) | CliError::Oauth(_) | CliError::LoginEnded { .. } => {
                Exit::System
            }
        }
    }
}

impl Soml {
    /// Returns whether the command uses so much memory that it should return freed memory soon.
    #[must_use]
    pub fn is_large(&self) -> bool {
        matches!(
            self.command,
            Command::Serve(_) | Command::Load(_) | Command::Dump(_)
        )
    }

    /// Runs the command.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = match self.command {
            Command::Serve(serve) => serve.run(serve::Program::AllInOne, console),
            Command::Edge(edge) => edge.run(console),
            Command::Validate(validate) => validate.run(console),
            Command::Sdl(sdl) => sdl.run(console),
            Command::Diff(diff) => diff.run(console),
            Command::Infer(infer) => infer.run(console),
            Command::Query(query) => query.run(console),
            Command::Index(index) => index.run(console),
            Command::Search(search) => search.run(console),
            Command::ExplainQuery(explain_query) => explain_query.run(console),
            Command::Compose(compose) => compose.run(console),
            Command::Plan(plan) => plan.run(console),
            Command::Check(check) => check.run(console),
            Command::Load(load) => load.run(console),
            Command::Backup(backup) => backup.run(console),
            Command::Restore(restore) => restore.run(console),
            Command::Migrate(migrate) => migrate.run(console),
            Command::Dump(dump) => dump.run(console),
            Command::Changes(changes) => changes.run(console),
            Command::Provision(provision) => provision.run(console),
            Command::Explain(explain) => explain.run(console),
            Command::JsonSchema(json_schema) => json_schema.run(console),
            Command::Login(login) => login.run(console),
            Command::Logout(logout) => logout.run(console),
            Command::Token(token) => token.run(console),
            Command::Whoami(whoami) => whoami.run(console),
            Command::Completions(completions) => completions.run(console),
        };
        finish(result, console)
    }
}

impl ObjectService {
    /// Runs the service until it receives a stop signal.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = self.serve.run(serve::Program::ObjectService, console);
        finish(result, console)
    }
}

impl SearchService {
    /// Runs the service until it receives a stop signal.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = self.serve.run(console);
        finish(result, console)
    }
}

impl FederationGateway {
    /// Runs the service until it receives a stop signal.
    pub fn run(self, console: &mut Console<'_>) -> Exit {
        let result = self.serve.run(console);
        finish(result, console)
    }
}

/// Reports an error with all its causes.
fn finish(result: Result<Exit, CliError>, console: &mut Console<'_>) -> Exit {
    let error = match result {
        Ok(exit) => return exit,
        // The reader of a pipe has seen enough.
        Err(CliError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Exit::Success;
        }
        Err(error) => error,
    };
    let described = with_causes(&error);
    let text = match error.code() {
        Some(code) => format!("error[{code}]: {described}"),
        None => format!("error: {described}"),
    };
    // When even this cannot be written there is no one to tell.
    let _ = writeln!(console.err, "{text}");
    error.exit()
}
