//! Applies what has changed in the data to indexes that are complete.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use call_context::CallError;
use graph_store::write::{ChangePosition, ChangesSince};
use graph_store::{CallContext, StoreError};
use oxrdf::NamedNode;
use serde::Deserialize;

use super::changed::Changed;
use super::error::{IndexerError, is_transient};
use super::pages::Pages;
use super::progress::Setback;
use super::run::{Indexer, REFUSALS};
use super::tries::{Building, Tries};
use super::write::{Misfits, Writer};
use crate::document::Document;
use crate::dsl::{Bool, Nested, Query, ScoreMode, Search, Sort, Terms, TotalHits, Value};
use crate::engine::{Binding, Built, DataPosition, EngineError, PhysicalName, SearchEngine};
use crate::mapping::{Content, ObjectFields};

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

/// How indexes stand to their data.
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

    /// Tells whether what is noted with the index is as it is by now.
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
        let states = self.patiently(context, || self.engine.indexes(context));
        let states = states.await?;
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
            return Ok(match following.indexes.iter().all(is_same) {
                true => Standing::Level,
                // Another index has changes that there are not.
                false => Standing::Lost,
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

    /// Writes the documents of some objects of an index again, as they are now; returns how many.
    pub(super) async fn repair(
        &self,
        binding: Binding<'_>,
        pages: &Pages,
        objects: &[NamedNode],
        version: u64,
        context: &CallContext,
    ) -> Result<u64, IndexerError> {
        let writer = Writer {
            engine: &*self.engine,
            binding,
            options: &self.options,
            progress: self.progress.of(&binding.definition.name),
            clock: self.clock(context),
            version,
            misfits: Misfits::LeaveOut,
            left_out: Mutex::default(),
        };
        let mut rewritten = Rewritten {
            indexer: self,
            pages,
            writer: &writer,
            refused: HashSet::new(),
            resolved: HashSet::new(),
        };
        for page in objects.chunks(PAGE) {
            rewritten.rewrite(page, context).await?;
        }
        let left_out = writer.left_out_now().len();
        Ok((objects.len() - left_out) as u64)
    }

    /// Applies changes to an index, which has all changes before a position then.
    async fn apply(
        &self,
        index: &mut Followed,
        changed: &Arc<Changed>,
        position: &DataPosition,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let definition = self.indexes.named(&index.object);
        let definition =
            definition.ok_or_else(|| IndexerError::UnknownObject(index.object.clone()))?;
        let pages = self.pages(definition);
        let progress = self.progress.of(&index.object);
        let malformed = progress.malformed();
        let writer = Writer {
            engine: &*self.engine,
            binding: Binding {
                definition,
                name: &index.index,
            },
            options: &self.options,
            progress,
            clock: self.clock(context),
            version: position.sequence,
            misfits: Misfits::LeaveOut,
            left_out: Mutex::default(),
        };
        let parents = self.patiently(context, || pages.parents(changed, context));
        let mut first: BTreeSet<NamedNode> = parents.await?.into_iter().collect();
        first.extend(changed.all().cloned());
        // What is wrong with these may be what they embed, and no document says what that is.
        let refused = index.built.refusals.iter();
        first.extend(refused.map(|refusal| NamedNode::new_unchecked(&refusal.iri)));
        let mut rewritten = Rewritten {
            indexer: self,
            pages: &pages,
            writer: &writer,
            refused: index.built.refusals.iter().map(|r| r.iri.clone()).collect(),
            resolved: HashSet::new(),
        };
        let objects: Vec<NamedNode> = first.iter().cloned().collect();
        for page in objects.chunks(PAGE) {
            rewritten.rewrite(page, context).await?;
        }
        for objects in objects.chunks(REFERRED) {
            let Some(query) = referrers(&definition.fields, objects) else {
                break;
            };
            let mut search = Search {
                query: Some(query),
                size: PAGE as u64,
                sort: vec![Sort::field("id")],
                total_hits: TotalHits::Off,
                source: vec!["id".to_owned()],
                ..Search::default()
            };
            loop {
                let found = || self.engine.search(writer.binding, &search, context);
                let found = self.patiently(context, found).await?;
                let is_last = found.hits.len() < PAGE;
                search.search_after = found.hits.last().map(|hit| hit.sort.clone());
                let mut page = found
                    .hits
                    .iter()
                    .map(|hit| iri_of(&hit.source))
                    .collect::<Result<Vec<_>, _>>()?;
                page.retain(|iri| !first.contains(iri));
                rewritten.rewrite(&page, context).await?;
                if is_last {
                    break;
                }
            }
        }
        let resolved = rewritten.resolved;
        self.engine.advance(&index.index, position, context).await?;
        let documents = || self.engine.count(&index.index, context);
        let documents = self.patiently(context, documents).await?;
        let left_out = writer
            .left_out
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let built = &mut index.built;
        built.documents = documents;
        built.malformed += progress.malformed().saturating_sub(malformed);
        built
            .refusals
            .retain(|refusal| !resolved.contains(&refusal.iri));
        built.rejected =
            built.rejected.saturating_sub(resolved.len() as u64) + left_out.len() as u64;
        built.refusals.extend(left_out.into_values());
        built.refusals.sort_by(|a, b| a.iri.cmp(&b.iri));
        built.refusals.truncate(REFUSALS);
        built.data = Some(position.clone());
        Ok(())
    }
}

/// Documents that are written again.
struct Rewritten<'r> {
    indexer: &'r Indexer,
    pages: &'r Pages,
    writer: &'r Writer<'r>,
    /// The objects that had no document.
    refused: HashSet<String>,
    /// Those of them that were read again.
    resolved: HashSet<String>,
}

