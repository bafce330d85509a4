//! What is created in a realm, and how what is there differs from it.

use serde_json::{Map, Value, json};

use super::realm::Keycloak;
use crate::provisioning::Role;

/// The attribute of realms that were created here, whose user profile may be changed.
pub(super) const CREATED: &str = "soml.created";

/// The attribute that turns the device authorization grant on.
const DEVICE: &str = "oauth2.device.authorization.grant.enabled";

impl Keycloak {
    pub(super) fn new_realm(&self) -> Value {
        json!({
            "realm": self.realm,
            "enabled": true,
            // Whoever knows the client can try passwords.
            "bruteForceProtected": true,
            "attributes": { CREATED: "true" },
        })
    }

    /// The client that has the roles. Services and users log in with a password; there is no page to come back to.
    pub(super) fn new_application(&self) -> Value {
        json!({
            "clientId": self.application,
            "name": self.application_name,
            "protocol": "openid-connect",
            "enabled": true,
            "publicClient": true,
            "standardFlowEnabled": false,
            "directAccessGrantsEnabled": true,
            "fullScopeAllowed": false,
            "protocolMappers": self.mappers(),
        })
    }

    /// The client of log-ins by device code. Its tokens have roles of the application only: they are sent to services,
    /// which must not be able to do more with them.
    pub(super) fn new_login_client(&self) -> Value {
        json!({
            "clientId": self.login_client,
            "name": format!("{} (command line)", self.application_name),
            "protocol": "openid-connect",
            "enabled": true,
            "publicClient": true,
            "standardFlowEnabled": false,
            "directAccessGrantsEnabled": false,
            "fullScopeAllowed": false,
            "attributes": { DEVICE: "true" },
            "protocolMappers": self.mappers(),
        })
    }

    /// What puts claims into access tokens: roles of the application, its audience, and the name of the user.
    pub(super) fn mappers(&self) -> Vec<Value> {
        let mapper = |name: &str, kind: &str, config: Value| {
            let mut config = config;
            config["access.token.claim"] = json!("true");
            config["id.token.claim"] = json!("false");
            config["introspection.token.claim"] = json!("true");
            json!({
                "name": name, "protocol": "openid-connect", "protocolMapper": kind, "config": config,
            })
        };
        let roles = json!({
            "usermodel.clientRoleMapping.clientId": self.application,
            "claim.name": "roles",
            "jsonType.label": "String",
            "multivalued": "true",
            "userinfo.token.claim": "false",
        });
        let audience = json!({ "included.custom.audience": self.application });
        let name = json!({
            "user.attribute": "username",
            "claim.name": "preferred_username",
            "jsonType.label": "String",
            "userinfo.token.claim": "true",
        });
        vec![
            mapper("soml roles", "oidc-usermodel-client-role-mapper", roles),
            mapper("soml audience", "oidc-audience-mapper", audience),
            mapper("soml user name", "oidc-usermodel-attribute-mapper", name),
        ]
    }
}

/// A role. Keycloak knows neither super roles nor default ones of an application, so both are notes for readers.
pub(super) fn new_role(role: &Role) -> Value {
    json!({ "name": role.name, "attributes": attributes(role) })
}

fn attributes(role: &Role) -> Value {
    json!({ "superRole": [role.super_role.to_string()], "default": [role.default.to_string()] })
}

/// Returns the role as it should be; `None` where it is so.
pub(super) fn changed_role(found: &Value, role: &Role) -> Option<Value> {
    with(found, "attributes", &attributes(role))
}

/// Returns the application as it should be; `None` where it is so. A client that someone has made confidential may
/// have its log-in with a password off: services log in with the secret.
pub(super) fn changed_application(found: &Value) -> Option<Value> {
    let mut wanted = json!({ "enabled": true });
    if found["publicClient"] == true {
        wanted["directAccessGrantsEnabled"] = json!(true);
    }
    changed(found, &wanted)
}

/// Returns the client of log-ins as it should be; `None` where it is so.
pub(super) fn changed_login_client(found: &Value) -> Option<Value> {
    let own = changed(found, &json!({ "enabled": true, "publicClient": true }));
    let device = json!({ DEVICE: "true" });
    with(own.as_ref().unwrap_or(found), "attributes", &device).or(own)
}

/// Returns a mapper as it should be; `None` where it is so.
pub(super) fn changed_mapper(found: &Value, wanted: &Value) -> Option<Value> {
    let kind =
        json!({ "protocol": wanted["protocol"], "protocolMapper": wanted["protocolMapper"] });
    let own = changed(found, &kind);
    with(own.as_ref().unwrap_or(found), "config", &wanted["config"]).or(own)
}

