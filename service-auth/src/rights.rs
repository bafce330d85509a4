//! Who may manage which schemas: the document behind `/soml-rbac`.
//!
//! Its form is that of the `rbac` section of a schema. An action is `<schema>/<part>/<operation>`: the
//! parts of a schema are `soml`, its document, and `objects`, its binding to the service; `soml-rbac/roles`
//! is this document itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use call_context::Caller;
use serde::{Deserialize, Serialize};
use soml_core::access::covers;
use soml_core::rbac::{DEFAULT_ROLE, Operation};

/// A part of what is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The document of a schema.
    Document,
    /// The binding of a schema to the service.
    Binding,
    /// The rights themselves.
    Rights,
}

impl Part {
    const NAMES: [&str; 3] = ["soml", "objects", "roles"];

    fn name(self) -> &'static str {
        match self {
            Part::Document => "soml",
            Part::Binding => "objects",
            Part::Rights => "roles",
        }
    }
}

/// What actions call the document of rights.
pub const RIGHTS: &str = "soml-rbac";

/// The rights that a document gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRights {
    rbac: Roles,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Roles {
    roles: BTreeMap<String, Role>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Role {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    actions: Vec<Action>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_actions: Vec<Action>,
}

/// A permission `<schema>/<part>/<operation>`; `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Action {
    schema: String,
    part: String,
    operation: String,
}

impl TryFrom<String> for Action {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let segments: Vec<&str> = text.split('/').map(str::trim).collect();
        let [schema, part, operation] = segments[..] else {
            return Err(format!(
                "`{text}` is not `<schema>/<part>/<operation>`, such as `swapi/soml/write`"
            ));
        };
        let operations = Operation::ALL.map(Operation::name);
        let known = |pattern: &str, names: &[&str]| names.iter().any(|name| covers(pattern, name));
        if schema.is_empty() {
            return Err(format!("`{text}` names no schema"));
        }
        if !known(part, &Part::NAMES) {
            return Err(format!(
                "`{text}` names no part: they are {}",
                listed(&Part::NAMES)
            ));
        }
        if !known(operation, &operations) {
            return Err(format!(
                "`{text}` names no operation: they are {}",
                listed(&operations)
            ));
        }
        Ok(Action {
            schema: schema.to_owned(),
            part: part.to_owned(),
            operation: operation.to_owned(),
        })
    }
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

impl From<Action> for String {
    fn from(action: Action) -> String {
        format!("{}/{}/{}", action.schema, action.part, action.operation)
    }
}

impl Action {
    fn means(&self, schema: &str, part: Part, operation: Operation) -> bool {
        covers(&self.schema, schema)
            && covers(&self.part, part.name())
            && covers(&self.operation, operation.name())
    }
}

/// Why a document does not describe rights; the message says where.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct InvalidRights(serde_yaml::Error);

impl SchemaRights {
    /// Reads a document, in YAML or JSON.
    ///
    /// # Errors
    /// When the document has another form.
    pub fn read(text: &str) -> Result<Self, InvalidRights> {
        serde_yaml::from_str(text).map_err(InvalidRights)
    }

    /// Returns the names of the roles with what each may do and may not.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.rbac.roles).expect("roles consist of texts")
    }

    fn may(&self, roles: &[String], schema: &str, part: Part, operation: Operation) -> bool {
        let declared = roles.iter().filter_map(|name| self.rbac.roles.get(name));
        let mut applying: Vec<&Role> = declared.collect();
        if applying.is_empty() {
            applying.extend(self.rbac.roles.get(DEFAULT_ROLE));
        }
        let means = |actions: &[Action]| {
            actions
                .iter()
                .any(|action| action.means(schema, part, operation))
        };
        applying
            .iter()
            .any(|role| means(&role.actions) && !means(&role.not_actions))
    }

    /// Describes what changed since an older version, for the audit: the names of the roles.
    #[must_use]
    pub fn changes_since(&self, old: Option<&SchemaRights>) -> String {
        let none = BTreeMap::new();
        let old = old.map_or(&none, |rights| &rights.rbac.roles);
        let names: BTreeSet<&String> = old.keys().chain(self.rbac.roles.keys()).collect();
        let changes =
            names
                .into_iter()
                .filter_map(|name| match (old.get(name), self.rbac.roles.get(name)) {
                    (None, Some(_)) => Some(format!("+{name}")),
                    (Some(_), None) => Some(format!("-{name}")),
                    (before, after) => (before != after).then(|| format!("~{name}")),
                });
        changes.collect::<Vec<_>>().join(" ")
    }
}

/// What the sender of a request may manage.
#[derive(Clone)]
pub struct Manager {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// Everything: security is off, or the sender administers schemas.
    Anything,
    /// Nothing: no rights are stored, or no one sent the request.
    Nothing,
    /// What the rights say of these roles.
    Roles(Arc<SchemaRights>, Vec<String>),
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Anything => f.write_str("Manager(anything)"),
            Kind::Nothing => f.write_str("Manager(nothing)"),
            Kind::Roles(_, roles) => write!(f, "Manager({roles:?})"),
        }
    }
}

impl Manager {
    /// Returns someone who may manage everything.
    #[must_use]
    pub fn of_everything() -> Self {
        Manager {
            kind: Kind::Anything,
        }
    }

