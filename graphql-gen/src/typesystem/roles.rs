//! Which roles may do what, for `@hasRole`.

use apollo_compiler::ast::Directive;
use apollo_compiler::name;
use soml_core::access::{Part, Rights};
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, Property, PropertyId, Schema};

use super::directives::Applied;

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

    /// Returns `@hasRole` for an object, which has the rights of its `id`: creating and deleting
    /// need those (docs/access.md, "What a mutation reveals").
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