impl Rewritten<'_> {
    /// Writes the documents of objects as they are now, in parts if they are larger than expected.
    async fn rewrite(
        &mut self,
        iris: &[NamedNode],
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let mut parts = vec![iris];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            let documents = match self.read(part, context).await {
                Ok(documents) => documents,
                Err(StoreError::Call(CallError::OutOfMemory)) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let progress = self.writer.progress;
            for document in documents.iter().flatten() {
                progress.add_malformed(&document.malformed);
            }
            self.writer.rewrite(part, documents).await?;
            let again = part.iter().map(NamedNode::as_str);
            let again = again.filter(|iri| self.refused.contains(*iri));
            self.resolved.extend(again.map(str::to_owned));
        }
        Ok(())
    }

    async fn read(
        &self,
        iris: &[NamedNode],
        context: &CallContext,
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let iris: Arc<[NamedNode]> = iris.into();
        let bytes = self.indexer.options.bulk_bytes.saturating_mul(2).max(1);
        let mut tries = Tries::new(self.indexer.clock(context));
        loop {
            match self.pages.current(&iris, bytes, context).await {
                Err(error) if is_transient(&error) && !tries.are_over() => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "documents that have changed are read again"
                    );
                    tries.pause(Setback::of(&error.into())).await?;
                }
                result => return result,
            }
        }
    }
}

/// Returns what the documents match that embed one of some objects; `None` where none embed any.
fn referrers(fields: &ObjectFields, objects: &[NamedNode]) -> Option<Query> {
    let ids: Vec<Value> = objects
        .iter()
        .map(|iri| Value::from(iri.as_str()))
        .collect();
    let clauses = clauses(fields, &ids);
    (!clauses.is_empty()).then(|| any(clauses))
}

fn clauses(fields: &ObjectFields, ids: &[Value]) -> Vec<Query> {
    let mut clauses = Vec::new();
    for field in fields.fields.values() {
        let Content::Object(embedded) = &field.content else {
            continue;
        };
        let inner = &embedded.fields;
        let mut here = vec![Query::Terms(Terms {
            field: inner.path_of("id"),
            values: ids.to_vec(),
            boost: None,
        })];
        here.extend(clauses_within(inner, ids));
        let here = any(here);
        clauses.push(if embedded.nested {
            Query::Nested(Nested {
                path: inner.path.clone(),
                query: Box::new(here),
                score_mode: Some(ScoreMode::None),
            })
        } else {
            here
        });
    }
    clauses
}

fn clauses_within(fields: &ObjectFields, ids: &[Value]) -> Vec<Query> {
    if fields.id_only {
        return Vec::new();
    }
    clauses(fields, ids)
}

/// Matches what one of some clauses does, without scores.
fn any(clauses: Vec<Query>) -> Query {
    let any = Query::Bool(Bool {
        should: clauses,
        ..Bool::default()
    });
    Query::Bool(Bool {
        filter: vec![any],
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
