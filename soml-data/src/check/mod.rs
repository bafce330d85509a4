//! Where data do not fit a schema: what [`check`] finds, with counts and examples.
//!
//! Instances are read type by type in pages, through the trait [`GraphStore`], so the check works over
//! any store. What the schema does not name, and blank nodes, only a store can tell that shows its
//! statements ([`Statements`]); over others the report says that it was not looked for. What is
//! kept in memory is bounded: counts, and a few examples of each kind.

mod code;
mod constraint;
mod object;
mod report;
mod statements;
mod types;
mod values;

use std::collections::{HashMap, HashSet};

pub use code::{CheckCode, CheckSeverity};
use graph_store::query::{
    Dataset, Hydrated, HydrationRequest, NodeCondition, ObjectRef, Page, Selection, Slot,
};
use graph_store::remote::Solutions;
use graph_store::{CallContext, GraphStore, StoreError};
pub use graph_store::{Statement, Statements};
use object::ObjectCheck;
use oxrdf::{NamedNode, Term};
pub use report::{CheckFinding, CheckReport, Example, TypeCount};
use report::{Element, Tally};
use soml_core::schema::{ObjectId, ObjectKind, Range, Schema};
use statements::{KnownProperties, check_classes};
use types::{NodeTypes, Types, owned};
use values::{Target, Values};

use crate::classes::{ClassCounts, DataView, class_counts, type_properties};

/// How much a check reads at a time, and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Greatest number of examples of each kind of finding about each element.
    pub examples: usize,
    /// Number of ids that are asked for at a time.
    pub page: u64,
    /// Number of objects whose values are asked for at a time.
    pub batch: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            examples: 3,
            page: 50_000,
            batch: 1_000,
        }
    }
}

/// The input of a check.
#[derive(Clone, Copy)]
pub struct CheckInput<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The data.
    pub store: &'a dyn GraphStore,
    /// The same data as statements, where the store can show them.
    pub statements: Option<&'a dyn Statements>,
    /// The same data behind queries, where the store answers some.
    pub solutions: Option<&'a dyn Solutions>,
    /// How much is read at a time, and kept.
    pub options: CheckOptions,
}

/// Checks whether data fit a schema.
///
/// Costs one selection per page of ids of each concrete type, and two hydrations per batch of objects:
/// their values, and the types of the objects among these.
///
/// # Errors
/// When the store fails, or the context says that no one waits any more.
pub async fn check(
    input: &CheckInput<'_>,
    context: &CallContext,
) -> Result<CheckReport, StoreError> {
    let types = Types::new(input.schema);
    let mut run = Run {
        input,
        context,
        known: KnownProperties::new(input.schema, &types),
        types,
        tally: Tally::new(input.options.examples),
        dataset: Dataset::default(),
        counts: HashMap::new(),
    };
    let mut not_checked = Vec::new();
    let mut checked = Vec::new();
    for (id, object) in input.schema.objects() {
        if object.kind == ObjectKind::Abstract {
            continue;
        }
        if let Some(service) = &object.sparql_federated_service {
            let name = &object.name.written;
            not_checked.push(format!("instances of {name} are in the service {service}"));
            continue;
        }
        let check = ObjectCheck::new(input.schema, id, &run.types, &mut not_checked);
        run.object(&check).await?;
        checked.push(id);
    }
    let objects: Vec<TypeCount> = checked.into_iter().map(|id| run.members(id)).collect();
    if !objects.is_empty() && objects.iter().all(|object| object.count == 0) {
        run.no_objects().await?;
    }
    match input.statements {
        Some(statements) => check_classes(&run.types, statements, context, &mut run.tally)?,
        None => not_checked.push(UNSEEN.to_owned()),
    }
    let mut seen = HashSet::new();
    // What subtypes inherit is refused for each of them.
    not_checked.retain(|what| seen.insert(what.clone()));
    Ok(CheckReport {
        objects,
        findings: run.tally.findings(input.schema),
        not_checked,
    })
}

/// How many classes are named when the data have none of the schema's, however few examples are
/// wanted.
const MIN_CLASSES: usize = 10;

/// What a store does not tell that only selects and hydrates.
const UNSEEN: &str = "classes and properties that the schema does not name, blank nodes, and whether \
                      values without a type have statements: the store does not show its statements";

struct Run<'a> {
    input: &'a CheckInput<'a>,
    context: &'a CallContext,
    types: Types<'a>,
    known: KnownProperties,
    tally: Tally,
    dataset: Dataset,
    /// Number of instances of each concrete object, those of subclasses included.
    counts: HashMap<ObjectId, u64>,
}

