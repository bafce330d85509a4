//! What a request may see: the view of the schema that planning has.
//!
//! Rights enter here and nowhere else. Planning asks a [`View`] how the objects of a type are read, and
//! what it is not told of is in no request to a store. A condition that a row must fulfil to be seen
//! belongs to [`View::shown`], which every selection and every step to other objects is joined with.

mod readings;
mod rows;

use std::sync::Arc;

use graph_store::query::{NodeCondition, TypeGuard, TypeTest};
use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::{GraphqlError, denial};
use soml_core::access::{Access, Part, Rights, ServicePart};
use soml_core::rbac::Operation;
use soml_core::schema::ObjectId;

pub(crate) use self::readings::{
    Reading, each_by_its_own, filter_alike, name_readings, property_readings, show_alike,
    type_readings,
};
pub(crate) use self::rows::{Accepted, Permit, ReadClaims, Rows};
use crate::rdf::{OfType, Types, takes_any};

/// The rights of the roles of a schema, for a service that enforces them.
pub(crate) type Enforced = Option<Arc<Rights>>;

/// An API as the sender of a request sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) api: &'a Api,
    /// What the sender may do; `None` for everything.
    access: Option<&'a Permit>,
    types: &'a Types,
}

/// Which objects of a type are meant by a part of a document.
pub(crate) enum Shown {
    /// None: as if there were no such type.
    Nothing,
    /// All of them.
    All,
    /// Those that a guard admits, whose types alone decide.
    Some(TypeGuard),
    /// Those that satisfy a condition.
    Rows(NodeCondition),
}

