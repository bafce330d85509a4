//! What claims have to say, and what they say about the sender.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use call_context::Caller;
use serde_json::{Map, Value};

use super::options::VerifierOptions;
use super::refusal::Refusal;

/// The rules that claims are checked by.
#[derive(Clone, Debug)]
pub(super) struct ClaimRules {
    issuers: Vec<String>,
    audiences: Vec<String>,
    leeway: Duration,
    roles_claim: String,
    super_roles: Vec<String>,
}

impl ClaimRules {
    pub(super) fn new(options: &VerifierOptions) -> Self {
        ClaimRules {
            issuers: options.issuers.clone(),
            audiences: options.audiences.clone(),
            leeway: options.leeway,
            roles_claim: options.roles_claim.clone(),
            super_roles: options.super_roles.clone(),
        }
    }

    /// Checks time, issuer and audience.
    pub(super) fn check(
        &self,
        claims: &Map<String, Value>,
        now: SystemTime,
    ) -> Result<(), Refusal> {
        // Whoever's clock stands before 1970 accepts nothing.
        let now = now
            .duration_since(UNIX_EPOCH)
            .map_err(|_| Refusal::NotYetValid)?;
        let (now, leeway) = (now.as_secs_f64(), self.leeway.as_secs_f64());
        let expires = date(claims, "exp")?.ok_or(Refusal::Claim("exp"))?;
        if now >= expires + leeway {
            return Err(Refusal::Expired);
        }
        if date(claims, "nbf")?.is_some_and(|begin| now + leeway < begin) {
            return Err(Refusal::NotYetValid);
        }
        let issuer = claims.get("iss").and_then(Value::as_str);
        if !self.issuers.is_empty() && !issuer.is_some_and(|issuer| has(&self.issuers, issuer)) {
            return Err(Refusal::Issuer);
        }
        if !self.audiences.is_empty() && !self.is_for_us(claims.get("aud")) {
            return Err(Refusal::Audience);
        }
        Ok(())
    }

    fn is_for_us(&self, audience: Option<&Value>) -> bool {
        let is_ours = |one: &Value| one.as_str().is_some_and(|one| has(&self.audiences, one));
        match audience {
            Some(Value::Array(several)) => several.iter().any(is_ours),
            Some(one) => is_ours(one),
            None => false,
        }
    }

    /// Returns the sender that checked claims tell of.
    pub(super) fn caller(&self, claims: Map<String, Value>) -> Caller {
        let roles = roles(at_path(&claims, &self.roles_claim));
        let superuser = roles.iter().any(|role| has(&self.super_roles, role));
        let mut caller = Caller::with_roles(roles);
        caller.superuser = superuser;
        let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
        let name = text("preferred_username").or_else(|| text("sub"));
        caller.name = name.map(str::to_owned);
        caller.with_claims(claims)
    }
}

/// Returns a claim by its name, or by a path of names with dots between them.
///
/// A claim whose own name has dots, such as an address, comes first.
#[must_use]
pub fn at_path<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    if let Some(claim) = claims.get(path) {
        return Some(claim);
    }
    let mut names = path.split('.');
    let mut found = claims.get(names.next()?)?;
    for name in names {
        found = found.as_object()?.get(name)?;
    }
    Some(found)
}

/// Returns the roles that a claim lists: texts, or a single one. Anything else lists none.
fn roles(claim: Option<&Value>) -> Vec<String> {
    let role = |value: &Value| value.as_str().map(str::to_owned);
    match claim {
        Some(Value::Array(listed)) => {
            let listed: Option<Vec<String>> = listed.iter().map(role).collect();
            listed.unwrap_or_default()
        }
        Some(single) => role(single).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns a time in seconds since 1970, which may have a fraction.
fn date(claims: &Map<String, Value>, name: &'static str) -> Result<Option<f64>, Refusal> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(Some(seconds)),
            _ => Err(Refusal::Claim(name)),
        },
    }
}

fn has(names: &[String], wanted: &str) -> bool {
    names.iter().any(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(claims: Value) -> Map<String, Value> {
        serde_json::from_value(claims).unwrap()
    }

    fn caller(path: &str, claims: Value) -> Caller {
        let options = VerifierOptions {
            roles_claim: path.to_owned(),
            super_roles: vec!["Admin".to_owned()],
            ..VerifierOptions::default()
        };
        ClaimRules::new(&options).caller(map(claims))
    }

    fn roles_of(path: &str, claims: Value) -> Vec<String> {
        caller(path, claims).roles
    }

    #[test]
    fn roles_are_texts_or_a_single_text_and_anything_else_is_none() {
        assert_eq!(roles_of("roles", json!({"roles": ["A", "B"]})), ["A", "B"]);
        assert_eq!(roles_of("roles", json!({"roles": "A B"})), ["A B"]);
        for roles in [
            json!(null),
            json!(1),
            json!({"A": true}),
            json!(["A", 1]),
            json!([["A"]]),
        ] {
            let none: [String; 0] = [];
            assert_eq!(roles_of("roles", json!({"roles": roles})), none, "{roles}");
        }
        assert!(roles_of("roles", json!({})).is_empty());
    }

    #[test]
    fn the_claim_of_roles_may_be_a_path_or_have_dots_itself() {
        let nested = json!({"realm_access": {"roles": ["A"]}});
        assert_eq!(roles_of("realm_access.roles", nested), ["A"]);
        let address = "https://example.org/roles";
        assert_eq!(roles_of(address, json!({address: ["A"]})), ["A"]);
        assert!(roles_of("a.b", json!({"a": "x"})).is_empty());
        assert!(roles_of("a..b", json!({"a": {"b": "x"}})).is_empty());
    }

    #[test]
    fn a_super_role_makes_a_superuser() {
        assert!(caller("roles", json!({"roles": ["A", "Admin"]})).superuser);
        assert!(!caller("roles", json!({"roles": ["admin"]})).superuser);
    }

    #[test]
    fn the_name_is_that_of_the_user_else_the_subject() {
        let name = |claims| caller("roles", claims).name;
        let both = json!({"preferred_username": "anna", "sub": "1"});
        assert_eq!(name(both).as_deref(), Some("anna"));
        let odd = json!({"preferred_username": 1, "sub": "1"});
        assert_eq!(name(odd).as_deref(), Some("1"));
        assert_eq!(name(json!({})), None);
    }

    #[test]
    fn times_are_compared_with_the_leeway() {
        let options = VerifierOptions {
            leeway: Duration::from_secs(10),
            ..VerifierOptions::default()
        };
        let rules = ClaimRules::new(&options);
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let check = |claims| rules.check(&map(claims), now);
        assert_eq!(check(json!({"exp": 991})), Ok(()));
        assert_eq!(check(json!({"exp": 990.5})), Ok(()));
        assert_eq!(check(json!({"exp": 990})), Err(Refusal::Expired));
        assert_eq!(check(json!({"exp": 2_000, "nbf": 1_010})), Ok(()));
        let early = check(json!({"exp": 2_000, "nbf": 1_011}));
        assert_eq!(early, Err(Refusal::NotYetValid));
        for exp in [json!(null), json!("2000"), json!(-1), json!([2_000])] {
            assert_eq!(
                check(json!({"exp": exp})),
                Err(Refusal::Claim("exp")),
                "{exp}"
            );
        }
        assert_eq!(check(json!({})), Err(Refusal::Claim("exp")));
    }
}
