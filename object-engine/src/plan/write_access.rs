//! What the sender of a mutation may write, and what may be said of what is stored.
//!
//! A mutation finds out what a query of the same caller would: an object that the caller is not shown is as if
//! it were not there, and what depends on stored values needs the right to read them.

use graphql_gen::typesystem::Api;
use graphql_service::error::GraphqlError;
use soml_core::access::Part;
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, PropertyId, Range};

use super::coercion::validation;
use super::entry::Change;
use super::rows::Presets;
use crate::access::{Permit, View};
use crate::rdf::{Types, takes_any};

/// An API as the sender of a mutation may write it.
#[derive(Clone, Copy)]
pub(crate) struct WriteAccess<'a> {
    pub(crate) api: &'a Api,
    /// What the sender may do; `None` for everything.
    pub(crate) access: Option<&'a Permit>,
}

/// How the values of a property change, as far as rights depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The object is new, so nothing is stored.
    Create,
    /// All values are replaced.
    Set,
    /// Values are added to what there is.
    Add,
    /// A value is replaced, which the client names.
    Patch,
}

impl Manner {
    /// Returns how a change of an object that exists changes its values.
    pub(crate) fn of(change: &Change) -> Self {
        match change {
            Change::Add(_) => Manner::Add,
            Change::Set(_) => Manner::Set,
            Change::Patch(..) => Manner::Patch,
        }
    }
}

impl<'a> WriteAccess<'a> {
    /// Returns whether there is something that the sender may not do.
    pub(crate) fn is_limited(self) -> bool {
        self.access.is_some()
    }

    pub(crate) fn may(self, object: ObjectId, part: Part, operation: Operation) -> bool {
        let may = |access: &Permit| access.may(object, part, operation);
        self.access.is_none_or(may)
    }

    pub(crate) fn reads(self, object: ObjectId, part: Part) -> bool {
        self.may(object, part, Operation::Read)
    }

    /// Returns whether a part can be read of all objects of a type that are shown.
    pub(crate) fn reads_wherever_shown(self, object: ObjectId, part: Part) -> bool {
        self.access.is_none_or(|access| {
            access.reads(object, part) && access.readable_rows(object, part).is_none()
        })
    }

    /// Returns whether objects of a type are shown to the sender.
    pub(crate) fn sees(self, object: ObjectId) -> bool {
        self.access.is_none_or(|access| access.sees(object))
    }

    /// Returns whether the sender may name objects of a type by their ids.
    pub(crate) fn finds(self, object: ObjectId) -> bool {
        self.sees(object) && self.reads(object, Part::Id)
    }

    /// Returns whether the sender may name some objects of a type, or of its subclasses, by their
    /// ids.
    pub(crate) fn finds_any(self, object: ObjectId) -> bool {
        self.of_range(object).any(|object| self.finds(object))
    }

    /// Returns whether values of a range may be objects that are not shown to the sender.
    pub(crate) fn hides_any(self, range: Range) -> bool {
        let Range::Object(range) = range else {
            return false;
        };
        let is_shown = |object: ObjectId| {
            self.sees(object) && !self.access.is_some_and(|access| access.hides_rows(object))
        };
        self.is_limited() && !self.of_range(range).all(is_shown)
    }

    /// Returns the types that objects of a range may be shown as.
    fn of_range(self, range: ObjectId) -> impl Iterator<Item = ObjectId> + 'a {
        let target = self.api.range_type(range);
        let rest = takes_any(self.api, target).then(|| target.object());
        let possible = self.api.possible_types(target).iter().copied();
        possible.chain(rest.flatten())
    }

    /// Returns which right is missing to write a part of an object.
    pub(crate) fn lacks_write(self, object: ObjectId, part: Part) -> Option<String> {
        let lacks = !self.may(object, part, Operation::Write);
        lacks.then(|| self.denies_write(object, part))
    }

    /// Returns the message for a missing right to write a part of an object.
    pub(crate) fn denies_write(self, object: ObjectId, part: Part) -> String {
        let name = self.name(object, part);
        format!("{name} cannot be written without permission")
    }

    /// Returns what roles say about the value of a property; `None` where they say nothing.
    pub(crate) fn presets(self, object: ObjectId, property: PropertyId) -> Option<Presets> {
        let presets = Presets::of(self.access?, object, property);
        (!presets.values.is_empty()).then_some(presets)
    }

    /// Returns which right is missing to delete objects of a type.
    pub(crate) fn lacks_delete(self, object: ObjectId) -> Option<String> {
        let ty = self.api.type_name(object);
        let lacks = !self.may(object, Part::Id, Operation::Delete);
        lacks.then(|| format!("`{ty}` objects cannot be deleted without permission"))
    }

    /// Returns which right is missing to change a property of an object. What is compared with stored values
    /// would tell them, so that needs the right to read them.
    pub(crate) fn lacks(
        self,
        object: ObjectId,
        property: PropertyId,
        manner: Manner,
    ) -> Option<String> {
        let part = Part::Property(property);
        let unwritable = self.lacks_write(object, part);
        // Nothing is stored of a new object, so there is nothing to compare with.
        if unwritable.is_some() || manner == Manner::Create {
            return unwritable;
        }
        self.lacks_comparison(object, property, manner, self.reads(object, part))
    }

    /// Returns which right is missing for what compares given values of a property with stored ones, whether these can be read
    /// or not.
    pub(crate) fn lacks_comparison(
        self,
        object: ObjectId,
        property: PropertyId,
        manner: Manner,
        reads: bool,
    ) -> Option<String> {
        let part = Part::Property(property);
        let schema = self.api.soml();
        let of = &schema[property];
        let is_text = matches!(of.range, Range::Literal(_));
        let unique = || is_text && validation(schema, of).is_some_and(|rule| rule.unique);
        // The three comparisons of docs/access.md, "What a mutation reveals".
        let what = if manner == Manner::Patch && !reads {
            "`patch` needs"
        } else if of.immutable && (!reads || self.hides_any(of.range)) {
            "changing a value that can be set once needs"
        } else if manner == Manner::Add && !reads && unique() {
            "adding to texts with one value in each language needs"
        } else {
            return None;
        };
        let name = self.name(object, part);
        Some(format!(
            "{name} cannot be read without permission, which {what}"
        ))
    }

    /// Returns which right is missing to name objects of a type by their ids.
    pub(crate) fn lacks_ids(self, object: ObjectId) -> Option<String> {
        let name = self.name(object, Part::Id);
        (!self.finds_any(object)).then(|| format!("{name} cannot be read without permission"))
    }

    /// Returns the warning that a field is left out.
    pub(crate) fn left_out(self, types: &Types, field: &str, ty: &str) -> GraphqlError {
        View::new(self.api, self.access, types).left_out(field, ty)
    }

    fn name(self, object: ObjectId, part: Part) -> String {
        let ty = self.api.type_name(object);
        match part {
            Part::Property(property) => {
                format!("`{}` of `{ty}`", self.api.soml()[property].name.graphql)
            }
            _ => format!("`id` of `{ty}`"),
        }
    }
}
