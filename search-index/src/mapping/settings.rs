//! Settings of indexes: those that a configuration gives, over those that this crate needs.

use serde_json::{Map, Value};

/// Settings of an index under their full names, such as `index.mapping.total_fields.limit`.
///
/// ```
/// use search_index::mapping::IndexSettings;
///
/// let settings: IndexSettings = r#"{"index": {"number_of_shards": 1}, "refresh_interval": "5s"}"#.parse()?;
/// assert_eq!(settings.get("index.number_of_shards"), Some(&1.into()));
/// assert_eq!(settings.get("index.refresh_interval"), Some(&"5s".into()));
/// # Ok::<(), search_index::mapping::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexSettings(Map<String, Value>);

/// Why a text is not settings of an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// It is not JSON.
    #[error("the settings of indexes are not JSON")]
    Syntax(#[source] serde_json::Error),
    /// It is JSON, but no object.
    #[error("the settings of indexes are not a JSON object")]
    NoObject,
}

impl std::str::FromStr for IndexSettings {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        match serde_json::from_str(text).map_err(SettingsError::Syntax)? {
            Value::Object(members) => Ok(IndexSettings::new(members)),
            _ => Err(SettingsError::NoObject),
        }
    }
}

impl IndexSettings {
    /// Takes settings, nested or with dots, with or without `index` in front.
    #[must_use]
    pub fn new(members: Map<String, Value>) -> Self {
        let mut settings = IndexSettings::default();
        // As the engine does, what is under `settings` is taken for the settings.
        let members = match (members.len(), members.get("settings")) {
            (1, Some(Value::Object(inner))) => inner.clone(),
            _ => members,
        };
        settings.flatten("", members);
        settings
    }

    fn flatten(&mut self, above: &str, members: Map<String, Value>) {
        for (key, value) in members {
            let name = match above {
                "" if key == "index" || key.starts_with("index.") => key,
                "" => format!("index.{key}"),
                above => format!("{above}.{key}"),
            };
            match value {
                Value::Object(inner) => self.flatten(&name, inner),
                value => {
                    self.0.insert(name, value);
                }
            }
        }
    }

    /// Returns a setting by its full name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns a setting that is a number, which may be written as a string.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns a limit of the engine, which the settings may raise.
    pub(super) fn limit(&self, name: &str, default: u64) -> u64 {
        self.number(name).unwrap_or(default)
    }

    /// Sets what is not set yet.
    pub(super) fn or(&mut self, name: &str, value: Value) {
        if self.get(name).is_none() {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Returns whether the settings define an analyzer.
    #[must_use]
    pub fn defines_analyzer(&self, name: &str) -> bool {
        let prefix = format!("index.analysis.analyzer.{name}.");
        self.0.keys().any(|key| key.starts_with(&prefix))
    }

    /// Returns all settings under their full names.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{IndexSettings, SettingsError};

    fn read(text: &str) -> IndexSettings {
        text.parse().expect("settings")
    }

    #[test]
    fn all_ways_to_write_a_setting_are_the_same() {
        let expected = json!({"index.mapping.total_fields.limit": 2000});
        for text in [
            r#"{"index.mapping.total_fields.limit": 2000}"#,
            r#"{"index": {"mapping": {"total_fields": {"limit": 2000}}}}"#,
            r#"{"mapping.total_fields": {"limit": 2000}}"#,
            r#"{"settings": {"index": {"mapping.total_fields.limit": 2000}}}"#,
        ] {
            let settings = serde_json::Value::Object(read(text).as_map().clone());
            assert_eq!(settings, expected, "{text}");
        }
    }

    #[test]
    fn numbers_may_be_strings() {
        assert_eq!(read(r#"{"a": "12", "b": 3}"#).number("index.a"), Some(12));
        assert_eq!(read(r#"{"a": "x"}"#).number("index.a"), None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let refusal = |text: &str| text.parse::<IndexSettings>().expect_err("a refusal");
        assert!(matches!(refusal("[]"), SettingsError::NoObject));
        assert!(matches!(refusal("{"), SettingsError::Syntax(_)));
    }
}
