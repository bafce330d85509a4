//! Reads objects from a store as documents.
//!
//! [`DocumentReader::ids`] lists the objects of an index, and [`DocumentReader::documents`] reads a page of them: one
//! call to the store for each level of embedded objects, however many objects there are. Nothing here
//! knows an engine.
//!
//! An embedded object of a concrete type is whatever a property leads to, as answers show it; of an
//! abstract one, what is an instance.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;
use graph_store::facts::{Fact, FactsOf, Reading};
use graph_store::query::{
    Column, Dataset, Hydrated, HydrationRequest, NodeCondition, ObjectRef, Page, Selection, Slot,
    Step, TypeIndex, TypeTest, ValueCondition,
};
use graph_store::{CallContext, GraphStore, StoreError};
use oxrdf::{NamedNode, Term};
use soml_core::schema::{ObjectId, ObjectKind, Schema};

use crate::document::{Document, FieldValues, ObjectValues};
use crate::mapping::{Content, Embedded, Field, IndexDefinition, ObjectFields};

/// Reads the documents of one index.
#[derive(Clone, Copy)]
pub struct DocumentReader<'a> {
    schema: &'a Schema,
    index: &'a IndexDefinition,
    store: &'a dyn GraphStore,
}

impl<'a> DocumentReader<'a> {
    /// Creates a reader; the index is one of the schema.
    #[must_use]
    pub fn new(schema: &'a Schema, index: &'a IndexDefinition, store: &'a dyn GraphStore) -> Self {
        DocumentReader {
            schema,
            index,
            store,
        }
    }

    /// Returns the objects of the index, in ascending order of their IRIs.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn ids(&self, context: &CallContext) -> Result<Vec<ObjectRef>, StoreError> {
        let selection = Selection {
            condition: NodeCondition::Instance(self.instances(self.index.object)),
            order: Vec::new(),
            page: Page::default(),
            dataset: self.dataset(),
        };
        let mut ids = self.store.select(&selection, context).await?.into_refs();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the documents of some objects, in the same order. The objects are distinct.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn documents(
        &self,
        objects: &[ObjectRef],
        context: &CallContext,
    ) -> Result<Vec<Document>, StoreError> {
        let fields = &self.index.fields;
        let level = self.level(fields, objects.to_vec(), context).await?;
        let documents = (0..objects.len()).map(|at| {
            let values = level.object(fields, at);
            Document::of(self.schema, self.index, &values)
        });
        Ok(documents.collect())
    }

    /// Returns those of some IRIs that are objects of the index.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn objects_among(
        &self,
        iris: &[NamedNode],
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, StoreError> {
        let instance = NodeCondition::Instance(self.instances(self.index.object));
        let selection = Selection {
            condition: NodeCondition::all([NodeCondition::one_of(iris.to_vec()), instance]),
            order: Vec::new(),
            page: Page::default(),
            dataset: self.dataset(),
        };
        Ok(self.store.select(&selection, context).await?.into_refs())
    }

