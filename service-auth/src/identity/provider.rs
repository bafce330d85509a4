//! The provider: checks a password, and signs a token.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;

use jsonwebtoken::jwk::JwkSet;
use outbound::Secret;
use uuid::Uuid;

use super::account::compared;
use super::hashing::{Hashing, hashed};
use super::options::ProviderOptions;
use super::rates::Rates;
use super::signing_key::SigningKey;
use super::token::Claims;
use super::{Account, LoginError, ProviderError, TokenRules, Verification};
use crate::provisioning::{Password, Provisioning};

/// A provider of tokens for the users of a provisioning file.
pub struct Provider {
    options: ProviderOptions,
    accounts: Vec<Arc<Account>>,
    /// The place of each account by the names to log in with.
    names: HashMap<String, usize>,
    /// Hashes of the accounts, in their order. Never empty.
    hashes: Vec<Secret>,
    key: SigningKey,
    rates: Rates,
    hashing: Hashing,
    decoys: RandomState,
    verification: Verification,
}

/// What a user logs in with.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// User name or email address.
    pub login_id: String,
    /// Password.
    pub password: Secret,
    /// The application to log in to; by default the only one.
    pub application_id: Option<Uuid>,
}

/// A user who is logged in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggedIn {
    /// The signed token.
    pub token: Secret,
    /// When the token ends, in seconds since 1970.
    pub expires: u64,
    /// The user.
    pub account: Arc<Account>,
    /// The application of the token.
    pub application_id: Uuid,
}

impl Provider {
    /// Starts a provider for users and roles. Hashing their passwords takes a moment for each.
    ///
    /// # Errors
    /// When the signing key cannot be used.
    pub fn new(
        options: &ProviderOptions,
        provisioning: &Provisioning,
    ) -> Result<Self, ProviderError> {
        let key = match &options.key_file {
            Some(path) => SigningKey::of_file(path)?,
            None => SigningKey::in_memory()?,
        };
        let users = &provisioning.users;
        let accounts: Vec<_> = users
            .iter()
            .map(|user| Arc::new(Account::new(user, options.application_id)))
            .collect();
        let named = accounts.iter().enumerate();
        let names = named.flat_map(|(at, account)| account.names().map(move |name| (name, at)));
        Ok(Provider {
            names: names.collect(),
            accounts,
            hashes: hashes(provisioning)?,
            rates: Rates::new(options),
            hashing: Hashing::new(options.slots.clone()),
            decoys: RandomState::new(),
            verification: verification(options, provisioning, &key),
            options: options.clone(),
            key,
        })
    }

    /// Logs a user in who calls from an address.
    ///
    /// A name that no one has costs what the name of a user costs, and has the same answer.
    ///
    /// # Errors
    /// When the credentials are wrong, when someone tries too often, and when too many try at once.
    pub async fn log_in(
        &self,
        credentials: &Credentials,
        address: IpAddr,
    ) -> Result<LoggedIn, LoginError> {
        let application_id = self.options.application_id;
        if credentials
            .application_id
            .is_some_and(|id| id != application_id)
        {
            return Err(LoginError::Application);
        }
        self.rates.check(&credentials.login_id, address)?;
        let name = compared(&credentials.login_id);
        let known = self.names.get(&name).copied();
        let hash = self.hashes[known.unwrap_or_else(|| self.decoy(&name))].clone();
        let password = credentials.password.clone();
        let is_right = self.hashing.verify(password, hash).await?;
        let account = known
            .filter(|_| is_right)
            .map(|at| &self.accounts[at])
            .ok_or(LoginError::Credentials)?;
        let claims = Claims::new(account, &self.options);
        Ok(LoggedIn {
            token: self.key.sign(&claims).ok_or(LoginError::Signing)?,
            expires: claims.exp,
            account: Arc::clone(account),
            application_id,
        })
    }

    /// Returns what has to be known to verify tokens of this provider.
    #[must_use]
    pub fn verification(&self) -> &Verification {
        &self.verification
    }

    /// Returns how many passwords may be hashed at once, and how many were at most.
    #[must_use]
    pub fn parallel_hashes(&self) -> (usize, usize) {
        self.hashing.parallel()
    }

    /// Returns the place of the hash that the password of an unknown user is compared with: always the
    /// same for a name, since hashes of a file may differ in what they cost.
    fn decoy(&self, name: &str) -> usize {
        let hash = self.decoys.hash_one(name);
        usize::try_from(hash % self.hashes.len() as u64).expect("it is less than a length")
    }
}

fn hashes(provisioning: &Provisioning) -> Result<Vec<Secret>, ProviderError> {
    let mut hashes = provisioning
        .users
        .iter()
        .map(|user| hashed(&user.password))
        .collect::<Result<Vec<_>, _>>()?;
    if hashes.is_empty() {
        let nobody = Secret::new(Uuid::new_v4().to_string());
        hashes.push(hashed(&Password::Plain(nobody))?);
    }
    Ok(hashes)
}

fn verification(
    options: &ProviderOptions,
    provisioning: &Provisioning,
    key: &SigningKey,
) -> Verification {
    let rules = TokenRules::new(options, provisioning);
    Verification {
        keys: JwkSet {
            keys: vec![key.public.clone()],
        },
        public_pem: key.public_pem.clone(),
        key_id: key.id.clone(),
        algorithm: rules.algorithm,
        issuer: rules.issuer,
        audience: rules.audience,
        roles_claim: rules.roles_claim,
        super_roles: rules.super_roles,
        default_roles: provisioning.default_roles().map(str::to_owned).collect(),
    }
}
