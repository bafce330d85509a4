//! The properties of each object: global entries, inherited entries and own entries laid over
//! each other key by key.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexMap;

use super::hierarchy::Hierarchy;
use super::{Scope, budget};
use crate::codes::Code;
use crate::diagnostic::Findings;
use crate::options::LoadOptions;
use crate::raw::{Named, RawProperty, RawSchema, Spanned};
use crate::schema::ObjectId;
use crate::span::Span;

/// A property of an object, all entries about it merged.
#[derive(Clone, Debug)]
pub(crate) struct Slot<'d> {
    pub(crate) written: &'d str,
    pub(crate) raw: Rc<RawProperty<'d>>,
    /// The topmost object that lists it.
    pub(crate) declared_by: ObjectId,
    /// The key of the nearest entry.
    pub(crate) span: Span,
    /// The object itself has an entry.
    pub(crate) own: bool,
    /// Listed as `name` without a prefix.
    pub(crate) plain_name: bool,
    /// Not listed, or only as `name`, and the name property.
    pub(crate) implied: bool,
    /// Bytes of text that the effective property holds.
    pub(super) bytes: usize,
}

impl<'d> Slot<'d> {
    fn new(
        written: &'d str,
        raw: RawProperty<'d>,
        declared_by: ObjectId,
        span: Span,
        scope: &Scope,
    ) -> Slot<'d> {
        let bytes = budget::of_property(written, &raw, scope);
        Slot {
            written,
            raw: Rc::new(raw),
            declared_by,
            span,
            own: true,
            plain_name: written == "name",
            implied: false,
            bytes,
        }
    }
}

/// The properties of one object in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots<'d> {
    map: IndexMap<Rc<str>, Slot<'d>>,
    /// Key of the name property, and the object that names it.
    pub(crate) name: Option<(Rc<str>, ObjectId)>,
}

impl<'d> Slots<'d> {
    pub(crate) fn index(&self, key: &str) -> Option<usize> {
        self.map.get_index_of(key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Slot<'d>> {
        self.map.get(key)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Slot<'d>)> {
        self.map.iter().map(|(key, slot)| (&**key, slot))
    }

    /// Returns the place of the name property.
    pub(crate) fn name_index(&self) -> Option<usize> {
        self.name.as_ref().and_then(|(key, _)| self.index(key))
    }
}

/// Collects the properties of all objects. `None` when there are too many.
pub(super) fn collect<'d>(
    raw: &RawSchema<'d>,
    scope: &Scope,
    hierarchy: &Hierarchy,
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<Vec<Slots<'d>>> {
    let globals: Globals<'_, 'd> = raw
        .properties
        .iter()
        .map(|named| (scope.names.key(named.name.value), named))
        .collect();
    let mut all = vec![Slots::default(); raw.objects.len()];
    let mut total = 0;
    // Superclasses come first, so each object starts from what it inherits (docs/schema.md,
    // "Merging and inheritance").
    for &id in &hierarchy.order {
        let mut slots = match hierarchy.parents[id.index()] {
            Some(parent) => inherited(&all[parent.index()]),
            None => Slots::default(),
        };
        let object = &raw.objects[id.index()];
        for entry in &object.body.props {
            add(&mut slots, entry, id, scope, &globals);
        }
        // An own `name:` comes before an inherited name property, and that before a property that
        // is called `name` (docs/schema.md, "Names").
        if let Some(name) = object.body.name {
            slots.name = Some((scope.names.key(name.value).into(), id));
        } else if slots.name.is_none() && slots.get("name").is_some_and(|slot| slot.plain_name) {
            slots.name = Some(("name".into(), id));
        }
        settle_name(&mut slots, object.body.name, scope, &globals);
        // Inherited properties count again: each object has a copy of its own in the schema.
        total += slots.map.len();
        if total > options.max_properties {
            let message = format!(
                "the objects have more than {} properties, including inherited ones",
                options.max_properties
            );
            findings.add(Code::LimitExceeded, object.name.span, message);
            return None;
        }
        all[id.index()] = slots;
    }
    Some(all)
}

type Globals<'r, 'd> = HashMap<&'d str, &'r Named<'d, RawProperty<'d>>>;

fn inherited<'d>(parent: &Slots<'d>) -> Slots<'d> {
    let mut slots = parent.clone();
    for slot in slots.map.values_mut() {
        slot.own = false;
    }
    slots
}

fn add<'d>(
    slots: &mut Slots<'d>,
    entry: &Named<'d, RawProperty<'d>>,
    id: ObjectId,
    scope: &Scope,
    globals: &Globals<'_, 'd>,
) {
    let written = entry.name.value;
    let key = scope.names.key(written);
    // The object's own entry is the nearest, so it lies over everything inherited.
    if let Some(slot) = slots.map.get_mut(key) {
        // Without keys of its own, the entry stays shared with the superclass.
        if !entry.body.is_empty() {
            Rc::make_mut(&mut slot.raw).lay_over(&entry.body);
            slot.bytes = budget::of_property(slot.written, &slot.raw, scope);
        }
        slot.span = entry.name.span;
        slot.own = true;
        slot.plain_name |= written == "name";
        // An inherited property that was implied by `name` is now listed.
        slot.implied = false;
        return;
    }
    // A global property lies under the topmost entry only: an entry of a superclass is nearer than
    // it.
    let mut raw = globals
        .get(key)
        .map(|global| global.body.clone())
        .unwrap_or_default();
    raw.lay_over(&entry.body);
    slots.map.insert(
        key.into(),
        Slot::new(written, raw, id, entry.name.span, scope),
    );
}

/// Makes sure that the name property exists, and puts it last when no entry lists it as such.
fn settle_name<'d>(
    slots: &mut Slots<'d>,
    written: Option<crate::raw::Text<'d>>,
    scope: &Scope,
    globals: &Globals<'_, 'd>,
) {
    let Some((key, by)) = slots.name.clone() else {
        return;
    };
    if let Some(slot) = slots.map.get_mut(&key) {
        slot.implied = slot.implied || slot.plain_name;
    // A name property that nothing declares is added (docs/schema.md, "Names").
    } else if let Some(written) = written {
        // Mandatory, single and text, unless a global property says otherwise.
        let min = Spanned {
            value: 1,
            span: written.span,
        };
        let mut raw = RawProperty {
            min: Some(min),
            ..RawProperty::default()
        };
        let mut span = written.span;
        if let Some(global) = globals.get(&*key) {
            raw.merge(&global.body);
            span = global.name.span;
        }
        let slot = Slot::new(written.value, raw, by, span, scope);
        let slot = Slot {
            plain_name: false,
            implied: true,
            ..slot
        };
        slots.map.insert(Rc::clone(&key), slot);
    }
    if let Some(at) = slots.index(&key)
        && slots.map[at].implied
    {
        let last = slots.map.len() - 1;
        slots.map.move_index(at, last);
    }
}
