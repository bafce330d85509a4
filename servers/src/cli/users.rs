//! Users who log in to the service itself.

use std::sync::Arc;

use service_auth::Key;
use service_auth::identity::{Provider, ProviderError, TokenRules, password_slots};
use service_auth::provisioning::{Password, Provisioning, User};
use service_runtime as host;

use super::{CliError, Console};
use crate::config::{Names, ProviderSettings, Settings, Switch};
use crate::demo;

/// The provider of tokens, and whom to tell about.
pub(super) struct Users {
    provider: Arc<Provider>,
    /// Users whose passwords no one knows yet.
    new: Vec<User>,
}

impl Users {
    /// Starts the provider of the settings, or that of a demo; `None` where users do not log in here.
    pub(super) fn of(is_demo: bool, settings: &Settings) -> Result<Option<Self>, CliError> {
        let settings = &settings.provider;
        if !is_demo {
            let Some(path) = &settings.provisioning else {
                return Ok(None);
            };
            let users = Provisioning::read(path).map_err(ProviderError::from)?;
            return Ok(Some(Users {
                provider: provider(settings, &users)?,
                new: Vec::new(),
            }));
        }
        if settings.provisioning.is_some() {
            return Err(CliError::Usage(
                "--roles has users of its own, but `security.provisioning.file` names others: use \
                 only one of them"
                    .to_owned(),
            ));
        }
        let users: Provisioning = demo::users().map_err(|_| ProviderError::Cryptography)?;
        Ok(Some(Users {
            provider: provider(settings, &users)?,
            new: users.users,
        }))
    }

    pub(super) fn provider(&self) -> Arc<Provider> {
        Arc::clone(&self.provider)
    }

    /// Returns the keys that verify the tokens of users.
    pub(super) fn keys(&self) -> Result<Vec<Key>, CliError> {
        let verification = self.provider.verification();
        keys(&verification.public_pem, &verification.key_id)
    }

    /// Makes every request need a token, and accepts those of users.
    pub(super) fn secured(&self, settings: Settings) -> Result<Settings, CliError> {
        secured(settings, self.provider.verification().rules())
    }

    /// Prints the passwords of new users, once, and how to log in.
    pub(super) fn announce(self, base: &str, console: &mut Console<'_>) -> Result<(), CliError> {
        let [first, ..] = self.new.as_slice() else {
            return Ok(());
        };
        writeln!(
            console.out,
            "\nUsers, with passwords that are valid until the next start:"
        )?;
        for user in &self.new {
            let roles = user.roles.join(", ");
            let (name, password) = (&user.username, plain(user));
            writeln!(console.out, "  {name:<8} {password}  ({roles})")?;
        }
        let body = serde_json::json!({ "loginId": first.username, "password": plain(first) });
        writeln!(
            console.out,
            "Log in:   curl {base}/api/login -H 'Content-Type: application/json' -d '{body}'"
        )?;
        console.out.flush()?;
        Ok(())
    }
}

/// Starts a provider, whose passwords are hashed on threads of a low priority.
fn provider(
    settings: &ProviderSettings,
    users: &Provisioning,
) -> Result<Arc<Provider>, ProviderError> {
    let mut options = settings.options();
    options.slots = Some(host::of_low_priority(password_slots()));
    Ok(Arc::new(Provider::new(&options, users)?))
}

/// Returns the keys of a PEM text, under the name that tokens have for them.
pub(super) fn keys(pem: &str, id: &str) -> Result<Vec<Key>, CliError> {
    let keys = Key::from_pem(pem)?;
    Ok(keys.into_iter().map(|key| key.with_id(id)).collect())
}

/// Makes every request need a token, and accepts those of a provider with these rules.
pub(super) fn secured(mut settings: Settings, rules: TokenRules) -> Result<Settings, CliError> {
    let security = &mut settings.security;
    let listed = security.algorithms.0.as_deref();
    let problem = if security.enabled == Switch::Off {
        "`security.enabled` is off"
    } else if security.roles_claim != rules.roles_claim {
        "`security.rolesClaim` is not `roles`, where their tokens have them"
    } else if listed.is_some_and(|listed| !listed.contains(&rules.algorithm)) {
        "`security.algorithms` has no ES256, which signs their tokens"
    } else {
        let is_open = security.has_keys();
        accept(&mut security.issuers, &rules.issuer, is_open);
        accept(&mut security.audiences, &rules.audience, is_open);
        security.super_roles.0.extend(rules.super_roles);
        security.enabled = Switch::On;
        return Ok(settings);
    };
    Err(CliError::Usage(format!("users log in here, and {problem}")))
}

/// Logs where the signing key is. The key is created before logging starts.
pub(super) fn log_key(settings: &ProviderSettings) {
    match &settings.key_file {
        Some(path) => tracing::info!(
            file = %path.display(),
            "users log in with a stored signing key"
        ),
        None => tracing::info!(
            "users log in with a signing key in memory, so their tokens end with the process; \
             `security.provider.keyFile` keeps the key"
        ),
    }
}

/// Adds a name to those that are accepted. Where there are other keys and nothing is listed, every name
/// is accepted, and stays so.
fn accept(names: &mut Names, name: &str, is_open: bool) {
    let is_any = is_open && names.0.is_empty();
    if !is_any && !names.0.iter().any(|known| known == name) {
        names.0.push(name.to_owned());
    }
}

fn plain(user: &User) -> &str {
    match &user.password {
        Password::Plain(password) => password.reveal(),
        Password::Hash(_) => "***",
    }
}