    /// Returns what a caller may manage. Holders of the role `admin` and superusers may do everything,
    /// whatever is stored; where no rights are stored, no one else may do anything.
    #[must_use]
    pub fn new(caller: Option<&Caller>, admin: &str, rights: Option<Arc<SchemaRights>>) -> Self {
        let administers =
            |caller: &Caller| caller.superuser || caller.roles.iter().any(|role| role == admin);
        let kind = match (caller, rights) {
            (Some(caller), _) if administers(caller) => Kind::Anything,
            (Some(caller), Some(rights)) => Kind::Roles(rights, caller.roles.clone()),
            _ => Kind::Nothing,
        };
        Manager { kind }
    }

    /// Returns whether everything is allowed: security is off, or the caller administers schemas.
    #[must_use]
    pub fn may_everything(&self) -> bool {
        matches!(self.kind, Kind::Anything)
    }

    /// Returns whether an operation on a part of a schema is allowed.
    #[must_use]
    pub fn may(&self, schema: &str, part: Part, operation: Operation) -> bool {
        match &self.kind {
            Kind::Anything => true,
            Kind::Nothing => false,
            Kind::Roles(rights, roles) => rights.may(roles, schema, part, operation),
        }
    }

    /// Returns whether an operation on the documents of some schemas may be allowed.
    #[must_use]
    pub fn may_some(&self, operation: Operation) -> bool {
        match &self.kind {
            Kind::Anything => true,
            Kind::Nothing => false,
            Kind::Roles(rights, roles) => {
                let declared = roles.iter().filter_map(|name| rights.rbac.roles.get(name));
                let mut actions = declared
                    .chain(rights.rbac.roles.get(DEFAULT_ROLE))
                    .flat_map(|role| &role.actions);
                actions.any(|action| {
                    covers(&action.part, Part::Document.name())
                        && covers(&action.operation, operation.name())
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "
rbac:
  roles:
    Reader: {actions: ['*/soml/read']}
    Editor: {actions: ['swapi*/*/*', 'soml-rbac/roles/read'], notActions: ['swapi-live/*/*']}
    Default: {actions: ['public/soml/read']}
";

    fn manager(roles: &[&str]) -> Manager {
        let rights = SchemaRights::read(DOCUMENT).unwrap();
        let caller = Caller::with_roles(roles.iter().copied());
        Manager::new(Some(&caller), "SchemaRBACAdmin", Some(Arc::new(rights)))
    }

    #[test]
    fn roles_may_what_their_actions_say_less_their_own_exclusions() {
        let editor = manager(&["Editor"]);
        assert!(editor.may("swapi", Part::Document, Operation::Write));
        assert!(editor.may("swapi-2", Part::Binding, Operation::Delete));
        assert!(!editor.may("swapi-live", Part::Document, Operation::Read));
        assert!(!editor.may("films", Part::Document, Operation::Read));
        assert!(editor.may(RIGHTS, Part::Rights, Operation::Read));
        assert!(!editor.may(RIGHTS, Part::Rights, Operation::Write));
        let both = manager(&["Editor", "Reader"]);
        assert!(both.may("swapi-live", Part::Document, Operation::Read));
    }

    #[test]
    fn whoever_has_no_declared_role_has_the_role_default() {
        assert!(manager(&["Unknown"]).may("public", Part::Document, Operation::Read));
        assert!(!manager(&["Reader"]).may("public", Part::Document, Operation::Write));
    }

    #[test]
    fn without_a_document_only_the_administrator_may_anything() {
        let of = |caller: &Caller| Manager::new(Some(caller), "SchemaRBACAdmin", None);
        let admin = of(&Caller::with_roles(["SchemaRBACAdmin"]));
        assert!(admin.may("a", Part::Document, Operation::Delete));
        assert!(of(&Caller::superuser()).may(RIGHTS, Part::Rights, Operation::Write));
        assert!(!of(&Caller::with_roles(["Editor"])).may("a", Part::Document, Operation::Read));
        let nobody = Manager::new(None, "SchemaRBACAdmin", None);
        assert!(!nobody.may("a", Part::Document, Operation::Read));
    }

    #[test]
    fn a_malformed_document_is_refused_with_its_place() {
        for (text, part) in [
            (
                "rbac: {roles: {R: {actions: ['a/b/read']}}}",
                "names no part",
            ),
            (
                "rbac: {roles: {R: {actions: ['a/soml/red']}}}",
                "names no operation",
            ),
            (
                "rbac: {roles: {R: {actions: ['a/soml']}}}",
                "is not `<schema>/<part>",
            ),
            ("rbac:\n  roles:\n    R: {action: []}", "line 3"),
            ("roles: {}", "rbac"),
        ] {
            let error = SchemaRights::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_audit_names_the_roles_that_changed() {
        let old = SchemaRights::read(DOCUMENT).unwrap();
        let new = "rbac: {roles: {Reader: {actions: []}, New: {}, Default: {actions: ['public/soml/read']}}}";
        let new = SchemaRights::read(new).unwrap();
        assert_eq!(new.changes_since(Some(&old)), "-Editor +New ~Reader");
        assert_eq!(new.changes_since(None), "+Default +New +Reader");
    }
}
