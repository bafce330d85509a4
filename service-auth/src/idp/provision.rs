//! Brings roles and users of a provisioning file to an identity provider.
//!
//! First everything is looked up and what has to change is planned, then the plan is carried out. What
//! is there and not in the file stays; a second run finds nothing to do. Passwords of users who exist
//! are left alone, since they cannot be compared.

use std::collections::HashSet;

use outbound::Secret;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::IdpError;
use super::step::{Step, change_role, identifier, shown, titled, with_roles};
use super::transport::Transport;
use crate::provisioning::{Password, Provisioning, Role, User};

const REGISTRATION: &str = "/api/user/registration";

/// How to administer an identity provider.
#[derive(Clone, Debug)]
pub struct Administration {
    /// Address of the provider, such as `http://localhost:9011`.
    pub address: String,
    /// Key of its administration.
    pub api_key: Secret,
    /// The application that has the roles.
    pub application_id: Uuid,
    /// Its name, where it has to be created.
    pub application_name: String,
    /// The tenant, where the provider has several.
    pub tenant_id: Option<Uuid>,
}

/// Administers an identity provider.
pub struct Administrator {
    options: Administration,
    transport: Transport,
}

impl Administrator {
    /// Creates a client; nothing is sent yet.
    ///
    /// # Errors
    /// When the address or the key is malformed, or TLS cannot be set up.
    pub fn new(options: Administration) -> Result<Self, IdpError> {
        let tenant = options.tenant_id.map(|id| id.to_string());
        let transport = Transport::new(&options.address)?;
        Ok(Administrator {
            transport: transport.with_key(&options.api_key, tenant.as_deref())?,
            options,
        })
    }

    /// Finds out what has to change; changes nothing.
    ///
    /// # Errors
    /// When the provider does not answer as documented, when a user is another one there, and when a
    /// user to create has no password but a hash.
    pub async fn plan(&self, wanted: &Provisioning) -> Result<Vec<Step>, IdpError> {
        let mut steps = self.plan_roles(&wanted.roles).await?;
        let mut hashed = Vec::new();
        for user in &wanted.users {
            match self.find(user).await? {
                Some(found) => steps.extend(self.plan_registration(user, &found)?),
                None => match &user.password {
                    Password::Plain(password) => steps.push(self.create(user, password)),
                    Password::Hash(_) => hashed.push(user.username.clone()),
                },
            }
        }
        match hashed.is_empty() {
            true => Ok(steps),
            false => Err(IdpError::HashedPasswords { users: hashed }),
        }
    }

