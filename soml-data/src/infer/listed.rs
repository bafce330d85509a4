//! Statistics of a store that lists its statements.

use std::collections::{BTreeMap, HashMap};

use graph_store::value::{Numbers, write_scalar};
use graph_store::{CallContext, Statements, StoreError};
use oxrdf::vocab::{rdf, rdfs};
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term};
use soml_core::datatype::Scalar;

use super::InferOptions;
use super::descriptions::Descriptions;
use super::hierarchy::{Classes, Hierarchy};
use super::statistics::{Class, Kind, Statistics};

/// How many statements or instances are read between two looks at the deadline.
const CHECK_EVERY: usize = 1_024;

impl Statistics {
    /// Counts what is in a store.
    pub(super) fn of_statements(
        store: &dyn Statements,
        options: &InferOptions,
        context: &CallContext,
    ) -> Result<Self, StoreError> {
        let typed = Typed::read(store, context)?;
        let classes = typed.classes(store, options, context)?;
        let hierarchy = Hierarchy::new(&classes, options.max_classes);
        let lineages = typed.lineages(&classes, &hierarchy);
        let mut statistics = Statistics::of_hierarchy(&classes, &hierarchy);
        for (position, (subject, of)) in typed.nodes.iter().enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            let classes = lineages.of(of);
            if classes.is_empty() {
                continue;
            }
            let values = values(store, subject, &typed, &lineages)?;
            for class in &classes {
                let counted = statistics.classes.entry((*class).to_owned()).or_default();
                counted.instances += 1;
                counted.add_prefix(subject.as_str());
                let mut others = classes.iter().filter(|other| *other != class);
                let is_own = !others.any(|other| hierarchy.lineage(other).any(|of| of == *class));
                counted.add(&values, is_own);
            }
        }
        statistics.describe(store, context)?;
        Ok(statistics)
    }

    /// Reads how classes and properties are described.
    fn describe(
        &mut self,
        store: &dyn Statements,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let mut descriptions = Descriptions::default();
        let properties = self.properties();
        let classes = self.classes.keys().map(String::as_str);
        for (position, iri) in classes.chain(properties).enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            store.about(&NamedNode::new_unchecked(iri), &mut |property, value| {
                if let Term::Literal(value) = value {
                    descriptions.add(iri, property.as_str(), &value);
                }
            })?;
        }
        self.descriptions = descriptions;
        Ok(())
    }
}

/// Every IRI that has types, and these.
struct Typed {
    classes: Vec<NamedNode>,
    /// Positions of the classes of each node, each once.
    nodes: HashMap<NamedNode, Vec<u32>>,
}

impl Typed {
    fn read(store: &dyn Statements, context: &CallContext) -> Result<Self, StoreError> {
        let mut classes = Vec::new();
        let mut known: HashMap<NamedNode, u32> = HashMap::new();
        let mut nodes: HashMap<NamedNode, Vec<u32>> = HashMap::new();
        let statements = store.of_property(&rdf::TYPE.into_owned());
        for (position, statement) in statements.enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(class)) = statement? else {
                continue;
            };
            let number = *known.entry(class).or_insert_with_key(|class| {
                classes.push(class.clone());
                u32::try_from(classes.len() - 1).expect("fewer than 2^32 classes")
            });
            let of = nodes.entry(subject).or_default();
            if !of.contains(&number) {
                of.push(number);
            }
        }
        Ok(Typed { classes, nodes })
    }

    /// Counts the classes that become objects, and what they have in common.
    fn classes(
        &self,
        store: &dyn Statements,
        options: &InferOptions,
        context: &CallContext,
    ) -> Result<Classes, StoreError> {
        let mut counts = vec![0u64; self.classes.len()];
        for of in self.nodes.values() {
            for class in of {
                counts[*class as usize] += 1;
            }
        }
        let classes = self.classes.iter().map(|class| class.as_str().to_owned());
        let found: Vec<(String, u64)> = classes.zip(counts).collect();
        let mut classes = Classes::default();
        classes.keep(found, options);
        self.count_shared(&mut classes, context)?;
        let statements = store.of_property(&rdfs::SUB_CLASS_OF.into_owned());
        for (position, statement) in statements.enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            if let (NamedOrBlankNode::NamedNode(class), Term::NamedNode(above)) = statement? {
                classes.state(class.into_string(), above.into_string());
            }
        }
        Ok(classes)
    }

    /// Counts the instances that classes share.
    fn count_shared(&self, classes: &mut Classes, context: &CallContext) -> Result<(), StoreError> {
        let kept = |class: &NamedNode| classes.counts.contains_key(class.as_str());
        let kept: Vec<bool> = self.classes.iter().map(kept).collect();
        let mut shared: HashMap<(u32, u32), u64> = HashMap::new();
        for (position, of) in self.nodes.values().enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            let of = || of.iter().filter(|class| kept[**class as usize]);
            for class in of() {
                for other in of().filter(|other| *other != class) {
                    *shared.entry((*class, *other)).or_default() += 1;
                }
            }
        }
        let iri = |class: u32| self.classes[class as usize].as_str().to_owned();
        let shared = shared.into_iter();
        classes.shared = shared
            .map(|((class, other), count)| ((iri(class), iri(other)), count))
            .collect();
        Ok(())
    }

    fn lineages<'h>(&self, classes: &'h Classes, hierarchy: &'h Hierarchy) -> Lineages<'h> {
        let lineage = |class: &NamedNode| match classes.counts.get_key_value(class.as_str()) {
            Some((class, _)) => hierarchy.lineage(class).collect(),
            None => Vec::new(),
        };
        Lineages(self.classes.iter().map(lineage).collect())
    }
}

