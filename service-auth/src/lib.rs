#![doc = include_str!("../README.md")]

mod bearer;
mod claims;
pub mod code;
mod compact;
#[cfg(feature = "oauth")]
mod exchange;
mod fetch;
#[cfg(feature = "provider")]
pub mod identity;
#[cfg(feature = "idp")]
pub mod idp;
mod jwks;
mod key;
#[cfg(feature = "oauth")]
pub mod oauth;
mod options;
#[cfg(feature = "provisioning")]
pub mod provisioning;
mod refusal;
#[cfg(feature = "rights")]
pub mod rights;
mod verifier;

pub use bearer::bearer;
pub use claims::at_path;
pub use compact::unverified_claims;
pub use fetch::ClientError;
pub use jwks::{Jwks, Times};
pub use key::{Key, KeyError};
pub use options::{KeysAddress, VerifierOptions};
pub use refusal::Refusal;
pub use verifier::{Verifier, VerifierError};
