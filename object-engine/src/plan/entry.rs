//! Reads the objects of a mutation: what is given for each, as terms.

use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::ErrorCode;
use graphql_service::error::{GraphqlError, PathSegment};
use oxrdf::{NamedNode, Term};
use soml_core::access::Part;
use soml_core::schema::{ObjectId, Property, PropertyId, Range};

use super::coercion::{Refused, check, coerce};
use super::input::Input;
use super::mutation::Place;
use super::regexes::SchemaRegexes;
use super::write_access::{Manner, WriteAccess};
use crate::code;
use crate::limits::EngineLimits;

/// An object to create or to change.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The object of the schema that the input is for.
    pub(crate) object: ObjectId,
    /// The object is created.
    pub(crate) is_new: bool,
    /// The id that was given.
    pub(crate) id: Option<NamedNode>,
    /// What is given for its properties, each property once.
    pub(crate) changes: Vec<PropertyChange>,
    /// Properties with values that are refused: nothing more is said about them.
    pub(crate) refused: Vec<PropertyId>,
    /// The field of the mutation that it belongs to.
    pub(crate) place: Place,
    /// Where the entry stands in the arguments.
    pub(crate) path: Vec<PathSegment>,
}

/// What is given for a property.
#[derive(Clone, Debug)]
pub(crate) struct PropertyChange {
    pub(crate) property: PropertyId,
    pub(crate) change: Change,
}

/// How the values of a property change.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// These values are added to what there is.
    Add(Vec<NewValue>),
    /// These values take the place of all that there is.
    Set(Vec<NewValue>),
    /// These values take the place of one of those that there are, which stands below the property.
    Patch((Term, Vec<PathSegment>), Vec<NewValue>),
}

/// A value to add.
#[derive(Clone, Debug)]
pub(crate) enum NewValue {
    /// A literal, or an IRI that is not an object.
    Term(Term),
    /// An object that exists, or that the mutation creates; and where the id stands below the property.
    Reference(NamedNode, Vec<PathSegment>),
    /// An object that is created with the one that refers to it: its place among the entries.
    New(usize),
}

impl Change {
    /// Returns the values that are added.
    pub(crate) fn values(&self) -> &[NewValue] {
        match self {
            Change::Add(values) | Change::Set(values) | Change::Patch(_, values) => values,
        }
    }
}

impl Entry {
    /// Returns whether something is given for a property.
    pub(crate) fn gives(&self, property: PropertyId) -> bool {
        let mut changes = self.changes.iter().map(|change| change.property);
        changes.any(|given| given == property) || self.refused.contains(&property)
    }

    /// Returns a finding about the entry.
    pub(crate) fn finding(&self, code: ErrorCode, message: impl Into<String>) -> GraphqlError {
        self.place.finding(code, message, &self.path)
    }

    /// Returns a finding about a member of the entry.
    pub(crate) fn finding_at(
        &self,
        member: &str,
        below: &[PathSegment],
        code: ErrorCode,
        message: impl Into<String>,
    ) -> GraphqlError {
        let mut path = self.path.clone();
        path.push(PathSegment::Key(member.to_owned()));
        path.extend_from_slice(below);
        self.place.finding(code, message, &path)
    }
}

/// Reads the entries of one field.
pub(super) struct EntryReader<'a> {
    pub(super) api: &'a Api,
    pub(super) limits: &'a EngineLimits,
    pub(super) regexes: &'a SchemaRegexes,
    pub(super) rights: WriteAccess<'a>,
    pub(super) place: &'a Place,
    pub(super) entries: &'a mut Vec<Entry>,
    pub(super) findings: &'a mut Vec<GraphqlError>,
}

/// What an input is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A new object.
    Create,
    /// Changes of the object with the id that is given.
    Update,
    /// Changes of the objects that `where` selects.
    UpdateSelected,
}

