//! Tokens: which are believed and which are not, the keys they are verified with, and what needs
//! one.

mod bad_tokens;
mod certificates;
mod commands;
mod keys;
pub(crate) mod process;
mod published_keys;
mod routes;
mod schema_rights;

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use keys::Signer;

/// A secret of 32 bytes.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789ABCDEF";

/// Seconds since 1970, from now.
fn from_now(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}

/// Claims that every service of these tests accepts.
fn claims() -> Value {
    json!({
        "iss": "https://idp.example",
        "aud": ["other", "api"],
        "sub": "0e5c7d2a",
        "preferred_username": "anna",
        "exp": from_now(3_600),
        "nbf": from_now(-10),
        "roles": ["Reader"],
    })
}

/// The claims with some of them changed; null removes one.
fn claims_with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

/// A token of a user with roles, signed with the secret.
pub(crate) fn token_of(name: &str, roles: &[&str]) -> String {
    let claims = claims_with(json!({"preferred_username": name, "roles": roles}));
    Signer::hmac(SECRET.as_bytes()).token(&claims)
}
