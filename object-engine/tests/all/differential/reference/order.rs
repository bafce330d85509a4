//! `orderBy`: the keys of an object, as its fields show them.

use std::cmp::Ordering;

use oxrdf::Literal;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{LiteralRange, Property, Range};

use super::cast::cast;
use super::document::Val;
use super::fields::{Kind, single_literal, single_scalar};
use super::filter::Filter;
use super::graph::iri_of;
use super::lang::Spec;
use super::literal::datatype;
use super::model::{FieldMeaning, Ty};
use super::scalar::Key;

/// Reads the keys of objects.
pub(crate) struct Order<'a> {
    pub(crate) filter: &'a Filter<'a>,
    pub(crate) lang: Option<&'a Spec>,
    pub(crate) accepted: &'a [String],
}

/// A key, missing where nothing is shown, and whether the greatest comes first.
pub(crate) type OrderKey = (Option<Key>, bool);

/// Compares objects by keys; missing ones come first, last where the greatest comes first.
pub(crate) fn compare(a: &[OrderKey], b: &[OrderKey]) -> Ordering {
    for ((a, descending), (b, _)) in a.iter().zip(b) {
        let ordering = match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => a.compare(b),
        };
        if ordering.is_ne() {
            return if *descending {
                ordering.reverse()
            } else {
                ordering
            };
        }
    }
    Ordering::Equal
}

/// The direction of a key; null is as if the key were absent.
fn is_descending(direction: &Val) -> Option<bool> {
    (*direction != Val::Null).then(|| direction.text() == "DESC")
}

fn text(text: &str) -> Key {
    Key::Text(text.to_owned())
}

/// The specification of a configured `fetch`.
pub(crate) fn configured(spec: Option<&LangSpec>) -> Option<Spec> {
    spec.map(|spec| Spec::parse(&spec.to_string()))
}

impl Order<'_> {
    /// The keys of an object in the order written; `None` is an object that is not there.
    pub(crate) fn keys(&self, ty: Ty, node: Option<&str>, order: &Val) -> Vec<OrderKey> {
        let mut keys = Vec::new();
        self.collect(ty, node, order, &mut keys);
        keys
    }

    fn collect(&self, ty: Ty, node: Option<&str>, order: &Val, keys: &mut Vec<OrderKey>) {
        let model = self.filter.model;
        let triples = self.filter.triples;
        for (key, direction) in order.keys() {
            if *direction == Val::Null {
                continue;
            }
            let mut push = |value: Option<Key>| {
                keys.extend(is_descending(direction).map(|d| (value, d)));
            };
            if key == "_typename" {
                let object = node.and_then(|node| model.concrete(triples, node, ty));
                let object = object.filter(|object| model.reads(*object, "__typename"));
                push(object.map(|id| text(&model.object(id).name.graphql)));
                continue;
            }
            // What may not be read sorts as if it were not there.
            let node = node.filter(|node| model.reads_of(triples, node, ty, key));
            match model.field(ty, key).expect("a known key") {
                FieldMeaning::Id => push(node.map(text)),
                FieldMeaning::Name => push(node.and_then(|node| self.name(ty, node))),
                FieldMeaning::Type | FieldMeaning::Count(_) => {
                    panic!("`{key}` is no key of an order")
                }
                FieldMeaning::Property(id) => {
                    let own = node.and_then(|node| model.property_of(triples, node, ty, key));
                    let property = own.unwrap_or(&model.schema[id]);
                    self.property(property, node, direction, keys);
                }
            }
        }
    }

    fn name(&self, ty: Ty, node: &str) -> Option<Key> {
        let schema = self.filter.model.schema;
        let triples = self.filter.triples;
        let name = self.filter.model.name_of(triples, node, ty)?;
        let values = triples.values(node, &name.path);
        let spec = name_spec(schema, self.lang);
        let kind = Kind::Scalar(Scalar::String);
        let chosen = single_scalar(schema, kind, &values, Some(&spec), self.accepted);
        chosen.value.map(|shown| shown.key)
    }

    fn property(
        &self,
        property: &Property,
        node: Option<&str>,
        direction: &Val,
        keys: &mut Vec<OrderKey>,
    ) {
        let schema = self.filter.model.schema;
        let values = node.map(|node| self.filter.triples.values(node, &property.path));
        let values = cast(property, values.unwrap_or_default());
        let fetch = property
            .lang
            .fetch
            .as_ref()
            .or(schema.config.lang.fetch.as_ref());
        let spec = self.lang.cloned().or_else(|| configured(fetch));
        match property.range {
            Range::Object(object) => {
                let range = self.filter.model.range(object);
                let next = shown_object(self.filter, range, property.range_check, &values);
                self.collect(range, next.as_deref(), direction, keys);
            }
            Range::Literal(range) => {
                let given = direction.keys().iter().find(|(key, _)| key == "lang");
                let own = match (range, given) {
                    (LiteralRange::LangString, Some((_, Val::Text(spec)))) => {
                        Some(Spec::parse(spec))
                    }
                    _ => spec,
                };
                let shown = single_literal(schema, range, &values, own.as_ref(), self.accepted);
                literal_keys(range, shown.value.as_ref(), direction, keys);
            }
            scalar => {
                let kind = Kind::of(scalar).expect("a scalar");
                let shown = single_scalar(schema, kind, &values, spec.as_ref(), self.accepted);
                let key = shown.value.map(|shown| shown.key);
                keys.extend(is_descending(direction).map(|d| (key, d)));
            }
        }
    }
}

