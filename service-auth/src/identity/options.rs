//! What a provider needs to know.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use call_context::Slots;
use uuid::Uuid;

/// The application of providers that are not configured otherwise.
const APPLICATION: Uuid = Uuid::from_u128(0x8a1f_6c2e_5b0d_4e37_9c64_d7f0_3b52_a918);

/// Options of a [`Provider`](super::Provider).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// The file of the signing key, made at the first start; without one the key is kept in memory.
    pub key_file: Option<PathBuf>,
    /// Issuer of tokens.
    pub issuer: String,
    /// Application of users, and audience of tokens.
    pub application_id: Uuid,
    /// How long a token is valid.
    pub token_time: Duration,
    /// Maximum number of log-ins under one name in a minute; zero disables the bound.
    pub logins_per_user: u32,
    /// Maximum number of log-ins from one address in a minute; zero disables the bound.
    pub logins_per_address: u32,
    /// Slots in which passwords are hashed; by default the provider has its own.
    pub slots: Option<Arc<Slots>>,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        ProviderOptions {
            key_file: None,
            issuer: "localhost".to_owned(),
            application_id: APPLICATION,
            token_time: Duration::from_secs(3_600),
            logins_per_user: 10,
            logins_per_address: 60,
            slots: None,
        }
    }
}
