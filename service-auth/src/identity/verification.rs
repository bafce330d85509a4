//! What has to be known to verify the provider's tokens.

use jsonwebtoken::Algorithm;
use jsonwebtoken::jwk::JwkSet;

use super::options::ProviderOptions;
use super::signing_key::ALGORITHM;
use super::token::ROLES;
use crate::provisioning::Provisioning;

/// Which tokens of the provider are accepted, whatever their key, and what the roles in them mean.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenRules {
    /// The only algorithm of the tokens.
    pub algorithm: Algorithm,
    /// Issuer (`iss`) of the tokens.
    pub issuer: String,
    /// Audience (`aud`) of the tokens.
    pub audience: String,
    /// The claim that holds the names of roles.
    pub roles_claim: &'static str,
    /// Roles that may do everything.
    pub super_roles: Vec<String>,
}

impl TokenRules {
    /// Returns the rules of the provider that has these options and roles.
    #[must_use]
    pub fn new(options: &ProviderOptions, roles: &Provisioning) -> Self {
        TokenRules {
            algorithm: ALGORITHM,
            issuer: options.issuer.clone(),
            audience: options.application_id.to_string(),
            roles_claim: ROLES,
            super_roles: roles.super_roles().map(str::to_owned).collect(),
        }
    }
}

/// What has to be known to verify the provider's tokens, and what the roles in them mean.
///
/// A verifier in the same process is configured with it; others read the keys from
/// `/.well-known/jwks.json`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The public key with its `kid`, as it is published.
    pub keys: JwkSet,
    /// The public key as PEM.
    pub public_pem: String,
    /// What tokens call the key (`kid`).
    pub key_id: String,
    /// The only algorithm of the tokens.
    pub algorithm: Algorithm,
    /// Issuer (`iss`) of the tokens.
    pub issuer: String,
    /// Audience (`aud`) of the tokens.
    pub audience: String,
    /// The claim that holds the names of roles, as a list of strings.
    pub roles_claim: &'static str,
    /// Roles that may do everything, whatever a schema says.
    pub super_roles: Vec<String>,
    /// Roles of users for whom the provisioning file lists none. Tokens of the provider have them
    /// already.
    pub default_roles: Vec<String>,
}

impl Verification {
    /// Returns which tokens are accepted.
    #[must_use]
    pub fn rules(&self) -> TokenRules {
        TokenRules {
            algorithm: self.algorithm,
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            roles_claim: self.roles_claim,
            super_roles: self.super_roles.clone(),
        }
    }
}
