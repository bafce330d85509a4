//! From names and values to settings: properties, their other names, and what is not built yet.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::contract::{Alias, Asks, Planned, is_off};
use super::security::Switch;
use super::settings::Settings;
use super::sources::ConfigError;
use super::subgraphs::SubgraphProperty;
use super::table::Property;

/// A value with the place that it comes from.
struct Given {
    value: String,
    origin: String,
}

/// Settings that are being read, later sources over earlier ones.
pub(super) struct Assignments {
    settings: Settings,
    /// Properties that a source sets by their own name.
    set: HashSet<&'static str>,
    fallbacks: Vec<(&'static str, Given)>,
    /// Properties that are not built yet, by the name as given; the last value counts.
    planned: BTreeMap<String, (&'static Planned, Given)>,
}

impl Assignments {
    pub(super) fn new(defaults: Settings) -> Self {
        Assignments {
            settings: defaults,
            set: HashSet::new(),
            fallbacks: Vec::new(),
            planned: BTreeMap::new(),
        }
    }

    /// Takes a value; returns whether the name is known.
    pub(super) fn assign(
        &mut self,
        name: &str,
        value: &str,
        origin: &str,
    ) -> Result<bool, ConfigError> {
        if let Some(property) = Property::find(name) {
            self.set.insert(property.key);
            self.set(property, value, origin)?;
        } else if let Some(property) = SubgraphProperty::find(name) {
            let set = property.set(&mut self.settings, value);
            set.map_err(|expected| refused(property.key(), value, origin, expected))?;
        } else if let Some(alias) = Alias::find(name) {
            self.assign_alias(alias, value, origin)?;
        } else if let Some(planned) = Planned::find(name) {
            self.plan(name, planned, value, origin);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes a variable that OpenTelemetry gives a meaning.
    pub(super) fn standard(&mut self, name: &str, value: &str) {
        self.settings.gateway.traces.standard.set(name, value);
    }

    /// Takes a value by another name of its property.
    fn assign_alias(
        &mut self,
        alias: &Alias,
        value: &str,
        origin: &str,
    ) -> Result<(), ConfigError> {
        let converted = alias.value(value).map_err(|expected| ConfigError::Value {
            key: alias.name.into(),
            origin: origin.to_owned(),
            value: value.to_owned(),
            expected,
        })?;
        let property = Property::find(alias.key).expect("aliases name properties of the table");
        if alias.falls_back {
            let origin = origin.to_owned();
            let given = Given {
                value: converted,
                origin,
            };
            self.fallbacks.push((property.key, given));
            return Ok(());
        }
        self.set(property, &converted, origin)
    }

    fn plan(&mut self, name: &str, planned: &'static Planned, value: &str, origin: &str) {
        let name = match planned.is_family() {
            true => name,
            false => planned.name,
        };
        let given = Given {
            value: value.to_owned(),
            origin: origin.to_owned(),
        };
        self.planned.insert(name.to_owned(), (planned, given));
    }

    fn set(&mut self, property: &Property, value: &str, origin: &str) -> Result<(), ConfigError> {
        property.set(&mut self.settings, value).map_err(|expected| {
            let shown = if property.secret { "***" } else { value };
            refused(property.key, shown, origin, expected)
        })
    }

    /// Returns the settings, and a warning about everything that was given and has no effect.
    pub(super) fn finish(mut self) -> Result<(Settings, Option<String>), ConfigError> {
        for (key, given) in std::mem::take(&mut self.fallbacks) {
            if !self.set.contains(key) {
                let property = Property::find(key).expect("it was found before");
                self.set(property, &given.value, &given.origin)?;
            }
        }
        self.refuse_protection()?;
        let roles = Planned::find("search.rbac.enabled");
        let roles = roles.map(|planned| self.planned.contains_key(planned.name));
        self.settings.search.says_about_roles = roles.unwrap_or(false);
        let idle: Vec<String> = self
            .planned
            .iter()
            .filter(|(name, (_, given))| !is_done(name, &given.value))
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let warning = (!idle.is_empty()).then(|| {
            format!(
                "properties that are known but not built yet, and have no effect: {}",
                idle.join(", ")
            )
        });
        Ok((self.settings, warning))
    }

    /// Fails where a value asks for protection, which must never be missing unnoticed.
    fn refuse_protection(&self) -> Result<(), ConfigError> {
        let is_disabled = self.settings.security.enabled == Switch::Off;
        for (name, (planned, given)) in &self.planned {
            let asks = match planned.asks {
                Asks::Service => false,
                Asks::Protection => !is_off(&given.value),
                // Whoever says no to all of it does not ask for its parts.
                Asks::Security => !is_disabled && !is_off(&given.value),
            };
            if asks {
                return Err(ConfigError::Protection {
                    key: name.clone(),
                    origin: given.origin.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Returns why a value cannot be taken, without a user that is in it.
fn refused(
    key: impl Into<Cow<'static, str>>,
    value: &str,
    origin: &str,
    expected: &'static str,
) -> ConfigError {
    let value = if carries_user(value) { "***" } else { value };
    ConfigError::Value {
        key: key.into(),
        origin: origin.to_owned(),
        value: value.to_owned(),
        expected,
    }
}

/// Tells whether a value is what the service does anyway.
fn is_done(name: &str, value: &str) -> bool {
    name == "soml.storage.provider" && value == "in-memory"
}

/// Tells whether `value` contains an address with a user, and so perhaps a password.
fn carries_user(value: &str) -> bool {
    value.contains("://") && value.contains('@')
}
