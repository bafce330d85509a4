//! What stands against searching a schema, as data.

use std::fmt;

use soml_core::codes::Severity;
use soml_core::span::Span;

/// Something to know about the indexes of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What sort of finding it is.
    pub kind: FindingKind,
    /// What is wrong, as a sentence fragment in lower case.
    pub message: String,
    /// The place in the document; `None` where there is no single one.
    pub span: Option<Span>,
    /// What to do about it.
    pub help: Option<String>,
}

/// All reasons why a schema cannot be searched, with the warnings that were found on the way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct MappingError {
    /// What was found, at least one error among it.
    pub findings: Vec<Finding>,
}

macro_rules! kinds {
    ($($variant:ident $code:literal $severity:ident $meaning:literal;)*) => {
        /// The sorts of [`Finding`].
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
    TypeIgnored "SEARCH_TYPE_IGNORED" Warning "`search.type` does not fit the range of a property and has no effect.";
    NameTaken "SEARCH_NAME_TAKEN" Error "Two fields of an index, or two names of the search API, would be the same.";
    IndexName "SEARCH_INDEX_NAME" Error "The name of an object is too long for an index.";
    TooManyFields "SEARCH_TOO_MANY_FIELDS" Error "An object leads to more fields than an index may have.";
    TotalFields "SEARCH_TOTAL_FIELDS" Warning "An index has more fields than the engine allows by default.";
    NestedFields "SEARCH_NESTED_FIELDS" Warning "An index has more nested objects than the engine allows by default.";
    SchemaInvalid "SEARCH_SCHEMA_INVALID" Error "The generated search API is not valid; this is a bug in the generator.";
}

impl Finding {
    pub(crate) fn new(kind: FindingKind, message: String, span: Option<Span>) -> Self {
        Finding {
            kind,
            message,
            span,
            help: None,
        }
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Tells whether the schema cannot be searched because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.kind.severity() == Severity::Error
    }
}

impl fmt::Display for Finding {
    /// Writes `severity[CODE]: message`, then the help on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (severity, code) = (self.kind.severity(), self.kind.code());
        write!(f, "{severity}[{code}]: {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
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
