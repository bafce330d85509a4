//! Applies what has changed in the data to indexes that are complete.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use graph_store::CallContext;
use graph_store::write::{ChangePosition, ChangesSince};
use oxrdf::NamedNode;
use serde::Deserialize;

use super::changed::Changed;
use super::current::Current;
use super::error::IndexerError;
use super::pages::Pages;
use super::reconcile::Lacks;
use super::run::{Indexer, REFUSALS};
use super::tries::Building;
use super::write::{Misfits, Writer};
use crate::dsl::{Bool, Nested, Query, ScoreMode, Search, Sort, Terms, TotalHits, Value};
use crate::engine::{
    Binding, Built, DataPosition, EngineError, PhysicalName, Refusal, SearchEngine,
};
use crate::mapping::{Content, FACTS, ObjectFields};
use crate::value::dependence_token;

/// Changes that are asked for at first, of which nothing is known.
const FIRST_BATCH: usize = 16;

/// Most changes that are asked for at once.
const LARGEST_BATCH: usize = 512;

/// Objects of a batch, about: one with more is followed by a smaller one.
const OBJECTS: usize = 5_000;

/// Objects whose documents are read together.
const PAGE: usize = 500;

/// Objects whose referrers are looked for together.
const REFERRED: usize = 200;

/// How long a note of a position may be old while an index moves on.
const NOTE_INTERVAL: Duration = Duration::from_secs(2);

/// How long the last changes may take until an index counts as level with data that go on changing.
const LEVEL: Duration = Duration::from_secs(1);

/// Indexes that follow the changes of their data.
#[derive(Clone, Debug)]
pub struct Following {
    indexes: Vec<Followed>,
    /// Changes that are asked for at once.
    batch: usize,
}

/// An index that follows the changes of its data.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The GraphQL name of the object.
    pub object: String,
    /// The index.
    pub index: PhysicalName,
    /// What it has and lacks by now.
    pub built: Built,
    /// What was noted last with the index, and when.
    pub(super) noted: Option<(Instant, Built)>,
}

/// How indexes relate to their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// They had all changes when these were asked for.
    Level,
    /// There are more changes.
    Behind,
    /// It is not known what has changed: the indexes have to be built again.
    Lost,
    /// The store has no records of changes.
    Unrecorded,
}

impl Following {
    /// Returns the indexes.
    #[must_use]
    pub fn indexes(&self) -> &[Followed] {
        &self.indexes
    }

    /// Returns the sequence of the last change that all of the indexes have; `None` without any.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        let positions = self.indexes.iter().filter_map(Followed::position);
        positions.map(|position| position.sequence).min()
    }

    /// Takes what a [comparison](Indexer::reconcile) has found an index to lack.
    pub fn correct(&mut self, index: &PhysicalName, lacks: &Lacks) {
        let corrected = self.indexes.iter_mut().filter(|one| one.index == *index);
        corrected.for_each(|one| lacks.correct(&mut one.built));
    }

    fn of(indexes: Vec<Followed>) -> Self {
        Following {
            indexes,
            batch: FIRST_BATCH,
        }
    }
}

impl Followed {
    /// Returns the position in the changes up to which the index has them.
    #[must_use]
    pub fn position(&self) -> Option<&DataPosition> {
        self.built.data.as_ref()
    }

    pub(super) fn building<'b>(&'b self, engine: &'b dyn SearchEngine) -> Building<'b> {
        Building {
            engine,
            object: &self.object,
            name: &self.index,
        }
    }

    /// Returns whether what is noted with the index is as it is by now.
    fn is_noted(&self) -> bool {
        let noted = self.noted.as_ref();
        noted.is_some_and(|(_, noted)| *noted == self.built)
    }
}

impl Indexer {
    /// Begins to follow the changes of the data with indexes that are complete, each with the GraphQL name of its object;
    /// `None` if it is not known of one which data it has.
    ///
    /// # Errors
    /// When the engine fails for longer than is tried again.
    pub async fn following(
        &self,
        indexes: impl IntoIterator<Item = (&str, &PhysicalName)>,
        context: &CallContext,
    ) -> Result<Option<Following>, IndexerError> {
        let states = self
            .patiently(context, || self.engine.indexes(context))
            .await?;
        let mut followed = Vec::new();
        for (object, index) in indexes {
            let state = states.iter().find(|state| state.name == *index);
            let built = state.and_then(|state| state.mark.as_ref()?.built.clone());
            let Some(built) = built.filter(|built| built.data.is_some()) else {
                return Ok(None);
            };
            followed.push(Followed {
                object: object.to_owned(),
                index: index.clone(),
                noted: Some((Instant::now(), built.clone())),
                built,
            });
        }
        Ok(Some(Following::of(followed)))
    }

