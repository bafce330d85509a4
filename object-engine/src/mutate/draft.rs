//! A mutation in the making: what each entry changes, as triples.

use std::collections::HashSet;

use graph_store::WriteStore;
use graph_store::query::{Step, TypeIndex};
use graph_store::value::{CanonicalValue, canonical_value};
use graph_store::write::QuadPattern;
use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::error::{GraphqlError, PathSegment};
use indexmap::IndexMap;
use oxrdf::{GraphName, NamedNode, Term, Triple};
use soml_core::access::Part;
use soml_core::datatype::Scalar;
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, Path, Property, PropertyId, Range, Schema};
use uuid::Uuid;

use super::facts::WriteFacts;
use super::ids::new_id;
use super::overlay::Overlay;
use super::rows::{RowWrite, Verdicts};
use crate::code;
use crate::limits::EngineLimits;
use crate::plan::{
    Change, Entry, Manner, MutationPlan, NewValue, PropertyChange, SchemaRegexes, WriteAccess,
};
use crate::rdf::Types;

/// What does not change while a mutation is worked out.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) api: &'a Api,
    pub(crate) facts: &'a WriteFacts,
    pub(crate) plan: &'a MutationPlan,
    /// What the sender may do.
    pub(crate) rights: WriteAccess<'a>,
    pub(crate) limits: &'a EngineLimits,
    pub(crate) regexes: &'a SchemaRegexes,
    pub(crate) types: &'a Types,
    pub(crate) writer: &'a dyn WriteStore,
    /// Where new triples go.
    pub(crate) graph: &'a GraphName,
}

impl<'a> Setting<'a> {
    pub(super) fn schema(&self) -> &'a Schema {
        self.api.soml()
    }
}

/// A mutation in the making.
pub(super) struct Draft<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) overlay: Overlay,
    /// The ids of the entries that create objects.
    pub(super) ids: Vec<Option<NamedNode>>,
    pub(super) findings: Vec<GraphqlError>,
    /// Objects by what happened to them, with their concrete types.
    pub(super) created: IndexMap<NamedNode, (ObjectId, usize)>,
    pub(super) updated: IndexMap<NamedNode, ObjectId>,
    pub(super) deleted: IndexMap<NamedNode, ObjectId>,
    /// Objects whose triples may change because of others.
    pub(super) beside: IndexMap<NamedNode, ObjectId>,
    /// The steps whose values changed.
    pub(super) touched: IndexMap<(NamedNode, Step), Touch>,
    /// References to objects that must exist.
    pub(super) references: Vec<Reference<'a>>,
    /// The ids of new objects that were taken before: nothing more is said about these objects.
    pub(super) taken: HashSet<NamedNode>,
    /// What is given for a property by an entry names what is not there: nothing more is said about it.
    pub(super) not_found: HashSet<(usize, PropertyId)>,
    /// What the conditions of roles say of objects as they were before.
    pub(super) before: Verdicts,
    /// What is written to which objects, where conditions of roles decide whether it may.
    pub(super) row_writes: Vec<RowWrite>,
}

/// How the values along a step were changed.
#[derive(Clone, Copy)]
pub(super) struct Touch {
    /// The entry that asked for it; `None` for what deleting leaves.
    pub(super) entry: Option<usize>,
    /// A value was added, whose ends the client knows.
    pub(super) adds: bool,
}

/// A reference to an object.
pub(super) struct Reference<'a> {
    pub(super) entry: usize,
    pub(super) property: PropertyId,
    pub(super) below: &'a [PathSegment],
    pub(super) object: NamedNode,
}

impl<'a> Draft<'a> {
    /// Starts a mutation: all new objects have their ids.
    pub(super) fn new(setting: Setting<'a>) -> Self {
        let mut draft = Draft {
            setting,
            overlay: Overlay::default(),
            ids: Vec::new(),
            findings: setting.plan.findings.clone(),
            created: IndexMap::new(),
            updated: IndexMap::new(),
            deleted: IndexMap::new(),
            beside: IndexMap::new(),
            touched: IndexMap::new(),
            references: Vec::new(),
            taken: HashSet::new(),
            not_found: HashSet::new(),
            before: Verdicts::default(),
            row_writes: Vec::new(),
        };
        draft.ids = setting
            .plan
            .entries
            .iter()
            .map(|entry| draft.id_of(entry))
            .collect();
        draft
    }

