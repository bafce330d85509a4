//! Settings of the development provider.

use std::path::PathBuf;
use std::time::Duration;

use uuid::Uuid;

use super::settings::Setting;

/// The application of providers that are not configured otherwise.
const APPLICATION: Uuid = Uuid::from_u128(0x8a1f_6c2e_5b0d_4e37_9c64_d7f0_3b52_a918);

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
        ProviderSettings {
            provisioning: None,
            key_file: None,
            issuer: "localhost".to_owned(),
            application_id: APPLICATION,
            token_time: Duration::from_secs(3_600),
            logins_per_user: 10,
            logins_per_address: 60,
        }
    }
}

impl Setting for Option<PathBuf> {
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

impl Setting for Uuid {
    const TYPE: &'static str = "UUID";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "a UUID")
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
