//! What must hold of the data as a mutation leaves them.

use std::collections::{HashMap, HashSet};

use apollo_compiler::response::JsonValue;
use graph_store::query::Step;
use graph_store::write::QuadPattern;
use graphql_service::ErrorCode;
use oxrdf::{NamedNode, Term};
use soml_core::access::Part;
use soml_core::schema::{Max, ObjectId, Path, Property, PropertyId, Range};

use super::draft::{Draft, Reference, Touch, ValueKey, key};
use crate::code;
use crate::plan::{Manner, Place, is_text, validation};

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
            let paths = schema[*object]
                .props
                .iter()
                .map(|property| &schema[*property].path);
            let aliases = paths.filter(|path| matches!(path, Path::Inverse { .. }));
            let facts = self.setting.facts;
            let aliases = aliases
                .map(Step::from)
                .filter(|step| facts.is_bounded(step));
            wanted.extend(aliases.map(|step| pattern_of(id, &step)));
        }
        let mut referred = HashSet::new();
        for Reference { object, .. } in &self.references {
            if !self.created.contains_key(object) && referred.insert(object) {
                self.types_wanted(object, &mut wanted);
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
        let mut touched: Vec<_> = self
            .touched
            .iter()
            .map(|(of, how)| (of.clone(), *how))
            .collect();
        // In an order that nothing depends on which the sender is not shown.
        touched.sort_unstable_by(|((a, of_a), how_a), ((b, of_b), how_b)| {
            let order = (how_a.entry, a, &of_a.predicate, of_a.inverse);
            order.cmp(&(how_b.entry, b, &of_b.predicate, of_b.inverse))
        });
        for ((id, step), touch) in touched {
            self.check_touched(&id, &step, touch);
        }
    }

    /// Notes which new objects have ids that something is said of already.
    pub(super) fn note_taken(&mut self) {
        let new = self.created.keys();
        let taken = new.filter(|id| self.overlay.existed(id)).cloned();
        self.taken = taken.collect();
    }

    fn check_new_ids(&mut self) {
        self.note_taken();
        for (id, (_, place)) in &self.created {
            if self.taken.contains(id) {
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
        let references = std::mem::take(&mut self.references);
        // Many references may lead to one object.
        let mut known: HashMap<(&NamedNode, ObjectId), Option<ObjectId>> = HashMap::new();
        for reference in &references {
            let property = &self.setting.schema()[reference.property];
            let Range::Object(range) = property.range else {
                continue;
            };
            if self.taken.contains(&reference.object) {
                continue;
            }
            let found = *known
                .entry((&reference.object, range))
                .or_insert_with(|| self.instance_of(&reference.object, range));
            if let Some(object) = found.filter(|object| self.finds(&reference.object, *object)) {
                self.check_other_side(reference, object);
                continue;
            }
            let other = reference.object.as_str();
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
            self.not_found.insert((reference.entry, reference.property));
        }
    }

    /// Checks the right to the property of the object that a reference leads to, whose triple it is too. Whether
    /// that is there already does not matter, since it may not be known.
    fn check_other_side(&mut self, reference: &Reference<'_>, object: ObjectId) {
        let id = &reference.object;
        if self.is_named(id, reference.entry) {
            return;
        }
        let schema = self.setting.schema();
        let step = Step::from(&schema[reference.property].path);
        let predicates = if step.inverse {
            std::slice::from_ref(&step.predicate)
        } else {
            self.setting.facts.partners(&step.predicate)
        };
        if predicates.is_empty() {
            return;
        }
        let created = self.created.get(id).map(|(_, own)| *own);
        for &property in &schema[object].props {
            let is_back = match &schema[property].path {
                Path::Forward(iri) => predicates.iter().any(|known| known.as_str() == iri),
                Path::Inverse { .. } => false,
            };
            let is_given = || created.is_some_and(|own| self.entry(own).gives(property));
            if is_back && !is_given() {
                let manner = match created {
                    Some(_) => Manner::Create,
                    None => Manner::Add,
                };
                let missing = self.setting.rights.lacks(object, property, manner);
                self.deny_entry(reference.entry, missing);
            }
        }
    }

    /// Reports a missing right at an entry.
    fn deny_entry(&mut self, place: usize, missing: Option<String>) {
        if let Some(message) = missing {
            let finding = self
                .entry(place)
                .finding(graphql_service::code::ACCESS_DENIED, message);
            self.findings.push(finding);
        }
    }

    /// Checks that new objects have what they must have.
    fn check_created(&mut self) {
        let schema = self.setting.schema();
        let mut open = Vec::new();
        for (id, &(object, place)) in &self.created {
            if self.deleted.contains_key(id) || self.taken.contains(id) {
                continue;
            }
            let props = schema[object]
                .props
                .iter()
                .copied()
                .filter(|property| !self.has_enough(id, &schema[*property]));
            open.extend(props.map(|property| (id.clone(), object, property, place)));
        }
        for (id, object, property, place) in open {
            self.check_values(&id, object, property, place, false);
        }
    }

    /// Returns whether a new object has one value of a property, or none, and may: there is nothing else to check then.
    fn has_enough(&self, id: &NamedNode, property: &Property) -> bool {
        let Path::Forward(iri) = &property.path else {
            // Others may lead to it.
            return false;
        };
        let count = self.overlay.count_up_to(2, id, iri);
        let max = match property.max {
            Max::Count(max) => max as usize,
            Max::Unbounded => usize::MAX,
        };
        count <= 1 && (property.min as usize..=max).contains(&count)
    }

    /// Checks the properties of an object whose values a step leads to. An `inverseAlias` bounds what is
    /// given for itself, and nothing that is given for the property that it is an alias of.
    fn check_touched(&mut self, id: &NamedNode, step: &Step, touch: Touch) {
        if self.deleted.contains_key(id) || self.taken.contains(id) {
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
        if let Some(place) = touch.entry {
            for &property in &schema[object].props {
                let is_given = || created.is_some_and(|(_, own)| self.entry(own).gives(property));
                if Step::from(&schema[property].path) == *step && !is_given() {
                    self.check_step(id, object, property, place, touch.adds);
                }
            }
        }
        if known.is_none() && !step.inverse {
            self.beside.insert(id.clone(), object);
        }
    }

    /// Checks a property of an object whose values an entry changes.
    fn check_step(
        &mut self,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        place: usize,
        adds: bool,
    ) {
        let rights = self.setting.rights;
        let is_own = self.is_named(id, place);
        let is_new = self.created.contains_key(id);
        let is_known = if adds {
            self.finds(id, object)
        } else {
            self.sees(id, object) && self.reads(id, object, Part::Property(property))
        };
        if !is_own && !is_new && !is_known {
            // What was added to it is not found, as a reference.
            if !adds {
                self.check_unknown(id, object, property, place);
            }
            return;
        }
        // What new objects have is checked apart.
        if !is_new {
            self.check_values(id, object, property, place, adds);
        }
        if !is_own && !Step::from(&self.setting.schema()[property].path).inverse {
            let manner = match (is_new, adds) {
                (true, _) => Manner::Create,
                (false, true) => Manner::Add,
                (false, false) => Manner::Set,
            };
            self.deny_entry(place, rights.lacks(object, property, manner));
            if !is_new && !self.reads(id, object, Part::Property(property)) {
                let missing = rights.lacks_comparison(object, property, manner, false);
                self.deny_entry(place, missing);
            }
            self.note_row_write(place, id, object, Some(property));
        }
    }

    /// Checks that an object can do without what an entry takes from it, whose values the sender is not shown:
    /// nothing is said of it but that there is one.
    fn check_unknown(
        &mut self,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        place: usize,
    ) {
        let of = &self.setting.schema()[property];
        let is_denied = self
            .setting
            .rights
            .lacks_write(object, Part::Property(property))
            .is_some();
        let is_needed = || self.amount(id, object, property).all < of.min as usize;
        let is_final = || {
            let values = self.current(id, of);
            of.immutable && self.was_changed(id, of, &values.iter().map(|v| key(of, v)).collect())
        };
        if is_denied || is_needed() || is_final() {
            let message = "other objects need what would be changed";
            let finding = self.entry(place).finding(code::REFERENCED, message);
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }

    /// Returns whether an entry is about an object.
    fn is_named(&self, id: &NamedNode, place: usize) -> bool {
        match &self.ids[place] {
            Some(named) => named == id,
            None => self.updated.contains_key(id),
        }
    }

    /// Checks the values of a property as a whole.
    fn check_values(
        &mut self,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        place: usize,
        adds: bool,
    ) {
        let schema = self.setting.schema();
        let of = &schema[property];
        let is_this = |other: &PropertyId| schema[*other].name.graphql == of.name.graphql;
        let mut not_found = self.not_found.iter();
        if self.entry(place).refused.iter().any(is_this)
            || not_found.any(|(entry, property)| *entry == place && is_this(property))
        {
            return;
        }
        let is_own = self.is_named(id, place);
        let is_given = self.entry(place).id.as_ref() == Some(id) || (adds && !is_own);
        let whole = format!(
            "`{}` of {}",
            of.name.graphql,
            self.called(id, object, is_given)
        );
        let mut found = self.check_amount(id, object, property, &whole);
        let values = self.current(id, of);
        let is_new = self.created.contains_key(id);
        let reads = self.reads_now(id, object, Part::Property(property));
        // Without the right to read them, values are given as a whole, or one in its language.
        let is_comparable = is_new || reads || of.max.is_multiple();
        if let Some(tag) = self
            .repeated_language(of, &values)
            .filter(|_| is_comparable)
        {
            let message = format!("{whole} has several values {tag}");
            found.push((code::LANG_NOT_UNIQUE, message));
        }
        let keys: HashSet<ValueKey<'_>> = values.iter().map(|term| key(of, term)).collect();
        let is_final = of.immutable && reads && !self.setting.rights.hides_any(of.range);
        if is_final && !is_new && self.was_changed(id, of, &keys) {
            let message = format!("{whole} can be set only once, and is already set");
            found.push((code::IMMUTABLE, message));
        }
        for (code, message) in found {
            self.report(place, Some(property).filter(|_| is_own), code, message);
        }
    }

    /// Checks how many values a property has. The number is given where the sender is shown all that count, and knows
    /// of the change.
    fn check_amount(
        &self,
        id: &NamedNode,
        object: ObjectId,
        property: PropertyId,
        whole: &str,
    ) -> Vec<(ErrorCode, String)> {
        let of = &self.setting.schema()[property];
        let amount = self.amount(id, object, property);
        let mut found = Vec::new();
        if amount.least() < of.min as usize {
            let has = match amount.shown.filter(|_| self.is_change_shown(id, of)) {
                None => String::new(),
                Some(0) => ", and has none".to_owned(),
                Some(count) => format!(", and has {count}"),
            };
            let message = format!("{whole} needs at least {}{has}", of.min);
            found.push((code::MIN_VIOLATED, message));
        }
        if let Max::Count(max) = of.max
            && amount.all > max as usize
        {
            let has = match amount.shown {
                Some(count) if count > max as usize => format!(", and has {count}"),
                _ => String::new(),
            };
            let message = format!("{whole} takes at most {max}{has}");
            found.push((code::MAX_VIOLATED, message));
        }
        found
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

    /// Returns whether a property had values, and has others now.
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
        place: usize,
        property: Option<PropertyId>,
        code: ErrorCode,
        message: String,
    ) {
        let entry = self.entry(place);
        let schema = self.setting.schema();
        let name = property.map(|id| schema[id].name.graphql.as_str());
        let given = name.filter(|name| {
            let of = &schema[entry.object];
            of.props.iter().any(|id| schema[*id].name.graphql == *name)
        });
        let finding = match given {
            Some(name) => entry.finding_at(name, &[], code, message),
            None => entry.finding(code, message),
        };
        self.findings.push(finding);
    }

    /// Checks that what leads to deleted objects can do without them.
    pub(super) fn check_deleted(&mut self, place: &Place) {
        let mut referrers: Vec<String> = Vec::new();
        let mut hidden = false;
        let by_deleting = self.touched.iter().filter(|(_, how)| how.entry.is_none());
        for (id, step) in by_deleting.map(|(touched, _)| touched) {
            let is_gone = self.deleted.contains_key(id) || self.created.contains_key(id);
            let Some(object) = self.type_of(id).filter(|_| !is_gone) else {
                continue;
            };
            for property in self.lacking(id, object, step) {
                let part = Part::Property(property);
                let is_told = self.finds(id, object)
                    && self.reads(id, object, part)
                    && self.is_change_shown(id, &self.setting.schema()[property]);
                if is_told {
                    referrers.push(id.as_str().to_owned());
                } else {
                    hidden = true;
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
        self.findings.push(if ids.is_empty() {
            finding
        } else {
            finding.with("ids", ids)
        });
    }

    /// Returns the properties behind a step that have fewer values than they need.
    fn lacking(&self, id: &NamedNode, object: ObjectId, step: &Step) -> Vec<PropertyId> {
        let schema = self.setting.schema();
        let props = schema[object].props.iter().copied();
        let lacking = props.filter(|property| {
            let of = &schema[*property];
            of.min > 0
                && Step::from(&of.path) == *step
                && self.amount(id, object, *property).least() < of.min as usize
        });
        lacking.collect()
    }
}

/// Returns the number of values of a property. Those that answers show alike count once, and a single-valued
/// text may have a value in each language.
pub(super) fn count(property: &Property, values: &[Term], keys: &HashSet<ValueKey<'_>>) -> usize {
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

/// Returns the pattern of the quads that a step follows.
pub(super) fn pattern_of(id: &NamedNode, step: &Step) -> QuadPattern {
    let predicate = step.predicate.clone();
    if step.inverse {
        QuadPattern::Links {
            predicate,
            object: id.clone(),
        }
    } else {
        QuadPattern::Values {
            subject: id.clone(),
            predicate,
        }
    }
}