/// Returns a profile that leaves it to users to say these attributes; `None` where it requires none of them.
pub(super) fn relaxed_profile(profile: &Value, attributes: &[&str]) -> Option<Value> {
    let mut relaxed = profile.clone();
    let all = relaxed["attributes"].as_array_mut()?.iter_mut();
    let mut is_changed = false;
    for attribute in all.filter_map(Value::as_object_mut) {
        let name = attribute.get("name").and_then(Value::as_str);
        if name.is_some_and(|name| attributes.contains(&name)) {
            is_changed |= attribute
                .remove("required")
                .is_some_and(|required| !required.is_null());
        }
    }
    is_changed.then_some(relaxed)
}

/// Returns which of these attributes a profile requires.
pub(super) fn required_of(profile: &Value, attributes: &[&str]) -> Vec<String> {
    let all = profile["attributes"].as_array().into_iter().flatten();
    let required = all.filter(|attribute| attribute["required"].is_object());
    let names = required
        .filter_map(|attribute| attribute["name"].as_str())
        .filter(|name| attributes.contains(name));
    names.map(str::to_owned).collect()
}

/// Returns an object with some members of one of its members set.
fn with(found: &Value, member: &str, wanted: &Value) -> Option<Value> {
    let empty = json!({});
    let inner = found.get(member).filter(|inner| inner.is_object());
    let inner = changed(inner.unwrap_or(&empty), wanted)?;
    let mut whole = found.clone();
    whole[member] = inner;
    Some(whole)
}

/// Returns an object with some members set; `None` where they are set already.
fn changed(found: &Value, wanted: &Value) -> Option<Value> {
    let wanted: &Map<String, Value> = wanted.as_object()?;
    let mut differing = wanted.iter().filter(|(key, value)| found[*key] != **value);
    differing.next()?;
    let mut changed = found.clone();
    for (key, value) in wanted {
        changed[key] = value.clone();
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_it_should_be_is_not_changed() {
        let client = json!({
            "clientId": "c", "enabled": true, "publicClient": true, "directAccessGrantsEnabled": true,
            "attributes": { DEVICE: "true", "other": "kept" },
        });
        assert_eq!(changed_application(&client), None);
        assert_eq!(changed_login_client(&client), None);
        let mapper =
            json!({"name": "m", "protocol": "p", "protocolMapper": "k", "config": {"a": "1"}});
        let found = json!({
            "id": "7", "name": "m", "protocol": "p", "protocolMapper": "k", "config": {"a": "1", "b": "2"},
        });
        assert_eq!(changed_mapper(&found, &mapper), None);
    }

    #[test]
    fn what_differs_is_set_and_the_rest_stays() {
        let client = json!({
            "enabled": false, "publicClient": false, "directAccessGrantsEnabled": false,
            "attributes": {"other": "kept"},
        });
        let application = changed_application(&client).unwrap();
        assert_eq!(application["enabled"], true);
        assert_eq!(application["directAccessGrantsEnabled"], false);
        let login = changed_login_client(&client).unwrap();
        assert_eq!(login["publicClient"], true);
        let attributes = json!({"other": "kept", DEVICE: "true"});
        assert_eq!(login["attributes"], attributes);
        let wanted = json!({"protocol": "p", "protocolMapper": "k", "config": {"a": "1"}});
        let found =
            json!({"id": "7", "protocol": "p", "protocolMapper": "x", "config": {"b": "2"}});
        let mapper = changed_mapper(&found, &wanted).unwrap();
        let expected = json!({"id": "7", "protocol": "p", "protocolMapper": "k", "config": {"b": "2", "a": "1"}});
        assert_eq!(mapper, expected);
    }

    #[test]
    fn only_attributes_that_are_required_are_made_optional() {
        let profile = json!({"attributes": [
            {"name": "email", "required": {"roles": ["user"]}},
            {"name": "firstName", "required": {}},
            {"name": "lastName"},
            {"name": "phone", "required": {"roles": ["user"]}},
        ]});
        let names = ["email", "firstName", "lastName"];
        assert_eq!(required_of(&profile, &names), ["email", "firstName"]);
        let relaxed = relaxed_profile(&profile, &names).unwrap();
        assert_eq!(required_of(&relaxed, &names), Vec::<String>::new());
        assert_eq!(required_of(&relaxed, &["phone"]), ["phone"]);
        assert_eq!(relaxed_profile(&relaxed, &names), None);
    }
}
