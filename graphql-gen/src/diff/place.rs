//! Schema coordinates.

use std::fmt;

/// A coordinate, borrowed from the schema that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// The roots of the schema.
    Schema,
    /// `Type`
    Type(&'a str),
    /// `Type.member`: a field, an input field or an enum value.
    Member(&'a str, &'a str),
    /// A type that another one implements or contains; written as the type alone.
    Related(&'a str, &'a str),
    /// `Type.field(argument:)`
    Argument(&'a str, &'a str, &'a str),
    /// `@directive`
    Directive(&'a str),
    /// `@directive(argument:)`
    DirectiveArgument(&'a str, &'a str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Schema => f.write_str("schema"),
            Place::Type(ty) | Place::Related(ty, _) => f.write_str(ty),
            Place::Member(ty, member) => write!(f, "{ty}.{member}"),
            Place::Argument(ty, field, argument) => write!(f, "{ty}.{field}({argument}:)"),
            Place::Directive(directive) => write!(f, "@{directive}"),
            Place::DirectiveArgument(directive, argument) => write!(f, "@{directive}({argument}:)"),
        }
    }
}
