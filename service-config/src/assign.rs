//! From names and values to settings: properties, their other names, and what has no effect.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use crate::catalogue::Catalogue;
use crate::error::ConfigError;
use crate::property::{Alias, Asks, Planned, Property, is_off};

/// A value with the place that it comes from.
struct Given {
    value: String,
    origin: String,
}

/// Settings that are being read, later sources over earlier ones.
pub(crate) struct Assignments<'c, S: 'static> {
    pub(crate) catalogue: &'c Catalogue<S>,
    settings: S,
    /// Properties that a source sets by their own name.
    set: HashSet<&'static str>,
    fallbacks: Vec<(&'static str, Given)>,
    /// Properties without effect, by the name as given; the last value counts.
    planned: BTreeMap<String, (&'static Planned<S>, Given)>,
    warnings: Vec<String>,
}

impl<'c, S: Clone> Assignments<'c, S> {
    pub(crate) fn new(catalogue: &'c Catalogue<S>, defaults: S) -> Self {
        Assignments {
            catalogue,
            settings: defaults,
            set: HashSet::new(),
            fallbacks: Vec::new(),
            planned: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Takes a value; returns whether the name is known.
    pub(crate) fn assign(
        &mut self,
        name: &str,
        value: &str,
        origin: &str,
    ) -> Result<bool, ConfigError> {
        let catalogue = self.catalogue;
        if let Some(property) = catalogue.find(name) {
            self.set.insert(property.key);
            self.set(property, value, origin)?;
        } else if let Some(found) = catalogue.numbered(name) {
            (found.part.set)(&mut self.settings, found.number, value)
                .map_err(|expected| refused(found.key(), value, origin, expected))?;
        } else if let Some((named, rest)) = catalogue.named(name) {
            let warning = (named.set)(&mut self.settings, rest, value)
                .map_err(|expected| refused(name.to_owned(), value, origin, expected))?;
            self.warnings.extend(warning);
        } else if let Some(alias) = catalogue.alias(name) {
            self.assign_alias(alias, value, origin)?;
        } else if let Some(planned) = catalogue.planned(name) {
            self.plan(name, planned, value, origin)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes a value of a name that must be known.
    pub(crate) fn assign_known(
        &mut self,
        name: &str,
        value: &str,
        origin: &str,
    ) -> Result<(), ConfigError> {
        if self.assign(name, value, origin)? {
            return Ok(());
        }
        Err(ConfigError::Unknown {
            key: name.to_owned(),
            origin: origin.to_owned(),
            near: self.catalogue.nearest(name),
        })
    }

    /// Takes a variable that someone else has given a meaning; tells whether it is one.
    pub(crate) fn standard(&mut self, name: &str, value: &str) -> bool {
        let standard = self.catalogue.standard.as_ref();
        let Some(standard) = standard.filter(|it| name.starts_with(it.prefix)) else {
            return false;
        };
        (standard.set)(&mut self.settings, name, value);
        true
    }

    /// Takes a value by another name of its property.
    fn assign_alias(
        &mut self,
        alias: &Alias,
        value: &str,
        origin: &str,
    ) -> Result<(), ConfigError> {
        let property = self
            .catalogue
            .find(alias.key)
            .expect("aliases name properties of the table");
        let shown = property.shown_if_not_secret(value);
        let wrong = |expected| refused(alias.name, shown, origin, expected);
        let converted = (alias.convert)(value).map_err(wrong)?;
        if !alias.falls_back {
            return property.set(&mut self.settings, &converted).map_err(wrong);
        }
        // It may turn out not to count, which does not make it right.
        let mut unused = self.settings.clone();
        property.set(&mut unused, &converted).map_err(wrong)?;
        let given = Given {
            value: converted,
            origin: origin.to_owned(),
        };
        self.fallbacks.push((property.key, given));
        Ok(())
    }

    /// Takes a value that has no effect.
    fn plan(
        &mut self,
        name: &str,
        planned: &'static Planned<S>,
        value: &str,
        origin: &str,
    ) -> Result<(), ConfigError> {
        let name = if planned.is_family() {
            name
        } else {
            planned.name
        };
        planned.kind.check(value).map_err(|expected| {
            let shown = if planned.secret { "***" } else { value };
            refused(name.to_owned(), shown, origin, expected)
        })?;
        let given = Given {
            value: value.to_owned(),
            origin: origin.to_owned(),
        };
        self.planned.insert(name.to_owned(), (planned, given));
        Ok(())
    }

    fn set(
        &mut self,
        property: &Property<S>,
        value: &str,
        origin: &str,
    ) -> Result<(), ConfigError> {
        property.set(&mut self.settings, value).map_err(|expected| {
            let shown = property.shown_if_not_secret(value);
            refused(property.key, shown, origin, expected)
        })
    }

    /// Returns the settings, and a warning about everything that was given and has no effect.
    pub(crate) fn finish(mut self) -> Result<Outcome<S>, ConfigError> {
        for (key, given) in std::mem::take(&mut self.fallbacks) {
            if !self.set.contains(key) {
                let property = self.catalogue.find(key).expect("it was found before");
                self.set(property, &given.value, &given.origin)?;
            }
        }
        self.refuse_protection()?;
        let idle = self.idle();
        let warning = (!idle.is_empty()).then(|| {
            format!(
                "properties that are accepted but have no effect: {}",
                idle.join(", ")
            )
        });
        self.warnings.extend(warning);
        Ok(Outcome {
            settings: self.settings,
            warnings: self.warnings,
        })
    }

    /// Returns the names of what was given and has no effect, each with the name that was probably meant.
    fn idle(&self) -> Vec<String> {
        let idle = self.planned.iter().filter(|(_, (planned, given))| {
            !(planned.is_done_anyway)(&self.settings, &given.value)
        });
        let idle = idle.map(|(name, (planned, _))| {
            let near = planned
                .is_family()
                .then(|| self.catalogue.nearest_in_environment(name));
            match near.flatten() {
                Some(near) => format!("`{name}` (did you mean `{near}`?)"),
                None => format!("`{name}`"),
            }
        });
        idle.collect()
    }

    /// Fails where a value asks for protection, which must never be missing unnoticed.
    fn refuse_protection(&self) -> Result<(), ConfigError> {
        for (name, (planned, given)) in &self.planned {
            let asks = match planned.asks {
                Asks::Service => false,
                Asks::Protection { is_disabled } => {
                    !is_disabled(&self.settings) && !is_off(&given.value)
                }
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

/// What the sources say together.
pub(crate) struct Outcome<S> {
    pub(crate) settings: S,
    /// What was given for nothing.
    pub(crate) warnings: Vec<String>,
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

/// Returns whether `value` contains an address with a user, and so perhaps a password.
fn carries_user(value: &str) -> bool {
    value.contains("://") && value.contains('@')
}