    /// Returns objects that may embed some objects now, and did not before these were created or updated: those that
    /// led to what was created, and those that what was updated leads to by a property that is read backwards.
    ///
    /// All others that embed them did so before, or have changed themselves.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn parents(
        &self,
        created: &[NamedNode],
        updated: &[NamedNode],
        context: &CallContext,
    ) -> Result<HashSet<NamedNode>, StoreError> {
        let mut links = Vec::new();
        self.links(&self.index.fields, &mut links);
        let backwards: Vec<Step> = links.iter().filter(|step| step.inverse).cloned().collect();
        let mut parents = HashSet::new();
        for (objects, links) in [(created, &links), (updated, &backwards)] {
            if objects.is_empty() || links.is_empty() {
                continue;
            }
            let slots = links.iter().map(|step| {
                Slot::new(Step {
                    predicate: step.predicate.clone(),
                    inverse: !step.inverse,
                })
            });
            let slots: Vec<Slot> = slots.collect();
            let nodes: Vec<ObjectRef> = objects.iter().cloned().map(ObjectRef::from).collect();
            let dataset = self.dataset();
            let request = HydrationRequest {
                nodes: (&nodes).into(),
                slots: &slots,
                dataset: &dataset,
            };
            let hydrated = self.store.hydrate(&request, context).await?.into_owned();
            let values = hydrated
                .columns
                .iter()
                .flat_map(|column| column.values.iter());
            parents.extend(values.filter_map(|value| value.into_iri()));
        }
        Ok(parents)
    }

    /// Adds the steps by which fields, and facts, lead to objects, each once.
    fn links(&self, fields: &ObjectFields, links: &mut Vec<Step>) {
        let ways = fields.facts.iter().flat_map(Fact::ways);
        for step in ways.flatten() {
            if !links.contains(&step) {
                links.push(step);
            }
        }
        for field in fields.fields.values() {
            if let Content::Object(embedded) = &field.content {
                let step = Step::from(&self.schema[field.reads.property()].path);
                if !links.contains(&step) {
                    links.push(step);
                }
                self.links(&embedded.fields, links);
            }
        }
    }

    fn dataset(&self) -> Dataset {
        Dataset {
            graphs: None,
            include_inferred: self.schema.config.include_inferred,
            expand_same_as: self.schema.config.expand_owl_same_as,
        }
    }

    /// Returns the test of the instances of an object: its own types if it is abstract and has some,
    /// else those of all concrete objects below it.
    fn instances(&self, id: ObjectId) -> TypeTest {
        let object = &self.schema[id];
        if object.kind == ObjectKind::Abstract && !object.types.is_empty() {
            let types = object.types.iter().map(NamedNode::new_unchecked);
            let property = NamedNode::new_unchecked(&object.type_prop);
            return TypeTest::new(property, types.collect());
        }
        self.types(id).test()
    }

    fn types(&self, id: ObjectId) -> TypeIndex {
        TypeIndex::without_names(self.schema, &self.schema.concrete(id))
    }

    /// Reads the values of objects, and then those of the objects that they embed.
    fn level<'s>(
        &'s self,
        fields: &'s ObjectFields,
        nodes: Vec<ObjectRef>,
        context: &'s CallContext,
    ) -> BoxFuture<'s, Result<Level, StoreError>> {
        Box::pin(async move {
            let index = self.types(fields.object);
            let types = index
                .properties()
                .cloned()
                .map(|property| Slot::new(Step::forward(property)));
            let mut slots: Vec<Slot> = types.collect();
            let type_slots = slots.len();
            slots.extend(fields.fields.values().map(|field| self.slot(field)));
            let mut all_values = Vec::with_capacity(fields.fields.len());
            for at in type_slots..slots.len() {
                // The condition on an object is one that no literal satisfies, and literals are counted.
                let has_condition = slots[at].condition.is_some();
                all_values.push(has_condition.then_some(slots.len()));
                if has_condition {
                    slots.push(Slot::new(slots[at].step.clone()));
                }
            }
            let dataset = self.dataset();
            let request = HydrationRequest {
                nodes: (&nodes).into(),
                slots: &slots,
                dataset: &dataset,
            };
            let hydrated = self.store.hydrate(&request, context).await?.into_owned();
            let facts = self.facts(fields, &nodes, context).await?;
            let mut level = Level {
                nodes,
                facts,
                type_slots,
                all_values,
                hydrated,
                inner: Vec::with_capacity(fields.fields.len()),
            };
            for (at, field) in fields.fields.values().enumerate() {
                let inner = match &field.content {
                    Content::Object(embedded) if !embedded.fields.id_only => {
                        let (nodes, positions) = level.targets(type_slots + at);
                        let level = self.level(&embedded.fields, nodes, context).await?;
                        Some(Inner { level, positions })
                    }
                    Content::Object(embedded) if embedded.fields.has_facts() => {
                        let (nodes, positions) = level.targets(type_slots + at);
                        let facts = self.facts(&embedded.fields, &nodes, context).await?;
                        let level = Level::of_ids(nodes, facts);
                        Some(Inner { level, positions })
                    }
                    Content::Object(_) | Content::Leaf(_) => None,
                };
                level.inner.push(inner);
            }
            Ok(level)
        })
    }

    /// Reads the facts about some objects, if there are any.
    async fn facts(
        &self,
        fields: &ObjectFields,
        nodes: &[ObjectRef],
        context: &CallContext,
    ) -> Result<Vec<FactsOf>, StoreError> {
        if !fields.has_facts() {
            return Ok(Vec::new());
        }
        let dataset = self.dataset();
        let reading = Reading {
            facts: &fields.facts,
            store: self.store,
            dataset: &dataset,
        };
        reading.of(nodes, context).await
    }

    fn slot(&self, field: &Field) -> Slot {
        let property = &self.schema[field.reads.property()];
        let condition = match &field.content {
            Content::Object(Embedded { fields, .. })
                if self.schema[fields.object].kind == ObjectKind::Abstract =>
            {
                let test = self.instances(fields.object);
                Some(ValueCondition::Node(NodeCondition::Instance(test)))
            }
            Content::Object(_) | Content::Leaf(_) => None,
        };
        Slot {
            condition,
            ..Slot::new(Step::from(&property.path))
        }
    }
}

