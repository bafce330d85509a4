//! The classes that data have, whatever a schema says.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use graph_store::query::{Dataset, NodeCondition, Page, Selection, TypeTest};
use graph_store::remote::Solutions;
use graph_store::{CallContext, GraphStore, Statements, StoreError};
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Term};
use soml_core::schema::{ObjectKind, Schema};

use crate::queries;
use crate::rows::{self, Answer};

/// How many statements are read between two looks at the deadline.
const CHECK_EVERY: usize = 1_024;

/// A view of data beside the one of a schema.
#[derive(Clone, Copy)]
pub enum DataView<'a> {
    /// A store that lists its statements.
    Statements(&'a dyn Statements),
    /// A store that answers SPARQL queries.
    Queries(&'a dyn Solutions),
}

/// The classes of some data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassCounts {
    /// Number of classes; of a store that answers queries, at most 1,000.
    pub number: usize,
    /// The classes with the most instances, IRIs and blank nodes alike, with their number.
    pub largest: Vec<(NamedNode, u64)>,
}

/// Greatest number of classes that a server is asked for.
const MAX_CLASSES: usize = 1_000;

/// Counts the instances of the classes that stand under some type properties, and returns the
/// `limit` largest classes; of equally large ones those that sort first.
///
/// # Errors
/// When the store fails, or the context says that no one waits any more.
pub async fn class_counts(
    data: DataView<'_>,
    properties: &[NamedNode],
    limit: usize,
    context: &CallContext,
) -> Result<ClassCounts, StoreError> {
    let mut largest = match data {
        DataView::Statements(statements) => listed(statements, properties, context)?,
        DataView::Queries(store) => {
            let pattern = queries::classes(properties, false, MAX_CLASSES);
            counted(&rows::read(store, pattern, context).await?)?
        }
    };
    largest.sort_by(|(a, n), (b, m)| (Reverse(n), a).cmp(&(Reverse(m), b)));
    let number = largest.len();
    largest.truncate(limit);
    Ok(ClassCounts { number, largest })
}

/// Returns the classes that data have if they have no object of any type of a schema, and `None` if
/// they have one, or if the schema has no types to look for.
///
/// # Errors
/// When the store fails, or the context says that no one waits any more.
pub async fn classes_instead(
    schema: &Schema,
    store: &dyn GraphStore,
    data: DataView<'_>,
    limit: usize,
    context: &CallContext,
) -> Result<Option<ClassCounts>, StoreError> {
    let mut alternatives: BTreeMap<NamedNode, BTreeSet<NamedNode>> = BTreeMap::new();
    for (_, object) in schema.objects() {
        let is_elsewhere = object.sparql_federated_service.is_some();
        if object.kind != ObjectKind::Abstract && !is_elsewhere {
            let property = NamedNode::new_unchecked(object.type_prop.as_str());
            let types = object
                .types
                .iter()
                .map(|ty| NamedNode::new_unchecked(ty.as_str()));
            alternatives.entry(property).or_default().extend(types);
        }
    }
    if alternatives.is_empty() {
        return Ok(None);
    }
    let properties = type_properties(alternatives.keys());
    let alternatives = alternatives.into_iter();
    let alternatives =
        alternatives.map(|(property, types)| (property, types.into_iter().collect()));
    let selection = Selection {
        condition: NodeCondition::Instance(TypeTest {
            alternatives: alternatives.collect(),
        }),
        order: Vec::new(),
        page: Page {
            offset: None,
            limit: Some(1),
        },
        dataset: Dataset::default(),
    };
    if !store.select(&selection, context).await?.is_empty() {
        return Ok(None);
    }
    class_counts(data, &properties, limit, context)
        .await
        .map(Some)
}

/// Returns the properties under which the data may have classes: those of a schema, and `rdf:type`.
pub(crate) fn type_properties<'p>(
    of_schema: impl Iterator<Item = &'p NamedNode>,
) -> Vec<NamedNode> {
    let mut properties: Vec<NamedNode> = of_schema.cloned().collect();
    if !properties.iter().any(|property| *property == rdf::TYPE) {
        properties.push(rdf::TYPE.into_owned());
    }
    properties
}

fn listed(
    statements: &dyn Statements,
    properties: &[NamedNode],
    context: &CallContext,
) -> Result<Vec<(NamedNode, u64)>, StoreError> {
    let mut counts: HashMap<NamedNode, u64> = HashMap::new();
    for property in properties {
        for (read, statement) in statements.of_property(property).enumerate() {
            if read % CHECK_EVERY == 0 {
                context.check()?;
            }
            if let (_, Term::NamedNode(class)) = statement? {
                *counts.entry(class).or_default() += 1;
            }
        }
    }
    Ok(counts.into_iter().collect())
}

/// Reads rows of a class and a number.
pub(crate) fn counted(answer: &Answer) -> Result<Vec<(NamedNode, u64)>, StoreError> {
    let rows = answer.rows();
    rows.map(|row| Ok((row.node(0)?.clone(), row.number(1)?)))
        .collect()
}