    fn id_of(&mut self, entry: &Entry) -> Option<NamedNode> {
        if !entry.is_new {
            return entry.id.clone();
        }
        let refused = |message: String| entry.finding_at("id", &[], code::ID_INVALID, message);
        let made = new_id(self.setting.schema(), entry, self.setting.regexes);
        let id = made.and_then(|id| {
            let message = |error| format!("`{id}` is not an absolute IRI: {error}");
            NamedNode::new(&id).map_err(message)
        });
        // What else is wrong with the object is found under any other id.
        let id = id.unwrap_or_else(|message| {
            self.findings.push(refused(message));
            NamedNode::new_unchecked(format!("urn:uuid:{}", Uuid::new_v4()))
        });
        Some(id)
    }

    /// Returns whether a field before this point writes something.
    pub(super) fn has_written(&self) -> bool {
        !(self.created.is_empty() && self.updated.is_empty() && self.deleted.is_empty())
    }

    pub(super) fn entry(&self, place: usize) -> &'a Entry {
        &self.setting.plan.entries[place]
    }

    /// Creates the object of an entry and those that it creates with it.
    pub(super) fn create(&mut self, place: usize) {
        let entry = self.entry(place);
        let Some(id) = self.ids[place].clone() else {
            return;
        };
        if let Some((_, first)) = self.created.get(&id) {
            // An entry that is applied to several objects creates what is in it once, for all of them.
            if *first == place {
                return;
            }
            let message = format!("`{id}` is the id of two new objects");
            let finding = entry.finding_at("id", &[], code::ID_NOT_AVAILABLE, message);
            self.findings.push(finding);
            return;
        }
        self.created.insert(id.clone(), (entry.object, place));
        let schema = self.setting.schema();
        for object in schema.lineage(entry.object) {
            let object = &schema[object];
            let property = NamedNode::new_unchecked(object.type_prop.as_str());
            for ty in &object.types {
                let ty = NamedNode::new_unchecked(ty.as_str());
                let triple = Triple::new(id.clone(), property.clone(), ty);
                self.overlay.add(triple, self.setting.graph);
            }
        }
        self.note_row_write(place, &id, entry.object, None);
        for change in &entry.changes {
            self.note_row_write(place, &id, entry.object, Some(change.property));
            if let Change::Set(values) = &change.change {
                self.add_values(place, &id, change.property, values);
            }
        }
    }

    /// Changes an object of a concrete type.
    pub(super) fn update(&mut self, place: usize, id: &NamedNode, object: ObjectId) {
        self.updated.insert(id.clone(), object);
        self.check_id_right(place, object);
        self.note_row_write(place, id, object, None);
        for change in &self.entry(place).changes {
            if let Some(property) = self.property_of(place, object, change) {
                self.check_row(place, id, object, property, Manner::of(&change.change));
                self.note_row_write(place, id, object, Some(property));
                self.change(place, id, property, change);
            }
        }
    }

    /// Checks that values of an object may be read which what is given is compared with.
    fn check_row(
        &mut self,
        place: usize,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        manner: Manner,
    ) {
        if self.reads(id, object, Part::Property(property)) {
            return;
        }
        let rights = self.setting.rights;
        let missing = rights.lacks_comparison(object, property, manner, false);
        let name = &self.setting.schema()[property].name.graphql;
        self.deny(place, name, missing);
    }

    /// Notes that something is written to an object, where conditions of roles decide whether it may.
    pub(super) fn note_row_write(
        &mut self,
        entry: usize,
        id: &NamedNode,
        object: ObjectId,
        property: Option<PropertyId>,
    ) {
        let Some(access) = self.setting.rights.access else {
            return;
        };
        let part = property.map_or(Part::Id, Part::Property);
        let writing = access.allowing(object, part, Operation::Write);
        let mut conditions = writing
            .map(|role| access.condition(role, object, Operation::Write))
            .peekable();
        // One role without a condition is enough, and where there is none, the right is missing.
        if conditions.peek().is_none() || !conditions.all(|condition| condition.is_some()) {
            return;
        }
        let schema = self.setting.schema();
        self.row_writes.push(RowWrite {
            id: id.clone(),
            object,
            property,
            entry,
            member: property.map(|property| schema[property].name.graphql.clone()),
        });
    }

    /// Checks that the id of an object of a subclass may be written; that of the class itself is checked
    /// where the input is read.
    fn check_id_right(&mut self, place: usize, object: ObjectId) {
        if object != self.entry(place).object {
            self.deny(
                place,
                "id",
                self.setting.rights.lacks_write(object, Part::Id),
            );
        }
    }

    /// Reports a missing right at a member of an entry.
    fn deny(&mut self, place: usize, member: &str, missing: Option<String>) {
        if let Some(message) = missing {
            let finding = self.entry(place).finding_at(
                member,
                &[],
                graphql_service::code::ACCESS_DENIED,
                message,
            );
            self.findings.push(finding);
        }
    }

    /// Returns the property of a concrete object that a change is for, if it may be changed so.
    fn property_of(
        &mut self,
        place: usize,
        object: ObjectId,
        change: &PropertyChange,
    ) -> Option<PropertyId> {
        let schema = self.setting.schema();
        let name = &schema[change.property].name.graphql;
        let mut props = schema[object].props.iter().copied();
        let property = props.find(|id| schema[*id].name.graphql == *name)?;
        if object == self.entry(place).object {
            return Some(property);
        }
        let manner = Manner::of(&change.change);
        let missing = self.setting.rights.lacks(object, property, manner);
        if missing.is_some() {
            self.deny(place, name, missing);
            return None;
        }
        Some(property)
    }

    fn change(
        &mut self,
        place: usize,
        id: &NamedNode,
        property: PropertyId,
        change: &'a PropertyChange,
    ) {
        let of = &self.setting.schema()[property];
        let current = self.current(id, of);
        let (removed, values): (Vec<Term>, &[NewValue]) = match &change.change {
            Change::Add(values) => (Vec::new(), values),
            Change::Set(values) => {
                let new: Vec<Term> = self.terms(values);
                (replaced(of, &current, &new), values)
            }
            Change::Patch((old, below), values) => {
                let is_old = |term: &&Term| key(of, term) == key(of, old) || same_value(term, old);
                let is_old = |term: &&Term| is_old(term) && self.is_found(of, term);
                let removed: Vec<Term> = current.iter().filter(is_old).cloned().collect();
                if removed.is_empty() {
                    self.not_found.insert((place, property));
                    let message = format!("`{}` has no such value", of.name.graphql);
                    let finding = self.entry(place).finding_at(
                        &of.name.graphql,
                        below,
                        code::VALUE_NOT_FOUND,
                        message,
                    );
                    self.findings.push(finding);
                }
                (removed, values)
            }
        };
        for term in removed {
            self.step(place, id, of, term, false);
        }
        self.add_values(place, id, property, values);
    }

    /// Adds those of some values that a property does not have.
    fn add_values(
        &mut self,
        place: usize,
        id: &NamedNode,
        property: PropertyId,
        values: &'a [NewValue],
    ) {
        let of = &self.setting.schema()[property];
        // All that is given for a new object is written, in both directions.
        let current = if self.entry(place).is_new {
            Vec::new()
        } else {
            self.current(id, of)
        };
        let mut known: HashSet<ValueKey<'_>> = current.iter().map(|term| key(of, term)).collect();
        let terms = self.terms(values);
        // One value, as most properties have, is equal to no other.
        let is_only = terms.len() == 1 && known.is_empty();
        let new: Vec<bool> = terms
            .iter()
            .map(|term| is_only || known.insert(key(of, term)))
            .collect();
        drop(known);
        for value in values {
            match value {
                NewValue::Reference(object, below) => self.references.push(Reference {
                    entry: place,
                    property,
                    below,
                    object: object.clone(),
                }),
                NewValue::New(entry) => self.create(*entry),
                NewValue::Term(_) => {}
            }
        }
        for (term, _) in terms.into_iter().zip(new).filter(|(_, is_new)| *is_new) {
            self.step(place, id, of, term, true);
        }
    }

    fn terms(&self, values: &[NewValue]) -> Vec<Term> {
        let terms = values.iter().filter_map(|value| match value {
            NewValue::Term(term) => Some(self.setting.writer.as_returned(term.clone())),
            NewValue::Reference(id, _) => Some(id.clone().into()),
            NewValue::New(entry) => self.ids[*entry].clone().map(Term::from),
        });
        terms.collect()
    }

    /// Returns the values of a property as they are now.
    pub(super) fn current(&self, id: &NamedNode, property: &Property) -> Vec<Term> {
        let step = Step::from(&property.path);
        if step.inverse {
            let links = self.overlay.links(&step.predicate, id);
            links.cloned().map(Term::from).collect()
        } else {
            self.overlay.values(id, &step.predicate).cloned().collect()
        }
    }

    /// Adds or removes one value of a property, in both directions where it has two.
    fn step(&mut self, place: usize, id: &NamedNode, property: &Property, term: Term, adds: bool) {
        let predicate = NamedNode::new_unchecked(property.path.iri());
        match (&property.path, term) {
            (Path::Forward(_), term) => self.triple(place, id, predicate, term, adds),
            (Path::Inverse { .. }, Term::NamedNode(other)) => {
                self.triple(place, &other, predicate, id.clone().into(), adds);
                let touch = Touch {
                    entry: Some(place),
                    adds,
                };
                self.touch(id, || Step::from(&property.path), touch);
            }
            (Path::Inverse { .. }, _) => {}
        }
    }

    fn triple(
        &mut self,
        place: usize,
        subject: &NamedNode,
        predicate: NamedNode,
        object: Term,
        adds: bool,
    ) {
        let partners = self.setting.facts.partners(&predicate);
        let end = match &object {
            Term::NamedNode(end) if !partners.is_empty() => Some(end.clone()),
            _ => None,
        };
        self.one_triple(place, subject, predicate, object, adds);
        let Some(end) = end else { return };
        for partner in partners {
            let back = subject.clone().into();
            self.one_triple(place, &end, partner.clone(), back, adds);
        }
    }

    fn one_triple(
        &mut self,
        place: usize,
        subject: &NamedNode,
        predicate: NamedNode,
        object: Term,
        adds: bool,
    ) {
        let touch = Touch {
            entry: Some(place),
            adds,
        };
        self.touch(subject, || Step::forward(predicate.clone()), touch);
        let triple = Triple::new(subject.clone(), predicate, object);
        if adds {
            self.overlay.add(triple, self.setting.graph)
        } else {
            self.overlay.remove(&triple)
        }
    }

    /// Notes that the values of an object along a step changed. What the entry of a new object gives is
    /// checked with the object as a whole.
    fn touch(&mut self, id: &NamedNode, step: impl FnOnce() -> Step, touch: Touch) {
        let created = self.created.get(id);
        if created.is_some_and(|(_, own)| Some(*own) == touch.entry) {
            return;
        }
        let touched = self.touched.entry((id.clone(), step()));
        touched.or_insert(touch).adds |= touch.adds;
    }

    /// Deletes an object of a concrete type, with all that leads to it.
    pub(super) fn delete(&mut self, id: &NamedNode, object: ObjectId) {
        self.deleted.insert(id.clone(), object);
        self.overlay.remove_all(id);
    }

    /// Notes which steps the deleted objects leave other values in.
    pub(super) fn touch_around_deleted(&mut self) {
        let changed: Vec<Triple> = if self.deleted.is_empty() {
            Vec::new()
        } else {
            self.overlay.changed().cloned().collect()
        };
        for triple in changed {
            if let oxrdf::NamedOrBlankNode::NamedNode(subject) = &triple.subject {
                let touch = Touch {
                    entry: None,
                    adds: false,
                };
                self.touch(subject, || Step::forward(triple.predicate.clone()), touch);
            }
        }
    }

    /// Returns the concrete type of an object among those that a type of the schema has. A new object has the
    /// types that it is given, whatever is stored under its id.
    pub(super) fn instance_of(&self, id: &NamedNode, object: ObjectId) -> Option<ObjectId> {
        let api = self.setting.api;
        let target: TypeRef = api.range_type(object);
        let ty = self.setting.types.get(api, target);
        let types = |property: &NamedNode| match self.created.get(id) {
            Some((created, _)) => self.types_given(*created, property),
            None => self.types_stored(id, property),
        };
        let mut alternatives = ty.test.alternatives.iter();
        let passes = alternatives
            .any(|(property, wanted)| types(property).iter().any(|ty| wanted.contains(ty)));
        if !passes {
            return None;
        }
        let properties = ty.index.properties().enumerate();
        let found: Vec<(usize, NamedNode)> = properties
            .flat_map(|(place, property)| types(property).into_iter().map(move |ty| (place, ty)))
            .collect();
        ty.index
            .resolve(found.iter().map(|(place, ty)| (*place, ty)))
    }

    fn types_stored(&self, id: &NamedNode, property: &NamedNode) -> Vec<NamedNode> {
        let types = self.overlay.values(id, property).filter_map(|ty| match ty {
            Term::NamedNode(ty) => Some(ty.clone()),
            _ => None,
        });
        types.collect()
    }

    /// Returns the types that a new object is given.
    fn types_given(&self, object: ObjectId, property: &NamedNode) -> Vec<NamedNode> {
        let schema = self.setting.schema();
        let objects = schema.lineage(object).map(|object| &schema[object]);
        objects
            .filter(|object| object.type_prop == property.as_str())
            .flat_map(|object| &object.types)
            .map(NamedNode::new_unchecked)
            .collect()
    }

    /// Returns the concrete type of an object.
    pub(super) fn type_of(&self, id: &NamedNode) -> Option<ObjectId> {
        let index = &self.setting.facts.types;
        index.resolve(types_of(&self.overlay, id, index))
    }

    /// Returns the patterns of an object's types.
    pub(super) fn types_wanted(&self, id: &NamedNode, wanted: &mut Vec<QuadPattern>) {
        for property in &self.setting.facts.type_properties {
            wanted.push(QuadPattern::Values {
                subject: id.clone(),
                predicate: property.clone(),
            });
        }
    }
}

