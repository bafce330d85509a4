//! Finds out what has to change in a realm.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::change::KeycloakChange;
use super::credential::credential;
use super::look::{identifier, is_called};
use super::realm::Keycloak;
use super::representation::{
    CREATED, changed_application, changed_login_client, changed_mapper, changed_role, new_role,
    required_of,
};
use crate::idp::IdpError;
use crate::idp::step::{IdpStep, titled, with_roles};
use crate::provisioning::{Provisioning, Role, User};

impl Keycloak {
    pub(in super::super) async fn plan(
        &self,
        wanted: &Provisioning,
    ) -> Result<Vec<IdpStep>, IdpError> {
        self.forget().await;
        let mut steps = self.plan_realm(wanted).await?;
        let application = self.client(&self.application).await?;
        steps.extend(self.plan_application(application.as_ref())?);
        let id = application.as_ref().map(identifier).transpose()?;
        steps.extend(self.plan_roles(id, &wanted.roles).await?);
        steps.extend(self.plan_login_client(id, &wanted.roles).await?);
        for user in &wanted.users {
            steps.extend(self.plan_user(id, user).await?);
        }
        Ok(steps)
    }

    async fn plan_realm(&self, wanted: &Provisioning) -> Result<Vec<IdpStep>, IdpError> {
        let realm = &self.realm;
        let unsaid = unsaid(wanted);
        let Some(found) = self.get(&[], &[]).await? else {
            let create = KeycloakChange::CreateRealm(self.new_realm());
            let mut steps = vec![IdpStep::keycloak(format!("create realm {realm}"), create)];
            if !unsaid.is_empty() {
                steps.push(self.relax(unsaid));
            }
            return Ok(steps);
        };
        let profile = self
            .get(&["users", "profile"], &[])
            .await?
            .unwrap_or_default();
        let required = required_of(&profile, &unsaid);
        if required.is_empty() {
            return Ok(Vec::new());
        }
        // Its profile is that of whoever created it.
        if found["attributes"][CREATED] == "true" {
            return Ok(vec![self.relax(unsaid)]);
        }
        if self.checks_profiles().await? {
            return Err(IdpError::ProfileRequired {
                realm: realm.clone(),
                attributes: required,
            });
        }
        Ok(Vec::new())
    }

    /// Leaves it to users to say attributes that the file does not have.
    fn relax(&self, attributes: Vec<&'static str>) -> IdpStep {
        let (listed, realm) = (attributes.join(", "), &self.realm);
        let title = format!("make {listed} optional for users of realm {realm}");
        IdpStep::keycloak(title, KeycloakChange::RelaxProfile(attributes))
    }

    fn plan_application(&self, found: Option<&Value>) -> Result<Vec<IdpStep>, IdpError> {
        let (id, name) = (&self.application, &self.application_name);
        let Some(found) = found else {
            let create = KeycloakChange::CreateClient(self.new_application());
            let title = format!("create client {id} ({name})");
            return Ok(vec![IdpStep::keycloak(title, create)]);
        };
        let own = changed_application(found).map(|client| {
            let title = format!("change client {id}");
            IdpStep::keycloak(title, KeycloakChange::SetClient(client))
        });
        Ok(own
            .into_iter()
            .chain(self.plan_mappers(id, found))
            .collect())
    }

