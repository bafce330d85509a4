//! `soml provision`: roles and users of a file, brought to an identity provider.

use std::path::{Path, PathBuf};

use clap::Args;
use outbound::Secret;
use rdf_load::read_text;
use service_auth::identity::ProviderError;
use service_auth::idp::{Administration, Administrator, IdpError, Step};
use service_auth::provisioning::Provisioning;
use uuid::Uuid;

use super::{CliError, Console, Exit};

/// The variable that holds the API key; with `_FILE` behind it, the name of a file that does.
const API_KEY: &str = "IDP_API_KEY";

#[derive(Debug, Args)]
pub(super) struct Provision {
    /// YAML file with `security.roles` and `security.users`.
    file: PathBuf,
    /// Address of the identity provider, a FusionAuth server.
    #[arg(long, value_name = "URL", default_value = "http://localhost:9011")]
    url: String,
    /// Application that has the roles; created where it is missing.
    #[arg(long, value_name = "UUID", env = "IDP_APPLICATION_ID")]
    application: Uuid,
    /// Name of the application where it is created.
    #[arg(long, value_name = "NAME", default_value = "soml")]
    application_name: String,
    /// Tenant, where the provider has several.
    #[arg(long, value_name = "UUID")]
    tenant: Option<Uuid>,
    /// File that holds the API key [default: the variable IDP_API_KEY].
    #[arg(long, value_name = "FILE", env = "IDP_API_KEY_FILE")]
    api_key_file: Option<PathBuf>,
    /// Prints what would change, and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Provision {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let provisioning = Provisioning::read(&self.file).map_err(ProviderError::from)?;
        let administrator = Administrator::new(Administration {
            address: self.url,
            api_key: api_key(self.api_key_file.as_deref())?,
            application_id: self.application,
            application_name: self.application_name,
            tenant_id: self.tenant,
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
    steps: &[Step],
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

fn api_key(file: Option<&Path>) -> Result<Secret, CliError> {
    let key = match file {
        Some(path) => read_text(path).map_err(|source| CliError::Read {
            name: path.display().to_string(),
            source,
        })?,
        None => std::env::var(API_KEY).unwrap_or_default(),
    };
    match key.trim() {
        "" => Err(IdpError::ApiKey.into()),
        key => Ok(Secret::new(key)),
    }
}
