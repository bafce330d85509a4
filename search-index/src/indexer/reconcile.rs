//! Compares indexes with their data, and repairs what differs: changes that are in no record, such as those that
//! others make by SPARQL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use graph_store::CallContext;
use graph_store::query::ObjectRef;
use oxrdf::NamedNode;
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::current::Current;
use super::error::IndexerError;
use super::follow::iri_of;
use super::pages::Pages;
use super::run::{Indexer, REFUSALS};
use crate::document::Document;
use crate::dsl::{Search, Sort, TotalHits, Value};
use crate::engine::{Binding, Built, EngineError, PhysicalName, Refusal};
use crate::mapping::{FACTS, IndexDefinition, fits_keyword};

/// Objects that are compared together.
const PAGE: usize = 500;

/// How far indexes are compared with their data, to be looked at meanwhile.
#[derive(Debug, Default)]
pub struct Reconciliation {
    total: AtomicU64,
    compared: AtomicU64,
    repaired: AtomicU64,
}

impl Reconciliation {
    /// Returns the number of objects of the indexes that were begun so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns how many of them were compared.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared.load(Ordering::Relaxed)
    }

    /// Returns how many documents were missing, surplus or different, and are written again or deleted.
    #[must_use]
    pub fn repaired(&self) -> u64 {
        self.repaired.load(Ordering::Relaxed)
    }
}

/// What the documents of an index lack, as a comparison has found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacks {
    /// Number of values that are in no document.
    malformed: u64,
    /// The objects without a document because of a value, and why.
    refused: BTreeMap<String, Refusal>,
}

impl Lacks {
    /// Replaces what was known about an index before.
    pub(super) fn correct(&self, built: &mut Built) {
        built.malformed = self.malformed;
        built.rejected = self.refused.len() as u64;
        built.refusals = self.refused.values().take(REFUSALS).cloned().collect();
    }
}

impl Indexer {
    /// Notes with an index that no one [follows](Indexer::follow) what its documents lack.
    ///
    /// # Errors
    /// When the engine fails for longer than is tried again.
    pub async fn note_lacks(
        &self,
        index: &PhysicalName,
        lacks: &Lacks,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let states = self
            .patiently(context, || self.engine.indexes(context))
            .await?;
        let state = states.into_iter().find(|state| state.name == *index);
        let Some(mut built) = state.and_then(|state| state.mark?.built) else {
            return Ok(());
        };
        let before = built.clone();
        lacks.correct(&mut built);
        if built != before {
            let note = || self.engine.note_built(index, &built, context);
            self.patiently(context, note).await?;
        }
        Ok(())
    }

    /// Compares an index with the data, page by page, and writes again what differs. Searches find it as it is then. Returns
    /// what the documents lack.
    ///
    /// `turn` is held for each page: whoever applies changes to the same index meanwhile holds it too.
    ///
    /// # Errors
    /// When the store or the engine fails for longer than is tried again. What was repaired so far stays.
    pub async fn reconcile(
        &self,
        object: &str,
        index: &PhysicalName,
        turn: &Mutex<()>,
        progress: &Reconciliation,
        context: &CallContext,
    ) -> Result<Lacks, IndexerError> {
        // What is read on other threads ends when this future is dropped.
        let token = context.cancellation.child_token();
        let _ends = token.clone().drop_guard();
        let context = &context.clone().with_cancellation(token);
        let definition = self.definition(object)?;
        let pages = self.pages(definition);
        let objects = self.patiently(context, || pages.ids(context)).await?;
        let total = objects.len() as u64;
        progress.total.fetch_add(total, Ordering::Relaxed);
        let of = Compared {
            indexer: self,
            binding: Binding {
                definition,
                name: index,
            },
            pages,
            progress,
        };
        let mut lacks = Lacks::default();
        let mut after: Option<&str> = None;
        let mut chunks = objects.chunks(PAGE).peekable();
        if chunks.peek().is_none() {
            let _turn = turn.lock().await;
            of.page(None, &[], true, &mut lacks, context).await?;
        }
        while let Some(chunk) = chunks.next() {
            let is_last = chunks.peek().is_none();
            {
                let _turn = turn.lock().await;
                of.page(after, chunk, is_last, &mut lacks, context).await?;
            }
            after = chunk.last().map(ObjectRef::iri);
            let compared = chunk.len() as u64;
            progress.compared.fetch_add(compared, Ordering::Relaxed);
            // Whoever waits for a turn gets one.
            tokio::task::yield_now().await;
        }
        Ok(lacks)
    }
}

