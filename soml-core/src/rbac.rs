//! The `rbac` section: roles and their permissions.

use crate::span::Span;
use crate::value::Value;

/// All roles of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rbac {
    /// Roles in document order.
    pub roles: Vec<Role>,
}

/// One role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Name, matched against the roles of a caller.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Permissions of the role.
    pub actions: Vec<Action>,
    /// Permissions excluded from [`Role::actions`].
    pub not_actions: Vec<Action>,
    /// Conditions that objects must satisfy, `<Object>: {read | write | delete: <condition>}` as written.
    pub filters: Value,
    /// Values that are set on writes and cannot be overridden, as written.
    pub presets: Value,
    /// Position of the role's key.
    pub span: Span,
}

/// A permission `<Object>/<property>/<operation>`; `*` is a wildcard, also within a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
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
