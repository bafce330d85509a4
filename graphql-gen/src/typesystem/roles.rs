//! Which roles may do what, for `@hasRole`.

use apollo_compiler::ast::Directive;
use apollo_compiler::name;
use soml_core::Finding;
use soml_core::access::{Operation, Part, Rights};
use soml_core::schema::{ObjectId, Property, PropertyId, Schema};
use soml_core::value::{Value, ValueKind};

use super::directives::Applied;
use super::error::{ApiError, ProblemKind};

/// The roles of a document.
pub(super) struct Roles {
    rights: Rights,
}

impl Roles {
    /// Returns `None` for a document without roles.
    pub(super) fn new(soml: &Schema) -> Option<Self> {
        let rights = || Rights::new(soml);
        (!soml.rbac.roles.is_empty()).then(|| Roles { rights: rights() })
    }

    /// Returns `@hasRole` for an object, which has the rights of its `id`.
    pub(super) fn on_object(&self, object: ObjectId) -> Directive {
        let may = |operation| self.rights.allowing(object, Part::Id, operation);
        Applied::new(name!("hasRole"))
            .with_list("read", may(Operation::Read))
            .with_list("write", may(Operation::Write))
            .with_list("delete", may(Operation::Delete))
            .build()
    }

    /// Returns `@hasRole` for a property of an object.
    pub(super) fn on_property(&self, property: &Property, id: PropertyId) -> Directive {
        let part = Part::Property(id);
        let may = |operation| self.rights.allowing(property.owner, part, operation);
        Applied::new(name!("hasRole"))
            .with_list("read", may(Operation::Read))
            .with_list("write", may(Operation::Write))
            .build()
    }
}

/// Refuses a schema whose roles see only some rows, or set values on writes: a service that ignored
/// that would give them more than the schema does.
pub(super) fn refuse_row_rules(soml: &Schema) -> Result<(), ApiError> {
    let roles = soml.rbac.roles.iter();
    let problems = roles.flat_map(|role| {
        let rules = [("filters", &role.filters), ("presets", &role.presets)];
        let asked = rules.into_iter().filter(|(_, rules)| !is_empty(rules));
        asked.map(|(key, rules)| {
            let message = format!("`{key}` of the role `{}` cannot be enforced yet", role.name);
            let problem = ProblemKind::RowRules.at(Some(rules.span), message);
            problem.with_help("leave it out; without it, the role has its rights on all objects")
        })
    });
    let problems: Vec<Finding> = problems.collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(ApiError { problems }),
    }
}

fn is_empty(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Null => true,
        ValueKind::Map(entries) => entries.is_empty(),
        ValueKind::Text { .. } | ValueKind::List(_) => false,
    }
}
