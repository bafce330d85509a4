//! What is in the data: classes, their superclasses, their properties, and the values of these.

use std::collections::BTreeMap;

use super::hierarchy::{Classes, Hierarchy, Superclass};

/// Everything that was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    /// Classes by IRI.
    pub(super) classes: BTreeMap<String, Class>,
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
    /// Greatest number of values of one instance.
    pub(super) most: u64,
    /// Number of values of each kind.
    pub(super) kinds: BTreeMap<Kind, u64>,
    /// Number of values that are instances of each class or of a subclass.
    pub(super) targets: BTreeMap<String, u64>,
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
        }
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