/// The object that a single-valued field shows: of those that can be shown the smallest IRI.
pub(crate) fn shown_object(
    filter: &Filter<'_>,
    range: Ty,
    checked: bool,
    values: &[oxrdf::Term],
) -> Option<String> {
    let objects = values
        .iter()
        .filter(|value| filter.is_object(value, range, checked));
    objects
        .filter_map(iri_of)
        .filter(|node| filter.model.concrete(filter.triples, node, range).is_some())
        .min()
        .map(str::to_owned)
}

/// The specification of `name`: the given one, with the default as last resort.
pub(crate) fn name_spec(schema: &soml_core::schema::Schema, given: Option<&Spec>) -> Spec {
    let config = &schema.config.lang;
    let default = Spec::parse(&config.default_name_fetch.to_string());
    match given {
        None => default,
        Some(given) if config.append_default_name_fetch => given.clone().or_else(&default),
        Some(given) => given.clone(),
    }
}

/// The keys of a literal: `LangString_OrderBy` or `Literal_OrderBy`.
pub(crate) fn literal_keys(
    range: LiteralRange,
    literal: Option<&Literal>,
    order: &Val,
    keys: &mut Vec<OrderKey>,
) {
    let value = literal.map(|literal| text(literal.value()));
    if range == LiteralRange::LangString {
        let dir = order.keys().iter().find(|(key, _)| key == "dir");
        let descending = dir.and_then(|(_, dir)| is_descending(dir)).unwrap_or(false);
        keys.push((value, descending));
        return;
    }
    literal_parts(literal, order, keys);
}

/// The keys of `Literal_OrderBy`; `value`, whose default is ascending, comes last when not written.
pub(crate) fn literal_parts(literal: Option<&Literal>, order: &Val, keys: &mut Vec<OrderKey>) {
    let value = literal.map(|literal| text(literal.value()));
    for (key, direction) in order.keys() {
        let part = match key.as_str() {
            "value" => value.clone(),
            "lang" => literal
                .and_then(Literal::language)
                .map(|tag| text(&tag.to_ascii_lowercase())),
            "type" => literal.and_then(datatype).map(text),
            _ => panic!("unknown key {key}"),
        };
        keys.extend(is_descending(direction).map(|d| (part, d)));
    }
    if !order.keys().iter().any(|(key, _)| key == "value") {
        keys.push((value, false));
    }
}
