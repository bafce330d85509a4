//! Statistics of a store that answers SPARQL queries.

use std::collections::{BTreeMap, BTreeSet};

use graph_store::remote::Solutions;
use graph_store::{CallContext, StoreError};
use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, Term};
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;

use super::descriptions::Descriptions;
use super::hierarchy::{Classes, Hierarchy};
use super::statistics::{Class, Kind, Property, Reach, Statistics};
use super::{InferOptions, ontology};
use crate::classes::counted;
use crate::queries::{self, ANY_CLASS, Pairs, kind};
use crate::rows::{self, Answer, Row};

/// Maximum number of classes that one query counts.
const MAX_BATCH: usize = 50;

/// Number of instances from which a query counts no further class.
const FULL_BATCH: u64 = 20_000;

/// Maximum number of classes and properties whose descriptions are asked for at once.
const MAX_DESCRIBED: usize = 500;

/// Maximum number of queries for superclasses of superclasses.
const MAX_LEVELS: usize = 50;

impl Statistics {
    /// Counts what is in a store.
    ///
    /// Takes one query for the classes, two for each batch of classes and level of superclasses, four
    /// for each batch of objects, one for each class with subclasses, and one for each batch of
    /// descriptions.
    pub(super) async fn of_solutions(
        store: &dyn Solutions,
        options: &InferOptions,
        context: &CallContext,
    ) -> Result<Self, StoreError> {
        let reader = Reader { store, context };
        let classes = reader.classes(options).await?;
        let hierarchy = Hierarchy::new(&classes, options.max_classes);
        let members = Members::new(&classes, &hierarchy);
        let mut statistics = Statistics::of_hierarchy(&classes, &hierarchy);
        let targets = members.targets();
        for batch in members.batches(&classes) {
            reader.count(&batch, &targets, &mut statistics).await?;
        }
        for (class, of) in &members.0 {
            reader.mark_own(class, of, &mut statistics).await?;
        }
        reader.describe(&mut statistics).await?;
        Ok(statistics)
    }
}

/// The classes whose instances are instances of each object: itself and its subclasses.
struct Members(BTreeMap<String, BTreeSet<String>>);

impl Members {
    fn new(classes: &Classes, hierarchy: &Hierarchy) -> Self {
        let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for class in classes.counts.keys() {
            for of in hierarchy.lineage(class) {
                let of = members.entry(of.to_owned()).or_default();
                of.insert(class.clone());
            }
        }
        Members(members)
    }

    /// Returns which objects a value of a class is, and that it is one at all.
    fn targets(&self) -> Pairs {
        let mut targets = Pairs::new();
        let mut all = BTreeSet::new();
        for (of, classes) in &self.0 {
            all.extend(classes);
            targets.extend(classes.iter().map(|class| (node(class), node(of).into())));
        }
        let any = || GroundTerm::from(Literal::new_simple_literal(ANY_CLASS));
        targets.extend(all.into_iter().map(|class| (node(class), any())));
        targets
    }

    /// Divides the objects by what a query can count at a time.
    fn batches(&self, classes: &Classes) -> Vec<Pairs> {
        let mut batches: Vec<Pairs> = Vec::new();
        let (mut objects, mut instances) = (MAX_BATCH, 0);
        for (of, members) in &self.0 {
            if objects >= MAX_BATCH || instances >= FULL_BATCH {
                batches.push(Pairs::new());
                (objects, instances) = (0, 0);
            }
            objects += 1;
            instances += members
                .iter()
                .map(|class| classes.counts[class])
                .sum::<u64>();
            if let Some(batch) = batches.last_mut() {
                batch.extend(members.iter().map(|class| (node(class), node(of).into())));
            }
        }
        batches
    }
}

struct Reader<'a> {
    store: &'a dyn Solutions,
    context: &'a CallContext,
}

