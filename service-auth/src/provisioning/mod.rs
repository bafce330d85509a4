//! Roles and users as a provisioning file declares them.
//!
//! The file is YAML with `security.roles` and `security.users`. It is read strictly: an unknown key, a
//! role that is not declared or a password that cannot be used is an error with its place. Nothing
//! that the file says of a password is in an error, in a log line or in `Debug`.

mod error;
mod password;
mod read;
mod reader;

pub use error::{Mistake, ProvisioningError};
pub use password::Password;

/// Roles and users.
#[derive(Clone, Debug, Default)]
pub struct Provisioning {
    /// Roles, in the order of the file.
    pub roles: Vec<Role>,
    /// Users, in the order of the file.
    pub users: Vec<User>,
}

/// A role that users can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The name, as schemas and tokens call it.
    pub name: String,
    /// Whether the role may do everything, whatever a schema says.
    pub super_role: bool,
    /// Is given to users for whom the file lists no roles.
    pub default: bool,
}

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// The name to log in with.
    pub username: String,
    /// The address, which can be used to log in as well.
    pub email: Option<String>,
    /// The password, or its hash.
    pub password: Password,
    /// Roles, all declared; the default ones where the file lists none.
    pub roles: Vec<String>,
}

impl Provisioning {
    /// Returns the names of the roles that may do everything.
    pub fn super_roles(&self) -> impl Iterator<Item = &str> {
        let roles = self.roles.iter().filter(|role| role.super_role);
        roles.map(|role| role.name.as_str())
    }

    /// Returns the names of the roles of users for whom none are listed.
    pub fn default_roles(&self) -> impl Iterator<Item = &str> {
        let roles = self.roles.iter().filter(|role| role.default);
        roles.map(|role| role.name.as_str())
    }
}
