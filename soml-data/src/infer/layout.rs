//! Which class declares a property, and which property is the name of an object.

use std::collections::{BTreeMap, BTreeSet};

use super::name::local_name;
use super::range::range;
use super::statistics::{Class, Kind, Property, Statistics};

/// Properties that hold the name of a thing, best first.
const NAME_PROPERTIES: &[&str] = &[
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
];

/// Names under which other vocabularies have such properties, in lower case, best first.
const NAME_WORDS: &[&str] = &["preflabel", "label", "name", "fullname", "title"];

/// The properties that each class declares: those of an object, without inherited ones.
pub(super) struct Layout<'a> {
    statistics: &'a Statistics,
    declared: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(statistics: &'a Statistics) -> Self {
        let mut children: BTreeMap<&str, Vec<&Class>> = BTreeMap::new();
        for class in statistics.classes.values() {
            if let Some(parent) = &class.parent {
                children.entry(&parent.class).or_default().push(class);
            }
        }
        let mut layout = Layout {
            statistics,
            declared: BTreeMap::new(),
        };
        let depth = |iri: &&String| statistics.lineage(iri).count();
        let mut classes: Vec<&String> = statistics.classes.keys().collect();
        // Superclasses first, so that it is known what is inherited.
        classes.sort_by_key(depth);
        for iri in classes {
            let class = &statistics.classes[iri];
            let below = children.get(iri.as_str()).map_or(&[][..], Vec::as_slice);
            let declared = class.properties.iter().filter(|(property, counted)| {
                !layout.has(iri, property)
                    && range(counted, statistics).is_some()
                    && (counted.is_own || layout.is_shared(property, counted, below))
            });
            let declared = declared.map(|(property, _)| property.as_str()).collect();
            layout.declared.insert(iri, declared);
        }
        layout
    }

    /// Returns the properties that a class declares.
    pub(super) fn declared(&self, class: &str) -> impl Iterator<Item = &'a str> {
        self.declared.get(class).into_iter().flatten().copied()
    }

    /// Returns the properties of instances of a class, and of none of its subclasses, of which the API
    /// shows nothing, with their numbers.
    pub(super) fn hidden(&self, class: &str) -> impl Iterator<Item = (&'a str, &'a Property)> {
        let statistics = self.statistics;
        let properties = statistics
            .classes
            .get(class)
            .map(|class| &class.properties)
            .into_iter()
            .flatten();
        properties
            .filter(|(_, counted)| counted.is_own && range(counted, statistics).is_none())
            .map(|(property, counted)| (property.as_str(), counted))
    }

    /// Returns whether a class declares or inherits a property.
    fn has(&self, class: &str, property: &str) -> bool {
        let mut lineage = self.statistics.lineage(class);
        lineage.any(|of| {
            self.declared
                .get(of)
                .is_some_and(|own| own.contains(property))
        })
    }

    /// Returns whether several subclasses have a property, whose values have a range in common that
    /// says something of them.
    fn is_shared(&self, property: &str, counted: &Property, below: &[&Class]) -> bool {
        let having = || {
            below
                .iter()
                .filter_map(|class| class.properties.get(property))
        };
        let Some(whole) = range(counted, self.statistics) else {
            return false;
        };
        let says_something = || !whole.is_anything();
        let is_same =
            || having().all(|other| range(other, self.statistics).as_ref() == Some(&whole));
        having().count() > 1 && (says_something() || is_same())
    }

    /// Returns the property that names nearly all instances, unless a superclass has one.
    pub(super) fn name(&self, class: &str) -> Option<&'a str> {
        let mut above = self.statistics.lineage(class).skip(1);
        if above.any(|of| self.best_name(of).is_some()) {
            None
        } else {
            self.best_name(class)
        }
    }

    fn best_name(&self, iri: &str) -> Option<&'a str> {
        let class = self.statistics.classes.get(iri)?;
        let names = class.properties.iter().filter(|(property, counted)| {
            is_name(counted, class.instances) && self.has(iri, property)
        });
        let rank = |property: &str| {
            let known = NAME_PROPERTIES.iter().position(|known| *known == property);
            let local = local_name(property).to_ascii_lowercase();
            let word = || NAME_WORDS.iter().position(|word| *word == local);
            known.or_else(|| Some(NAME_PROPERTIES.len() + word()?))
        };
        let ranked = names.filter_map(|(iri, _)| Some((rank(iri)?, iri.as_str())));
        ranked.min().map(|(_, iri)| iri)
    }
}

/// Returns whether nine of ten instances have texts, and nothing else.
fn is_name(property: &Property, instances: u64) -> bool {
    let texts = property.kinds.iter().filter(|(kind, _)| match kind {
        Kind::LangString => true,
        Kind::Literal(iri) => iri == "http://www.w3.org/2001/XMLSchema#string",
        _ => false,
    });
    let texts: u64 = texts.map(|(_, count)| count).sum();
    texts == property.values && property.literals.subjects * 10 >= instances * 9
}
