//! One change at an identity provider.

use std::fmt;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::IdpError;
use super::keycloak::KeycloakChange;
use crate::provisioning::{Role, User};

/// One change.
pub struct IdpStep {
    pub(super) title: String,
    pub(super) change: Change,
}

/// What a step does.
pub(super) enum Change {
    /// A request to FusionAuth.
    Request(Request),
    /// A change of a realm of Keycloak, whose requests name what earlier steps create.
    Keycloak(KeycloakChange),
}

/// A request with a JSON body.
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Value,
}

impl IdpStep {
    pub(super) fn request(title: String, method: Method, path: String, body: Value) -> Self {
        let change = Change::Request(Request { method, path, body });
        IdpStep { title, change }
    }

    pub(super) fn keycloak(title: String, change: KeycloakChange) -> Self {
        let change = Change::Keycloak(change);
        IdpStep { title, change }
    }
}

impl fmt::Display for IdpStep {
    /// Describes what changes, without passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl fmt::Debug for IdpStep {
    /// Leaves the change out, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdpStep").field(&self.title).finish()
    }
}

pub(super) fn change_role(
    application: &str,
    role: &Role,
    found: &Value,
) -> Result<Option<IdpStep>, IdpError> {
    let is = |key: &str| found[key].as_bool().unwrap_or_default();
    if (is("isSuperRole"), is("isDefault")) == (role.super_role, role.default) {
        return Ok(None);
    }
    let id = identifier(found)?;
    let mut changed = found.clone();
    changed["isSuperRole"] = json!(role.super_role);
    changed["isDefault"] = json!(role.default);
    Ok(Some(IdpStep::request(
        format!("change role {}", titled(role)),
        Method::PUT,
        format!("{application}/role/{id}"),
        json!({ "role": changed }),
    )))
}

/// Returns the identifier of something that was found, which becomes part of a path.
pub(super) fn identifier(found: &Value) -> Result<Uuid, IdpError> {
    let id = found["id"].as_str().and_then(|id| id.parse().ok());
    id.ok_or(IdpError::Malformed("an identifier is not a UUID"))
}

pub(super) fn shown(role: &Role) -> Value {
    json!({ "name": role.name, "isSuperRole": role.super_role, "isDefault": role.default })
}

pub(super) fn titled(role: &Role) -> String {
    let kinds = [(role.super_role, "superRole"), (role.default, "default")];
    let kinds = kinds.iter().filter(|(is_so, _)| *is_so).map(|kind| kind.1);
    match kinds.collect::<Vec<_>>().join(", ") {
        kinds if kinds.is_empty() => role.name.clone(),
        kinds => format!("{} ({kinds})", role.name),
    }
}

pub(super) fn with_roles(user: &User) -> String {
    match user.roles.as_slice() {
        [] => " without roles".to_owned(),
        roles => format!(" with roles {}", roles.join(", ")),
    }
}