impl EntryReader<'_> {
    /// Reads an entry and what it creates; returns its place among the entries.
    pub(super) fn read(
        &mut self,
        purpose: Purpose,
        object: ObjectId,
        input: &Input,
        path: Vec<PathSegment>,
    ) -> Option<usize> {
        let at = self.entry(purpose, object, input, path)?;
        // An update by `id` tells whether the object exists (docs/access.md, "What a mutation
        // reveals").
        if purpose == Purpose::Update {
            self.deny(at, "id", self.rights.lacks_ids(object));
        }
        let entry = &self.entries[at];
        let finding = match (purpose, &entry.id) {
            (Purpose::Update, None) if !members_have_id(input) => {
                let message = "an update needs the `id` of its object, or `where` together with \
                               `objects`";
                entry.finding(code::ID_INVALID, message)
            }
            (Purpose::UpdateSelected, Some(_)) => {
                let message = "`where` selects the objects, so `id` cannot be given";
                entry.finding_at("id", &[], code::INPUT_INVALID, message)
            }
            _ => return Some(at),
        };
        self.findings.push(finding);
        if purpose == Purpose::UpdateSelected {
            // The entry is about the selected objects all the same.
            self.entries[at].id = None;
        }
        Some(at)
    }

    /// Checks the number of entries so far (`mutation.maxAffected`, docs/writing.md, "What is
    /// checked"). Objects created inside of others count too.
    pub(super) fn check_count(&self) -> Result<(), GraphqlError> {
        let limit = self.limits.affected;
        if self.entries.len() <= limit {
            return Ok(());
        }
        let message = "the mutation writes too many objects";
        Err(GraphqlError::new(code::LIMIT_AFFECTED, message)
            .at(self.place.location)
            .with("limit", limit as u64))
    }

    fn entry(
        &mut self,
        purpose: Purpose,
        object: ObjectId,
        input: &Input,
        path: Vec<PathSegment>,
    ) -> Option<usize> {
        // Validation lets nothing but objects through.
        let Input::Object(members) = input else {
            return None;
        };
        // Before those that it creates.
        let at = self.entries.len();
        self.entries.push(Entry {
            object,
            is_new: purpose == Purpose::Create,
            id: None,
            changes: Vec::new(),
            refused: Vec::new(),
            place: self.place.clone(),
            path,
        });
        // Creating and changing need `write` on `id` and on each given property (docs/writing.md,
        // "What is checked").
        self.deny(at, "id", self.rights.lacks_write(object, Part::Id));
        for (name, value) in members {
            if name == "id" {
                self.id(at, value);
            } else if let Some(property) = self.property(object, name) {
                let manner = self.manner(purpose, property, value);
                if !self.is_preset(object, property) {
                    self.deny(at, name, self.rights.lacks(object, property, manner));
                }
                self.member(purpose, at, property, value);
            }
        }
        self.presets(purpose, at);
        Some(at)
    }

    /// Returns whether roles leave clients no choice of a property's value, so that no right to
    /// write it is needed.
    fn is_preset(&self, object: ObjectId, property: PropertyId) -> bool {
        let presets = self.rights.presets(object, property);
        presets.is_some_and(|presets| !presets.leave_a_choice)
    }

    /// Sets the values that clients may not choose, and those that they have not chosen
    /// (docs/access.md, "Conditions on objects").
    fn presets(&mut self, purpose: Purpose, at: usize) {
        let object = self.entries[at].object;
        let soml = self.api.soml().clone();
        for &property in &soml[object].props {
            let Some(presets) = self.rights.presets(object, property) else {
                continue;
            };
            let of = &soml[property];
            let is_given = self.entries[at].gives(property);
            // Where another role has no preset, it is only a default for new objects.
            if presets.leave_a_choice && (is_given || purpose != Purpose::Create) {
                continue;
            }
            let mut offered = Vec::new();
            let mut missing = None;
            for values in presets.values {
                match values {
                    Ok(values) => offered.extend(self.preset(at, of, &values)),
                    Err(claim) => missing = missing.or(Some(claim)),
                }
            }
            let name = of.name.graphql.as_str();
            if let (true, Some(claim)) = (offered.is_empty(), missing) {
                let message = format!(
                    "`{name}` is set by the role of the sender, whose claim `{claim}` is missing or has no such value"
                );
                self.deny(at, name, Some(message));
                continue;
            }
            let Some(first) = offered.first() else {
                continue;
            };
            if !is_given {
                let change = first.clone();
                self.entries[at]
                    .changes
                    .push(PropertyChange { property, change });
                continue;
            }
            let mut changes = self.entries[at].changes.iter_mut();
            let given = changes.find(|given| given.property == property);
            let is_offered = |change: &Change| {
                offered
                    .iter()
                    .any(|offered| has_same_values(offered, change))
            };
            match given {
                Some(given) if is_offered(&given.change) => {
                    // It takes the place of whatever there is.
                    given.change = Change::Set(given.change.values().to_vec());
                }
                Some(_) => {
                    let message = format!("`{name}` is set by the role of the sender");
                    self.deny(at, name, Some(message));
                }
                None => {}
            }
        }
    }

    /// Reads preset values as those of a new object; none where they do not fit.
    fn preset(&mut self, at: usize, property: &Property, values: &[Input]) -> Option<Change> {
        let values = Input::List(values.to_vec());
        let before = self.findings.len();
        let change = match property.range {
            Range::Object(_) => {
                let ids = Input::Object(vec![("ids".to_owned(), values)]);
                self.references(Purpose::Create, at, property, &ids)
            }
            _ => self.values(Purpose::Create, at, property, &values),
        };
        (self.findings.len() == before).then_some(change).flatten()
    }

    fn property(&self, object: ObjectId, name: &str) -> Option<PropertyId> {
        let soml = self.api.soml();
        let mut props = soml[object].props.iter().copied();
        props.find(|id| soml[*id].name.graphql == name)
    }

    /// Reports a missing right.
    fn deny(&mut self, at: usize, member: &str, missing: Option<String>) {
        if let Some(message) = missing {
            let finding = self.entries[at].finding_at(
                member,
                &[],
                graphql_service::code::ACCESS_DENIED,
                message,
            );
            self.findings.push(finding);
        }
    }

    /// Returns how what is given for a property changes its values.
    fn manner(&self, purpose: Purpose, property: PropertyId, value: &Input) -> Manner {
        if purpose == Purpose::Create {
            return Manner::Create;
        }
        let items = value.as_list();
        let gives = |name: &str| items.iter().any(|item| member_of(item, name).is_some());
        let replaces = |item: &Input| member_of(item, "replace") == Some(&Input::Boolean(true));
        let is_multiple = self.api.soml()[property].max.is_multiple();
        match value {
            Input::Null => Manner::Set,
            _ if gives("patch") => Manner::Patch,
            _ if is_multiple && !items.iter().any(replaces) => Manner::Add,
            _ => Manner::Set,
        }
    }

    fn id(&mut self, at: usize, value: &Input) {
        let Some(text) = value.as_text() else {
            return;
        };
        let entry = &mut self.entries[at];
        match NamedNode::new(text) {
            Ok(id) => entry.id = Some(id),
            Err(error) => {
                let message = format!("`{text}` is not an absolute IRI: {error}");
                let finding = entry.finding_at("id", &[], code::ID_INVALID, message);
                self.findings.push(finding);
            }
        }
    }

    fn member(&mut self, purpose: Purpose, at: usize, id: PropertyId, value: &Input) {
        let soml = self.api.soml().clone();
        let property = &soml[id];
        let before = self.findings.len();
        let change = match (purpose, value) {
            // Null clears a property of an object that exists; a new one has nothing to clear
            // (docs/writing.md, "Creating" and "Changing").
            (Purpose::Create, Input::Null) => return,
            (_, Input::Null) => Some(Change::Set(Vec::new())),
            (_, value) => match property.range {
                Range::Object(_) => self.references(purpose, at, property, value),
                _ => self.values(purpose, at, property, value),
            },
        };
        if self.findings.len() > before {
            self.entries[at].refused.push(id);
        }
        if let Some(change) = change {
            self.entries[at].changes.push(PropertyChange {
                property: id,
                change,
            });
        }
    }

    /// Reads the values of a property that are not objects.
    fn values(
        &mut self,
        purpose: Purpose,
        at: usize,
        property: &Property,
        value: &Input,
    ) -> Option<Change> {
        let multiple = property.max.is_multiple();
        if purpose == Purpose::Create || !multiple {
            let values = self.value_list(at, property, value, &[], multiple);
            return Some(Change::Set(values));
        }
        let value_of = |name: &str| member_of(value, name);
        let below = [PathSegment::Key("value".to_owned())];
        let values = match value_of("value") {
            Some(values) => self.value_list(at, property, values, &below, true),
            None => Vec::new(),
        };
        let replace = matches!(value_of("replace"), Some(Input::Boolean(true)));
        let Some(patch) = value_of("patch") else {
            return Some(if replace {
                Change::Set(values)
            } else {
                Change::Add(values)
            });
        };
        // `patch` replaces one value and `replace` all of them (docs/writing.md, "Changing").
        if replace {
            self.refuse_both(at, property);
            return None;
        }
        let below = [PathSegment::Key("patch".to_owned())];
        match coerce(self.api.soml(), property, patch) {
            Ok(term) => Some(Change::Patch((term, below.to_vec()), values)),
            Err(refused) => {
                self.refuse(at, property, &below, refused);
                None
            }
        }
    }

    fn value_list(
        &mut self,
        at: usize,
        property: &Property,
        value: &Input,
        below: &[PathSegment],
        many: bool,
    ) -> Vec<NewValue> {
        let mut values = Vec::new();
        for (index, item) in value.as_list().iter().enumerate() {
            let mut place = below.to_vec();
            if many {
                place.push(PathSegment::Index(index));
            }
            match self.checked(property, item) {
                Ok(term) => values.push(NewValue::Term(term)),
                Err(refused) => self.refuse(at, property, &place, refused),
            }
        }
        values
    }

    /// Reads a value that follows the rules of its property.
    fn checked(&self, property: &Property, input: &Input) -> Result<Term, Refused> {
        let soml = self.api.soml();
        let term = coerce(soml, property, input)?;
        check(soml, property, self.regexes, &term)?;
        Ok(term)
    }

    fn refuse(&mut self, at: usize, property: &Property, below: &[PathSegment], why: Refused) {
        let member = &property.name.graphql;
        let finding = self.entries[at].finding_at(member, below, why.code, why.message);
        self.findings.push(finding);
    }

    fn refuse_both(&mut self, at: usize, property: &Property) {
        let refused = Refused {
            code: code::INPUT_INVALID,
            message: "`patch` and `replace` cannot be combined".to_owned(),
        };
        self.refuse(at, property, &[], refused);
    }

    /// Reads the objects that a property refers to.
    fn references(
        &mut self,
        purpose: Purpose,
        at: usize,
        property: &Property,
        value: &Input,
    ) -> Option<Change> {
        let mut values = Vec::new();
        let mut replaces = false;
        let mut patched = None;
        for (index, item) in value.as_list().iter().enumerate() {
            let Input::Object(members) = item else {
                continue;
            };
            for (name, member) in members {
                let below = vec![PathSegment::Index(index), PathSegment::Key(name.clone())];
                match (name.as_str(), member) {
                    (_, Input::Null) => {}
                    ("replace", flag) => replaces |= *flag == Input::Boolean(true),
                    ("patch", id) => patched = self.reference(at, property, id, below),
                    ("ids", ids) => values.extend(self.ids(at, property, ids, &below)),
                    (ty, new) => values.extend(self.new_objects(at, property, ty, new, &below)),
                }
            }
        }
        let patched = match patched {
            Some(NewValue::Reference(id, below)) => Some((Term::from(id), below)),
            _ => None,
        };
        if patched.is_some() && replaces {
            self.refuse_both(at, property);
            return None;
        }
        let single = !property.max.is_multiple();
        Some(match patched {
            Some(old) => Change::Patch(old, values),
            // A property with at most one value takes the new one (docs/writing.md, "Changing").
            None if replaces || single || purpose == Purpose::Create => Change::Set(values),
            None => Change::Add(values),
        })
    }

    fn ids(
        &mut self,
        at: usize,
        property: &Property,
        ids: &Input,
        below: &[PathSegment],
    ) -> Vec<NewValue> {
        let mut values = Vec::new();
        for (index, id) in ids.as_list().iter().enumerate() {
            let mut place = below.to_vec();
            place.push(PathSegment::Index(index));
            values.extend(self.reference(at, property, id, place));
        }
        values
    }

    fn reference(
        &mut self,
        at: usize,
        property: &Property,
        id: &Input,
        below: Vec<PathSegment>,
    ) -> Option<NewValue> {
        match self.checked(property, id) {
            Ok(Term::NamedNode(id)) => Some(NewValue::Reference(id, below)),
            Ok(_) => None,
            Err(refused) => {
                self.refuse(at, property, &below, refused);
                None
            }
        }
    }

    /// Reads objects that are created with the one that refers to them.
    fn new_objects(
        &mut self,
        at: usize,
        property: &Property,
        ty: &str,
        new: &Input,
        below: &[PathSegment],
    ) -> Vec<NewValue> {
        let mut values = Vec::new();
        let Some(TypeRef::Concrete(object)) = self.api.type_ref(ty) else {
            return values;
        };
        for (index, item) in new.as_list().iter().enumerate() {
            let mut path = self.entries[at].path.clone();
            path.push(PathSegment::Key(property.name.graphql.clone()));
            path.extend_from_slice(below);
            path.push(PathSegment::Index(index));
            let new = self.entry(Purpose::Create, object, item, path);
            values.extend(new.map(NewValue::New));
        }
        values
    }
}

/// Returns whether two changes add the same values.
fn has_same_values(a: &Change, b: &Change) -> bool {
    let values = |change: &Change| {
        let values = change.values().iter();
        let terms = values.map(|value| match value {
            NewValue::Term(term) => Some(term.to_string()),
            NewValue::Reference(id, _) => Some(id.to_string()),
            NewValue::New(_) => None,
        });
        let terms: Option<Vec<String>> = terms.collect();
        terms.map(|mut terms| {
            terms.sort_unstable();
            terms
        })
    };
    let (of_a, of_b) = (values(a), values(b));
    of_a.is_some() && of_a == of_b
}

/// Returns whether an id is given, of whatever form.
fn members_have_id(input: &Input) -> bool {
    member_of(input, "id").is_some()
}

fn member_of<'i>(input: &'i Input, name: &str) -> Option<&'i Input> {
    let Input::Object(members) = input else {
        return None;
    };
    let found = members.iter().find(|(key, _)| key == name)?;
    (found.1 != Input::Null).then_some(&found.1)
}
