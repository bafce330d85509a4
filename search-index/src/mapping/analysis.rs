//! The names of analyzers that a schema may use.

use std::collections::BTreeSet;

/// The analyzers that an engine has, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analyzers(BTreeSet<String>);

/// Those that the distribution of OpenSearch has built in.
const DISTRIBUTION: &[&str] = &[
    "standard",
    "simple",
    "whitespace",
    "stop",
    "keyword",
    "pattern",
    "fingerprint",
    "arabic",
    "armenian",
    "basque",
    "bengali",
    "brazilian",
    "bulgarian",
    "catalan",
    "cjk",
    "czech",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "galician",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "latvian",
    "lithuanian",
    "norwegian",
    "persian",
    "portuguese",
    "romanian",
    "russian",
    "sorani",
    "spanish",
    "swedish",
    "thai",
    "turkish",
];

impl Analyzers {
    /// The analyzer of text that no setting gives another.
    pub const DEFAULT: &'static str = "standard";

    /// Returns the analyzers that the distribution of OpenSearch has built in.
    #[must_use]
    pub fn distribution() -> Self {
        DISTRIBUTION.iter().copied().collect()
    }

    /// Returns whether there is an analyzer of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Returns the names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<T: Into<String>> FromIterator<T> for Analyzers {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Analyzers(names.into_iter().map(Into::into).collect())
    }
}
