//! Schema coordinates.

use std::fmt;

/// A coordinate, borrowed from the schema that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coordinate<'a> {
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

impl fmt::Display for Coordinate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coordinate::Schema => f.write_str("schema"),
            Coordinate::Type(ty) | Coordinate::Related(ty, _) => f.write_str(ty),
            Coordinate::Member(ty, member) => write!(f, "{ty}.{member}"),
            Coordinate::Argument(ty, field, argument) => write!(f, "{ty}.{field}({argument}:)"),
            Coordinate::Directive(directive) => write!(f, "@{directive}"),
            Coordinate::DirectiveArgument(directive, argument) => {
                write!(f, "@{directive}({argument}:)")
            }
        }
    }
}
