//! What is in the data: classes, their properties, and the values of these.

use std::collections::{BTreeMap, HashMap, HashSet};

use graph_store::{CallContext, StoreError};
use oxigraph::store::Store;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, NamedOrBlankNode, Term};

use super::InferOptions;

/// How many instances are read between two looks at the deadline.
const CHECK_EVERY: usize = 1_024;

/// Everything that was counted.
pub(super) struct Statistics {
    /// Classes by IRI.
    pub(super) classes: BTreeMap<String, Class>,
}

/// A class with instances.
#[derive(Default)]
pub(super) struct Class {
    /// Number of IRIs of this type.
    pub(super) instances: u64,
    /// Properties by IRI.
    pub(super) properties: BTreeMap<String, Property>,
    /// Longest common start of the IRIs of instances.
    pub(super) prefix: Option<String>,
}

/// A property of a class.
#[derive(Default)]
pub(super) struct Property {
    /// Number of instances that have a value.
    pub(super) subjects: u64,
    /// Number of values.
    pub(super) values: u64,
    /// Greatest number of values of one instance.
    pub(super) most: u64,
    /// Number of values of each kind.
    pub(super) kinds: BTreeMap<Kind, u64>,
    /// Number of values that are instances of each class.
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
    pub(super) fn collect(
        store: &Store,
        options: &InferOptions,
        context: &CallContext,
    ) -> Result<Self, StoreError> {
        let types = types(store)?;
        let mut counts: HashMap<&NamedNode, u64> = HashMap::new();
        for classes in types.values() {
            for class in classes {
                *counts.entry(class).or_default() += 1;
            }
        }
        let mut kept: Vec<(&NamedNode, u64)> = counts
            .into_iter()
            .filter(|(_, n)| *n >= options.min_instances)
            .collect();
        kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        kept.truncate(options.max_classes);
        let kept: HashSet<&NamedNode> = kept.into_iter().map(|(class, _)| class).collect();

        let mut classes: BTreeMap<String, Class> = BTreeMap::new();
        for (position, (subject, of)) in types.iter().enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            let of: Vec<&NamedNode> = of.iter().filter(|class| kept.contains(class)).collect();
            if of.is_empty() {
                continue;
            }
            let values = values(store, subject, &types, &kept)?;
            for class in of {
                let class = classes.entry(class.as_str().to_owned()).or_default();
                class.instances += 1;
                class.add_prefix(subject.as_str());
                class.add(&values);
            }
        }
        Ok(Statistics { classes })
    }
}

type Types = HashMap<NamedNode, Vec<NamedNode>>;

fn failed(error: oxigraph::store::StorageError) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Returns the types of every IRI that has some.
fn types(store: &Store) -> Result<Types, StoreError> {
    let mut types = Types::new();
    for quad in store.quads_for_pattern(None, Some(rdf::TYPE), None, None) {
        let quad = quad.map_err(failed)?;
        if let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(class)) =
            (quad.subject, quad.object)
        {
            let classes = types.entry(subject).or_default();
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
    }
    Ok(types)
}

/// A value as far as statistics look at it.
struct Value {
    kind: Kind,
    classes: Vec<String>,
}

/// Returns the values of one subject by property, each once.
fn values(
    store: &Store,
    subject: &NamedNode,
    types: &Types,
    kept: &HashSet<&NamedNode>,
) -> Result<HashMap<NamedNode, Vec<Value>>, StoreError> {
    let mut seen: HashMap<NamedNode, HashSet<Term>> = HashMap::new();
    for quad in store.quads_for_pattern(Some(subject.into()), None, None, None) {
        let quad = quad.map_err(failed)?;
        if quad.predicate != rdf::TYPE {
            seen.entry(quad.predicate).or_default().insert(quad.object);
        }
    }
    let value = |term: Term| match term {
        Term::NamedNode(node) => {
            let classes: Vec<String> = types
                .get(&node)
                .into_iter()
                .flatten()
                .filter(|class| kept.contains(class))
                .map(|class| class.as_str().to_owned())
                .collect();
            let kind = if classes.is_empty() {
                Kind::Iri
            } else {
                Kind::Object
            };
            Value { kind, classes }
        }
        Term::Literal(literal) if literal.language().is_some() => Value {
            kind: Kind::LangString,
            classes: Vec::new(),
        },
        Term::Literal(literal) => {
            let kind = Kind::Literal(literal.datatype().as_str().to_owned());
            Value {
                kind,
                classes: Vec::new(),
            }
        }
        _ => Value {
            kind: Kind::Blank,
            classes: Vec::new(),
        },
    };
    Ok(seen
        .into_iter()
        .map(|(property, terms)| (property, terms.into_iter().map(value).collect()))
        .collect())
}

impl Class {
    fn add(&mut self, values: &HashMap<NamedNode, Vec<Value>>) {
        for (property, values) in values {
            let property = self
                .properties
                .entry(property.as_str().to_owned())
                .or_default();
            property.subjects += 1;
            property.values += values.len() as u64;
            property.most = property.most.max(values.len() as u64);
            for value in values {
                *property.kinds.entry(value.kind.clone()).or_default() += 1;
                for class in &value.classes {
                    *property.targets.entry(class.clone()).or_default() += 1;
                }
            }
        }
    }

    fn add_prefix(&mut self, iri: &str) {
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