/// The objects that the instances of each class are instances of.
struct Lineages<'h>(Vec<Vec<&'h str>>);

impl<'h> Lineages<'h> {
    /// Returns those of a node with these classes, each once.
    fn of(&self, classes: &[u32]) -> Vec<&'h str> {
        let mut all: Vec<&str> = classes
            .iter()
            .flat_map(|class| &self.0[*class as usize])
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A value as far as statistics look at it.
struct Value<'h> {
    kind: Kind,
    /// Whether the API shows it: a literal that is malformed is none of its datatype.
    is_shown: bool,
    classes: Vec<&'h str>,
}

/// Returns the values of one subject by property, each once.
fn values<'h>(
    store: &dyn Statements,
    subject: &NamedNode,
    typed: &Typed,
    lineages: &Lineages<'h>,
) -> Result<BTreeMap<NamedNode, Vec<Value<'h>>>, StoreError> {
    let value = |term: Term| {
        let mut classes = Vec::new();
        let mut is_shown = true;
        let kind = match term {
            Term::NamedNode(node) => {
                let of = typed.nodes.get(&node).map_or(&[][..], Vec::as_slice);
                classes = lineages.of(of);
                if classes.is_empty() {
                    Kind::Iri
                } else {
                    Kind::Object
                }
            }
            Term::Literal(literal) if literal.language().is_some() => Kind::LangString,
            Term::Literal(literal) => {
                is_shown = is_well_formed(&literal);
                Kind::Literal(literal.datatype().as_str().to_owned())
            }
            _ => Kind::Blank,
        };
        Value {
            kind,
            is_shown,
            classes,
        }
    };
    let mut values: BTreeMap<NamedNode, Vec<Value<'h>>> = BTreeMap::new();
    store.about(subject, &mut |property, term| {
        if property != rdf::TYPE {
            values.entry(property).or_default().push(value(term));
        }
    })?;
    Ok(values)
}

/// Returns whether a literal has a value of its datatype, where that is one of SOML.
fn is_well_formed(literal: &Literal) -> bool {
    let scalar = Scalar::from_datatype_iri(literal.datatype().as_str());
    scalar.is_none_or(|scalar| write_scalar(&mut Vec::new(), scalar, literal, Numbers::Exact))
}

impl Class {
    /// Counts the values of one instance.
    fn add(&mut self, values: &BTreeMap<NamedNode, Vec<Value<'_>>>, is_own: bool) {
        for (property, values) in values {
            let property = self
                .properties
                .entry(property.as_str().to_owned())
                .or_default();
            property.is_own |= is_own;
            property.subjects += 1;
            property.values += values.len() as u64;
            let number = |test: fn(&Kind) -> bool| {
                let shown = values.iter().filter(|value| value.is_shown);
                shown.filter(|value| test(&value.kind)).count() as u64
            };
            property.literals.add(number(Kind::is_literal));
            property.iris.add(number(Kind::is_iri));
            property.objects.add(number(|kind| *kind == Kind::Object));
            for value in values {
                *property.kinds.entry(value.kind.clone()).or_default() += 1;
                for class in &value.classes {
                    *property.targets.entry((*class).to_owned()).or_default() += 1;
                }
            }
        }
    }
}
