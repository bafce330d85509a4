//! Settings of the development provider.

use std::path::PathBuf;
use std::time::Duration;

use service_auth::identity::ProviderOptions;
use service_config::Setting;
use uuid::Uuid;

use super::setting::Programs;

/// Settings of the development provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The file of roles and users; without one there is no provider (`security.provisioning.file`).
    pub provisioning: Option<PathBuf>,
    /// The file of the signing key (`security.provider.keyFile`).
    pub key_file: Option<PathBuf>,
    /// Issuer of tokens (`security.provider.issuer`).
    pub issuer: String,
    /// Application of users, and audience of tokens (`security.provider.applicationId`).
    pub application_id: Uuid,
    /// How long a token is valid (`security.provider.tokenTime`).
    pub token_time: Duration,
    /// Maximum number of log-ins under one name in a minute (`security.provider.loginsPerUser`).
    pub logins_per_user: u32,
    /// Maximum number of log-ins from one address in a minute (`security.provider.loginsPerAddress`).
    pub logins_per_address: u32,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        let options = ProviderOptions::default();
        ProviderSettings {
            provisioning: None,
            key_file: options.key_file,
            issuer: options.issuer,
            application_id: options.application_id,
            token_time: options.token_time,
            logins_per_user: options.logins_per_user,
            logins_per_address: options.logins_per_address,
        }
    }
}

impl ProviderSettings {
    /// Returns what a provider needs to know beside its users.
    #[must_use]
    pub fn options(&self) -> ProviderOptions {
        let mut options = ProviderOptions::default();
        options.key_file.clone_from(&self.key_file);
        options.issuer.clone_from(&self.issuer);
        options.application_id = self.application_id;
        options.token_time = self.token_time;
        options.logins_per_user = self.logins_per_user;
        options.logins_per_address = self.logins_per_address;
        options
    }
}

impl Setting<Programs> for Option<PathBuf> {
    const TYPE: &'static str = "path or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(match text {
            "" | "none" => None,
            path => Some(path.into()),
        })
    }

    fn show(&self) -> String {
        match self {
            None => "none".to_owned(),
            Some(path) => path.display().to_string(),
        }
    }
}

impl Setting<Programs> for Uuid {
    const TYPE: &'static str = "UUID";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "a UUID")
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
