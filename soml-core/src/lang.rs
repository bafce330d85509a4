//! Language specifications: which language variants of a text are read and which may be written.

mod parse;
mod pick;

use std::fmt;
use std::sync::LazyLock;

pub use parse::is_tag;

/// Schema-wide language settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LangConfig {
    /// Which variants are returned; everything when absent.
    pub fetch: Option<LangSpec>,
    /// Which language tags are allowed on writes.
    pub validate: Option<LangValidation>,
    /// Language tag given on writes to strings without one.
    pub implicit: Option<String>,
    /// Specification of the GraphQL field `name`.
    pub default_name_fetch: LangSpec,
    /// Appends [`LangConfig::default_name_fetch`] to the `lang` argument of `name`.
    pub append_default_name_fetch: bool,
}

/// Language settings of one property; each overrides the schema-wide one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyLang {
    /// Which variants are returned.
    pub fetch: Option<LangSpec>,
    /// Which language tags are allowed on writes.
    pub validate: Option<LangValidation>,
    /// Language tag given on writes to strings without one.
    pub implicit: Option<String>,
}

/// A parsed `fetch` specification, such as `ALL,-en-US` or `fr,en~,NONE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LangSpec {
    /// The head, which decides how items are combined.
    pub head: LangHead,
    /// Items in order of preference.
    pub items: Vec<LangItem>,
}

impl LangSpec {
    /// Returns the specification `ANY`: untagged first, then the smallest tag.
    #[must_use]
    pub fn any() -> &'static LangSpec {
        static ANY: LazyLock<LangSpec> = LazyLock::new(|| LangSpec {
            head: LangHead::Preference,
            items: vec![LangItem::Any],
        });
        &ANY
    }

    /// Returns whether the specification is empty, as if it were absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == LangHead::Preference && self.items.is_empty()
    }
}

/// The head of a [`LangSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LangHead {
    /// No head: the first item that has values is used.
    Preference,
    /// `ALL` or `ALL,…`: every language but the excluded ones.
    All,
    /// `ALL:…`: every listed language, in that order.
    AllOf,
}

/// One item of a [`LangSpec`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LangItem {
    /// Values that match are wanted.
    Include(LangRange),
    /// Values that match are left out.
    Exclude(LangRange),
    /// Some value: untagged, else that of the smallest tag. In a [`LangValidation`], every tag.
    Any,
    /// Replaced by the languages that the request accepts.
    Browser,
}

/// Which tags an item covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LangRange {
    /// Exactly this tag, case ignored.
    Tag(String),
    /// This tag and its dialects (`en~`).
    Dialects(String),
    /// No tag (`NONE`).
    Untagged,
}

/// A parsed `validate` specification, such as `en,fr;UNIQ`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LangValidation {
    /// Allowed tags, [`LangItem::Include`] and [`LangItem::Any`] only; empty allows every one.
    pub allowed: Vec<LangItem>,
    /// At most one value per tag.
    pub unique: bool,
}

/// A language specification that does not follow the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct LangSpecError {
    /// The problem, as a lower-case fragment.
    pub message: String,
}

impl fmt::Display for LangRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LangRange::Tag(tag) => f.write_str(tag),
            LangRange::Dialects(tag) => write!(f, "{tag}~"),
            LangRange::Untagged => f.write_str("NONE"),
        }
    }
}

impl fmt::Display for LangItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LangItem::Include(range) => range.fmt(f),
            LangItem::Exclude(range) => write!(f, "-{range}"),
            LangItem::Any => f.write_str("ANY"),
            LangItem::Browser => f.write_str("BROWSER"),
        }
    }
}

impl fmt::Display for LangSpec {
    /// Writes the specification as [`LangSpec::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = match (self.head, self.items.is_empty()) {
            (LangHead::Preference, _) => "",
            (LangHead::All, true) => "ALL",
            (LangHead::All, false) => "ALL,",
            (LangHead::AllOf, _) => "ALL:",
        };
        if self.items.is_empty() {
            return f.write_str(separator);
        }
        for item in &self.items {
            write!(f, "{separator}{item}")?;
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Display for LangValidation {
    /// Writes the specification as [`LangValidation::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for item in &self.allowed {
            write!(f, "{separator}{item}")?;
            separator = ",";
        }
        match (self.unique, self.allowed.is_empty()) {
            (true, true) => f.write_str("UNIQ"),
            (true, false) => f.write_str(";UNIQ"),
            (false, _) => Ok(()),
        }
    }
}

impl Default for LangConfig {
    fn default() -> Self {
        LangConfig {
            fetch: None,
            validate: None,
            implicit: None,
            default_name_fetch: LangSpec::any().clone(),
            append_default_name_fetch: true,
        }
    }
}
