//! Why the provider does not start, and why a log-in is refused.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use call_context::SlotError;

use crate::provisioning::ProvisioningError;

/// Why the provider does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provisioning file cannot be used.
    #[error(transparent)]
    Provisioning(#[from] ProvisioningError),
    /// The file of the signing key cannot be read or written.
    #[error("failed to open the signing key {path}")]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Others than the owner may open the file of the signing key.
    #[error("the signing key {path} can be opened by others than its owner: `chmod 600` it")]
    KeyShared {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no key that can be used.
    #[error(
        "{path} contains no signing key: expected a P-256 private key as PEM (PKCS#8); without the \
         file, a new key is created"
    )]
    KeyMalformed {
        /// The file.
        path: PathBuf,
    },
    /// The library of cryptography failed.
    #[error("the library of cryptography failed")]
    Cryptography,
}

/// Why a log-in is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// There is no such user, or the password is another one; no one is told which.
    #[error("the user is unknown or the password is wrong")]
    Credentials,
    /// The application is not the one of this provider.
    #[error("the application is unknown")]
    Application,
    /// There were too many log-ins under this name or from this address.
    #[error("too many log-ins under this name or from this address")]
    RateLimited {
        /// When the next one can be tried.
        retry_after: Duration,
    },
    /// Too many log-ins wait for their turn.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The token could not be signed.
    #[error("the token could not be signed")]
    Signing,
}