    /// Applies the next changes of the data to those indexes that lack most, so that searches find them. Runs in a Tokio
    /// runtime.
    ///
    /// What was applied when it fails, or the future is dropped, is applied again by the next call.
    ///
    /// # Errors
    /// When the store or the engine fails for longer than is tried again.
    pub async fn follow(
        &self,
        following: &mut Following,
        context: &CallContext,
    ) -> Result<Standing, IndexerError> {
        // What is read on other threads ends when this future is dropped.
        let token = context.cancellation.child_token();
        let _ends = token.clone().drop_guard();
        let context = &context.clone().with_cancellation(token);
        let positions = following.indexes.iter().filter_map(Followed::position);
        let Some(position) = positions.min_by_key(|position| position.sequence).cloned() else {
            return Ok(Standing::Level);
        };
        let limit = following.batch;
        let data = self.data();
        let since = self.patiently(context, || data.changes_since(&position, limit, context));
        let records = match since.await? {
            None => return Ok(Standing::Unrecorded),
            Some(ChangesSince::Unknown) => return Ok(Standing::Lost),
            Some(ChangesSince::Known(records)) => records,
        };
        let Some(last) = records.last() else {
            let is_same = |index: &Followed| index.position() == Some(&position);
            return Ok(if following.indexes.iter().all(is_same) {
                Standing::Level
            } else {
                // Another index has changes that there are not.
                Standing::Lost
            });
        };
        let end = DataPosition::from(ChangePosition::from(&position).after(last));
        let changed = Arc::new(Changed::of(&records));
        following.batch = match Changed::size(&records) {
            size if size > OBJECTS => (limit / 2).max(1),
            size if size < OBJECTS / 4 => (limit * 2).min(LARGEST_BATCH),
            _ => limit,
        };
        for index in &mut following.indexes {
            if index.position() == Some(&position) {
                self.apply(index, &changed, &end, context).await?;
            }
        }
        let is_last = records.len() < limit;
        let is_behind = |index: &Followed| index.position() != Some(&end);
        let is_level = is_last && !following.indexes.iter().any(is_behind);
        Ok(if is_level {
            Standing::Level
        } else {
            Standing::Behind
        })
    }

    /// Notes with the indexes which changes they have, if that is due or in any case.
    ///
    /// # Errors
    /// When the engine fails for longer than is tried again.
    pub async fn note(
        &self,
        following: &mut Following,
        in_any_case: bool,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        for index in &mut following.indexes {
            let noted = index.noted.as_ref();
            let is_due = noted.is_none_or(|(at, _)| at.elapsed() >= NOTE_INTERVAL);
            if index.is_noted() || !(is_due || in_any_case) {
                continue;
            }
            let built = index.built.clone();
            let note = || self.engine.note_built(&index.index, &built, context);
            self.patiently(context, note).await?;
            index.noted = Some((Instant::now(), built));
        }
        Ok(())
    }

    /// Applies to indexes all that has changed since they were begun, until they are level.
    pub(super) async fn catch_up(
        &self,
        indexes: &mut Vec<Followed>,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        if indexes.iter().any(|index| index.position().is_none()) {
            return Ok(());
        }
        let mut following = Following::of(std::mem::take(indexes));
        loop {
            let begun = Instant::now();
            match self.follow(&mut following, context).await? {
                Standing::Level if begun.elapsed() < LEVEL => break,
                Standing::Level | Standing::Behind => {}
                Standing::Lost => return Err(IndexerError::DataReplaced),
                Standing::Unrecorded => {
                    let data = self.data();
                    let now = self.patiently(context, || data.position(context)).await?;
                    for index in &mut following.indexes {
                        // Data that have changed meanwhile are of no one version.
                        index.built.data = index
                            .built
                            .data
                            .take()
                            .filter(|was| Some(was) == now.as_ref());
                    }
                    break;
                }
            }
        }
        *indexes = following.indexes;
        Ok(())
    }

    /// Writes the documents of some objects of an index again, as they are now; returns those that have none because of a
    /// value, and why.
    pub(super) async fn repair(
        &self,
        binding: Binding<'_>,
        pages: &Pages,
        objects: &[NamedNode],
        version: u64,
        context: &CallContext,
    ) -> Result<BTreeMap<String, Refusal>, IndexerError> {
        let rewriting = Rewriting {
            indexer: self,
            pages,
            writer: self.writer(binding, version, Misfits::LeaveOut, context),
        };
        rewriting.rewrite(objects, context).await?;
        Ok(rewriting.writer.into_left_out())
    }

