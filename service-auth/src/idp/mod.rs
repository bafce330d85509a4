//! A client of an identity provider: logging in, and bringing roles and users to it.
//!
//! The provider is FusionAuth, or whatever answers as its documented REST API does, such as the
//! provider of this crate. Passwords, tokens and keys are never in errors or in `Debug`.

mod client;
mod error;
mod provision;
mod step;
mod transport;

pub use client::{IdpClient, IdpOptions};
pub use error::IdpError;
pub use provision::{Administration, Administrator};
pub use step::Step;