    /// Makes one change.
    ///
    /// # Errors
    /// When the provider refuses it.
    pub async fn apply(&self, step: &Step) -> Result<(), IdpError> {
        let (method, body) = (step.method.clone(), Some(&step.body));
        let answer = self.transport.send(method, &step.path, &[], body).await?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(answer.refused()),
        }
    }

    fn application(&self) -> String {
        format!("/api/application/{}", self.options.application_id)
    }

    async fn plan_roles(&self, wanted: &[Role]) -> Result<Vec<Step>, IdpError> {
        let path = self.application();
        let Some(found) = self.get(&path, &[], "application").await? else {
            return Ok(vec![self.create_application(wanted)]);
        };
        let found = found["roles"].as_array();
        let found = found.map_or(&[][..], Vec::as_slice);
        let steps = wanted.iter().map(|role| {
            match found
                .iter()
                .find(|found| found["name"] == role.name.as_str())
            {
                None => Ok(Some(Step {
                    title: format!("create role {}", titled(role)),
                    method: Method::POST,
                    path: format!("{path}/role"),
                    body: json!({ "role": shown(role) }),
                })),
                Some(found) => change_role(&path, role, found),
            }
        });
        steps.filter_map(Result::transpose).collect()
    }

    fn create_application(&self, roles: &[Role]) -> Step {
        let name = &self.options.application_name;
        let titles = match roles.iter().map(titled).collect::<Vec<_>>() {
            titles if titles.is_empty() => String::new(),
            titles => format!(" with roles {}", titles.join(", ")),
        };
        let application = json!({
            "name": name,
            "roles": roles.iter().map(shown).collect::<Vec<_>>(),
            // Clients log in with a password alone, and log in again when their token has ended.
            "loginConfiguration": {
                "allowTokenRefresh": false,
                "generateRefreshTokens": false,
                "requireAuthentication": false,
            },
        });
        Step {
            title: format!("create application {name}{titles}"),
            method: Method::POST,
            path: self.application(),
            body: json!({ "application": application }),
        }
    }

    /// Finds a user by name, then by email address.
    async fn find(&self, user: &User) -> Result<Option<Value>, IdpError> {
        let by = async |key: &str, name: &str| self.get("/api/user", &[(key, name)], "user").await;
        let mut found = by("username", &user.username).await?;
        if let (None, Some(email)) = (&found, &user.email) {
            found = by("email", email).await?;
        }
        let Some(found) = found else {
            return Ok(None);
        };
        let same = |key: &str, name: &str| {
            let found = found[key].as_str().unwrap_or_default();
            found.to_lowercase() == name.to_lowercase()
        };
        let is_same_email = |email| same("email", email);
        let is_user =
            same("username", &user.username) && user.email.as_deref().is_none_or(is_same_email);
        match is_user {
            true => Ok(Some(found)),
            false => Err(IdpError::OtherUser {
                user: user.username.clone(),
            }),
        }
    }

    fn create(&self, user: &User, password: &Secret) -> Step {
        let mut account = json!({ "username": user.username, "password": password.reveal() });
        if let Some(email) = &user.email {
            account["email"] = json!(email);
        }
        Step {
            title: format!("create user {}{}", user.username, with_roles(user)),
            method: Method::POST,
            path: REGISTRATION.to_owned(),
            body: json!({
                "user": account,
                "registration": self.registration(user),
                "skipRegistrationVerification": true,
                "skipVerification": true,
            }),
        }
    }

    fn plan_registration(&self, user: &User, found: &Value) -> Result<Option<Step>, IdpError> {
        let id = identifier(found)?;
        let path = format!("{REGISTRATION}/{id}");
        let application = self.options.application_id.to_string();
        let registrations = found["registrations"].as_array().into_iter().flatten();
        let mut of_application = registrations.filter(|r| r["applicationId"] == *application);
        let Some(registration) = of_application.next() else {
            return Ok(Some(Step {
                title: format!("register user {}{}", user.username, with_roles(user)),
                method: Method::POST,
                path,
                body: json!({ "registration": self.registration(user) }),
            }));
        };
        let roles = registration["roles"].as_array().into_iter().flatten();
        let roles: HashSet<_> = roles.filter_map(Value::as_str).collect();
        if roles == user.roles.iter().map(String::as_str).collect() {
            return Ok(None);
        }
        // What else the registration has would be lost without being sent again.
        let mut registration = registration.clone();
        registration["roles"] = json!(user.roles);
        Ok(Some(Step {
            title: format!("change user {}: now{}", user.username, with_roles(user)),
            method: Method::PUT,
            path,
            body: json!({ "registration": registration }),
        }))
    }

    fn registration(&self, user: &User) -> Value {
        let application = self.options.application_id.to_string();
        json!({ "applicationId": application, "roles": user.roles })
    }

    /// Reads something; `None` where there is no such thing.
    async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        member: &str,
    ) -> Result<Option<Value>, IdpError> {
        let mut answer = self.transport.send(Method::GET, path, query, None).await?;
        match answer.status {
            StatusCode::OK if answer.body[member].is_object() => {
                Ok(Some(answer.body[member].take()))
            }
            StatusCode::OK => Err(IdpError::Malformed("what was asked for is not in it")),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(answer.refused()),
        }
    }
}
