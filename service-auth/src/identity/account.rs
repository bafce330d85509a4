//! What the provider knows of a user, beside the password.

use aws_lc_rs::digest::{SHA256, digest};
use uuid::{Builder, Uuid};

use crate::provisioning::User;

/// A user as answers and tokens show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// Identifier, which stays the same as long as the user name does (`sub`).
    pub id: Uuid,
    /// User name (`preferred_username`).
    pub username: String,
    /// Email address.
    pub email: Option<String>,
    /// Names of roles.
    pub roles: Vec<String>,
}

impl Account {
    pub(super) fn new(user: &User, application: Uuid) -> Self {
        Account {
            id: identifier(&user.username, application),
            username: user.username.clone(),
            email: user.email.clone(),
            roles: user.roles.clone(),
        }
    }

    /// Returns the names to log in with, as they are compared.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let names = [Some(&self.username), self.email.as_ref()];
        names.into_iter().flatten().map(|name| compared(name))
    }
}

/// Returns a name to log in with as it is compared: case is ignored.
pub(super) fn compared(name: &str) -> String {
    name.trim().to_lowercase()
}

fn identifier(username: &str, application: Uuid) -> Uuid {
    let mut named = application.as_bytes().to_vec();
    named.extend(compared(username).as_bytes());
    let digest = digest(&SHA256, &named);
    let bytes = digest
        .as_ref()
        .first_chunk()
        .expect("the digest has 32 bytes");
    Builder::from_custom_bytes(*bytes).into_uuid()
}