impl Shown {
    /// Returns the condition that an object is meant.
    pub(crate) fn condition(&self) -> Option<NodeCondition> {
        match self {
            Shown::Nothing => Some(NodeCondition::Any(Vec::new())),
            Shown::All => None,
            Shown::Some(guard) => Some(guard.condition()),
            Shown::Rows(condition) => Some(condition.clone()),
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Shown::Nothing)
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(api: &'a Api, access: Option<&'a Permit>, types: &'a Types) -> Self {
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

    /// Returns whether there is something that cannot be read.
    pub(crate) fn is_limited(&self) -> bool {
        self.access.is_some()
    }

    /// Returns whether a part of an object can be read.
    pub(crate) fn reads(&self, object: ObjectId, part: Part) -> bool {
        self.access.is_none_or(|access| access.reads(object, part))
    }

    /// Returns whether a field of a concrete object can be read.
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

    /// Returns whether objects of a concrete type are shown at all.
    pub(crate) fn sees(&self, object: ObjectId) -> bool {
        self.access.is_none_or(|access| access.sees(object))
    }

    /// Returns whether a part of what the service says of itself can be read.
    pub(crate) fn reads_service(&self, part: ServicePart) -> bool {
        self.access.is_none_or(|access| access.reads_service(part))
    }

    /// Returns which objects of a type are shown.
    pub(crate) fn shown(&self, ty: TypeRef) -> Shown {
        self.those(ty, |access, object| {
            let seeing = access.seeing(object);
            access
                .sees(object)
                .then(|| access.accepted(object, Operation::Read, seeing))
        })
    }

    /// Returns of which objects of a type a field can be read.
    pub(crate) fn readable(&self, ty: TypeRef, part: Part) -> Shown {
        self.those(ty, |access, object| {
            let reading = access.allowing(object, part, Operation::Read);
            access
                .reads(object, part)
                .then(|| access.accepted(object, Operation::Read, reading))
        })
    }

    /// Returns of which objects of a concrete type, among those that are shown, a part can be read, where it can be read of
    /// some.
    pub(crate) fn readable_rows(&self, object: ObjectId, part: Part) -> Option<NodeCondition> {
        self.access?.readable_rows(object, part)
    }

    /// Returns whether a part can be read of all objects of a type that are shown.
    pub(crate) fn reads_wherever_shown(&self, ty: TypeRef, part: Part) -> bool {
        self.access.is_none_or(|access| {
            let possible = self.api.possible_types(ty).iter();
            let rest = takes_any(self.api, ty).then(|| ty.object()).flatten();
            let mut shown = possible
                .copied()
                .chain(rest)
                .filter(|object| access.sees(*object));
            shown.all(|object| {
                access.reads(object, part) && self.readable_rows(object, part).is_none()
            })
        })
    }

    /// Returns the objects of a type that are meant, given those of each object type; `None` for none of them.
    fn those(&self, ty: TypeRef, meant: impl Fn(&Permit, ObjectId) -> Option<Accepted>) -> Shown {
        let Some(access) = self.access else {
            return Shown::All;
        };
        let possible = self.api.possible_types(ty).iter();
        let possible: Vec<_> = possible
            .map(|object| (*object, meant(access, *object)))
            .collect();
        // Objects of no known type are shown as those of the object that the type belongs to.
        let rest = takes_any(self.api, ty)
            .then(|| ty.object())
            .flatten()
            .and_then(|object| meant(access, object));
        let are_all = |accepted: &Option<Accepted>| *accepted == Some(Accepted::All);
        let of_types = possible.iter().map(|(_, accepted)| accepted);
        if of_types.clone().all(are_all) {
            return Shown::All;
        }
        if of_types.clone().all(Option::is_none) && rest.is_none() {
            return Shown::Nothing;
        }
        // Types that are shown alike share a guard.
        let mut alike: Vec<&Accepted> = Vec::new();
        for accepted in of_types.chain([&rest]).flatten() {
            if !alike.contains(&accepted) {
                alike.push(accepted);
            }
        }
        let index = &self.of_type(ty).index;
        let guard = |accepted: &Accepted| {
            let is_alike = |known: &Option<Accepted>| known.as_ref() == Some(accepted);
            index.guard(is_alike(&rest), |object| {
                let mut known = possible.iter();
                known.any(|(known, of)| *known == object && is_alike(of))
            })
        };
        let rows = |accepted: &Accepted| match accepted {
            Accepted::All => NodeCondition::TRUE,
            Accepted::Some(condition) => condition.clone(),
        };
        let is_every_type = possible.iter().all(|(_, accepted)| accepted.is_some());
        match alike.as_slice() {
            [Accepted::All] => Shown::Some(guard(&Accepted::All)),
            // Whoever asks tests for the type itself.
            [single] if is_every_type && (rest.is_some() || !takes_any(self.api, ty)) => {
                Shown::Rows(rows(single))
            }
            several => {
                let parts = several.iter().map(|accepted| {
                    NodeCondition::all([guard(accepted).condition(), rows(accepted)])
                });
                Shown::Rows(NodeCondition::Any(parts.collect()))
            }
        }
    }

    /// Returns the warning that a field is left out.
    pub(crate) fn left_out(&self, field: &str, ty: &str) -> GraphqlError {
        denial::left_out(field, ty, &self.roles())
    }

    /// Returns the error that an argument speaks of what cannot be read.
    pub(crate) fn denied(&self, argument: &str, field: &str) -> GraphqlError {
        denial::denied(argument, field, &self.roles())
    }

    /// Returns the error that an argument speaks of what can be read of some objects alone.
    pub(crate) fn partly_denied(&self, argument: &str, field: &str) -> GraphqlError {
        denial::partly_denied(argument, field, &self.roles())
    }

    fn roles(&self) -> String {
        self.access
            .map_or_else(String::new, |access| role_names(access))
    }
}

/// Lists the roles of a sender, for whoever reads why something is denied.
pub(crate) fn role_names(access: &Access) -> String {
    let roles: Vec<&str> = access.roles().collect();
    match roles.as_slice() {
        [] => access.default_role().to_owned(),
        roles => roles.join(", "),
    }
}
