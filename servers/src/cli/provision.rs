//! `soml provision`: roles and users of a file, brought to an identity provider.

use std::path::{Path, PathBuf};

use clap::Args;
use outbound::Secret;
use rdf_load::read_text;
use service_auth::identity::ProviderError;
use service_auth::idp::{
    Administration, AdministrationOf, Administrator, Grant, IdpError, IdpStep,
    KeycloakAdministration,
};
use service_auth::provisioning::Provisioning;
use uuid::Uuid;

use super::{CliError, Console, Exit};
use crate::config::{IdpKind, REALM};

/// The client of log-ins by device code.
pub(super) const LOGIN_CLIENT: &str = "soml-login";

/// The variable that holds the API key; with `_FILE` behind it, the name of a file that does.
const API_KEY: &str = "IDP_API_KEY";
const ADMIN_PASSWORD: &str = "IDP_ADMIN_PASSWORD";
const ADMIN_CLIENT_SECRET: &str = "IDP_ADMIN_CLIENT_SECRET";

#[derive(Debug, Args)]
pub(super) struct Provision {
    /// YAML file with `security.roles` and `security.users`.
    file: PathBuf,
    /// Kind of identity provider.
    #[arg(
        long = "type",
        value_name = "TYPE",
        env = "IDP_TYPE",
        default_value = "fusionauth",
        ignore_case = true
    )]
    kind: IdpKind,
    /// Address of the identity provider [default: http://localhost:9011, or http://localhost:8080 for Keycloak].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Application that has the roles; created if missing. For Keycloak, the `client_id` of a client.
    #[arg(long, value_name = "UUID", env = "IDP_APPLICATION_ID")]
    application: Uuid,
    /// Name of the application, if it is created.
    #[arg(long, value_name = "NAME", default_value = "soml")]
    application_name: String,
    #[command(flatten)]
    fusion_auth: FusionAuthArgs,
    #[command(flatten)]
    keycloak: KeycloakArgs,
    /// Prints what would change, without changing anything.
    #[arg(long)]
    dry_run: bool,
}

/// What only FusionAuth is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "FusionAuth")]
struct FusionAuthArgs {
    /// Tenant, if the provider has several.
    #[arg(long, value_name = "UUID")]
    tenant: Option<Uuid>,
    /// File that contains the API key [default: the variable IDP_API_KEY].
    #[arg(long, value_name = "FILE", env = "IDP_API_KEY_FILE")]
    api_key_file: Option<PathBuf>,
}

/// What only Keycloak is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Keycloak")]
struct KeycloakArgs {
    /// Realm that has the users; created if missing [default: soml].
    #[arg(long, value_name = "NAME", env = "IDP_REALM")]
    realm: Option<String>,
    /// Client for `soml login`; created if missing [default: soml-login].
    #[arg(long, value_name = "CLIENT")]
    login_client: Option<String>,
    /// Realm that the administrator logs in to [default: master].
    #[arg(long, value_name = "NAME")]
    admin_realm: Option<String>,
    /// Administrator; without one, the service account of --admin-client logs in.
    #[arg(long, value_name = "NAME", env = "IDP_ADMIN_USERNAME")]
    admin_user: Option<String>,
    /// File that contains the password of the administrator [default: the variable IDP_ADMIN_PASSWORD].
    #[arg(long, value_name = "FILE", env = "IDP_ADMIN_PASSWORD_FILE")]
    admin_password_file: Option<PathBuf>,
    /// Client that the administrator logs in with [default: admin-cli].
    #[arg(long, value_name = "CLIENT")]
    admin_client: Option<String>,
    /// File that contains the secret of that client [default: the variable IDP_ADMIN_CLIENT_SECRET].
    #[arg(long, value_name = "FILE", env = "IDP_ADMIN_CLIENT_SECRET_FILE")]
    admin_client_secret_file: Option<PathBuf>,
}