/// The values of some objects of one level.
struct Level {
    nodes: Vec<ObjectRef>,
    /// What is known of each, if anything is asked.
    facts: Vec<FactsOf>,
    /// Number of columns with types, before those of the fields.
    type_slots: usize,
    /// The column with all values of a field, where its own has some of them.
    all_values: Vec<Option<usize>>,
    hydrated: Hydrated,
    /// What each field embeds, if it embeds more than ids.
    inner: Vec<Option<Inner>>,
}

/// The objects that a field embeds, each once.
struct Inner {
    level: Level,
    positions: HashMap<NamedNode, usize>,
}

impl Level {
    /// Creates the level of objects of which nothing but facts is known.
    fn of_ids(nodes: Vec<ObjectRef>, facts: Vec<FactsOf>) -> Self {
        Level {
            nodes,
            facts,
            type_slots: 0,
            all_values: Vec::new(),
            hydrated: Hydrated::default(),
            inner: Vec::new(),
        }
    }

    /// Returns the objects in a column, each once, and where in the list each is.
    fn targets(&self, column: usize) -> (Vec<ObjectRef>, HashMap<NamedNode, usize>) {
        let (mut nodes, mut positions) = (Vec::new(), HashMap::new());
        for value in self.hydrated.columns[column].values.iter() {
            if let Some(node) = value.into_iri()
                && !positions.contains_key(&node)
            {
                positions.insert(node.clone(), nodes.len());
                nodes.push(ObjectRef::from(node));
            }
        }
        (nodes, positions)
    }

    /// Returns the values of the object at a position.
    fn object<'l>(&'l self, fields: &ObjectFields, at: usize) -> ObjectValues<'l> {
        let all = &self.hydrated.columns;
        let (types, columns) = all.split_at(self.type_slots);
        let mut types: Vec<_> = types
            .iter()
            .flat_map(|column| owned(column, at))
            .filter_map(iri)
            .collect();
        types.sort_unstable();
        let values = fields
            .fields
            .values()
            .zip(columns)
            .zip(&self.inner)
            .zip(&self.all_values);
        let values = values.map(
            |(((field, column), inner), all_values)| match &field.content {
                Content::Leaf(_) => FieldValues::Terms(owned(column, at)),
                Content::Object(embedded) => {
                    let objects = owned(column, at).iter().filter_map(|term| {
                        let (iri, fields) = (iri(term)?, &embedded.fields);
                        match inner {
                            Some(inner) => inner.object(fields, term),
                            None => Some(ObjectValues {
                                iri,
                                types: Vec::new(),
                                fields: Vec::new(),
                                facts: None,
                            }),
                        }
                    });
                    let all_values = all_values.map_or(column, |at| &all[at]);
                    let literals = owned(all_values, at)
                        .iter()
                        .filter(|term| term.is_literal());
                    FieldValues::Objects {
                        objects: objects.collect(),
                        literals: literals.collect(),
                    }
                }
            },
        );
        ObjectValues {
            iri: self.nodes[at].iri(),
            types,
            fields: values.collect(),
            facts: self.facts.get(at),
        }
    }
}

impl Inner {
    fn object<'l>(&'l self, fields: &ObjectFields, term: &Term) -> Option<ObjectValues<'l>> {
        let Term::NamedNode(node) = term else {
            return None;
        };
        let at = self.positions.get(node)?;
        Some(self.level.object(fields, *at))
    }
}

/// Returns the values of an object in a column whose terms are owned.
fn owned(column: &Column, at: usize) -> &[Term] {
    let values = column.of(at).terms();
    values.expect("terms are copied when they are read")
}

fn iri(term: &Term) -> Option<&str> {
    match term {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    }
}
