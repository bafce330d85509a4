//! The provider of a service's own users, as `soml whoami` knows it: by the settings of the service, and by what that
//! publishes while it runs.

use service_auth::identity::{ProviderError, TokenRules, kept_public_key};
use service_auth::provisioning::Provisioning;
use service_auth::{Key, Verifier};

use super::remote::RemoteService;
use super::{CliError, users};
use crate::config::Settings;
use crate::demo;

/// Where the keys are published.
pub(super) const KEYS: &str = "/.well-known/jwks.json";

/// The provider of a service's own users.
pub(super) struct OwnProvider {
    rules: TokenRules,
    /// The service that is asked for its keys, where no file has them.
    url: Option<String>,
    knows_super_roles: bool,
}

impl OwnProvider {
    /// Returns the provider of a demo, of a service that is named, or of the settings; `None` where users do not log
    /// in to the service.
    pub(super) fn of(
        is_demo: bool,
        url: Option<&str>,
        settings: &Settings,
    ) -> Result<Option<Self>, CliError> {
        let provider = &settings.provider;
        // A service publishes its keys, and not which of its roles are super roles.
        let knows_super_roles = is_demo || provider.provisioning.is_some();
        let users = match &provider.provisioning {
            Some(_) if is_demo => {
                let message = "--demo has users of its own, but `security.provisioning.file` names \
                               others: use only one of them";
                return Err(CliError::Usage(message.to_owned()));
            }
            None if is_demo => demo::users().map_err(|_| ProviderError::Cryptography)?,
            Some(file) => Provisioning::read(file).map_err(ProviderError::from)?,
            None if url.is_some() => Provisioning::default(),
            None => return Ok(None),
        };
        Ok(Some(OwnProvider {
            rules: TokenRules::new(&provider.options(), &users),
            url: url.map(str::to_owned),
            knows_super_roles,
        }))
    }

    /// Returns whether it is known which of its roles are super roles.
    pub(super) fn knows_super_roles(&self) -> bool {
        self.knows_super_roles
    }

    /// Returns what the service verifies tokens with.
    pub(super) async fn verifier(self, settings: Settings) -> Result<Verifier, CliError> {
        let keys = match (&self.url, &settings.provider.key_file) {
            (None, Some(file)) => {
                let (pem, id) = kept_public_key(file)?;
                users::keys(&pem, &id)?
            }
            (Some(url), _) => published(url).await?,
            (None, None) => published(&own_address(&settings)).await?,
        };
        let settings = users::secured(settings, self.rules)?;
        Ok(Verifier::of(&settings.security.verifier_options())?.with_keys(keys))
    }
}

/// Returns the keys that a running service publishes.
async fn published(url: &str) -> Result<Vec<Key>, CliError> {
    let failed = |why: String| {
        CliError::Service(format!(
            "{why}; the keys of its users are read from {KEYS} at {url}; --url names a different \
             service"
        ))
    };
    let service = RemoteService::public(url)?;
    let body = service
        .get(KEYS, &[], "application/json")
        .await
        .map_err(|error| match error {
            CliError::Service(why) => failed(why),
            other => other,
        })?;
    let keys = Key::from_json(&body);
    keys.ok_or_else(|| failed("it answered with no set of keys".to_owned()))
}

/// Returns the address of a service with these settings on this machine.
fn own_address(settings: &Settings) -> String {
    if settings.host.is_unspecified() {
        format!("http://localhost:{}", settings.port)
    } else {
        format!(
            "http://{}",
            std::net::SocketAddr::new(settings.host, settings.port)
        )
    }
}
