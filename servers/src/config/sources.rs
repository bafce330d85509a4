//! Where values come from: a file, the environment, the command line.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::settings::Settings;
use super::table::Property;

/// Starts of environment names that can only be meant for this program.
const OUR_PREFIXES: &[&str] = &["GRAPHQL_", "SOML_", "APPLICATION_", "HEALTH_", "SPARQL_"];

/// The sources of the configuration; later ones override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// The defaults.
    pub defaults: Settings,
    /// A properties, YAML or TOML file.
    pub file: Option<&'a Path>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// `key=value` pairs of the command line.
    pub flags: &'a [String],
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read the configuration file {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is malformed.
    #[error("the configuration file {path} is malformed: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The extension of the file is not supported.
    #[error("the configuration file {path} must end in .properties, .yaml, .yml or .toml")]
    SyntaxUnknown {
        /// The file.
        path: PathBuf,
    },
    /// A flag is not of the form `key=value`.
    #[error("`{0}` must have the form key=value")]
    NotAPair(String),
    /// No property has this name.
    #[error("unknown property `{key}` in {origin}{}", hint(.key))]
    Unknown {
        /// The name as given.
        key: String,
        /// Where it was given.
        origin: String,
    },
    /// The value does not fit the property.
    #[error("`{key}` in {origin} is `{value}`, expected {expected}")]
    Value {
        /// The property.
        key: &'static str,
        /// Where it was given.
        origin: String,
        /// The value as given, masked when secret.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
}

fn hint(key: &str) -> String {
    Property::nearest(key)
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}

/// Reads the settings from all `sources`; also returns warnings about the environment.
///
/// # Errors
///
/// Fails on a file that cannot be read, on an unknown property in a file or flag, and on a value
/// that does not fit. An unknown name in the environment is only a warning.
pub fn read(sources: &Sources<'_>) -> Result<(Settings, Vec<String>), ConfigError> {
    let mut settings = sources.defaults.clone();
    let mut warnings = Vec::new();
    if let Some(path) = sources.file {
        let origin = path.display().to_string();
        for (key, value) in file_pairs(path)? {
            set_known(&mut settings, &key, &value, &origin)?;
        }
    }
    for (key, value) in &sources.environment {
        environment_pair(&mut settings, key, value, &mut warnings)?;
    }
    for pair in sources.flags {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| ConfigError::NotAPair(pair.clone()))?;
        set_known(&mut settings, key.trim(), value.trim(), "--set")?;
    }
    Ok((settings, warnings))
}

fn set_known(
    settings: &mut Settings,
    key: &str,
    value: &str,
    origin: &str,
) -> Result<(), ConfigError> {
    let property = Property::find(key).ok_or_else(|| ConfigError::Unknown {
        key: key.to_owned(),
        origin: origin.to_owned(),
    })?;
    set(settings, property, value, origin)
}

fn set(
    settings: &mut Settings,
    property: &Property,
    value: &str,
    origin: &str,
) -> Result<(), ConfigError> {
    property
        .set(settings, value)
        .map_err(|expected| ConfigError::Value {
            key: property.key,
            origin: origin.to_owned(),
            value: if property.secret || carries_user(value) {
                "***".to_owned()
            } else {
                value.to_owned()
            },
            expected,
        })
}

/// Tells whether `value` contains an address with a user, and so perhaps a password.
fn carries_user(value: &str) -> bool {
    value.contains("://") && value.contains('@')
}

fn environment_pair(
    settings: &mut Settings,
    key: &str,
    value: &str,
    warnings: &mut Vec<String>,
) -> Result<(), ConfigError> {
    // Container orchestrators set such values for linked services, under names like ours.
    if value.starts_with("tcp://") {
        return Ok(());
    }
    let origin = format!("the environment ({key})");
    if let Some(property) = Property::find(key) {
        return set(settings, property, value, &origin);
    }
    let secret = key
        .strip_suffix("_FILE")
        .and_then(Property::find)
        .filter(|p| p.secret);
    if let Some(property) = secret {
        let path = Path::new(value);
        let text = fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        return set(settings, property, text.trim_end(), &origin);
    }
    if OUR_PREFIXES.iter().any(|prefix| key.starts_with(prefix)) {
        warnings.push(format!(
            "unknown property `{key}` in the environment{}",
            hint(key)
        ));
    }
    Ok(())
}

fn file_pairs(path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })?;
    let malformed = |message: String| ConfigError::Malformed {
        path: path.to_owned(),
        message,
    };
    match path.extension().and_then(|e| e.to_str()) {
        Some("properties") => properties_pairs(&text).map_err(malformed),
        Some("yaml" | "yml") => {
            let value: serde_json::Value =
                serde_yaml::from_str(&text).map_err(|e| malformed(e.to_string()))?;
            Ok(flattened(&value))
        }
        Some("toml") => {
            let value: serde_json::Value =
                toml::from_str(&text).map_err(|e| malformed(e.to_string()))?;
            Ok(flattened(&value))
        }
        _ => Err(ConfigError::SyntaxUnknown {
            path: path.to_owned(),
        }),
    }
}

fn properties_pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '!']))
        .map(|(number, line)| {
            line.split_once(['=', ':'])
                .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .ok_or_else(|| format!("line {number} must have the form key=value"))
        })
        .collect()
}

/// Joins nested keys with dots.
fn flattened(value: &serde_json::Value) -> Vec<(String, String)> {
    fn walk(prefix: &str, value: &serde_json::Value, pairs: &mut Vec<(String, String)>) {
        match value {
            serde_json::Value::Object(members) => {
                for (key, member) in members {
                    let dot = if prefix.is_empty() { "" } else { "." };
                    walk(&format!("{prefix}{dot}{key}"), member, pairs);
                }
            }
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => pairs.push((prefix.to_owned(), text.clone())),
            other => pairs.push((prefix.to_owned(), other.to_string())),
        }
    }
    let mut pairs = Vec::new();
    walk("", value, &mut pairs);
    pairs
}
