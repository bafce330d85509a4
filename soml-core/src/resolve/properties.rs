//! Effective properties: defaults under what is written, partners of inverses found.

use super::slots::{Slot, Slots};
use super::{Scope, search};
use crate::datatype::Scalar;
use crate::lang::PropertyLang;
use crate::raw::{RawMax, RawSearch, Spanned, Text};
use crate::schema::{Max, ObjectId, Path, Property, PropertyId, Range, Schema};

/// Adds the properties of all objects to the schema.
pub(super) fn fill(
    schema: &mut Schema,
    scope: &Scope,
    slots: &[Slots<'_>],
    searches: &[RawSearch<'_>],
) {
    for (at, slots) in slots.iter().enumerate() {
        let owner = ObjectId::at(at);
        let first = schema.properties.len();
        for (_, slot) in slots.iter() {
            schema
                .properties
                .push(property(slot, owner, scope, &searches[at]));
        }
        let object = &mut schema.objects[at];
        object.props = (first..schema.properties.len())
            .map(PropertyId::at)
            .collect();
        object.name_property = slots.name_index().map(|i| object.props[i]);
    }
    // The partner of an inverse can belong to any object, so all properties exist before this.
    for (at, own) in slots.iter().enumerate() {
        for (i, (_, slot)) in own.iter().enumerate() {
            let id = schema.objects[at].props[i];
            link(schema, id, slot, scope, slots);
        }
    }
}

fn property(slot: &Slot<'_>, owner: ObjectId, scope: &Scope, object: &RawSearch<'_>) -> Property {
    let raw = &*slot.raw;
    // `name` without a prefix is the built-in field; the stored property keeps its prefix in
    // GraphQL (docs/schema.md, "Names").
    let name = if slot.plain_name && slot.written == "name" {
        scope.names.vocab_name()
    } else {
        scope.names.property_name(slot.written)
    };
    let iri = match raw.rdf_prop {
        Some(text) => scope.names.expand_or_default(text.value),
        None => name.iri.clone(),
    };
    let flag = |value: Option<Spanned<bool>>| value.is_some_and(|b| b.value);
    let own = |text: Option<Text<'_>>| text.map(|t| t.value.to_owned());
    let relative = |text: &str| {
        scope
            .names
            .expand_relative(text)
            .unwrap_or_else(|_| text.to_owned())
    };
    // What an entry `name` says about the field itself is kept with the object.
    let described = !(slot.implied && slot.plain_name);
    let label = own(raw.label).filter(|_| described);
    Property {
        name,
        owner,
        declared_by: slot.declared_by,
        label: label.or_else(|| slot.implied.then(|| "Name".to_owned())),
        descr: own(raw.descr).filter(|_| described),
        // From here on, the defaults are those of docs/first-schema.md, "A property".
        range: raw
            .range
            // An unknown range is an `UNKNOWN_RANGE`, and treated as the default.
            .and_then(|text| scope.range(text.value))
            .unwrap_or(Range::Scalar(Scalar::String)),
        min: raw.min.map_or(0, |n| n.value),
        max: match raw.max.map(|m| m.value) {
            Some(RawMax::Unbounded) => Max::Unbounded,
            Some(RawMax::Count(n)) => Max::Count(n),
            None => Max::Count(1),
        },
        path: Path::Forward(iri),
        inverse_of: None,
        symmetric: flag(raw.symmetric),
        range_check: flag(raw.range_check),
        type_cast: flag(raw.type_cast),
        non_nullable: flag(raw.non_nullable),
        non_nullable_elements: flag(raw.non_nullable_elements),
        immutable: flag(raw.immutable),
        regex: own(raw.regex),
        prefix: raw.prefix.map(|t| relative(t.value)),
        pattern: own(raw.pattern),
        values_in: raw
            .values_in
            .iter()
            .flat_map(|list| &list.value)
            .map(|t| t.value.to_owned())
            .collect(),
        lang: PropertyLang {
            fetch: raw.fetch.as_ref().map(|s| s.value.clone()),
            validate: raw.validate.as_ref().map(|s| s.value.clone()),
            implicit: own(raw.implicit),
        },
        implied_by_name: slot.implied,
        search: search::of_property(object, &raw.search),
        sparql_federated_service: own(raw.sparql_federated_service),
        meta: own(raw.meta),
        span: slot.span,
    }
}

/// Finds the partner of an inverse. Merging leaves an alias only where no RDF property is nearer.
fn link(schema: &mut Schema, id: PropertyId, slot: &Slot<'_>, scope: &Scope, slots: &[Slots<'_>]) {
    let Range::Object(range) = schema[id].range else {
        return;
    };
    let partner = |schema: &Schema, written: &str| {
        let at = slots[range.index()].index(scope.names.key(written))?;
        schema[range].props.get(at).copied()
    };
    if let Some(alias) = slot.raw.inverse_alias
        && let Some(of) = partner(schema, alias.value)
    {
        // The RDF property is the partner's, whatever subclasses of the range make of it
        // (docs/schema.md, "Merging and inheritance").
        let iri = schema[of].path.iri().to_owned();
        schema.properties[id.index()].path = Path::Inverse { iri, of };
    } else if let Some(inverse) = slot.raw.inverse_of {
        schema.properties[id.index()].inverse_of = partner(schema, inverse.value);
    }
}