impl Reader<'_> {
    async fn rows(&self, pattern: GraphPattern) -> Result<Answer, StoreError> {
        rows::read(self.store, pattern, self.context).await
    }

    /// Counts the classes that become objects, and what they have in common.
    async fn classes(&self, options: &InferOptions) -> Result<Classes, StoreError> {
        let ty = [rdf::TYPE.into_owned()];
        let limit = options.max_classes.saturating_add(ontology::MAX_CLASSES);
        let found = counted(&self.rows(queries::classes(&ty, true, limit)).await?)?.into_iter();
        let mut classes = Classes::default();
        classes.keep(
            found
                .map(|(class, count)| (class.into_string(), count))
                .collect(),
            options,
        );
        let found: Vec<NamedNode> = classes.counts.keys().map(|class| node(class)).collect();
        for batch in found.chunks(MAX_BATCH) {
            for row in self.rows(queries::shared(batch)).await?.rows() {
                let (class, other) = (row.node(0)?.as_str(), row.node(1)?.as_str());
                if classes.counts.contains_key(other) {
                    let both = (class.to_owned(), other.to_owned());
                    classes.shared.insert(both, row.number(2)?);
                }
            }
        }
        self.superclasses(found, &mut classes).await?;
        Ok(classes)
    }

    /// Follows `rdfs:subClassOf` from some classes, level by level.
    async fn superclasses(
        &self,
        from: Vec<NamedNode>,
        classes: &mut Classes,
    ) -> Result<(), StoreError> {
        let mut known: BTreeSet<NamedNode> = from.iter().cloned().collect();
        let mut level = from;
        for _ in 0..MAX_LEVELS {
            let mut next = BTreeSet::new();
            for batch in level.chunks(MAX_BATCH) {
                for row in self.rows(queries::superclasses(batch)).await?.rows() {
                    let (class, above) = (row.node(0)?, row.node(1)?);
                    classes.state(class.as_str().to_owned(), above.as_str().to_owned());
                    if known.insert(above.clone()) {
                        next.insert(above.clone());
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next.into_iter().collect();
        }
        Ok(())
    }

    /// Counts the instances and properties of some objects.
    async fn count(
        &self,
        batch: &Pairs,
        targets: &Pairs,
        statistics: &mut Statistics,
    ) -> Result<(), StoreError> {
        for row in self.rows(queries::instances(batch)).await?.rows() {
            if let Some(class) = statistics.classes.get_mut(row.node(0)?.as_str()) {
                class.instances = row.number(1)?;
                // All others sort between these two, and so begin with what they have in common.
                class.add_prefix(row.text(2)?);
                class.add_prefix(row.text(3)?);
            }
        }
        for row in self.rows(queries::properties(batch)).await?.rows() {
            if let Some(property) = property(statistics, row.node(0)?, row.node(1)?) {
                property.is_own = true;
                property.subjects = row.number(2)?;
                property.values = row.number(3)?;
                property.literals = reach(&row, 4)?;
                property.iris = reach(&row, 6)?;
            }
        }
        for row in self.rows(queries::kinds(batch)).await?.rows() {
            if let Some(property) = property(statistics, row.node(0)?, row.node(1)?) {
                property.kinds.insert(kind_of(row.text(2)?), row.number(3)?);
            }
        }
        for row in self.rows(queries::targets(batch, targets)).await?.rows() {
            let Some(property) = property(statistics, row.node(0)?, row.node(1)?) else {
                continue;
            };
            let count = row.number(3)?;
            match row.term(2)? {
                Term::NamedNode(class) => {
                    property.targets.insert(class.as_str().to_owned(), count);
                }
                _ => {
                    property.make_objects(count);
                    property.objects = reach(&row, 4)?;
                }
            }
        }
        Ok(())
    }

    /// Reads how classes and properties are described.
    async fn describe(&self, statistics: &mut Statistics) -> Result<(), StoreError> {
        let classes = statistics.classes.keys().map(String::as_str);
        let all: Vec<NamedNode> = classes.chain(statistics.properties()).map(node).collect();
        for batch in all.chunks(MAX_DESCRIBED) {
            let properties = Descriptions::properties().map(node).collect();
            let pattern = queries::descriptions(batch, properties);
            for row in self.rows(pattern).await?.rows() {
                if let Term::Literal(value) = row.term(2)? {
                    let (of, property) = (row.node(0)?.as_str(), row.node(1)?.as_str());
                    statistics.descriptions.add(of, property, value);
                }
            }
        }
        Ok(())
    }

    /// Finds out which properties of a class are only those of its subclasses.
    async fn mark_own(
        &self,
        class: &str,
        members: &BTreeSet<String>,
        statistics: &mut Statistics,
    ) -> Result<(), StoreError> {
        let subclasses: Vec<NamedNode> = members
            .iter()
            .filter(|member| *member != class)
            .map(|class| node(class))
            .collect();
        let Some(counted) = statistics.classes.get_mut(class) else {
            return Ok(());
        };
        if subclasses.is_empty() {
            return Ok(());
        }
        for property in counted.properties.values_mut() {
            property.is_own = false;
        }
        if counted.is_abstract {
            return Ok(());
        }
        let pattern = queries::own_properties(&node(class), &subclasses);
        for row in self.rows(pattern).await?.rows() {
            if let Some(property) = counted.properties.get_mut(row.node(0)?.as_str()) {
                property.is_own = true;
            }
        }
        Ok(())
    }
}

impl Property {
    /// Counts IRIs as objects.
    fn make_objects(&mut self, count: u64) {
        let others = self
            .kinds
            .remove(&Kind::Iri)
            .unwrap_or(0)
            .saturating_sub(count);
        if others > 0 {
            self.kinds.insert(Kind::Iri, others);
        }
        self.kinds.insert(Kind::Object, count);
    }
}

/// Reads two numbers of a row.
fn reach(row: &Row<'_>, column: usize) -> Result<Reach, StoreError> {
    Ok(Reach {
        subjects: row.number(column)?,
        most: row.number(column + 1)?,
    })
}

fn property<'s>(
    statistics: &'s mut Statistics,
    class: &NamedNode,
    property: &NamedNode,
) -> Option<&'s mut Property> {
    let class: &mut Class = statistics.classes.get_mut(class.as_str())?;
    Some(
        class
            .properties
            .entry(property.as_str().to_owned())
            .or_default(),
    )
}

fn kind_of(text: &str) -> Kind {
    match text {
        kind::IRI => Kind::Iri,
        kind::BLANK => Kind::Blank,
        kind::TAGGED => Kind::LangString,
        datatype => Kind::Literal(datatype.to_owned()),
    }
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}
