//! Passwords as Keycloak takes them: plain, or as the argon2 hash that it compares with.

use argon2::Params;
use argon2::password_hash::phc::PasswordHash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::provisioning::Password;

/// Version 1.0 of argon2, which strings without a version have.
const VERSION_1_0: u32 = 0x10;

/// Returns a password as a `CredentialRepresentation`; `None` for a malformed hash.
pub(super) fn credential(password: &Password) -> Option<Value> {
    match password {
        Password::Plain(password) => Some(json!({
            "type": "password", "value": password.reveal(), "temporary": false,
        })),
        Password::Hash(hash) => hashed(hash.reveal()),
    }
}

fn hashed(text: &str) -> Option<Value> {
    let hash = PasswordHash::new(text).ok()?;
    let params = Params::try_from(&hash).ok()?;
    let kind = hash.algorithm.as_str().strip_prefix("argon2")?;
    let version = match hash.version.unwrap_or(VERSION_1_0) {
        VERSION_1_0 => "1.0",
        _ => "1.3",
    };
    let value = hash.hash.as_ref()?;
    let secret = json!({
        "value": STANDARD.encode(value.as_ref()),
        "salt": STANDARD.encode(hash.salt.as_ref()?.as_ref()),
        "additionalParameters": {},
    });
    let credential = json!({
        "algorithm": "argon2",
        "hashIterations": params.t_cost(),
        "additionalParameters": {
            "hashLength": [value.as_ref().len().to_string()],
            "memory": [params.m_cost().to_string()],
            "parallelism": [params.p_cost().to_string()],
            "type": [kind],
            "version": [version],
        },
    });
    // Both are JSON within a string.
    Some(json!({
        "type": "password",
        "secretData": secret.to_string(),
        "credentialData": credential.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use outbound::Secret;

    use super::*;

    #[test]
    fn a_hash_keeps_its_parameters() {
        let text = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$qLml5cbqrAwpxsRz1lXkJg";
        let credential = credential(&Password::Hash(Secret::new(text))).unwrap();
        let inner = |key: &str| -> Value {
            serde_json::from_str(credential[key].as_str().unwrap()).unwrap()
        };
        assert_eq!(inner("secretData")["salt"], "c29tZXNhbHQ=");
        assert_eq!(inner("secretData")["value"], "qLml5cbqrAwpxsRz1lXkJg==");
        let data = inner("credentialData");
        assert_eq!(data["hashIterations"], 2);
        let parameters = json!({
            "hashLength": ["16"], "memory": ["19456"], "parallelism": ["1"], "type": ["id"], "version": ["1.3"],
        });
        assert_eq!(data["additionalParameters"], parameters);
    }
}
