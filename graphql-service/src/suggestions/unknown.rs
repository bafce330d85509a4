//! Unknown names and values of a wrong kind, as findings of the GraphQL library report them.

use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::validation::DiagnosticData;

/// An unknown name: its kind, and where the finding about it points in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unknown {
    kind: Kind,
    offset: usize,
}

/// What an unknown name was meant to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Field,
    Argument,
    InputField,
    EnumValue,
    Type,
    Directive,
    Fragment,
    Variable,
    /// A value of another kind than is expected.
    Value,
}

impl Unknown {
    /// Returns the unknown name that a finding is about.
    pub(crate) fn of(finding: &DiagnosticData) -> Option<Self> {
        let kind = Kind::of(finding.unstable_error_name()?)?;
        Unknown::at(kind, finding.location())
    }

    pub(super) fn at(kind: Kind, span: Option<SourceSpan>) -> Option<Self> {
        let offset = span?.offset();
        Some(Unknown { kind, offset })
    }
}

impl Kind {
    fn of(error_name: &str) -> Option<Self> {
        Some(match error_name {
            "UndefinedField" => Kind::Field,
            "UndefinedArgument" => Kind::Argument,
            "UndefinedInputValue" => Kind::InputField,
            "UndefinedEnumValue" => Kind::EnumValue,
            "UndefinedDefinition"
            | "UndefinedTypeInNamedFragmentTypeCondition"
            | "UndefinedTypeInInlineFragmentTypeCondition" => Kind::Type,
            "UndefinedDirective" => Kind::Directive,
            "UndefinedFragment" => Kind::Fragment,
            "UndefinedVariable" => Kind::Variable,
            "UnsupportedValueType" => Kind::Value,
            _ => return None,
        })
    }

    /// Returns the prefix of such a name.
    pub(super) fn sigil(self) -> &'static str {
        match self {
            Kind::Directive => "@",
            Kind::Variable => "$",
            _ => "",
        }
    }
}