    /// Applies changes to an index, which has all changes before a position then.
    async fn apply(
        &self,
        index: &mut Followed,
        changed: &Arc<Changed>,
        position: &DataPosition,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let definition = self.definition(&index.object)?;
        let (pages, progress) = (self.pages(definition), self.progress.of(&index.object));
        let malformed = progress.malformed();
        let name = &index.index;
        let binding = Binding { definition, name };
        let rewriting = Rewriting {
            indexer: self,
            pages: &pages,
            writer: self.writer(binding, position.sequence, Misfits::LeaveOut, context),
        };
        let parents = self.patiently(context, || pages.parents(changed, context));
        let mut first: BTreeSet<NamedNode> = parents.await?.into_iter().collect();
        first.extend(changed.all().cloned());
        // What is wrong with these may be what they embed, and no document says what that is.
        let refused = index.built.refusals.iter();
        first.extend(refused.map(|refusal| NamedNode::new_unchecked(&refusal.iri)));
        let objects: Vec<NamedNode> = first.iter().cloned().collect();
        rewriting.rewrite(&objects, context).await?;
        rewriting
            .rewrite_referrers(&objects, &first, context)
            .await?;
        self.engine.advance(name, position, context).await?;
        let documents = || self.engine.count(name, context);
        let documents = self.patiently(context, documents).await?;
        let left_out = rewriting.writer.into_left_out();
        let built = &mut index.built;
        built.documents = documents;
        built.malformed += progress.malformed().saturating_sub(malformed);
        // All that were listed have been tried again.
        let listed = std::mem::take(&mut built.refusals).len() as u64;
        built.rejected = built.rejected.saturating_sub(listed) + left_out.len() as u64;
        built.refusals = left_out.into_values().take(REFUSALS).collect();
        built.data = Some(position.clone());
        Ok(())
    }
}

/// Documents that are written again.
struct Rewriting<'r> {
    indexer: &'r Indexer,
    pages: &'r Pages,
    writer: Writer<'r>,
}

impl Rewriting<'_> {
    /// Writes the documents of objects as they are now.
    async fn rewrite(
        &self,
        objects: &[NamedNode],
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        for page in objects.chunks(PAGE) {
            let mut current = Current::of(self.indexer, self.pages, page);
            while let Some((part, documents)) = current.next(context).await? {
                for document in documents.iter().flatten() {
                    self.writer.progress.add_malformed(&document.malformed);
                }
                self.writer.rewrite(part, documents).await?;
            }
        }
        Ok(())
    }

    /// Writes the documents that embed some objects, but for those that are written already.
    async fn rewrite_referrers(
        &self,
        objects: &[NamedNode],
        written: &BTreeSet<NamedNode>,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let (indexer, binding) = (self.indexer, self.writer.binding);
        for objects in objects.chunks(REFERRED) {
            let Some(query) = referrers(&binding.definition.fields, objects) else {
                return Ok(());
            };
            let mut search = Search {
                query: Some(query),
                size: PAGE as u64,
                sort: vec![Sort::field("id")],
                total_hits: TotalHits::Off,
                source: vec!["id".to_owned()],
                ..Search::default()
            };
            let mut is_last = false;
            while !is_last {
                let found = || indexer.engine.search(binding, &search, context);
                let found = indexer.patiently(context, found).await?;
                is_last = found.hits.len() < PAGE;
                search.search_after = found.hits.last().map(|hit| hit.sort.clone());
                let mut page = found
                    .hits
                    .iter()
                    .map(|hit| iri_of(&hit.source))
                    .collect::<Result<Vec<_>, _>>()?;
                page.retain(|iri| !written.contains(iri));
                self.rewrite(&page, context).await?;
            }
        }
        Ok(())
    }
}

/// Returns what the documents match that embed one of some objects; `None` where none embed any.
fn referrers(fields: &ObjectFields, objects: &[NamedNode]) -> Option<Query> {
    let ids = objects.iter().map(|iri| Value::from(iri.as_str()));
    let objects = objects.iter().map(|iri| dependence_token(iri.as_str()));
    let referred = Referred {
        ids: ids.collect(),
        tokens: objects.map(Value::from).collect(),
    };
    let clauses = clauses(fields, &referred);
    (!clauses.is_empty()).then(|| any(clauses))
}

/// Objects that documents may embed, or depend on.
struct Referred {
    ids: Vec<Value>,
    /// The same in facts.
    tokens: Vec<Value>,
}

fn clauses(fields: &ObjectFields, referred: &Referred) -> Vec<Query> {
    let terms = |field: String, values: &[Value]| {
        Query::Terms(Terms {
            field,
            values: values.to_vec(),
            boost: None,
        })
    };
    let mut found = Vec::new();
    if fields.facts.iter().any(|fact| !fact.ways().is_empty()) {
        found.push(terms(fields.path_of(FACTS), &referred.tokens));
    }
    for field in fields.fields.values() {
        let Content::Object(embedded) = &field.content else {
            continue;
        };
        let inner = &embedded.fields;
        let mut here = vec![terms(inner.path_of("id"), &referred.ids)];
        here.extend(clauses(inner, referred));
        let here = any(here);
        found.push(if embedded.nested {
            Query::Nested(Nested {
                path: inner.path.clone(),
                query: Box::new(here),
                score_mode: Some(ScoreMode::None),
            })
        } else {
            here
        });
    }
    found
}

/// Matches what one of some clauses does.
fn any(clauses: Vec<Query>) -> Query {
    Query::Bool(Bool {
        should: clauses,
        ..Bool::default()
    })
}

/// Returns the IRI in the source of a hit.
pub(super) fn iri_of(source: &[u8]) -> Result<NamedNode, IndexerError> {
    #[derive(Deserialize)]
    struct Source {
        id: String,
    }
    let source: Source =
        serde_json::from_slice(source).map_err(|error| EngineError::Failed(Box::new(error)))?;
    Ok(NamedNode::new_unchecked(source.id))
}