/// An index that is compared with its data.
struct Compared<'c> {
    indexer: &'c Indexer,
    binding: Binding<'c>,
    pages: Pages,
    progress: &'c Reconciliation,
}

impl Compared<'_> {
    /// Compares the documents behind an IRI up to the last of some objects, or to the end, and repairs them.
    async fn page(
        &self,
        after: Option<&str>,
        objects: &[ObjectRef],
        is_last: bool,
        lacks: &mut Lacks,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let (indexer, name) = (self.indexer, self.binding.name);
        // Whatever is read from now on has all changes before it.
        let data = indexer.data();
        let position = indexer
            .patiently(context, || data.position(context))
            .await?;
        let iris: Vec<NamedNode> = objects
            .iter()
            .map(|object| NamedNode::new_unchecked(object.iri()))
            .collect();
        let mut wanted: BTreeMap<String, Document> = BTreeMap::new();
        let mut current = Current::of(indexer, &self.pages, &iris);
        while let Some((part, documents)) = current.next(context).await? {
            let read = part.iter().zip(documents);
            wanted.extend(read.filter_map(|(iri, read)| Some((iri.as_str().to_owned(), read?))));
        }
        let malformed = wanted
            .values()
            .map(|document| document.malformed.len() as u64);
        lacks.malformed += malformed.sum::<u64>();
        let end = objects.last().map(ObjectRef::iri).filter(|_| !is_last);
        let mut differ: BTreeSet<NamedNode> = BTreeSet::new();
        let mut found = Found {
            after: after.map(str::to_owned),
            is_over: false,
        };
        let mut missing: BTreeSet<&str> = wanted.keys().map(String::as_str).collect();
        while !found.is_over {
            for (iri, source) in found.next(indexer, self.binding, end, context).await? {
                let is_same = wanted.get(iri.as_str()).is_some_and(|document| {
                    serde_json::from_slice::<Json>(&document.source)
                        .ok()
                        .as_ref()
                        == Some(&source)
                });
                missing.remove(iri.as_str());
                if !is_same {
                    differ.insert(iri);
                }
            }
        }
        // An id that is too long for a keyword is in no list.
        let missing = missing.into_iter().filter(|iri| fits_keyword(iri));
        differ.extend(missing.map(NamedNode::new_unchecked));
        if differ.is_empty() {
            return Ok(());
        }
        let differ: Vec<NamedNode> = differ.into_iter().collect();
        let version = position.map_or(0, |position| position.sequence);
        let left_out = indexer
            .repair(self.binding, &self.pages, &differ, version, context)
            .await?;
        let repaired = (differ.len() - left_out.len()) as u64;
        lacks.refused.extend(left_out);
        indexer
            .patiently(context, || indexer.engine.refresh(name, context))
            .await?;
        self.progress
            .repaired
            .fetch_add(repaired, Ordering::Relaxed);
        Ok(())
    }
}

/// The documents of an index, page by page.
struct Found {
    after: Option<String>,
    is_over: bool,
}

impl Found {
    /// Returns the next documents, in ascending order of their IRIs, none behind an end.
    async fn next(
        &mut self,
        indexer: &Indexer,
        binding: Binding<'_>,
        end: Option<&str>,
        context: &CallContext,
    ) -> Result<Vec<(NamedNode, Json)>, IndexerError> {
        let search = Search {
            size: PAGE as u64,
            sort: vec![Sort::field("id")],
            search_after: self
                .after
                .as_ref()
                .map(|after| vec![Some(Value::from(after.as_str()))]),
            total_hits: TotalHits::Off,
            source: whole(binding.definition),
            ..Search::default()
        };
        let found = || indexer.engine.search(binding, &search, context);
        let found = indexer.patiently(context, found).await?;
        self.is_over = found.hits.len() < PAGE;
        let mut documents = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            let iri = iri_of(&hit.source)?;
            if end.is_some_and(|end| iri.as_str() > end) {
                self.is_over = true;
                break;
            }
            let source = serde_json::from_slice(&hit.source)
                .map_err(|error| EngineError::Failed(Box::new(error)))?;
            self.after = Some(iri.as_str().to_owned());
            documents.push((iri, source));
        }
        Ok(documents)
    }
}

/// Returns the fields of the source that are all of it.
fn whole(definition: &IndexDefinition) -> Vec<String> {
    let fields = definition.fields.fields.keys().cloned();
    let own = ["id", "type", "$shown", FACTS].map(str::to_owned);
    own.into_iter().chain(fields).collect()
}
