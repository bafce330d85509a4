//! A client of an identity provider: logging in, and bringing roles and users to it.
//!
//! The provider is FusionAuth, or whatever answers as its documented REST API does, such as the
//! provider of this crate; or Keycloak. Passwords, tokens and keys are never in errors or in `Debug`.

mod administrator;
mod client;
mod error;
mod fusion_auth;
mod keycloak;
mod log_in;
mod step;
mod transport;

pub use administrator::{Administration, AdministrationOf, Administrator};
pub use client::{IdpClient, IdpOptions};
pub use error::IdpError;
pub use keycloak::KeycloakAdministration;
pub use log_in::{Grant, LogIn};
pub use step::IdpStep;
