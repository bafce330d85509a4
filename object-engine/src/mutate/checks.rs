//! What must hold of the data as a mutation leaves them.

use std::collections::{HashMap, HashSet};

use apollo_compiler::response::JsonValue;
use graph_store::query::Step;
use graph_store::write::QuadPattern;
use graphql_service::ErrorCode;
use graphql_service::error::GraphqlError;
use oxrdf::{NamedNode, Term};
use soml_core::access::{Access, Part};
use soml_core::schema::{Max, ObjectId, Property, PropertyId, Range};

use super::draft::{Draft, ValueKey, key};
use crate::code;
use crate::plan::{Place, is_text, validation};

/// Most ids that a finding lists.
const LISTED: usize = 100;

impl Draft<'_> {
    /// Returns the patterns that the checks need.
    pub(super) fn wanted_by_checks(&self) -> Vec<QuadPattern> {
        let mut wanted = Vec::new();
        for (id, (object, _)) in &self.created {
            wanted.push(QuadPattern::About(id.clone()));
            // What there is may lead to the new object already.
            let schema = self.setting.schema();
            let steps = schema[*object].props.iter();
            let steps = steps.map(|property| Step::from(&schema[*property].path));
            let facts = self.setting.facts;
            let aliases = steps.filter(|step| step.inverse && facts.is_bounded(step));
            wanted.extend(aliases.map(|step| pattern_of(id, &step)));
        }
        for reference in &self.references {
            if !self.created.contains_key(&reference.object) {
                self.types_wanted(&reference.object, &mut wanted);
            }
        }
        for (id, step) in self.touched.keys() {
            if self.created.contains_key(id) || self.deleted.contains_key(id) {
                continue;
            }
            self.types_wanted(id, &mut wanted);
            // Also where nothing bounds the values, since some graph may have the triple already.
            wanted.push(pattern_of(id, step));
        }
        wanted
    }

    /// Checks everything, and notes the objects that are changed beside those that were named.
    pub(super) fn check(&mut self) {
        self.check_new_ids();
        self.check_references();
        self.check_created();
        let touched: Vec<_> = self.touched.keys().cloned().collect();
        for (place, (id, step)) in touched.into_iter().enumerate() {
            let entry = self.touched[place];
            self.check_touched(&id, &step, entry);
        }
    }

    fn check_new_ids(&mut self) {
        for (id, (_, place)) in &self.created {
            if self.overlay.existed(id) {
                let message = format!(
                    "`{}` is not available as the id of a new object",
                    id.as_str()
                );
                let finding = self.setting.plan.entries[*place].finding_at(
                    "id",
                    &[],
                    code::ID_NOT_AVAILABLE,
                    message,
                );
                self.findings.push(finding);
            }
        }
    }

    fn check_references(&mut self) {
        for reference in std::mem::take(&mut self.references) {
            let property = &self.setting.schema()[reference.property];
            let Range::Object(range) = property.range else {
                continue;
            };
            let found = self.instance_of(&reference.object, range);
            let other = reference.object.as_str();
            if !found.is_some_and(|object| self.sees(object)) {
                let ty = self.setting.api.type_name(range);
                let message = format!("there is no `{ty}` with the id `{other}`");
                let entry = self.entry(reference.entry);
                let finding = entry.finding_at(
                    &property.name.graphql,
                    reference.below,
                    code::REFERENCE_NOT_FOUND,
                    message,
                );
                self.findings.push(finding);
            }
        }
    }

    /// Checks that new objects have what they must have.
    fn check_created(&mut self) {
        let created: Vec<_> = self
            .created
            .iter()
            .map(|(id, of)| (id.clone(), *of))
            .collect();
        for (id, (object, place)) in created {
            if self.deleted.contains_key(&id) {
                continue;
            }
            let schema = self.setting.schema();
            for &property in &schema[object].props {
                self.check_values(&id, property, Some(place));
            }
        }
    }

    /// Checks the properties of an object whose values a step leads to. An `inverseAlias` bounds what is
    /// given for itself, and nothing that is given for the property that it is an alias of.
    fn check_touched(&mut self, id: &NamedNode, step: &Step, place: Option<usize>) {
        if self.deleted.contains_key(id) {
            return;
        }
        let created = self.created.get(id).copied();
        let named = self.updated.get(id).copied();
        let known = created.map(|(object, _)| object).or(named);
        let Some(object) = known.or_else(|| self.type_of(id)) else {
            return;
        };
        let schema = self.setting.schema();
        // What deleting leaves is checked apart.
        for &property in schema[object].props.iter().filter(|_| place.is_some()) {
            if Step::from(&schema[property].path) == *step {
                match created {
                    None => self.check_values(id, property, place),
                    // What new objects have is checked apart, and the right to what is given where it is.
                    Some((_, own)) if self.entry(own).gives(property) => continue,
                    Some(_) => {}
                }
                self.check_right(id, object, property, place);
            }
        }
        if known.is_none() && !step.inverse {
            self.beside.insert(id.clone(), object);
        }
    }

    /// Checks that the property of another object may be written, whose triple a value is.
    fn check_right(
        &mut self,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        place: Option<usize>,
    ) {
        let step = Step::from(&self.setting.schema()[property].path);
        let is_own = place.is_none_or(|place| self.is_named(id, place));
        if is_own || step.inverse {
            return;
        }
        if !self.may_write(object, Part::Property(property)) {
            let name = &self.setting.schema()[property].name.graphql;
            let ty = self.setting.api.type_name(object);
            let message = format!("`{name}` of `{ty}` cannot be written without permission");
            self.report(place, None, code::ACCESS_DENIED, message);
        }
    }

    /// Tells whether an entry is about an object.
    fn is_named(&self, id: &NamedNode, place: usize) -> bool {
        match &self.ids[place] {
            Some(named) => named == id,
            None => self.updated.contains_key(id),
        }
    }

    /// Checks the values of a property as a whole.
    fn check_values(&mut self, id: &NamedNode, property: PropertyId, place: Option<usize>) {
        let of = &self.setting.schema()[property];
        let entry = place.map(|place| self.entry(place));
        let schema = self.setting.schema();
        let is_this = |refused: &PropertyId| schema[*refused].name.graphql == of.name.graphql;
        if entry.is_some_and(|entry| entry.refused.iter().any(is_this)) {
            return;
        }
        let values = self.current(id, of);
        let keys: HashSet<ValueKey<'_>> = values.iter().map(|term| key(of, term)).collect();
        let count = count(of, &values, &keys);
        let name = &of.name.graphql;
        let id_text = id.as_str();
        let mut found: Vec<(ErrorCode, String)> = Vec::new();
        if count < of.min as usize {
            let what = amount(count);
            let message = format!(
                "`{name}` of `{id_text}` needs at least {}, and has {what}",
                of.min
            );
            found.push((code::MIN_VIOLATED, message));
        }
        if let Max::Count(max) = of.max
            && count > max as usize
        {
            let what = amount(count);
            let message = format!("`{name}` of `{id_text}` takes at most {max}, and has {what}");
            found.push((code::MAX_VIOLATED, message));
        }
        if let Some(tag) = self.repeated_language(of, &values) {
            let message = format!("`{name}` of `{id_text}` has several values {tag}");
            found.push((code::LANG_NOT_UNIQUE, message));
        }
        if of.immutable && !self.created.contains_key(id) && self.was_changed(id, of, &keys) {
            let message = format!("`{name}` of `{id_text}` can be set once, and is set");
            found.push((code::IMMUTABLE, message));
        }
        let is_own = place.is_none_or(|place| self.is_named(id, place));
        for (code, message) in found {
            self.report(place, Some(property).filter(|_| is_own), code, message);
        }
    }

    fn repeated_language(&self, property: &Property, values: &[Term]) -> Option<String> {
        let rule = validation(self.setting.schema(), property)?;
        if !rule.unique || !matches!(property.range, Range::Literal(_)) {
            return None;
        }
        let mut seen = HashSet::new();
        let tags = values.iter().filter_map(|term| match term {
            Term::Literal(literal) if is_text(literal) => {
                Some(literal.language().unwrap_or("").to_ascii_lowercase())
            }
            _ => None,
        });
        let repeated = tags.into_iter().find(|tag| !seen.insert(tag.clone()))?;
        Some(match repeated.as_str() {
            "" => "without a language tag".to_owned(),
            tag => format!("in language `{tag}`"),
        })
    }

    /// Tells whether a property had values, and has others now.
    fn was_changed(
        &self,
        id: &NamedNode,
        property: &Property,
        now: &HashSet<ValueKey<'_>>,
    ) -> bool {
        let step = Step::from(&property.path);
        if step.inverse {
            return false;
        }
        let before: Vec<&Term> = self.overlay.original(id, &step.predicate).collect();
        let before: HashSet<ValueKey<'_>> = before.iter().map(|term| key(property, term)).collect();
        !before.is_empty() && before != *now
    }

    /// Reports a finding at a property of the object that the entry is about, or else at the entry.
    fn report(
        &mut self,
        place: Option<usize>,
        property: Option<PropertyId>,
        code: ErrorCode,
        message: String,
    ) {
        let finding = match place {
            None => GraphqlError::new(code, message),
            Some(place) => {
                let entry = self.entry(place);
                let schema = self.setting.schema();
                let name = property.map(|id| schema[id].name.graphql.as_str());
                let given = name.filter(|name| {
                    let of = &schema[entry.object];
                    of.props.iter().any(|id| schema[*id].name.graphql == *name)
                });
                match given {
                    Some(name) => entry.finding_at(name, &[], code, message),
                    None => entry.finding(code, message),
                }
            }
        };
        self.findings.push(finding);
    }

    /// Checks that what leads to deleted objects can do without them.
    pub(super) fn check_deleted(&mut self, place: &Place) {
        let mut referrers: Vec<String> = Vec::new();
        let mut hidden = false;
        let by_deleting = self.touched.iter().filter(|(_, entry)| entry.is_none());
        for (id, step) in by_deleting.map(|(touched, _)| touched) {
            let is_gone = self.deleted.contains_key(id) || self.created.contains_key(id);
            let Some(object) = self.type_of(id).filter(|_| !is_gone) else {
                continue;
            };
            for property in self.lacking(id, object, step) {
                let part = Part::Property(property);
                let reads = |rights: &Access| rights.reads(object, part);
                match self.setting.rights.is_none_or(reads) {
                    true => referrers.push(id.as_str().to_owned()),
                    false => hidden = true,
                }
            }
        }
        if referrers.is_empty() && !hidden {
            return;
        }
        referrers.sort_unstable();
        referrers.dedup();
        let count = referrers.len();
        referrers.truncate(LISTED);
        let message = match count {
            0 => "other objects need what would be deleted".to_owned(),
            count => format!("{count} other objects need what would be deleted"),
        };
        let ids: Vec<JsonValue> = referrers.into_iter().map(Into::into).collect();
        let finding = place.finding(code::REFERENCED, message, &[]);
        self.findings.push(finding.with("ids", ids));
    }

    /// Returns the properties behind a step that have fewer values than they need.
    fn lacking(&self, id: &NamedNode, object: ObjectId, step: &Step) -> Vec<PropertyId> {
        let schema = self.setting.schema();
        let props = schema[object].props.iter().copied();
        let lacking = props.filter(|property| {
            let of = &schema[*property];
            if of.min == 0 || Step::from(&of.path) != *step {
                return false;
            }
            let values = self.current(id, of);
            let keys = values.iter().map(|term| key(of, term)).collect();
            count(of, &values, &keys) < of.min as usize
        });
        lacking.collect()
    }
}

/// Returns the number of values of a property. Those that answers show alike count once, and a single-valued
/// text may have a value in each language.
fn count(property: &Property, values: &[Term], keys: &HashSet<ValueKey<'_>>) -> usize {
    let mut by_tag: HashMap<String, usize> = HashMap::new();
    if property.max == Max::Count(1) {
        for term in values {
            match term {
                Term::Literal(literal) if literal.language().is_some() => {
                    let tag = literal.language().unwrap_or_default().to_ascii_lowercase();
                    *by_tag.entry(tag).or_default() += 1;
                }
                _ => return keys.len(),
            }
        }
    }
    by_tag.into_values().max().unwrap_or(keys.len())
}

fn amount(count: usize) -> String {
    match count {
        0 => "none".to_owned(),
        count => count.to_string(),
    }
}

/// Returns the pattern of the quads that a step follows.
pub(super) fn pattern_of(id: &NamedNode, step: &Step) -> QuadPattern {
    let predicate = step.predicate.clone();
    match step.inverse {
        false => QuadPattern::Values {
            subject: id.clone(),
            predicate,
        },
        true => QuadPattern::Links {
            predicate,
            object: id.clone(),
        },
    }
}
