//! `soml token`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use jsonwebtoken::{Algorithm, AlgorithmFamily, EncodingKey, Header, encode};
use outbound::Secret;
use serde_json::{Map, Value, json};
use service_auth::Key;

use super::config_args::ConfigArgs;
use super::kept_login::KeptLogin;
use super::remote::service_address;
use super::store::runtime;
use super::{CliError, Console, Exit};
use crate::config::SecuritySettings;

#[derive(Debug, Args)]
pub(super) struct Token {
    /// Prints the token stored by `soml login` for the service at this address, refreshed if it has expired.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["roles", "name", "expires", "audience", "issuer", "ConfigArgs"]
    )]
    url: Option<String>,
    /// Role of the user; can be repeated.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// Name of the user.
    #[arg(long, value_name = "NAME", default_value = "developer")]
    name: String,
    /// Time after which the token expires: a number with the unit `s`, `m`, `h` or `d`.
    #[arg(long, value_name = "TIME", default_value = "8h", value_parser = time)]
    expires: Duration,
    /// Audience (`aud`) [default: the first one of `security.audience`].
    #[arg(long, value_name = "AUDIENCE")]
    audience: Option<String>,
    /// Issuer (`iss`) [default: the first one of `security.issuer`].
    #[arg(long, value_name = "ISSUER")]
    issuer: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Token {
    /// Prints a token that a service with the same settings accepts, or the one that is kept for a service.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        if let Some(url) = &self.url {
            let token = kept_token(url)?;
            writeln!(console.out, "{}", token.reveal())?;
            return Ok(Exit::Success);
        }
        let security = self.config.told(console)?.security;
        let (algorithm, key) = signing_key(&security)?;
        let claims = self.claims(&security)?;
        let token = encode(&Header::new(algorithm), &claims, &key)
            .map_err(|_| CliError::Usage("`security.secret` cannot sign".to_owned()))?;
        writeln!(console.out, "{token}")?;
        Ok(Exit::Success)
    }

    fn claims(&self, security: &SecuritySettings) -> Result<Map<String, Value>, CliError> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_err(|_| CliError::Usage("the clock is set to before 1970".to_owned()))?;
        let mut claims = Map::new();
        claims.insert("sub".to_owned(), json!(self.name));
        claims.insert("preferred_username".to_owned(), json!(self.name));
        claims.insert("iat".to_owned(), json!(now.as_secs()));
        let end = now.saturating_add(self.expires);
        claims.insert("exp".to_owned(), json!(end.as_secs()));
        let issuer = self.issuer.as_ref().or(security.issuers.0.first());
        let audience = self.audience.as_ref().or(security.audiences.0.first());
        for (claim, value) in [("iss", issuer), ("aud", audience)] {
            claims.extend(value.map(|value| (claim.to_owned(), json!(value))));
        }
        insert_at(&mut claims, &security.roles_claim, json!(self.roles));
        Ok(claims)
    }
}

/// Returns the token that is kept for a service.
fn kept_token(url: &str) -> Result<Secret, CliError> {
    let address = service_address(url)?;
    let kept = KeptLogin::of(&address)?.ok_or_else(|| {
        CliError::Usage(format!(
            "there is no log-in for {url}: log in with `soml login --url {url}`"
        ))
    })?;
    runtime()?.block_on(kept.token())
}

/// Returns what signs tokens that the service verifies with the same settings.
fn signing_key(security: &SecuritySettings) -> Result<(Algorithm, EncodingKey), CliError> {
    let refused = |message: &str| Err(CliError::Usage(message.to_owned()));
    let Some(secret) = security.secret.as_ref().map(|secret| secret.reveal()) else {
        return refused("`security.secret` is not set, so there is nothing to sign a token with");
    };
    if Key::is_public(secret) {
        return refused(
            "`security.secret` contains public keys, which cannot sign; only the owner of the \
             private key can create tokens",
        );
    }
    let family = AlgorithmFamily::Hmac;
    let accepted = security.algorithms.0.as_deref();
    let mut algorithms = accepted.unwrap_or(family.algorithms()).iter();
    match algorithms.find(|algorithm| algorithm.family() == family) {
        Some(algorithm) => Ok((*algorithm, EncodingKey::from_secret(secret.as_bytes()))),
        None => refused("`security.algorithms` allows no algorithm for `security.secret`"),
    }
}

/// Puts a claim where its path leads; an address is a name of its own.
fn insert_at(claims: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.').filter(|_| !path.contains('/')) {
        None => {
            claims.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = claims.entry(first).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                insert_at(inner, rest, value);
            }
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    let time = number
        .zip(seconds)
        .and_then(|(n, unit)| n.checked_mul(unit));
    time.map(Duration::from_secs)
        .ok_or_else(|| "expected a number with the unit `s`, `m`, `h` or `d`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_makes_objects_and_an_address_does_not() {
        let mut claims = Map::new();
        insert_at(&mut claims, "realm_access.roles", json!(["A"]));
        insert_at(&mut claims, "https://a.example/roles", json!(["B"]));
        let expected = json!({"realm_access": {"roles": ["A"]}, "https://a.example/roles": ["B"]});
        assert_eq!(Value::Object(claims), expected);
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(time("8h"), Ok(Duration::from_secs(28_800)));
        for text in ["8", "h", "-1h", "8w", "99999999999999999999d", "1.5h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
