//! What a realm has already.

use serde_json::Value;

use super::realm::Keycloak;
use crate::idp::IdpError;

impl Keycloak {
    /// Finds a client by its `client_id`.
    pub(super) async fn client(&self, client_id: &str) -> Result<Option<Value>, IdpError> {
        let mut found = self
            .list(&["clients"], &[("clientId", client_id)])
            .await?
            .into_iter();
        Ok(found.find(|client| client["clientId"] == client_id))
    }

    /// Returns the roles of a client with their attributes.
    pub(super) async fn roles(&self, client: &str) -> Result<Vec<Value>, IdpError> {
        let query = [("briefRepresentation", "false")];
        self.list(&["clients", client, "roles"], &query).await
    }

    /// Returns the roles of the application that tokens of the client for log-ins can contain.
    pub(super) async fn scope(
        &self,
        login: &str,
        application: &str,
    ) -> Result<Vec<Value>, IdpError> {
        let path = ["clients", login, "scope-mappings", "clients", application];
        self.list(&path, &[]).await
    }

    /// Finds a user by `username` or by `email`, as a whole and in any case.
    pub(super) async fn user_by(&self, key: &str, name: &str) -> Result<Option<Value>, IdpError> {
        let query = [(key, name), ("exact", "true")];
        let found = self.list(&["users"], &query).await?;
        Ok(found.into_iter().find(|user| is_called(user, key, name)))
    }

    /// Returns the roles of an application that a user was given.
    pub(super) async fn roles_of_user(
        &self,
        user: &str,
        application: &str,
    ) -> Result<Vec<Value>, IdpError> {
        let path = ["users", user, "role-mappings", "clients", application];
        self.list(&path, &[]).await
    }

    /// Returns whether users who have not said everything that the profile requires can log in nevertheless.
    pub(super) async fn checks_profiles(&self) -> Result<bool, IdpError> {
        let path = ["authentication", "required-actions", "VERIFY_PROFILE"];
        let action = self.get(&path, &[]).await?;
        Ok(action.is_some_and(|action| action["enabled"] == true))
    }
}

/// Returns whether a user has a name; Keycloak ignores case.
pub(super) fn is_called(user: &Value, key: &str, name: &str) -> bool {
    let found = user[key].as_str().unwrap_or_default();
    found.to_lowercase() == name.to_lowercase()
}

/// Returns the identifier of something that was found.
pub(super) fn identifier(found: &Value) -> Result<&str, IdpError> {
    let id = found["id"].as_str().filter(|id| !id.is_empty());
    id.ok_or(IdpError::Malformed("something has no identifier"))
}
