//! A provider of tokens in the process, for development: users log in with a password, and get a
//! signed token with their roles.
//!
//! Users and roles come from a provisioning file. There is no registration, no change of passwords
//! and no refresh of tokens: whoever needs a new token logs in again. The HTTP side is in
//! `http::login`; what verifies the tokens is configured with [`Provider::verification`].

mod account;
mod error;
mod hashing;
mod options;
mod provider;
mod rates;
mod signing_key;
mod token;
mod verification;

pub use account::Account;
pub use error::{LoginError, ProviderError};
pub use hashing::password_slots;
pub use options::ProviderOptions;
pub use provider::{Credentials, LoggedIn, Provider};
pub use signing_key::kept_public_key;
pub use verification::{TokenRules, Verification};
