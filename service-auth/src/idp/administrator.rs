//! Brings roles and users of a provisioning file to an identity provider.
//!
//! First everything is looked up and what has to change is planned, then the plan is carried out. What
//! is there and not in the file stays; a second run finds nothing to do. Passwords of users who exist
//! are left alone, since they cannot be compared.

use outbound::Secret;
use uuid::Uuid;

use super::IdpError;
use super::fusion_auth::FusionAuth;
use super::keycloak::{Keycloak, KeycloakAdministration};
use super::step::{Change, IdpStep};
use crate::provisioning::Provisioning;

/// How to administer an identity provider.
#[derive(Clone, Debug)]
pub struct Administration {
    /// Address of the provider, such as `http://localhost:9011`; a path in it comes before all others.
    pub address: String,
    /// The application that has the roles.
    pub application_id: Uuid,
    /// Its name, where it has to be created.
    pub application_name: String,
    /// What the provider is, and who administers it.
    pub of: AdministrationOf,
}

/// What an identity provider is, and who administers it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AdministrationOf {
    /// FusionAuth.
    FusionAuth {
        /// Key of its administration.
        api_key: Secret,
        /// The tenant, where the provider has several.
        tenant_id: Option<Uuid>,
    },
    /// Keycloak.
    Keycloak(KeycloakAdministration),
}

/// Administers an identity provider.
pub struct Administrator(Provider);

enum Provider {
    FusionAuth(Box<FusionAuth>),
    Keycloak(Box<Keycloak>),
}

impl Administrator {
    /// Creates a client; nothing is sent yet.
    ///
    /// # Errors
    /// When the address or the key is malformed, or TLS cannot be set up.
    pub fn new(options: Administration) -> Result<Self, IdpError> {
        let Administration {
            address,
            application_id: id,
            application_name: name,
            of,
        } = options;
        let provider = match of {
            AdministrationOf::FusionAuth { api_key, tenant_id } => {
                let provider = FusionAuth::new(&address, id, name, &api_key, tenant_id)?;
                Provider::FusionAuth(Box::new(provider))
            }
            AdministrationOf::Keycloak(of) => {
                Provider::Keycloak(Box::new(Keycloak::new(&address, id, name, of)?))
            }
        };
        Ok(Administrator(provider))
    }

    /// Finds out what has to change; changes nothing.
    ///
    /// # Errors
    /// When the provider does not answer as documented, when a user is another one there, and when users of the
    /// file could not log in.
    pub async fn plan(&self, wanted: &Provisioning) -> Result<Vec<IdpStep>, IdpError> {
        match &self.0 {
            Provider::FusionAuth(provider) => provider.plan(wanted).await,
            Provider::Keycloak(provider) => provider.plan(wanted).await,
        }
    }

    /// Makes one change. Steps are made in the order of the plan.
    ///
    /// # Errors
    /// When the provider refuses it, and when the step is one of another kind of provider.
    pub async fn apply(&self, step: &IdpStep) -> Result<(), IdpError> {
        match (&self.0, &step.change) {
            (Provider::FusionAuth(provider), Change::Request(request)) => {
                provider.apply(request).await
            }
            (Provider::Keycloak(provider), Change::Keycloak(change)) => {
                provider.apply(change).await
            }
            _ => Err(IdpError::OtherPlan),
        }
    }
}
