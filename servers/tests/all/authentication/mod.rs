//! Tokens: which are believed and which are not, the keys they are verified with, and what needs
//! one.

mod bad_tokens;
mod certificates;
mod commands;
pub(crate) mod keys;
pub(crate) mod process;
mod published_keys;
mod routes;
mod schema_rights;

use serde_json::{Value, json};

use crate::bad_tokens::{Accepted, from_now};
use keys::Signer;

/// A secret of 32 bytes.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789ABCDEF";

/// What every service of these tests accepts.
fn of_tests(signer: &Signer) -> Accepted<'_> {
    Accepted {
        signer,
        issuer: "https://idp.example",
        audience: "api",
    }
}

/// Claims that every service of these tests accepts.
fn claims() -> Value {
    claims_with(json!({}))
}

/// The claims with some of them changed; null removes one.
fn claims_with(changes: Value) -> Value {
    of_tests(&Signer::hmac(SECRET.as_bytes())).claims_with(changes)
}

/// A token of a user with roles, signed with the secret.
pub(crate) fn token_of(name: &str, roles: &[&str]) -> String {
    let claims = claims_with(json!({"preferred_username": name, "roles": roles}));
    Signer::hmac(SECRET.as_bytes()).token(&claims)
}
