//! Why a schema cannot be searched, as data.

use std::fmt;

use soml_core::span::Span;
use soml_core::{Finding, Severity};

/// All reasons why a schema cannot be searched, with the warnings that were found on the way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct MappingError {
    /// What was found, at least one error among it.
    pub findings: Vec<Finding>,
}

macro_rules! kinds {
    ($($variant:ident $code:literal $severity:ident $meaning:literal;)*) => {
        /// The sorts of findings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl FindingKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [FindingKind] = &[$(FindingKind::$variant),*];

            /// Returns the stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(FindingKind::$variant => $code),* }
            }

            /// Returns whether the schema can be searched nevertheless.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(FindingKind::$variant => Severity::$severity),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(FindingKind::$variant => $meaning),* }
            }
        }
    };
}

kinds! {
    NothingIndexed "SEARCH_NOTHING_INDEXED" Error "No object of the schema has `search: {index: yes}`.";
    NestingLevel "SEARCH_NESTING_LEVEL" Error "A `nestingLevel` is above `search.maxNestingLevel`.";
    AnalyzerUnsupported "ANALYZER_UNSUPPORTED" Error "The engine has no analyzer of this name.";
    TypeUnsupported "SEARCH_TYPE_UNSUPPORTED" Error "`search.type` names a type of field that is not supported.";
    RowRuleNotIndexed "SEARCH_ROW_RULE" Warning "A condition of a role cannot be evaluated by indexes: searches with this role that reach the affected objects are refused.";
    TypeIgnored "SEARCH_TYPE_IGNORED" Warning "`search.type` does not fit the range of a property and has no effect.";
    NameTaken "SEARCH_NAME_TAKEN" Error "Two fields of an index, or two names of the search API, would be the same.";
    IndexName "SEARCH_INDEX_NAME" Error "The name of an object is too long for an index.";
    TooManyFields "SEARCH_TOO_MANY_FIELDS" Error "An object would need more fields than an index may have.";
    TotalFields "SEARCH_TOTAL_FIELDS" Warning "An index has more fields than the engine allows by default.";
    NestedFields "SEARCH_NESTED_FIELDS" Warning "An index has more nested objects than the engine allows by default.";
    SchemaInvalid "SEARCH_SCHEMA_INVALID" Error "The generated search API is not valid; this is a bug in the generator.";
}

impl FindingKind {
    /// Returns a finding of this kind.
    #[must_use]
    pub fn at(self, span: Option<Span>, message: String) -> Finding {
        Finding::new(self.code(), self.severity(), span, message)
    }
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schema cannot be searched")?;
        for finding in &self.findings {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}
