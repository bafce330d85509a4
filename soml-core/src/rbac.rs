//! The `rbac` section: roles and what they may do.

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
    /// Longer text.
    pub description: Option<String>,
    /// What the role may do.
    pub actions: Vec<Action>,
    /// What is taken away from [`Role::actions`].
    pub not_actions: Vec<Action>,
    /// Conditions that rows must meet, `<Object>: {read | write | delete: <condition>}` as written.
    pub filters: Value,
    /// Values that are set on writing and cannot be chosen, as written.
    pub presets: Value,
    /// Place of the role's key.
    pub span: Span,
}

/// A permission `<Object>/<property>/<operation>`; `*` stands for anything, also as part of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Object segment as written.
    pub object: String,
    /// Property segment as written.
    pub property: String,
    /// Operation segment: `read`, `write`, `delete` or a pattern.
    pub operation: String,
    /// Place of the action.
    pub span: Span,
}
