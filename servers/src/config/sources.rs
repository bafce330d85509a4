//! Where values come from: a file, the environment, the command line.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use graphql_service::ErrorCode;

use super::assign::Assignments;
use super::code;
use super::contract::{Alias, Planned};
use super::environment::{is_link_address, is_ours, warning};
use super::nearest::nearest;
use super::properties;
use super::settings::Settings;
use super::table::Property;
use super::traces::STANDARD_PREFIX;

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
        key: Cow<'static, str>,
        /// Where it was given.
        origin: String,
        /// The value as given, masked when secret.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The value asks for protection that is not built yet.
    #[error(
        "`{key}` in {origin} asks for protection that is not built yet; set it to `false` to start \
         without"
    )]
    Protection {
        /// The name of the property.
        key: String,
        /// Where it was given.
        origin: String,
    },
}

impl ConfigError {
    /// Returns the code of an error that has one.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            ConfigError::Protection { .. } => Some(code::PROTECTION_UNAVAILABLE),
            _ => None,
        }
    }
}

fn hint(key: &str) -> String {
    nearest(key)
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}

/// Reads the settings from all `sources`; also returns warnings.
///
/// Properties of the interface that are not built yet are one warning, from whatever source.
///
/// # Errors
///
/// Fails on a file that cannot be read, on an unknown property in a file or flag, on a value that
/// does not fit, and on one that asks for protection that is not built yet. An unknown name in the
/// environment is only a warning.
pub fn read(sources: &Sources<'_>) -> Result<(Settings, Vec<String>), ConfigError> {
    let mut assignments = Assignments::new(sources.defaults.clone());
    let mut warnings = Vec::new();
    if let Some(path) = sources.file {
        let origin = path.display().to_string();
        for (key, value) in own_names_last(file_pairs(path)?) {
            assign_known(&mut assignments, &key, &value, &origin)?;
        }
    }
    for (key, value) in own_names_last(sources.environment.clone()) {
        environment_pair(&mut assignments, &key, &value, &mut warnings)?;
    }
    let pairs = sources.flags.iter().map(|pair| {
        pair.split_once('=')
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .ok_or_else(|| ConfigError::NotAPair(pair.clone()))
    });
    for (key, value) in own_names_last(pairs.collect::<Result<_, _>>()?) {
        assign_known(&mut assignments, &key, &value, "--set")?;
    }
    let (settings, idle) = assignments.finish()?;
    warnings.extend(idle);
    Ok((settings, warnings))
}

/// Puts other names of properties first, so that within one source a property's own name wins.
fn own_names_last(mut pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    pairs.sort_by_key(|(key, _)| Alias::find(key).is_none());
    pairs
}

fn assign_known(
    assignments: &mut Assignments,
    key: &str,
    value: &str,
    origin: &str,
) -> Result<(), ConfigError> {
    if assignments.assign(key, value, origin)? {
        return Ok(());
    }
    Err(ConfigError::Unknown {
        key: key.to_owned(),
        origin: origin.to_owned(),
    })
}

fn environment_pair(
    assignments: &mut Assignments,
    key: &str,
    value: &str,
    warnings: &mut Vec<String>,
) -> Result<(), ConfigError> {
    if key.starts_with(STANDARD_PREFIX) {
        assignments.standard(key, value);
        return Ok(());
    }
    if is_link_address(value) {
        return Ok(());
    }
    let origin = format!("the environment ({key})");
    // Whatever stands below a name that others use too may be meant for them, unless it is nearly one of ours.
    let is_foreign = !is_ours(key)
        && Property::find(key).is_none()
        && Alias::find(key).is_none()
        && Planned::find(key).is_some_and(Planned::is_family);
    if is_foreign {
        warnings.extend(warning(key, value));
        return Ok(());
    }
    if assignments.assign(key, value, &origin)? {
        return Ok(());
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
        return assign_known(assignments, property.key, text.trim_end(), &origin);
    }
    if let Some(planned) = key.strip_suffix("_FILE").and_then(Planned::find)
        && !planned.is_family()
    {
        // What the file holds has no effect; that something was given has.
        return assign_known(assignments, planned.name, value, &origin);
    }
    warnings.extend(warning(key, value));
    Ok(())
}

fn file_pairs(path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("properties" | "yaml" | "yml" | "toml")) {
        return Err(ConfigError::SyntaxUnknown {
            path: path.to_owned(),
        });
    }
    let bytes = fs::read(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })?;
    let pairs = match extension {
        Some("properties") => properties::pairs(&properties::decoded(&bytes)),
        Some("toml") => unicode(&bytes).and_then(|text| {
            let value = toml::from_str(text).map_err(|error| error.to_string())?;
            Ok(flattened(&value))
        }),
        _ => unicode(&bytes).and_then(|text| {
            let value = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
            Ok(flattened(&value))
        }),
    };
    pairs.map_err(|message| ConfigError::Malformed {
        path: path.to_owned(),
        message,
    })
}

/// Returns the text of a YAML or TOML file.
fn unicode(bytes: &[u8]) -> Result<&str, String> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()]
            .split(|byte| *byte == b'\n')
            .count();
        format!("line {line} is not UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
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
