//! Brings roles and users of a provisioning file to a realm of Keycloak, over its Admin REST API.
//!
//! An application is a client of the realm with client roles. A second client is for log-ins by device code. Both have
//! mappers that put roles, audience and user name where services read them.

mod apply;
mod change;
mod credential;
mod known;
mod look;
mod plan;
mod realm;
mod representation;

pub(super) use change::KeycloakChange;
pub(super) use realm::Keycloak;
pub use realm::KeycloakAdministration;
