//! Why a SOML schema has no GraphQL API.

use std::fmt;

use soml_core::span::{LineIndex, Span};
use soml_core::{Diagnostic, Finding, Severity};

/// All reasons why no API can be generated from a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct ApiError {
    /// What was found, in the order of the document where that is known.
    pub problems: Vec<Finding>,
}

/// The sorts of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Two types of the API would have the same name.
    TypeNameTaken,
    /// Two fields of a type would have the same name.
    FieldNameTaken,
    /// Two root fields would have the same name.
    RootFieldTaken,
    /// A name cannot be a GraphQL name.
    NameInvalid,
    /// A subclass redefines a property in a way that its interface forbids.
    NotCovariant,
    /// A row rule of a role does not fit the API.
    RowRules,
    /// The generated schema is not valid GraphQL; a fault of this crate.
    SchemaInvalid,
}

macro_rules! kinds {
    ($($variant:ident $code:literal $meaning:literal;)*) => {
        impl ProblemKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [ProblemKind] = &[$(ProblemKind::$variant),*];

            /// Returns the stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(ProblemKind::$variant => $code),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ProblemKind::$variant => $meaning),* }
            }
        }
    };
}

kinds! {
    TypeNameTaken "API_TYPE_NAME_TAKEN" "Two types of the API would have the same name.";
    FieldNameTaken "API_FIELD_NAME_TAKEN" "A field or an input key would have a name that is already in use.";
    RootFieldTaken "API_ROOT_FIELD_TAKEN" "Two root fields would have the same name.";
    NameInvalid "API_NAME_INVALID" "A name in the document cannot be converted to a GraphQL name.";
    NotCovariant "API_NOT_COVARIANT" "A subclass redefines a property in a way that its interface does not allow.";
    RowRules "API_ROW_RULES" "A condition of a role in `filters` is not a `where` argument for its type, or a value in `presets` does not fit its property.";
    SchemaInvalid "API_SCHEMA_INVALID" "The generated schema is not valid; this is a bug in the generator.";
}

impl ProblemKind {
    /// Returns a problem of this kind.
    pub(super) fn at(self, span: Option<Span>, message: String) -> Finding {
        Finding::new(self.code(), Severity::Error, span, message)
    }
}

impl ApiError {
    /// Returns the problems with their lines and columns in the document, which is `text`.
    #[must_use]
    pub fn diagnostics(&self, text: &str) -> Vec<Diagnostic> {
        let lines = LineIndex::new(text);
        let problems = self.problems.iter().cloned();
        problems.map(|problem| problem.locate(&lines)).collect()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schema has no GraphQL API")?;
        for problem in &self.problems {
            write!(f, "\n  {}: {}", problem.code, problem.message)?;
        }
        Ok(())
    }
}
