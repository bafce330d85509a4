//! Who sent a request, as far as the transport has made sure of it.

use serde_json::{Map, Value};

/// The sender of a request.
///
/// A transport makes one of a verified token. A service that enforces rights takes a request without one as sent by
/// someone who has no role.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// What logs and audits call the sender.
    pub name: Option<String>,
    /// The roles that the sender claims, known to a schema or not.
    pub roles: Vec<String>,
    /// Whether the caller may do everything, whatever the roles of a schema say.
    pub superuser: bool,
    /// The claims of the token.
    pub claims: Map<String, Value>,
}

impl Caller {
    /// Creates a caller with these roles.
    ///
    /// ```
    /// use call_context::Caller;
    ///
    /// let caller = Caller::with_roles(["Reader", "Editor"]);
    /// assert_eq!(caller.roles, ["Reader", "Editor"]);
    /// assert!(!caller.superuser);
    /// ```
    #[must_use]
    pub fn with_roles(roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Caller {
            roles: roles.into_iter().map(Into::into).collect(),
            ..Caller::default()
        }
    }

    /// Creates a caller who may do everything.
    #[must_use]
    pub fn superuser() -> Self {
        Caller {
            superuser: true,
            ..Caller::default()
        }
    }

    /// Sets what logs and audits call the sender.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the claims of the token.
    #[must_use]
    pub fn with_claims(mut self, claims: Map<String, Value>) -> Self {
        self.claims = claims;
        self
    }
}
