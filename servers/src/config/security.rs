//! Which tokens are accepted, and what their holders may do: the properties of tokens.

use std::time::Duration;

use jsonwebtoken::Algorithm;
use outbound::Secret;
use service_auth::{KeysAddress, VerifierOptions};
use service_config::Setting;

use super::setting::Programs;

/// How requests are authenticated (`security.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecuritySettings {
    /// Whether every request needs a token (`security.enabled`).
    pub enabled: Switch,
    /// The key that tokens are verified with: a text for HMAC, or a public key or certificate in
    /// PEM (`security.secret`).
    pub secret: Option<Secret>,
    /// Address of a set of public keys (`security.jwks.url`).
    pub jwks_url: Option<KeysAddress>,
    /// Algorithms that tokens may be signed with (`security.algorithms`).
    pub algorithms: Algorithms,
    /// Accepted issuers; none are checked where none are listed (`security.issuer`).
    pub issuers: Names,
    /// Accepted audiences; none are checked where none are listed (`security.audience`).
    pub audiences: Names,
    /// How far clocks may differ (`security.leeway`).
    pub leeway: Duration,
    /// The claim that holds the roles (`security.rolesClaim`).
    pub roles_claim: String,
    /// Roles that may do everything (`security.superRoles`).
    pub super_roles: Names,
    /// The role that may manage schemas and the rights on them, whatever these say
    /// (`security.schemaAdminRole`).
    pub schema_admin_role: String,
    /// Whether the API says who may do what (`security.exposeInGraphQl`).
    pub expose_in_graphql: bool,
    /// Maximum length of a token in bytes (`security.maxTokenBytes`).
    pub max_token_bytes: usize,
}

impl Default for SecuritySettings {
    fn default() -> Self {
        SecuritySettings {
            enabled: Switch::Automatic,
            secret: None,
            jwks_url: None,
            algorithms: Algorithms::default(),
            issuers: Names::default(),
            audiences: Names::default(),
            leeway: Duration::from_secs(60),
            roles_claim: "roles".to_owned(),
            super_roles: Names::default(),
            schema_admin_role: "SchemaRBACAdmin".to_owned(),
            expose_in_graphql: false,
            max_token_bytes: 16 << 10,
        }
    }
}

impl SecuritySettings {
    /// Returns whether some key is configured that tokens can be verified with.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.secret.is_some() || self.jwks_url.is_some()
    }

    /// Returns what a verifier of tokens needs to know.
    #[must_use]
    pub fn verifier_options(&self) -> VerifierOptions {
        let mut options = VerifierOptions::default();
        options.secret.clone_from(&self.secret);
        options.keys_address.clone_from(&self.jwks_url);
        options.algorithms.clone_from(&self.algorithms.0);
        options.issuers.clone_from(&self.issuers.0);
        options.audiences.clone_from(&self.audiences.0);
        options.leeway = self.leeway;
        options.roles_claim.clone_from(&self.roles_claim);
        options.super_roles.clone_from(&self.super_roles.0);
        options.max_token_bytes = self.max_token_bytes;
        options
    }

    /// Returns whether every request needs a token.
    #[must_use]
    pub fn is_on(&self) -> bool {
        match self.enabled {
            Switch::On => true,
            Switch::Off => false,
            Switch::Automatic => self.has_keys(),
        }
    }
}

/// Something that is on, off, or as the rest of the configuration asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// As the rest of the configuration asks for.
    #[default]
    Automatic,
    /// On.
    On,
    /// Off.
    Off,
}

/// Names in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// Algorithms of signatures; `None` stands for all that the keys are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithms(pub Option<Vec<Algorithm>>);

impl Setting<Programs> for Switch {
    const TYPE: &'static str = "boolean or `auto`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text.to_ascii_lowercase().as_str() {
            "auto" => Ok(Switch::Automatic),
            "true" | "yes" | "on" | "1" => Ok(Switch::On),
            "false" | "no" | "off" | "0" => Ok(Switch::Off),
            _ => Err("`true`, `false` or `auto`"),
        }
    }

    fn show(&self) -> String {
        let shown = match self {
            Switch::Automatic => "auto",
            Switch::On => "true",
            Switch::Off => "false",
        };
        shown.to_owned()
    }
}

impl Setting<Programs> for Names {
    const TYPE: &'static str = "names or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = if text == "none" { "" } else { text };
        let names = text.split([',', ';']).map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        Ok(Names(names.map(str::to_owned).collect()))
    }

    fn show(&self) -> String {
        match self.0.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        }
    }
}

impl Setting<Programs> for Algorithms {
    const TYPE: &'static str = "algorithms or `auto`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "auto" {
            return Ok(Algorithms(None));
        }
        let names = Names::parse(text)?.0;
        let listed: Result<Vec<Algorithm>, _> = names.iter().map(|name| name.parse()).collect();
        match listed {
            Ok(listed) if !listed.is_empty() => Ok(Algorithms(Some(listed))),
            _ => Err(
                "`auto`, or some of HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, \
                      PS512, ES256, ES384 and EdDSA",
            ),
        }
    }

    fn show(&self) -> String {
        match &self.0 {
            None => "auto".to_owned(),
            Some(listed) => {
                let names: Vec<_> = listed.iter().map(|name| format!("{name:?}")).collect();
                names.join(", ")
            }
        }
    }
}

impl Setting<Programs> for Option<KeysAddress> {
    const TYPE: &'static str = "address or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => KeysAddress::parse(text).map(Some),
        }
    }

    fn show(&self) -> String {
        let shown = self.as_ref().map(|address| address.url().as_str());
        shown.unwrap_or("none").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_none_cannot_be_listed() {
        assert!(Algorithms::parse("RS256, ES256").is_ok());
        for text in ["none", "", "NONE", "HS256, none", "rs256"] {
            assert!(Algorithms::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_not_said_clearly_is_no_switch() {
        assert_eq!(Switch::parse("FALSE"), Ok(Switch::Off));
        for text in ["", "treu", "enabled"] {
            assert!(Switch::parse(text).is_err(), "{text}");
        }
    }
}
