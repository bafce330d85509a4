//! The regular expressions of a schema, which values and ids that are written must match.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use graph_store::evaluate::RegexMatcher;
use graph_store::query::Regex;

use super::coercion::Refused;
use crate::code;

/// The regular expressions of a schema, each compiled when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct SchemaRegexes {
    compiled: RwLock<HashMap<String, Compiled>>,
}

/// A regular expression, or why it cannot be checked.
type Compiled = Result<Arc<RegexMatcher>, Refused>;

impl SchemaRegexes {
    /// Returns whether a text has a part that a regular expression of the schema matches.
    ///
    /// # Errors
    /// When the expression is not one of those that stores share, which the schema was warned of.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Result<bool, Refused> {
        let known = {
            let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
            compiled.get(pattern).cloned()
        };
        let regex = known.unwrap_or_else(|| {
            let made = compile(pattern);
            let mut compiled = self
                .compiled
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            compiled.entry(pattern.to_owned()).or_insert(made).clone()
        })?;
        Ok(regex.matches(text))
    }
}

fn compile(pattern: &str) -> Compiled {
    let refused = |error: String| Refused {
        code: code::PATTERN_UNSUPPORTED,
        message: format!("the schema's regular expression `{pattern}`: {error}"),
    };
    // Its length is bounded with that of the schema.
    let regex =
        Regex::new(pattern, false, usize::MAX).map_err(|error| refused(error.to_string()))?;
    let matcher = RegexMatcher::new(&regex).map_err(|error| refused(error.to_string()))?;
    Ok(Arc::new(matcher))
}
