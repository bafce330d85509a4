//! Objects: what they inherit, and the IRIs of their types.

use indexmap::IndexSet;

use super::hierarchy::Hierarchy;
use super::slots::Slots;
use super::{Scope, search};
use crate::raw::{Named, RawObject, RawSchema, RawSearch, Text};
use crate::schema::{Object, ObjectId, ObjectKind, Schema};

/// The default of `typeProp`, `rdf:type` (<https://www.w3.org/TR/rdf-schema/#ch_type>).
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Resolves everything about objects but their properties.
pub(super) fn resolve(
    raw: &RawSchema<'_>,
    scope: &Scope,
    hierarchy: &Hierarchy,
    slots: &[Slots<'_>],
    searches: &[RawSearch<'_>],
) -> Vec<Object> {
    let mut objects: Vec<_> = raw.objects.iter().map(|named| own(named, scope)).collect();
    for &id in &hierarchy.order {
        let at = id.index();
        objects[at].search = search::settings(&searches[at]);
        describe_name(&mut objects[at], &slots[at]);
        let Some(parent) = hierarchy.parents[at] else {
            continue;
        };
        objects[at].inherits = Some(parent);
        // `type` is not inherited: the classes of a superclass select its instances, not those of
        // the subclass (docs/schema.md, "Merging and inheritance").
        let inherited = &objects[parent.index()];
        let (id_prefix, id_regex) = (inherited.id_prefix.clone(), inherited.id_regex.clone());
        let (id_pattern, service) = (
            inherited.id_pattern.clone(),
            inherited.sparql_federated_service.clone(),
        );
        let object = &mut objects[at];
        object.id_prefix = object.id_prefix.take().or(id_prefix);
        object.id_regex = object.id_regex.take().or(id_regex);
        object.id_pattern = object.id_pattern.take().or(id_pattern);
        object.sparql_federated_service = object.sparql_federated_service.take().or(service);
    }
    for at in 0..objects.len() {
        if let Some(parent) = hierarchy.parents[at] {
            objects[parent.index()].subclasses.push(ObjectId::at(at));
        }
    }
    objects
}

fn own(named: &Named<'_, RawObject<'_>>, scope: &Scope) -> Object {
    let raw = &named.body;
    // Anything but the two words for `abstract` is concrete (docs/first-schema.md, "An object"); an
    // unknown word is an `UNKNOWN_KIND`.
    let kind = match raw.kind {
        Some(Text {
            value: "abstract" | "supertype",
            ..
        }) => ObjectKind::Abstract,
        _ => ObjectKind::Concrete,
    };
    let relative = |text: &str| {
        scope
            .names
            .expand_relative(text)
            .unwrap_or_else(|_| text.to_owned())
    };
    Object {
        name: scope.names.object_name(named.name.value),
        label: owned(raw.label),
        descr: owned(raw.descr),
        kind,
        type_prop: RDF_TYPE.to_owned(),
        types: types(named, kind, scope),
        inherits: None,
        subclasses: Vec::new(),
        name_property: None,
        name_label: None,
        name_descr: None,
        props: Vec::new(),
        id_prefix: raw.prefix.map(|t| relative(t.value)),
        id_regex: owned(raw.regex),
        id_pattern: owned(raw.pattern),
        extend: raw.extend.is_some_and(|b| b.value),
        search: None,
        sparql_federated_service: owned(raw.sparql_federated_service),
        meta: owned(raw.meta),
        span: named.name.span,
    }
}

fn owned(text: Option<Text<'_>>) -> Option<String> {
    text.map(|t| t.value.to_owned())
}

/// Returns the classes of an object. Without `type`, a concrete object has the class of its name,
/// and an abstract one has none: it stands for its concrete subtypes (docs/queries.md, "Root
/// fields").
fn types(named: &Named<'_, RawObject<'_>>, kind: ObjectKind, scope: &Scope) -> Vec<String> {
    let own_name = named.name.value;
    let Some(types) = &named.body.types else {
        return match kind {
            ObjectKind::Concrete => vec![scope.names.expand_or_default(own_name)],
            ObjectKind::Abstract => Vec::new(),
        };
    };
    let iris: IndexSet<_> = types
        .value
        .iter()
        .map(|text| type_iri(text.value, own_name, scope))
        .collect();
    iris.into_iter().collect()
}

/// Returns the IRI of a type as written under an object. The object's own name is the default spelt
/// out, so it is in the vocabulary; other relative types belong to the base IRI (docs/schema.md,
/// "Names").
fn type_iri(written: &str, object: &str, scope: &Scope) -> String {
    if written == object {
        return scope.names.expand_or_default(written);
    }
    scope
        .names
        .expand_relative(written)
        .unwrap_or_else(|_| written.to_owned())
}

/// Lets an entry `name` without a prefix describe the built-in field (docs/schema.md, "Names").
fn describe_name(object: &mut Object, slots: &Slots<'_>) {
    let Some(slot) = slots.name.as_ref().and_then(|(key, _)| slots.get(key)) else {
        return;
    };
    if slot.plain_name {
        object.name_label = owned(slot.raw.label);
        object.name_descr = owned(slot.raw.descr);
    }
}

/// Resolves `typeProp`, which may be a property of the object itself.
pub(super) fn resolve_type_props(
    raw: &RawSchema<'_>,
    scope: &Scope,
    hierarchy: &Hierarchy,
    slots: &[Slots<'_>],
    schema: &mut Schema,
) {
    for &id in &hierarchy.order {
        let at = id.index();
        let iri = match raw.objects[at].body.type_prop {
            Some(text) => {
                // The name of a property stands for its RDF property, which `rdfProp` may have set.
                let own = slots[at]
                    .index(scope.names.key(text.value))
                    .and_then(|i| schema[id].props.get(i).copied());
                match own {
                    Some(property) => schema[property].path.iri().to_owned(),
                    None => scope.names.expand_or_default(text.value),
                }
            }
            None => match hierarchy.parents[at] {
                Some(parent) => schema[parent].type_prop.clone(),
                None => continue,
            },
        };
        schema.objects[at].type_prop = iri;
    }
}
