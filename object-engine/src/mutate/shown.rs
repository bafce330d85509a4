//! What the sender of a mutation is shown of the data that it changes.
//!
//! What is not shown is as if it were not there, so findings speak of what is shown, and where the bounds of the
//! schema need to know of more, they do not say how much.

use std::collections::{BTreeSet, HashSet};

use graph_store::query::Step;
use graph_store::write::QuadPattern;
use oxrdf::{NamedNode, Term, Triple};
use soml_core::access::{Part, RolePlace};
use soml_core::rbac::Operation;
use soml_core::schema::{Max, ObjectId, Property, PropertyId, Range};

use super::checks::count;
use super::draft::{Draft, key, types_of};
use crate::access::Permit;
use crate::plan::Change;
use crate::rdf::takes_any;

/// How many values a property has.
pub(super) struct Amount {
    pub(super) all: usize,
    /// Those that the sender is shown or has given; `None` where the sender may not read the property.
    pub(super) shown: Option<usize>,
}

impl Amount {
    /// Returns the number of values that are certain whatever the sender is shown.
    pub(super) fn least(&self) -> usize {
        self.shown.unwrap_or(self.all)
    }
}

impl Draft<'_> {
    /// Returns whether the sender may name an object by its id, which is as if it were not there otherwise.
    pub(super) fn finds(&self, id: &NamedNode, object: ObjectId) -> bool {
        let is_created = self.created.contains_key(id);
        is_created || (self.sees(id, object) && self.reads(id, object, Part::Id))
    }

    /// Returns whether the sender is shown an object.
    pub(super) fn sees(&self, id: &NamedNode, object: ObjectId) -> bool {
        let rights = self.setting.rights;
        rights.sees(object)
            && rights.access.is_none_or(|access| {
                let seeing = access.seeing(object);
                self.accept_reading(access, id, object, seeing)
            })
    }

    /// Returns whether the sender may read a part of an object that was there before.
    pub(super) fn reads(&self, id: &NamedNode, object: ObjectId, part: Part) -> bool {
        let rights = self.setting.rights;
        rights.reads(object, part)
            && rights.access.is_none_or(|access| {
                let reading = access.allowing(object, part, Operation::Read);
                self.accept_reading(access, id, object, reading)
            })
    }

    /// Returns whether one of some roles accepts that an object is read as it was before.
    fn accept_reading(
        &self,
        access: &Permit,
        id: &NamedNode,
        object: ObjectId,
        roles: impl Iterator<Item = RolePlace>,
    ) -> bool {
        access.reads_everything()
            || self
                .before
                .accept(access, id, object, Operation::Read, roles)
    }

    /// Returns the objects, with their types, of which the conditions of roles must be known to tell what is shown: all that
    /// the mutation knows of and that were there before.
    pub(super) fn row_candidates(&self) -> Vec<(NamedNode, ObjectId)> {
        let Some(access) = self.setting.rights.access else {
            return Vec::new();
        };
        let types: BTreeSet<ObjectId> = access.conditioned(Operation::Read).collect();
        if types.is_empty() {
            return Vec::new();
        }
        let schema = self.setting.schema();
        let types = types.into_iter().map(|object| {
            let property = schema[object].type_prop.as_str();
            (object, NamedNode::new_unchecked(property))
        });
        let types: Vec<(ObjectId, NamedNode)> = types.collect();
        let mut candidates = Vec::new();
        for id in self.overlay.nodes() {
            if self.created.contains_key(id) {
                continue;
            }
            let mut is_typed = false;
            let known = candidates.len();
            for (object, property) in &types {
                let mut stored = self.overlay.original(id, property).peekable();
                is_typed |= stored.peek().is_some();
                let is_this = |ty: &Term| {
                    let Term::NamedNode(ty) = ty else {
                        return false;
                    };
                    schema[*object].types.iter().any(|own| own == ty.as_str())
                };
                if stored.any(is_this) {
                    candidates.push((id.clone(), *object));
                }
            }
            if candidates.len() == known && !is_typed {
                // It may be shown as an object of the type that a property expects.
                candidates.extend(types.iter().map(|(object, _)| (id.clone(), *object)));
            }
        }
        candidates
    }

    /// Returns whether the sender may name a value of a property.
    pub(super) fn is_found(&self, property: &Property, value: &Term) -> bool {
        let (Range::Object(range), Term::NamedNode(id)) = (property.range, value) else {
            return true;
        };
        if !self.setting.rights.is_limited() || self.created.contains_key(id) {
            return true;
        }
        let shown = self.shown_as(id, range);
        shown.is_some_and(|object| self.finds(id, object))
    }

    /// Returns the type that an object is shown as where a range is expected, if it is.
    fn shown_as(&self, id: &NamedNode, range: ObjectId) -> Option<ObjectId> {
        let api = self.setting.api;
        let target = api.range_type(range);
        let ty = self.setting.types.get(api, target);
        let known = ty.index.resolve(types_of(&self.overlay, id, &ty.index));
        let rest = || takes_any(api, target).then(|| target.object()).flatten();
        let shown = known.or_else(rest);
        shown.filter(|object| self.shows_new(id, *object) || self.sees(id, *object))
    }

    /// Returns whether the sender is shown a created object, and what led to its id before.
    fn shows_new(&self, id: &NamedNode, object: ObjectId) -> bool {
        let rights = self.setting.rights;
        let access = rights.access;
        let is_open = || access.is_none_or(|access| !access.hides_rows(object));
        self.created.contains_key(id) && rights.sees(object) && is_open()
    }

    /// Returns how many values a property of an object has.
    pub(super) fn amount(&self, id: &NamedNode, object: ObjectId, property: PropertyId) -> Amount {
        let of = &self.setting.schema()[property];
        let values = self.current(id, of);
        let number = |values: &[Term]| {
            let keys: HashSet<_> = values.iter().map(|term| key(of, term)).collect();
            count(of, values, &keys)
        };
        let all = number(&values);
        let rights = self.setting.rights;
        let is_new = self.created.contains_key(id);
        let is_given = is_new && !Step::from(&of.path).inverse;
        let is_hidden = is_new && !self.shows_new(id, object);
        let part = Part::Property(property);
        if !is_given && (is_hidden || !self.reads_now(id, object, part)) {
            return Amount { all, shown: None };
        }
        let shown = if is_given || !rights.hides_any(of.range) {
            all
        } else {
            number(&self.shown_values(id, of, values))
        };
        Amount {
            all,
            shown: Some(shown),
        }
    }

    /// Returns those values of a property that the sender is shown or has given.
    fn shown_values(&self, id: &NamedNode, of: &Property, mut values: Vec<Term>) -> Vec<Term> {
        values.retain(|value| match value {
            Term::NamedNode(other) => {
                !self.was_linked(id, of, other) || self.is_shown_value(of, other)
            }
            _ => false,
        });
        values
    }

    fn is_shown_value(&self, of: &Property, value: &NamedNode) -> bool {
        let Range::Object(range) = of.range else {
            return true;
        };
        self.shown_as(value, range).is_some()
    }

    /// Returns whether the mutation may have changed any of the values of a property that the sender is shown.
    pub(super) fn is_change_shown(&self, id: &NamedNode, of: &Property) -> bool {
        let is_given = self.created.contains_key(id) && !Step::from(&of.path).inverse;
        if is_given || !self.setting.rights.hides_any(of.range) {
            return true;
        }
        let was_shown = |value: &Term| match value {
            Term::NamedNode(other) => {
                !self.created.contains_key(other) && self.is_shown_value(of, other)
            }
            _ => false,
        };
        let before: HashSet<Term> = self.stored(id, of).into_iter().filter(was_shown).collect();
        let now = self.shown_values(id, of, self.current(id, of));
        before != now.into_iter().collect()
    }

    /// Returns the values of a property before the mutation.
    fn stored(&self, id: &NamedNode, property: &Property) -> Vec<Term> {
        let step = Step::from(&property.path);
        if step.inverse {
            let links = self.overlay.original_links(&step.predicate, id);
            links.cloned().map(Term::from).collect()
        } else {
            let values = self.overlay.original(id, &step.predicate);
            values.cloned().collect()
        }
    }

    /// Returns whether the sender may read a part of an object, or has created the object and may read that of its type.
    pub(super) fn reads_now(&self, id: &NamedNode, object: ObjectId, part: Part) -> bool {
        if self.created.contains_key(id) {
            self.setting.rights.reads(object, part)
        } else {
            self.reads(id, object, part)
        }
    }

    /// Returns whether a property led from one object to the other before the mutation, which does not say so itself.
    fn was_linked(&self, id: &NamedNode, property: &Property, other: &NamedNode) -> bool {
        let step = Step::from(&property.path);
        let (subject, object) = if step.inverse {
            (other, id)
        } else {
            (id, other)
        };
        let triple = Triple::new(subject.clone(), step.predicate, object.clone());
        self.overlay.was_only_there(&triple)
    }

    /// Returns the patterns of the types of values, where these decide what the sender is shown.
    pub(super) fn wanted_of_values(&self) -> Vec<QuadPattern> {
        let mut wanted = Vec::new();
        if !self.setting.rights.is_limited() {
            return wanted;
        }
        let schema = self.setting.schema();
        for (id, step) in self.touched.keys() {
            let known = self
                .created
                .get(id)
                .map(|(object, _)| *object)
                .or_else(|| self.updated.get(id).copied());
            let Some(object) = known.or_else(|| self.type_of(id)) else {
                continue;
            };
            for property in &schema[object].props {
                if Step::from(&schema[*property].path) == *step {
                    self.types_of_values(id, &schema[*property], &mut wanted);
                }
            }
        }
        for (id, (object, _)) in &self.created {
            for property in &schema[*object].props {
                self.types_of_values(id, &schema[*property], &mut wanted);
            }
        }
        wanted
    }

    /// Adds the patterns of the types of a property's values.
    fn types_of_values(&self, id: &NamedNode, of: &Property, wanted: &mut Vec<QuadPattern>) {
        let is_bounded = of.min > 0 || of.max != Max::Unbounded;
        if !is_bounded || !self.setting.rights.hides_any(of.range) {
            return;
        }
        for value in self.current(id, of) {
            if let Term::NamedNode(value) = value {
                self.types_wanted(&value, wanted);
            }
        }
    }

    /// Adds the patterns of the types of what an entry names as values to replace.
    pub(super) fn types_of_patched(&self, place: usize, wanted: &mut Vec<QuadPattern>) {
        if !self.setting.rights.is_limited() {
            return;
        }
        for change in &self.entry(place).changes {
            if let Change::Patch((Term::NamedNode(old), _), _) = &change.change {
                self.types_wanted(old, wanted);
            }
        }
    }

    /// Returns how a finding calls an object: by its id where the sender knows it.
    pub(super) fn called(&self, id: &NamedNode, object: ObjectId, is_named: bool) -> String {
        if is_named || self.reads_now(id, object, Part::Id) {
            format!("`{}`", id.as_str())
        } else {
            "the object".to_owned()
        }
    }
}
