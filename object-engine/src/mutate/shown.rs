//! What the sender of a mutation is shown of the data that it changes.
//!
//! What is not shown is as if it were not there, so findings speak of what is shown, and where the bounds of the
//! schema need to know of more, they do not say how much.

use std::collections::HashSet;

use graph_store::query::Step;
use graph_store::write::QuadPattern;
use oxrdf::{NamedNode, Term, Triple};
use soml_core::access::Part;
use soml_core::schema::{Max, ObjectId, Property, PropertyId, Range};

use super::checks::count;
use super::draft::{Draft, key, types_of};
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
        self.created.contains_key(id) || self.setting.rights.finds(object)
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
        shown.is_some_and(|object| self.setting.rights.finds(object))
    }

    /// Returns the type that an object is shown as where a range is expected, if it is.
    fn shown_as(&self, id: &NamedNode, range: ObjectId) -> Option<ObjectId> {
        let api = self.setting.api;
        let target = api.range_type(range);
        let ty = self.setting.types.get(api, target);
        let known = ty.index.resolve(types_of(&self.overlay, id, &ty.index));
        let rest = || takes_any(api, target).then(|| target.object()).flatten();
        let shown = known.or_else(rest);
        shown.filter(|object| self.setting.rights.sees(*object))
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
        let is_given = self.created.contains_key(id) && !Step::from(&of.path).inverse;
        if !is_given && !rights.reads(object, Part::Property(property)) {
            return Amount { all, shown: None };
        }
        let Range::Object(range) = of.range else {
            return Amount {
                all,
                shown: Some(all),
            };
        };
        if is_given || !rights.hides_any(of.range) {
            return Amount {
                all,
                shown: Some(all),
            };
        }
        let is_shown = |value: &Term| match value {
            Term::NamedNode(other) => {
                !self.was_linked(id, of, other) || self.shown_as(other, range).is_some()
            }
            _ => true,
        };
        let shown: Vec<Term> = values.into_iter().filter(is_shown).collect();
        Amount {
            all,
            shown: Some(number(&shown)),
        }
    }

    /// Returns whether a property led from one object to the other before the mutation.
    fn was_linked(&self, id: &NamedNode, property: &Property, other: &NamedNode) -> bool {
        let step = Step::from(&property.path);
        let (subject, object) = match step.inverse {
            false => (id, other),
            true => (other, id),
        };
        let triple = Triple::new(subject.clone(), step.predicate, object.clone());
        self.overlay.was_there(&triple)
    }

    /// Returns the patterns of the types of values, where these decide what the sender is shown.
    pub(super) fn wanted_of_values(&self) -> Vec<QuadPattern> {
        let mut wanted = Vec::new();
        if !self.setting.rights.is_limited() {
            return wanted;
        }
        let schema = self.setting.schema();
        for (id, step) in self.touched.keys() {
            let known = self.created.get(id).map(|(object, _)| *object);
            let known = known.or_else(|| self.updated.get(id).copied());
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
        if is_named || self.setting.rights.reads(object, Part::Id) {
            format!("`{}`", id.as_str())
        } else {
            "the object".to_owned()
        }
    }
}