impl Run<'_> {
    /// Checks and counts all instances of one type.
    async fn object(&mut self, check: &ObjectCheck<'_>) -> Result<(), StoreError> {
        let limit = self.input.options.page.max(1);
        let mut selection = Selection {
            condition: NodeCondition::Instance(self.types.test(check.id)),
            order: Vec::new(),
            page: Page::default(),
            dataset: self.dataset.clone(),
        };
        for page in 0.. {
            selection.page = Page {
                offset: Some(page * limit),
                limit: Some(limit),
            };
            let nodes = self
                .input
                .store
                .select(&selection, self.context)
                .await?
                .into_refs();
            for batch in nodes.chunks(self.input.options.batch.max(1)) {
                self.batch(check, batch).await?;
            }
            if (nodes.len() as u64) < limit {
                break;
            }
        }
        Ok(())
    }

    /// Counts an instance for each of its types and their superclasses, once.
    fn count(&mut self, types: &NodeTypes) {
        let schema = self.input.schema;
        let lineages = types.leaves.iter().flat_map(|leaf| schema.lineage(*leaf));
        let mut all: Vec<ObjectId> = lineages
            .filter(|id| schema[*id].kind == ObjectKind::Concrete)
            .collect();
        all.sort_unstable();
        all.dedup();
        for id in all {
            *self.counts.entry(id).or_default() += 1;
        }
    }

    /// Returns the number of instances of an object; none is a finding.
    fn members(&mut self, id: ObjectId) -> TypeCount {
        let object = &self.input.schema[id];
        let count = self.counts.get(&id).copied().unwrap_or(0);
        if count == 0 {
            let element = Element {
                object: Some(id),
                property: None,
            };
            let name = &object.name.iri;
            self.tally
                .add(CheckCode::NoInstances, element, "", name.as_str(), None);
        }
        TypeCount {
            name: object.name.written.clone(),
            count,
        }
    }

    /// Names the classes that the data have in place of those of the schema.
    async fn no_objects(&mut self) -> Result<(), StoreError> {
        let properties = type_properties(self.types.properties());
        let data = match (self.input.statements, self.input.solutions) {
            (Some(statements), _) => Some(DataView::Statements(statements)),
            (None, Some(solutions)) => Some(DataView::Queries(solutions)),
            (None, None) => None,
        };
        let limit = self.input.options.examples.max(MIN_CLASSES);
        let classes = match data {
            Some(data) => class_counts(data, &properties, limit, self.context).await?,
            None => ClassCounts::default(),
        };
        self.tally
            .add_classes(CheckCode::NoMatchingObjects, &classes);
        Ok(())
    }

    async fn hydrate(&self, nodes: &[ObjectRef], slots: &[Slot]) -> Result<Hydrated, StoreError> {
        let request = HydrationRequest {
            nodes: nodes.into(),
            slots,
            dataset: &self.dataset,
        };
        let hydrated = self.input.store.hydrate(&request, self.context).await?;
        Ok(hydrated.into_owned())
    }

    /// Checks and counts some instances, without those that are of a subtype.
    async fn batch(
        &mut self,
        check: &ObjectCheck<'_>,
        nodes: &[ObjectRef],
    ) -> Result<(), StoreError> {
        let hydrated = self.hydrate(nodes, &check.slots).await?;
        let own: Vec<(usize, NodeTypes)> = (0..nodes.len())
            .map(|node| (node, self.types.of(&hydrated, node)))
            .filter(|(_, types)| types.leaves.contains(&check.id))
            .collect();
        let targets = self.targets(check, &hydrated, &own).await?;
        for (node, types) in &own {
            let subject = nodes[*node].node();
            self.id(check, subject);
            for property in &check.properties {
                let column = |slot: usize| owned(&hydrated.columns[slot], *node);
                let values = Values {
                    schema: self.input.schema,
                    check: property,
                    subject,
                    values: column(property.slot),
                    back: property.back.map(column),
                    targets: &targets,
                };
                values.check(&mut self.tally);
            }
            // Of an object of several types, the first one counts it and lists what none of them names.
            if self.first_checked(types) != Some(check.id) {
                continue;
            }
            self.count(types);
            if let Some(statements) = self.input.statements {
                let tally = &mut self.tally;
                self.known
                    .check(check.id, subject, types, statements, tally)?;
            }
        }
        Ok(())
    }

    /// Returns the first type of an object whose instances are in the store.
    fn first_checked(&self, types: &NodeTypes) -> Option<ObjectId> {
        let is_here = |id: &&ObjectId| {
            let object = &self.input.schema[**id];
            object.sparql_federated_service.is_none()
        };
        types.leaves.iter().find(is_here).copied()
    }

    fn id(&mut self, check: &ObjectCheck<'_>, subject: &NamedNode) {
        let element = Element {
            object: Some(check.id),
            property: None,
        };
        for constraint in &check.ids {
            if !constraint.holds(subject.as_str()) {
                let (code, iri) = (CheckCode::IdMismatch, subject.as_str());
                self.tally.add(code, element, &constraint.text, iri, None);
            }
        }
    }

    /// Returns the types of all values that should be objects.
    async fn targets(
        &self,
        check: &ObjectCheck<'_>,
        hydrated: &Hydrated,
        own: &[(usize, NodeTypes)],
    ) -> Result<HashMap<NamedNode, Target>, StoreError> {
        let mut wanted: HashSet<&NamedNode> = HashSet::new();
        let to_objects = |range| matches!(range, Range::Object(_));
        let properties = check.properties.iter();
        for property in properties.filter(|p| to_objects(p.property.range)) {
            for (node, _) in own {
                let values = owned(&hydrated.columns[property.slot], *node).iter();
                wanted.extend(values.filter_map(|value| match value {
                    Term::NamedNode(node) => Some(node),
                    _ => None,
                }));
            }
        }
        let wanted: Vec<ObjectRef> = wanted.into_iter().cloned().map(ObjectRef::from).collect();
        let slots: Vec<Slot> = self.types.slots().collect();
        let mut targets = HashMap::with_capacity(wanted.len());
        for batch in wanted.chunks(self.input.options.batch.max(1)) {
            let hydrated = self.hydrate(batch, &slots).await?;
            for (position, object) in batch.iter().enumerate() {
                let node = object.node();
                let types = self.types.of(&hydrated, position);
                let is_missing = types.any.is_none() && self.is_missing(node)?;
                targets.insert(node.clone(), Target { types, is_missing });
            }
        }
        Ok(targets)
    }

    /// Returns whether the store is known to have no statement about a node.
    fn is_missing(&self, node: &NamedNode) -> Result<bool, StoreError> {
        let Some(statements) = self.input.statements else {
            return Ok(false);
        };
        let mut is_missing = true;
        statements.about(node, &mut |_, _| is_missing = false)?;
        Ok(is_missing)
    }
}