/// Returns the current values that new ones replace: all others, but for a single-valued text, which has
/// one value in each language.
fn replaced(property: &Property, current: &[Term], new: &[Term]) -> Vec<Term> {
    let keys: HashSet<ValueKey<'_>> = new.iter().map(|term| key(property, term)).collect();
    let by_language = !property.max.is_multiple() && matches!(property.range, Range::Literal(_));
    let tag = |term: &Term| match term {
        Term::Literal(literal) => literal.language().map(str::to_ascii_lowercase),
        _ => None,
    };
    let stays = |term: &Term| {
        let other_language = || {
            let own = tag(term);
            let differs = |new: &Term| tag(new).is_some_and(|new| Some(new) != own);
            own.is_some() && new.iter().all(differs)
        };
        keys.contains(&key(property, term)) || (by_language && !new.is_empty() && other_language())
    };
    current
        .iter()
        .filter(|term| !stays(term))
        .cloned()
        .collect()
}

pub(super) fn types_of<'o>(
    overlay: &'o Overlay,
    id: &NamedNode,
    index: &TypeIndex,
) -> impl Iterator<Item = (usize, &'o NamedNode)> {
    let properties: Vec<NamedNode> = index.properties().cloned().collect();
    let id = id.clone();
    properties
        .into_iter()
        .enumerate()
        .flat_map(move |(place, property)| {
            let types = overlay.values(&id, &property);
            types.filter_map(move |ty| match ty {
                Term::NamedNode(ty) => Some((place, ty)),
                _ => None,
            })
        })
}

