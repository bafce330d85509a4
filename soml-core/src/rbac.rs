//! The `rbac` section: roles and their permissions.

use crate::span::Span;
use crate::value::{Value, ValueKind};

/// The role of callers none of whose roles a schema declares, unless [`Config::default_role`] names
/// a different one.
///
/// [`Config::default_role`]: crate::config::Config::default_role
pub const DEFAULT_ROLE: &str = "Default";

/// All roles of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rbac {
    /// Roles in document order.
    pub roles: Vec<Role>,
}

/// One role.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Role {
    /// Name, matched against the roles of a caller.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Permissions of the role.
    pub actions: Vec<Action>,
    /// Permissions excluded from [`Role::actions`].
    pub not_actions: Vec<Action>,
    /// Conditions on the objects that the role may read, write or delete, in document order.
    pub filters: Vec<RowFilter>,
    /// Values that the role cannot choose itself, in document order.
    pub presets: Vec<Preset>,
    /// Position of the role's key.
    pub span: Span,
}

/// A condition on the objects of a type that a role may read, write or delete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowFilter {
    /// The type as written; `*` is a wildcard.
    pub object: String,
    /// What the condition is for.
    pub operation: Operation,
    /// The condition, as the argument `where` takes it; texts such as `$claims.sub` stand for claims of the caller.
    pub condition: Value,
    /// Position of the condition.
    pub span: Span,
}

/// A value that a property of written objects has, whatever the client says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// The type as written; `*` is a wildcard.
    pub object: String,
    /// The property as written.
    pub property: String,
    /// The value, or the values of a list; texts such as `$claims.sub` stand for claims of the caller.
    pub value: Value,
    /// Position of the value.
    pub span: Span,
}

/// A permission `<Object>/<property>/<operation>`; `*` is a wildcard, also within a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Object segment as written.
    pub object: String,
    /// Property segment as written.
    pub property: String,
    /// Operation segment: `read`, `write`, `delete` or a pattern.
    pub operation: String,
    /// Position of the action.
    pub span: Span,
}

/// What an action may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Show, filter, sort, count.
    Read,
    /// Create and update.
    Write,
    /// Delete.
    Delete,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Delete];

    /// Returns the name in actions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Delete => "delete",
        }
    }

    /// Finds an operation by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Operation::ALL
            .into_iter()
            .find(|operation| operation.name() == name)
    }

    /// Returns the bit of the operation in a set of operations.
    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The meaning of a string in a row rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand<'t> {
    /// The text itself.
    Text(std::borrow::Cow<'t, str>),
    /// The claim of the caller at this path, whose names lead into objects.
    Claim(&'t str),
    /// Nothing: `$` begins a claim, and this is none.
    Malformed,
}

impl<'t> Operand<'t> {
    /// Reads a text: `$claims.sub` is the claim `sub`, and `$$` a dollar sign.
    ///
    /// ```
    /// use soml_core::rbac::Operand;
    ///
    /// assert_eq!(Operand::of("$claims.org.id"), Operand::Claim("org.id"));
    /// assert_eq!(Operand::of("$$5"), Operand::Text("$5".into()));
    /// assert_eq!(Operand::of("$sub"), Operand::Malformed);
    /// ```
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let Some(rest) = text.strip_prefix('$') else {
            return Operand::Text(text.into());
        };
        match rest.strip_prefix("claims.") {
            Some(path) if !path.is_empty() && path.split('.').all(|name| !name.is_empty()) => {
                Operand::Claim(path)
            }
            _ if rest.starts_with('$') => Operand::Text(rest.into()),
            _ => Operand::Malformed,
        }
    }
}

/// Calls a function with all texts of a value that may stand for claims, and their positions.
pub fn for_each_text<'v>(value: &'v Value, visit: &mut impl FnMut(&'v str, Span)) {
    match &value.kind {
        ValueKind::Null => {}
        ValueKind::Text { text, .. } => visit(text, value.span),
        ValueKind::List(items) => items.iter().for_each(|item| for_each_text(item, visit)),
        ValueKind::Map(entries) => entries
            .iter()
            .for_each(|(_, item)| for_each_text(item, visit)),
    }
}
