//! Why a configuration cannot be used.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

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
    #[error("unknown property `{key}` in {origin}{}", hint(near.as_deref()))]
    Unknown {
        /// The name as given.
        key: String,
        /// Where it was given.
        origin: String,
        /// The known name that it probably stands for.
        near: Option<String>,
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
    /// The value asks for protection that there is not.
    #[error(
        "`{key}` in {origin} asks for protection that is not implemented yet; set it to `false` to \
         start without it"
    )]
    Protection {
        /// The name of the property.
        key: String,
        /// Where it was given.
        origin: String,
    },
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}
