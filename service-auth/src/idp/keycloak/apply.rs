//! Carries the steps of a plan out.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::change::KeycloakChange;
use super::known::Known;
use super::look::identifier;
use super::realm::Keycloak;
use super::representation::relaxed_profile;
use crate::idp::IdpError;

impl Keycloak {
    /// Forgets what earlier steps have found.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = Known::default();
    }

    pub(in super::super) async fn apply(&self, change: &KeycloakChange) -> Result<(), IdpError> {
        match change {
            KeycloakChange::CreateRealm(realm) => self.create_realm(realm).await,
            KeycloakChange::RelaxProfile(attributes) => self.relax_profile(attributes).await,
            KeycloakChange::CreateClient(client) => {
                self.change(Method::POST, &["clients"], client).await?;
                Ok(())
            }
            KeycloakChange::SetClient(client) => {
                let path = ["clients", identifier(client)?];
                self.change(Method::PUT, &path, client).await?;
                Ok(())
            }
            KeycloakChange::SetMapper { client, mapper } => self.set_mapper(client, mapper).await,
            KeycloakChange::CreateRole(role) => {
                let application = self.client_of(&self.application).await?;
                let path = ["clients", &application, "roles"];
                self.change(Method::POST, &path, role).await?;
                self.known.lock().await.roles = None;
                Ok(())
            }
            KeycloakChange::SetRole(role) => {
                let path = ["roles-by-id", identifier(role)?];
                self.change(Method::PUT, &path, role).await?;
                Ok(())
            }
            KeycloakChange::AddToScope(roles) => self.add_to_scope(roles).await,
            KeycloakChange::CreateUser { user, roles } => self.create_user(user, roles).await,
            KeycloakChange::ChangeRoles {
                user,
                missing,
                surplus,
            } => self.change_roles(user, missing, surplus).await,
        }
    }

    async fn create_realm(&self, realm: &Value) -> Result<(), IdpError> {
        let answer = self.send(Method::POST, &[], &[], Some(realm)).await?;
        if answer.status.is_success() {
            Ok(())
        } else {
            Err(self.refused(&answer))
        }
    }

    async fn relax_profile(&self, attributes: &[&str]) -> Result<(), IdpError> {
        let path = ["users", "profile"];
        let profile = self.get(&path, &[]).await?.unwrap_or_default();
        if let Some(relaxed) = relaxed_profile(&profile, attributes) {
            self.change(Method::PUT, &path, &relaxed).await?;
        }
        Ok(())
    }

    async fn set_mapper(&self, client: &str, mapper: &Value) -> Result<(), IdpError> {
        let client = self.client_of(client).await?;
        let models = ["clients", &client, "protocol-mappers", "models"];
        match mapper["id"].as_str() {
            None => self.change(Method::POST, &models, mapper).await?,
            Some(id) => {
                let path: Vec<_> = models.into_iter().chain([id]).collect();
                self.change(Method::PUT, &path, mapper).await?
            }
        };
        Ok(())
    }

    async fn add_to_scope(&self, roles: &[String]) -> Result<(), IdpError> {
        let login = self.client_of(&self.login_client).await?;
        let application = self.client_of(&self.application).await?;
        let path = ["clients", &login, "scope-mappings", "clients", &application];
        let roles = self.roles_of(roles).await?;
        self.change(Method::POST, &path, &roles).await?;
        Ok(())
    }

    async fn create_user(&self, user: &Value, roles: &[String]) -> Result<(), IdpError> {
        self.change(Method::POST, &["users"], user).await?;
        if roles.is_empty() {
            return Ok(());
        }
        let name = user["username"].as_str().unwrap_or_default();
        let created = self.user_by("username", name).await?;
        let created = created.ok_or(IdpError::Malformed("a user that was created is not there"))?;
        self.change_roles(identifier(&created)?, roles, &[]).await
    }

    async fn change_roles(
        &self,
        user: &str,
        missing: &[String],
        surplus: &[Value],
    ) -> Result<(), IdpError> {
        let application = self.client_of(&self.application).await?;
        let path = ["users", user, "role-mappings", "clients", &application];
        if !missing.is_empty() {
            let roles = self.roles_of(missing).await?;
            self.change(Method::POST, &path, &roles).await?;
        }
        if !surplus.is_empty() {
            self.change(Method::DELETE, &path, &json!(surplus)).await?;
        }
        Ok(())
    }

    /// Returns the identifier of a client.
    async fn client_of(&self, client_id: &str) -> Result<String, IdpError> {
        if let Some(id) = self.known.lock().await.clients.get(client_id) {
            return Ok(id.clone());
        }
        let client = self.client(client_id).await?;
        let client = client.ok_or(IdpError::Malformed(
            "a client that was created is not there",
        ))?;
        let id = identifier(&client)?.to_owned();
        let mut known = self.known.lock().await;
        known.clients.insert(client_id.to_owned(), id.clone());
        Ok(id)
    }

    /// Returns roles of the application as mappings name them.
    async fn roles_of(&self, names: &[String]) -> Result<Value, IdpError> {
        let missing = IdpError::Refused {
            status: StatusCode::NOT_FOUND,
            codes: vec!["role".to_owned()],
        };
        let is_known = self.known.lock().await.roles.is_some();
        if !is_known {
            let application = self.client_of(&self.application).await?;
            let roles = self.roles(&application).await?;
            let named = roles.iter().filter_map(|role| {
                let name = role["name"].as_str()?;
                let id = role["id"].as_str()?;
                Some((name.to_owned(), json!({ "id": id, "name": name })))
            });
            self.known.lock().await.roles = Some(named.collect());
        }
        let known = self.known.lock().await;
        let roles = known.roles.as_ref();
        let found = names
            .iter()
            .map(|name| roles.and_then(|roles| roles.get(name)).cloned());
        let found: Option<Vec<Value>> = found.collect();
        found.map(Value::Array).ok_or(missing)
    }
}
