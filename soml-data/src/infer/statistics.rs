//! What is in the data: classes, their superclasses, their properties, and the values of these.

use std::collections::{BTreeMap, BTreeSet};

use super::descriptions::Descriptions;
use super::hierarchy::{Classes, Hierarchy, Superclass};

/// Everything that was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    /// Classes by IRI.
    pub(super) classes: BTreeMap<String, Class>,
    /// How the data describe these classes and their properties.
    pub(super) descriptions: Descriptions,
    /// Number of classes of ontology vocabularies that were left out.
    pub(super) ontology_classes: usize,
}

/// A class that becomes an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    /// Number of IRIs of this type or of a subclass.
    pub(super) instances: u64,
    /// The superclass.
    pub(super) parent: Option<Superclass>,
    /// Whether nothing in the data has it as its type.
    pub(super) is_abstract: bool,
    /// Properties by IRI.
    pub(super) properties: BTreeMap<String, Property>,
    /// Longest common start of the IRIs of instances.
    pub(super) prefix: Option<String>,
}

/// A property of a class.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Property {
    /// Whether some instance has it that is not of a subclass.
    pub(super) is_own: bool,
    /// Number of instances that have a value.
    pub(super) subjects: u64,
    /// Number of values.
    pub(super) values: u64,
    /// Literals among the values.
    pub(super) literals: Reach,
    /// IRIs among the values, objects or not.
    pub(super) iris: Reach,
    /// IRIs among the values that are instances of some class.
    pub(super) objects: Reach,
    /// Number of values of each kind.
    pub(super) kinds: BTreeMap<Kind, u64>,
    /// Number of values that are instances of each class or of a subclass.
    pub(super) targets: BTreeMap<String, u64>,
}

/// How many values of some sort instances have: of what the API shows of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Number of instances that have such a value.
    pub(super) subjects: u64,
    /// Maximum number of such values of one instance.
    pub(super) most: u64,
}

impl Reach {
    /// Counts the values of one instance.
    pub(super) fn add(&mut self, values: u64) {
        self.subjects += u64::from(values > 0);
        self.most = self.most.max(values);
    }
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// An IRI that is an instance of some class.
    Object,
    /// An IRI of no class.
    Iri,
    /// A blank node.
    Blank,
    /// A text with a language tag.
    LangString,
    /// A literal of this datatype.
    Literal(String),
}

impl Kind {
    /// Returns whether such values are literals.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self, Kind::LangString | Kind::Literal(_))
    }

    /// Returns whether such values are IRIs.
    pub(super) fn is_iri(&self) -> bool {
        matches!(self, Kind::Object | Kind::Iri)
    }
}

impl Statistics {
    /// Makes an entry for each class, in which nothing is counted yet.
    pub(super) fn of_hierarchy(classes: &Classes, hierarchy: &Hierarchy) -> Self {
        let names = classes.counts.keys().chain(&hierarchy.r#abstract);
        let class = |iri: &String| Class {
            parent: hierarchy.parent(iri).cloned(),
            is_abstract: hierarchy.r#abstract.contains(iri),
            ..Class::default()
        };
        Statistics {
            classes: names.map(|iri| (iri.clone(), class(iri))).collect(),
            ontology_classes: classes.ontology_classes,
            ..Statistics::default()
        }
    }

    /// Returns all properties of all classes, each once.
    pub(super) fn properties(&self) -> BTreeSet<&str> {
        let classes = self.classes.values();
        classes
            .flat_map(|class| class.properties.keys().map(String::as_str))
            .collect()
    }

    /// Removes a class: its subclasses inherit from its superclass, and its instances are IRIs of no
    /// class where a property has no other class for its values.
    pub(super) fn remove_class(&mut self, iri: &str) {
        let Some(removed) = self.classes.remove(iri) else {
            return;
        };
        for class in self.classes.values_mut() {
            if class
                .parent
                .as_ref()
                .is_some_and(|parent| parent.class == iri)
            {
                class.parent.clone_from(&removed.parent);
            }
            for property in class.properties.values_mut() {
                property.targets.remove(iri);
            }
        }
    }

    /// Removes a property from all classes.
    pub(super) fn remove_property(&mut self, iri: &str) {
        for class in self.classes.values_mut() {
            class.properties.remove(iri);
        }
    }

    /// Keeps the classes with the most instances, and returns how many are removed.
    pub(super) fn keep_largest(&mut self, limit: usize) -> usize {
        let mut ranked: Vec<(u64, String)> = self
            .classes
            .iter()
            .map(|(iri, class)| (class.instances, iri.clone()))
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let removed = ranked.split_off(limit.min(ranked.len()));
        for (_, iri) in &removed {
            self.remove_class(iri);
        }
        removed.len()
    }

    /// Returns a class and its superclasses, the nearest first.
    pub(super) fn lineage<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::successors(Some(class), |class| {
            let parent = self.classes.get(*class)?.parent.as_ref()?;
            Some(parent.class.as_str())
        })
    }
}

impl Class {
    /// Shortens the common start of the IRIs of instances to what one more has in common.
    pub(super) fn add_prefix(&mut self, iri: &str) {
        match &mut self.prefix {
            None => self.prefix = Some(iri.to_owned()),
            Some(prefix) => {
                let common = prefix
                    .char_indices()
                    .zip(iri.chars())
                    .find(|((_, a), b)| a != b)
                    .map_or(prefix.len().min(iri.len()), |((at, _), _)| at);
                prefix.truncate(common);
            }
        }
    }
}
