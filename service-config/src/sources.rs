//! Where values come from: a file, the environment, the command line.

use std::fs;
use std::path::Path;

use crate::assign::Assignments;
use crate::catalogue::Catalogue;
use crate::environment::is_link_address;
use crate::error::ConfigError;
use crate::properties;
use crate::property::Planned;

/// The sources of the configuration; later ones override earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a, S> {
    /// The defaults.
    pub defaults: S,
    /// A properties, YAML or TOML file.
    pub file: Option<&'a Path>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// `key=value` pairs of the command line.
    pub flags: &'a [String],
}

/// Reads the settings from all `sources`; also returns warnings.
///
/// Properties that are known and have no effect are one warning, from whatever source.
///
/// # Errors
///
/// Fails on a file that cannot be read, on an unknown property in a file or flag, on a value that
/// does not fit, and on one that asks for protection that there is not. An unknown name in the
/// environment is only a warning.
pub fn read<S: Clone>(
    catalogue: &Catalogue<S>,
    sources: &Sources<'_, S>,
) -> Result<Read<S>, ConfigError> {
    let mut assignments = Assignments::new(catalogue, sources.defaults.clone());
    let mut warnings = Vec::new();
    if let Some(path) = sources.file {
        let origin = path.display().to_string();
        for (key, value) in own_names_last(catalogue, file_pairs(path)?) {
            assignments.assign_known(&key, &value, &origin)?;
        }
    }
    for (key, value) in own_names_last(catalogue, sources.environment.clone()) {
        environment_pair(&mut assignments, &key, &value, &mut warnings)?;
    }
    let pairs = sources.flags.iter().map(|pair| {
        pair.split_once('=')
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .ok_or_else(|| ConfigError::NotAPair(pair.clone()))
    });
    for (key, value) in own_names_last(catalogue, pairs.collect::<Result<_, _>>()?) {
        assignments.assign_known(&key, &value, "--set")?;
    }
    let outcome = assignments.finish()?;
    warnings.extend(outcome.warnings);
    Ok(Read {
        settings: outcome.settings,
        warnings,
    })
}

/// Settings, as the sources say.
#[derive(Clone, Debug)]
pub struct Read<S> {
    /// The settings.
    pub settings: S,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Puts other names of properties first, so that within one source a property's own name wins, and names of single
/// things last, so that they win over what is said of all.
fn own_names_last<S>(
    catalogue: &Catalogue<S>,
    mut pairs: Vec<(String, String)>,
) -> Vec<(String, String)> {
    pairs.sort_by_key(|(key, _)| {
        let is_other = catalogue.alias(key).is_some();
        (!is_other, catalogue.named(key).is_some())
    });
    pairs
}

fn environment_pair<S: Clone>(
    assignments: &mut Assignments<'_, S>,
    key: &str,
    value: &str,
    warnings: &mut Vec<String>,
) -> Result<(), ConfigError> {
    if assignments.standard(key, value) || is_link_address(value) {
        return Ok(());
    }
    let catalogue = assignments.catalogue;
    let origin = format!("the environment ({key})");
    // Whatever stands below a name that others use too may be meant for them, unless it is nearly one of ours.
    let is_foreign = !catalogue.is_ours(key)
        && catalogue.find(key).is_none()
        && catalogue.alias(key).is_none()
        && catalogue.planned(key).is_some_and(Planned::is_family);
    if is_foreign {
        warnings.extend(catalogue.warning(key, value));
        return Ok(());
    }
    if assignments.assign(key, value, &origin)? {
        return Ok(());
    }
    let secret = key
        .strip_suffix("_FILE")
        .and_then(|name| catalogue.find(name))
        .filter(|p| p.secret);
    if let Some(property) = secret {
        let path = Path::new(value);
        let text = fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        return assignments.assign_known(property.key, text.trim_end(), &origin);
    }
    if let Some(planned) = key
        .strip_suffix("_FILE")
        .and_then(|name| catalogue.planned(name))
        && planned.secret
    {
        // What the file holds has no effect; that something was given has.
        return assignments.assign_known(planned.name, value, &origin);
    }
    warnings.extend(catalogue.warning(key, value));
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