/// Returns whether two literals of one datatype are the same value, such as `"05"` and `"5"`, which answers show
/// as they are where a property has several datatypes.
fn same_value(a: &Term, b: &Term) -> bool {
    let (Term::Literal(of_a), Term::Literal(of_b)) = (a, b) else {
        return false;
    };
    let datatype = of_a.datatype();
    let scalar = Scalar::from_datatype_iri(datatype.as_str());
    let value = |term| scalar.and_then(|scalar| canonical_value(scalar, term));
    of_b.datatype() == datatype && value(a).is_some() && value(a) == value(b)
}

/// A value of a property, equal to others that answers show alike.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum ValueKey<'t> {
    Canonical(CanonicalValue<'t>),
    Term(&'t Term),
}

/// Returns the key of a value of a property.
pub(super) fn key<'t>(property: &Property, term: &'t Term) -> ValueKey<'t> {
    let canonical = match (property.range, term) {
        (Range::Scalar(scalar), _) => canonical_value(scalar, term),
        (Range::Literal(_), Term::Literal(literal)) => Some(CanonicalValue::of_literal(literal)),
        (Range::Enum(_), Term::Literal(literal)) => {
            Some(CanonicalValue::Text(literal.value().into()))
        }
        _ => None,
    };
    canonical.map_or(ValueKey::Term(term), ValueKey::Canonical)
}
