//! The claims of the provider's tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use uuid::Uuid;

use super::account::Account;
use super::options::ProviderOptions;

/// The claim that holds the names of roles.
pub(super) const ROLES: &str = "roles";

/// How the user has proved who they are.
const AUTHENTICATION: &str = "PASSWORD";

/// Claims of a token, named as the known provider names them.
#[derive(Serialize)]
pub(super) struct Claims<'a> {
    iss: &'a str,
    aud: String,
    #[serde(rename = "applicationId")]
    application_id: String,
    sub: String,
    jti: String,
    iat: u64,
    /// When the token ends, in seconds since 1970.
    pub(super) exp: u64,
    #[serde(rename = "authenticationType")]
    authentication_type: &'static str,
    preferred_username: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    /// Whoever wrote the provisioning file vouches for the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    roles: &'a [String],
}

impl<'a> Claims<'a> {
    pub(super) fn new(account: &'a Account, options: &'a ProviderOptions) -> Self {
        let application = options.application_id.to_string();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
            .as_secs();
        Claims {
            iss: &options.issuer,
            aud: application.clone(),
            application_id: application,
            sub: account.id.to_string(),
            jti: Uuid::new_v4().to_string(),
            iat: now,
            exp: now.saturating_add(options.token_time.as_secs()),
            authentication_type: AUTHENTICATION,
            preferred_username: &account.username,
            email: account.email.as_deref(),
            email_verified: account.email.as_ref().map(|_| true),
            roles: &account.roles,
        }
    }
}
