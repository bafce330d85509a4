//! A change of a realm.

use serde_json::Value;

/// A change of a realm. Clients, roles and users are named, since earlier steps may create them.
pub(in super::super) enum KeycloakChange {
    /// Creates the realm.
    CreateRealm(Value),
    /// Leaves it to users to say attributes. The profile is read first, since the realm may be new.
    RelaxProfile(Vec<&'static str>),
    /// Creates a client with its mappers.
    CreateClient(Value),
    /// Sets a client that exists.
    SetClient(Value),
    /// Creates or sets a mapper of a client.
    SetMapper {
        /// The `client_id` of the client.
        client: String,
        /// The mapper, with its identifier where it exists.
        mapper: Value,
    },
    /// Creates a role of the application.
    CreateRole(Value),
    /// Sets a role that exists.
    SetRole(Value),
    /// Has tokens of the client for log-ins contain roles of the application.
    AddToScope(Vec<String>),
    /// Creates a user with roles of the application.
    CreateUser {
        /// The user, with a password.
        user: Value,
        /// Names of the roles.
        roles: Vec<String>,
    },
    /// Changes which roles of the application a user has.
    ChangeRoles {
        /// Identifier of the user.
        user: String,
        /// Names of roles that are missing.
        missing: Vec<String>,
        /// Roles that the file does not list, as they were found.
        surplus: Vec<Value>,
    },
}
