//! What a request may see: the view of the schema that planning has.
//!
//! Rights enter here and nowhere else. Planning asks a [`View`] how the objects of a type are read, and
//! what it is not told of is in no request to a store. A condition that a row must fulfil to be seen
//! belongs to [`View::shown`], which every selection and every step to other objects is joined with.

mod readings;

use std::sync::Arc;

use graph_store::query::{NodeCondition, TypeGuard, TypeTest};
use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::RequestContext;
use graphql_service::error::GraphqlError;
use soml_core::access::{Access, DEFAULT_ROLE, Part, Rights, ServicePart};
use soml_core::schema::ObjectId;

pub(crate) use self::readings::{
    each_by_its_own, filter_alike, name_readings, property_readings, show_alike, type_readings,
};
use crate::code;
use crate::rdf::{OfType, Types, takes_any};

/// The rights of the roles of a schema, for a service that enforces them.
pub(crate) type Enforced = Option<Arc<Rights>>;

/// Returns what the sender of a request may do; `None` for everything that there is to read.
///
/// A request without a sender comes from somebody without a role.
pub(crate) fn access_of(rights: &Enforced, context: &RequestContext) -> Option<Access> {
    let rights = rights.as_ref()?;
    match context.caller.as_deref() {
        None => Some(rights.of([])),
        Some(caller) if caller.superuser => None,
        Some(caller) => {
            let access = rights.of(caller.roles.iter().map(String::as_str));
            (!access.reads_everything()).then_some(access)
        }
    }
}

/// Returns what the sender of a request may write; `None` for everything.
pub(crate) fn write_access_of(rights: &Enforced, context: &RequestContext) -> Option<Access> {
    let rights = rights.as_ref()?;
    match context.caller.as_deref() {
        None => Some(rights.of([])),
        Some(caller) if caller.superuser => None,
        Some(caller) => Some(rights.of(caller.roles.iter().map(String::as_str))),
    }
}

/// An API as the sender of a request sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) api: &'a Api,
    /// What the sender may do; `None` for everything.
    access: Option<&'a Access>,
    types: &'a Types,
}

/// Which objects of a type are meant by a part of a document.
pub(crate) enum Shown {
    /// None: as if there were no such type.
    Nothing,
    /// All of them.
    All,
    /// Those that a guard admits.
    Some(TypeGuard),
}

impl Shown {
    /// Returns the condition that an object is meant.
    pub(crate) fn condition(&self) -> Option<NodeCondition> {
        match self {
            Shown::Nothing => Some(NodeCondition::Any(Vec::new())),
            Shown::All => None,
            Shown::Some(guard) => Some(guard.condition()),
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Shown::Nothing)
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(api: &'a Api, access: Option<&'a Access>, types: &'a Types) -> Self {
        View { api, access, types }
    }

    /// Returns what tells objects of a type apart.
    pub(crate) fn of_type(&self, ty: TypeRef) -> Arc<OfType> {
        self.types.get(self.api, ty)
    }

    /// Returns the test for objects of a type.
    pub(crate) fn test(&self, ty: TypeRef) -> TypeTest {
        self.of_type(ty).test.clone()
    }

    /// Returns the test for objects of a type whose concrete type is known.
    pub(crate) fn test_of_known(&self, ty: TypeRef) -> TypeTest {
        self.of_type(ty).of_known_type.clone()
    }

    /// Tells whether there is something that cannot be read.
    pub(crate) fn is_limited(&self) -> bool {
        self.access.is_some()
    }

    /// Tells whether a part of an object can be read.
    pub(crate) fn reads(&self, object: ObjectId, part: Part) -> bool {
        self.access.is_none_or(|access| access.reads(object, part))
    }

    /// Tells whether a field of a concrete object can be read.
    pub(crate) fn reads_field(&self, object: ObjectId, name: &str) -> bool {
        self.access.is_none_or(|access| {
            let part = match self.api.field(TypeRef::Concrete(object), name) {
                _ if name == "__typename" => Part::TypeName,
                Some(field) => field.part(),
                // What has no meaning is reported where it is planned.
                None => return true,
            };
            access.reads(object, part)
        })
    }

    /// Tells whether objects of a concrete type are shown at all.
    pub(crate) fn sees(&self, object: ObjectId) -> bool {
        self.access.is_none_or(|access| access.sees(object))
    }

    /// Tells whether a part of what the service says of itself can be read.
    pub(crate) fn reads_service(&self, part: ServicePart) -> bool {
        self.access.is_none_or(|access| access.reads_service(part))
    }

    /// Returns which objects of a type are shown.
    pub(crate) fn shown(&self, ty: TypeRef) -> Shown {
        self.those(ty, |access, object| access.sees(object))
    }

    /// Returns of which objects of a type a field can be read.
    pub(crate) fn readable(&self, ty: TypeRef, part: Part) -> Shown {
        self.those(ty, |access, object| access.reads(object, part))
    }

    /// Tells whether a part can be read of all objects of a type that are shown.
    pub(crate) fn reads_wherever_shown(&self, ty: TypeRef, part: Part) -> bool {
        self.access.is_none_or(|access| {
            let possible = self.api.possible_types(ty).iter();
            let rest = takes_any(self.api, ty).then(|| ty.object()).flatten();
            let mut shown = possible
                .copied()
                .chain(rest)
                .filter(|object| access.sees(*object));
            shown.all(|object| access.reads(object, part))
        })
    }

    fn those(&self, ty: TypeRef, meant: impl Fn(&Access, ObjectId) -> bool) -> Shown {
        let Some(access) = self.access else {
            return Shown::All;
        };
        let possible = self.api.possible_types(ty);
        let count = possible
            .iter()
            .filter(|object| meant(access, **object))
            .count();
        if count == possible.len() {
            return Shown::All;
        }
        // Objects of no known type are shown as those of the object that the type belongs to.
        let rest = takes_any(self.api, ty).then(|| ty.object()).flatten();
        let rest = rest.is_some_and(|object| meant(access, object));
        if count == 0 && !rest {
            return Shown::Nothing;
        }
        let index = &self.of_type(ty).index;
        Shown::Some(index.guard(rest, |object| meant(access, object)))
    }

    /// Returns the warning that a field is left out.
    pub(crate) fn left_out(&self, field: &str, ty: &str) -> GraphqlError {
        let message = format!(
            "WARN: Field '{field}' from type '{ty}' is removed as selection due to being queried \
             without permissions, roles=[{}]",
            self.roles()
        );
        GraphqlError::new(code::ACCESS_FIELD_REMOVED, message)
    }

    /// Returns the error that an argument speaks of what cannot be read.
    pub(crate) fn denied(&self, argument: &str, field: &str) -> GraphqlError {
        let message = format!(
            "`{argument}` uses `{field}`, which cannot be read without permission, roles=[{}]",
            self.roles()
        );
        GraphqlError::new(code::ACCESS_DENIED, message)
    }

    fn roles(&self) -> String {
        let roles: Vec<&str> = self
            .access
            .iter()
            .flat_map(|access| access.roles())
            .collect();
        match roles.as_slice() {
            [] => DEFAULT_ROLE.to_owned(),
            roles => roles.join(", "),
        }
    }
}