impl Provision {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let provisioning = Provisioning::read(&self.file).map_err(ProviderError::from)?;
        let (address, of) = match self.kind {
            IdpKind::FusionAuth => {
                self.keycloak.refuse_flags()?;
                ("http://localhost:9011", self.fusion_auth.administration()?)
            }
            IdpKind::Keycloak => {
                self.fusion_auth.refuse_flags()?;
                ("http://localhost:8080", self.keycloak.administration()?)
            }
        };
        let administrator = Administrator::new(Administration {
            address: self.url.unwrap_or_else(|| address.to_owned()),
            application_id: self.application,
            application_name: self.application_name,
            of,
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        let steps = runtime.block_on(administrator.plan(&provisioning))?;
        for step in &steps {
            writeln!(console.out, "{step}")?;
        }
        let changes = counted(steps.len());
        if steps.is_empty() {
            writeln!(console.out, "nothing to change")?;
        } else if self.dry_run {
            writeln!(console.out, "{changes} to make; nothing was changed")?;
        } else {
            runtime.block_on(apply(&administrator, &steps, console))?;
            writeln!(console.out, "{changes} made")?;
        }
        Ok(Exit::Success)
    }
}

/// Makes all changes; where one fails, says how many were made before.
async fn apply(
    administrator: &Administrator,
    steps: &[IdpStep],
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    for (done, step) in steps.iter().enumerate() {
        if let Err(error) = administrator.apply(step).await {
            writeln!(
                console.err,
                "failed to {step}; {} made before",
                counted(done)
            )?;
            return Err(error.into());
        }
    }
    Ok(())
}

fn counted(changes: usize) -> String {
    match changes {
        1 => "1 change".to_owned(),
        changes => format!("{changes} changes"),
    }
}

impl FusionAuthArgs {
    fn administration(self) -> Result<AdministrationOf, CliError> {
        let api_key = secret(self.api_key_file.as_deref(), API_KEY)?;
        Ok(AdministrationOf::FusionAuth {
            api_key: api_key.ok_or(IdpError::ApiKey)?,
            tenant_id: self.tenant,
        })
    }

    // A variable may be set for another provider; a flag is meant.
    fn refuse_flags(&self) -> Result<(), CliError> {
        match self.tenant {
            Some(_) => Err(CliError::Usage(
                "--tenant is for --type fusionauth".to_owned(),
            )),
            None => Ok(()),
        }
    }
}

impl KeycloakArgs {
    fn administration(self) -> Result<AdministrationOf, CliError> {
        let client_secret = secret(
            self.admin_client_secret_file.as_deref(),
            ADMIN_CLIENT_SECRET,
        )?;
        let grant = match (self.admin_user, client_secret) {
            (Some(user), client_secret) => {
                let password = secret(self.admin_password_file.as_deref(), ADMIN_PASSWORD)?;
                let password = password.ok_or_else(|| {
                    let message = format!(
                        "the password of the administrator is missing: set {ADMIN_PASSWORD}, or \
                         name a file with --admin-password-file"
                    );
                    CliError::Usage(message)
                })?;
                Grant::password(user, password, client_secret)
            }
            (None, Some(client_secret)) => Grant::ClientCredentials { client_secret },
            (None, None) => {
                let message = format!(
                    "the administrator is missing: name one with --admin-user and a password in \
                     {ADMIN_PASSWORD}, or a client with --admin-client and a secret in \
                     {ADMIN_CLIENT_SECRET}"
                );
                return Err(CliError::Usage(message));
            }
        };
        let or = |given: Option<String>, default: &str| given.unwrap_or_else(|| default.to_owned());
        Ok(AdministrationOf::Keycloak(KeycloakAdministration {
            realm: or(self.realm, REALM),
            login_client: or(self.login_client, LOGIN_CLIENT),
            admin_realm: or(self.admin_realm, "master"),
            admin_client: or(self.admin_client, "admin-cli"),
            grant,
        }))
    }

    fn refuse_flags(&self) -> Result<(), CliError> {
        let given = [
            (self.login_client.is_some(), "--login-client"),
            (self.admin_realm.is_some(), "--admin-realm"),
            (self.admin_client.is_some(), "--admin-client"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            Some((_, flag)) => Err(CliError::Usage(format!("{flag} is for --type keycloak"))),
            None => Ok(()),
        }
    }
}

/// Reads a secret of a file, or of a variable; `None` where there is none.
fn secret(file: Option<&Path>, variable: &str) -> Result<Option<Secret>, CliError> {
    let text = match file {
        Some(path) => read_text(path).map_err(|source| CliError::Read {
            name: path.display().to_string(),
            source,
        })?,
        None => std::env::var(variable).unwrap_or_default(),
    };
    let text = text.trim();
    Ok((!text.is_empty()).then(|| Secret::new(text)))
}