    fn plan_mappers(&self, client: &str, found: &Value) -> Vec<IdpStep> {
        let all = found["protocolMappers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let steps = self.mappers().into_iter().filter_map(|wanted| {
            let name = wanted["name"].as_str().unwrap_or_default().to_owned();
            let found = all.iter().find(|found| found["name"] == name.as_str());
            let (verb, mapper) = match found {
                None => ("create", wanted),
                Some(found) => ("change", changed_mapper(found, &wanted)?),
            };
            let client = client.to_owned();
            let title = format!("{verb} mapper {name} of client {client}");
            Some(IdpStep::keycloak(
                title,
                KeycloakChange::SetMapper { client, mapper },
            ))
        });
        steps.collect()
    }

    async fn plan_roles(
        &self,
        application: Option<&str>,
        wanted: &[Role],
    ) -> Result<Vec<IdpStep>, IdpError> {
        let found = match application {
            Some(id) => self.roles(id).await?,
            None => Vec::new(),
        };
        let steps = wanted.iter().filter_map(|role| {
            let found = found
                .iter()
                .find(|found| found["name"] == role.name.as_str());
            let (verb, change) = match found {
                None => ("create", KeycloakChange::CreateRole(new_role(role))),
                Some(found) => (
                    "change",
                    KeycloakChange::SetRole(changed_role(found, role)?),
                ),
            };
            Some(IdpStep::keycloak(
                format!("{verb} role {}", titled(role)),
                change,
            ))
        });
        Ok(steps.collect())
    }

    async fn plan_login_client(
        &self,
        application: Option<&str>,
        roles: &[Role],
    ) -> Result<Vec<IdpStep>, IdpError> {
        let name = &self.login_client;
        let found = self.client(name).await?;
        let mut steps = Vec::new();
        let mut in_scope = Vec::new();
        match &found {
            None => {
                let create = KeycloakChange::CreateClient(self.new_login_client());
                let title = format!("create client {name} for log-ins by device code");
                steps.push(IdpStep::keycloak(title, create));
            }
            Some(found) => {
                if let Some(changed) = changed_login_client(found) {
                    let change = KeycloakChange::SetClient(changed);
                    steps.push(IdpStep::keycloak(format!("change client {name}"), change));
                }
                steps.extend(self.plan_mappers(name, found));
                if let Some(application) = application {
                    in_scope = self.scope(identifier(found)?, application).await?;
                }
            }
        }
        let missing = roles
            .iter()
            .map(|role| &role.name)
            .filter(|name| !in_scope.iter().any(|of| of["name"] == name.as_str()));
        let missing: Vec<String> = missing.cloned().collect();
        if !missing.is_empty() {
            let title = format!(
                "let tokens of client {name} have roles {}",
                missing.join(", ")
            );
            steps.push(IdpStep::keycloak(
                title,
                KeycloakChange::AddToScope(missing),
            ));
        }
        Ok(steps)
    }

    async fn plan_user(
        &self,
        application: Option<&str>,
        user: &User,
    ) -> Result<Option<IdpStep>, IdpError> {
        let Some(found) = self.find(user).await? else {
            return self.create(user).map(Some);
        };
        let id = identifier(&found)?;
        let given = match application {
            Some(application) => self.roles_of_user(id, application).await?,
            None => Vec::new(),
        };
        let names: HashSet<_> = given
            .iter()
            .filter_map(|role| role["name"].as_str())
            .collect();
        let wanted: HashSet<_> = user.roles.iter().map(String::as_str).collect();
        if names == wanted {
            return Ok(None);
        }
        let missing = user
            .roles
            .iter()
            .filter(|name| !names.contains(name.as_str()));
        let surplus = given.iter().filter(|role| {
            let name = role["name"].as_str();
            name.is_none_or(|name| !wanted.contains(name))
        });
        let change = KeycloakChange::ChangeRoles {
            user: id.to_owned(),
            missing: missing.cloned().collect(),
            surplus: surplus.cloned().collect(),
        };
        let title = format!("change user {}: now{}", user.username, with_roles(user));
        Ok(Some(IdpStep::keycloak(title, change)))
    }

    /// Finds a user by name, then by email address.
    async fn find(&self, user: &User) -> Result<Option<Value>, IdpError> {
        let mut found = self.user_by("username", &user.username).await?;
        if let (None, Some(email)) = (&found, &user.email) {
            found = self.user_by("email", email).await?;
        }
        let Some(found) = found else {
            return Ok(None);
        };
        let email = user.email.as_deref();
        let is_user = is_called(&found, "username", &user.username)
            && email.is_none_or(|email| is_called(&found, "email", email));
        if is_user {
            Ok(Some(found))
        } else {
            let user = user.username.clone();
            Err(IdpError::OtherUser { user })
        }
    }

    fn create(&self, user: &User) -> Result<IdpStep, IdpError> {
        let malformed = IdpError::Malformed("the password of a user is not an argon2 string");
        let credential = credential(&user.password).ok_or(malformed)?;
        let mut account = json!({
            "username": user.username,
            "enabled": true,
            "credentials": [credential],
        });
        if let Some(email) = &user.email {
            account["email"] = json!(email);
            // Whoever writes the file vouches for it.
            account["emailVerified"] = json!(true);
        }
        let change = KeycloakChange::CreateUser {
            user: account,
            roles: user.roles.clone(),
        };
        let title = format!("create user {}{}", user.username, with_roles(user));
        Ok(IdpStep::keycloak(title, change))
    }
}

/// Returns the attributes that a provisioning file says of no user, or not of all.
fn unsaid(wanted: &Provisioning) -> Vec<&'static str> {
    if wanted.users.is_empty() {
        return Vec::new();
    }
    let has_emails = wanted.users.iter().all(|user| user.email.is_some());
    let email = (!has_emails).then_some("email");
    email.into_iter().chain(["firstName", "lastName"]).collect()
}
