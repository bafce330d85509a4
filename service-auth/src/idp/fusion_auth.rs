//! Brings roles and users of a provisioning file to FusionAuth, over its REST API.
//!
//! First everything is looked up and what has to change is planned, then the plan is carried out. What
//! is there and not in the file stays; a second run finds nothing to do. Passwords of users who exist
//! are left alone, since they cannot be compared.

use std::collections::HashSet;

use outbound::Secret;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::IdpError;
use super::step::{IdpStep, Request, change_role, identifier, shown, titled, with_roles};
use super::transport::Transport;
use crate::exchange::{Answer, Content};
use crate::provisioning::{Password, Provisioning, Role, User};

const REGISTRATION: &str = "/api/user/registration";

/// What administers an application of FusionAuth.
pub(super) struct FusionAuth {
    transport: Transport,
    application_id: Uuid,
    /// Where the application has to be created.
    application_name: String,
}

impl FusionAuth {
    pub(super) fn new(
        address: &str,
        application_id: Uuid,
        application_name: String,
        key: &Secret,
        tenant: Option<Uuid>,
    ) -> Result<Self, IdpError> {
        let mut transport = Transport::new(address)?;
        let mut key = HeaderValue::from_str(key.reveal()).map_err(|_| IdpError::ApiKey)?;
        key.set_sensitive(true);
        transport.headers.insert(AUTHORIZATION, key);
        let tenant = tenant.map(|tenant| tenant.to_string());
        if let Some(tenant) = tenant.and_then(|tenant| HeaderValue::try_from(tenant).ok()) {
            transport.headers.insert("x-fusionauth-tenantid", tenant);
        }
        Ok(FusionAuth {
            transport,
            application_id,
            application_name,
        })
    }

    pub(super) async fn plan(&self, wanted: &Provisioning) -> Result<Vec<IdpStep>, IdpError> {
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
        if hashed.is_empty() {
            Ok(steps)
        } else {
            Err(IdpError::HashedPasswords { users: hashed })
        }
    }

    pub(super) async fn apply(&self, request: &Request) -> Result<(), IdpError> {
        let url = self.transport.at(&request.path, &[]);
        let body = Content::Json(&request.body);
        let sent = self.transport.send(request.method.clone(), url, body);
        let answer = sent.await?;
        if answer.status.is_success() {
            Ok(())
        } else {
            Err(refused(&answer))
        }
    }

    fn application(&self) -> String {
        format!("/api/application/{}", self.application_id)
    }

    async fn plan_roles(&self, wanted: &[Role]) -> Result<Vec<IdpStep>, IdpError> {
        let path = self.application();
        let Some(found) = self.get(&path, &[], "application").await? else {
            return Ok(vec![self.create_application(wanted)]);
        };
        let found = found["roles"].as_array().map_or(&[][..], Vec::as_slice);
        let steps = wanted.iter().map(|role| {
            match found
                .iter()
                .find(|found| found["name"] == role.name.as_str())
            {
                None => Ok(Some(IdpStep::request(
                    format!("create role {}", titled(role)),
                    Method::POST,
                    format!("{path}/role"),
                    json!({ "role": shown(role) }),
                ))),
                Some(found) => change_role(&path, role, found),
            }
        });
        steps.filter_map(Result::transpose).collect()
    }

    fn create_application(&self, roles: &[Role]) -> IdpStep {
        let name = &self.application_name;
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
        IdpStep::request(
            format!("create application {name}{titles}"),
            Method::POST,
            self.application(),
            json!({ "application": application }),
        )
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
        if is_user {
            Ok(Some(found))
        } else {
            Err(IdpError::OtherUser {
                user: user.username.clone(),
            })
        }
    }

    fn create(&self, user: &User, password: &Secret) -> IdpStep {
        let mut account = json!({ "username": user.username, "password": password.reveal() });
        if let Some(email) = &user.email {
            account["email"] = json!(email);
        }
        IdpStep::request(
            format!("create user {}{}", user.username, with_roles(user)),
            Method::POST,
            REGISTRATION.to_owned(),
            json!({
                "user": account,
                "registration": self.registration(user),
                "skipRegistrationVerification": true,
                "skipVerification": true,
            }),
        )
    }

    fn plan_registration(&self, user: &User, found: &Value) -> Result<Option<IdpStep>, IdpError> {
        let id = identifier(found)?;
        let path = format!("{REGISTRATION}/{id}");
        let application = self.application_id.to_string();
        let registrations = found["registrations"].as_array().into_iter().flatten();
        let mut of_application = registrations.filter(|r| r["applicationId"] == *application);
        let Some(registration) = of_application.next() else {
            return Ok(Some(IdpStep::request(
                format!("register user {}{}", user.username, with_roles(user)),
                Method::POST,
                path,
                json!({ "registration": self.registration(user) }),
            )));
        };
        let roles: HashSet<_> = registration["roles"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if roles == user.roles.iter().map(String::as_str).collect() {
            return Ok(None);
        }
        // What else the registration has would be lost without being sent again.
        let mut registration = registration.clone();
        registration["roles"] = json!(user.roles);
        Ok(Some(IdpStep::request(
            format!("change user {}: now{}", user.username, with_roles(user)),
            Method::PUT,
            path,
            json!({ "registration": registration }),
        )))
    }

    fn registration(&self, user: &User) -> Value {
        let application = self.application_id.to_string();
        json!({ "applicationId": application, "roles": user.roles })
    }

    /// Reads something; `None` where there is no such thing.
    async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        member: &str,
    ) -> Result<Option<Value>, IdpError> {
        let url = self.transport.at(path, query);
        let sent = self.transport.send(Method::GET, url, Content::None);
        let mut answer = sent.await?;
        match answer.status {
            StatusCode::OK if answer.body[member].is_object() => {
                Ok(Some(answer.body[member].take()))
            }
            StatusCode::OK => Err(IdpError::Malformed("what was requested is not in it")),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(refused(&answer)),
        }
    }
}

fn refused(answer: &Answer) -> IdpError {
    if answer.status == StatusCode::UNAUTHORIZED {
        IdpError::ApiKey
    } else {
        IdpError::refused(answer)
    }
}
