//! An engine in memory that fails, stalls and rejects documents as a test says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::CallContext;
use search_index::document::Document;
use search_index::dsl::{Search, Value};
use search_index::engine::{
    Answer, Binding, Built, BulkOperation, EngineError, EngineHealth, EngineInfo, Hit,
    IndexCondition, IndexState, Mark, PhysicalName, Rejected, SearchEngine, Switch,
};
use search_index::mapping::{Analyzers, Owner};
use tokio::sync::Notify;

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Nothing is done, and the engine says that it failed.
    Fails,
    /// All is done, and the answer is lost.
    Lost,
    /// Nothing is done, and there is never an answer.
    Stalls,
    /// All is done, and there is never an answer.
    StallsAfter,
    /// Nothing is done, and the engine cannot be reached.
    Down,
}

/// Decides what happens to a call by its number, from 0, and its name.
pub(super) type Faults = dyn Fn(usize, &str) -> Fault + Send + Sync;

/// Decides whether a document is taken, by the number of the bulk and the document.
pub(super) type Judge = dyn Fn(usize, &Document) -> Option<u16> + Send + Sync;

/// Decides what is there of an index, by its name and the number of bulks so far.
pub(super) type Shards = dyn Fn(&str, usize) -> IndexCondition + Send + Sync;

#[derive(Default)]
pub(super) struct Memory {
    pub(super) state: Mutex<State>,
    faults: Mutex<Option<Arc<Faults>>>,
    judge: Mutex<Option<Arc<Judge>>>,
    shards: Mutex<Option<Arc<Shards>>>,
    /// Notified when a call stalls.
    stalled: Notify,
}

#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) indexes: BTreeMap<String, Index>,
    pub(super) calls: Vec<String>,
    pub(super) bulks: usize,
    /// Documents that get lost without a word.
    pub(super) loses: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) mark: Option<Mark>,
    pub(super) aliases: BTreeSet<String>,
    pub(super) documents: BTreeMap<String, String>,
    /// The version of each that there is or was.
    pub(super) versions: BTreeMap<String, u64>,
    /// Those that searches find.
    pub(super) visible: BTreeMap<String, String>,
}

fn error(text: &str) -> Box<dyn std::error::Error + Send + Sync> {
    text.into()
}

impl Memory {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a call stalls.
    pub(super) async fn stalls(&self) {
        let stalled = tokio::time::timeout(Duration::from_secs(60), self.stalled.notified());
        stalled.await.expect("a call stalls");
    }

    pub(super) fn set_faults(&self, faults: Option<Arc<Faults>>) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
        self.state().calls.clear();
    }

    pub(super) fn set_judge(
        &self,
        judge: impl Fn(usize, &Document) -> Option<u16> + Send + Sync + 'static,
    ) {
        *self.judge.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(judge));
    }

    pub(super) fn set_shards(
        &self,
        shards: impl Fn(&str, usize) -> IndexCondition + Send + Sync + 'static,
    ) {
        *self.shards.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(shards));
    }

    fn shards(&self, name: &PhysicalName) -> IndexCondition {
        let bulks = self.state().bulks;
        let shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        match &*shards {
            Some(shards) => shards(name.as_str(), bulks),
            None => IndexCondition::Available,
        }
    }

    /// Returns the documents behind an alias; `None` where it leads nowhere.
    pub(super) fn behind(&self, alias: &str) -> Option<BTreeMap<String, String>> {
        let state = self.state();
        let mut found = state
            .indexes
            .values()
            .filter(|index| index.aliases.contains(alias));
        let index = found.next()?;
        assert!(found.next().is_none(), "an alias leads to one index");
        Some(index.visible.clone())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.state().indexes.keys().cloned().collect()
    }

    /// Does what a call is to do, unless a fault is to happen.
    async fn call<T>(
        &self,
        name: &str,
        context: &CallContext,
        work: impl FnOnce(&mut State) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        context.check()?;
        let fault = {
            let mut state = self.state();
            let number = state.calls.len();
            state.calls.push(name.to_owned());
            let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            faults
                .as_ref()
                .map_or(Fault::None, |faults| faults(number, name))
        };
        // Others may do something meanwhile.
        tokio::task::yield_now().await;
        match fault {
            Fault::None => work(&mut self.state()),
            Fault::Fails => Err(EngineError::Failed(error("as the test wants it"))),
            Fault::Down => Err(EngineError::Unavailable(error("down"))),
            Fault::Lost => {
                work(&mut self.state())?;
                Err(EngineError::Unavailable(error("lost")))
            }
            Fault::Stalls | Fault::StallsAfter => {
                if fault == Fault::StallsAfter {
                    work(&mut self.state())?;
                }
                self.stalled.notify_one();
                context.cancellation.cancelled().await;
                context.check()?;
                unreachable!("the context is cancelled")
            }
        }
    }
}

fn not_found(name: &PhysicalName) -> EngineError {
    EngineError::NotFound {
        name: name.to_string(),
    }
}

impl State {
    fn index(&mut self, name: &PhysicalName) -> Result<&mut Index, EngineError> {
        self.indexes
            .get_mut(name.as_str())
            .ok_or_else(|| not_found(name))
    }

    fn switch(&mut self, switches: &[Switch]) -> Result<(), EngineError> {
        for switch in switches {
            if let Some(to) = &switch.to {
                self.index(to)?;
            }
        }
        for switch in switches {
            if switch.replaces_index {
                self.indexes.remove(&switch.alias);
            }
            for (name, index) in &mut self.indexes {
                index.aliases.remove(&switch.alias);
                if switch.to.as_ref().is_some_and(|to| to.as_str() == name) {
                    index.aliases.insert(switch.alias.clone());
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl SearchEngine for Memory {
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        let info = EngineInfo::new("memory", "1", Analyzers::distribution());
        self.call("info", context, |_| Ok(info)).await
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        self.call("health", context, |_| Ok(EngineHealth::good(of)))
            .await
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        let state = |(name, index): (&String, &Index)| IndexState {
            name: PhysicalName::from_engine(name),
            aliases: index.aliases.iter().cloned().collect(),
            mark: index.mark.clone(),
        };
        self.call("indexes", context, |all| {
            Ok(all.indexes.iter().map(state).collect())
        })
        .await
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let new = Index {
            mark: Some(Mark {
                application: owner.application.clone(),
                schema: index.definition.schema.clone(),
                object: index.definition.name.clone(),
                fingerprint: index.definition.fingerprint.clone(),
                built: None,
            }),
            ..Index::default()
        };
        let name = index.name.to_string();
        self.call("create", context, |state| {
            if state.indexes.contains_key(&name) {
                return Err(EngineError::NotOurs { name });
            }
            state.indexes.insert(name, new);
            Ok(())
        })
        .await
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.call("delete", context, |state| {
            state.indexes.remove(name.as_str());
            Ok(())
        })
        .await
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        let judge = self
            .judge
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let is_there = self.shards(index.name) == IndexCondition::Available;
        self.call("bulk", context, |state| {
            let number = state.bulks;
            state.bulks += 1;
            if !is_there {
                let rejected = |position| Rejected {
                    position,
                    status: 503,
                    reason: ": unavailable_shards_exception".to_owned(),
                };
                return Ok((0..writes.len()).map(rejected).collect());
            }
            let loses = state.loses.clone();
            let index = state.index(index.name)?;
            let mut rejected = Vec::new();
            for (position, write) in writes.iter().enumerate() {
                // One of a lower version comes too late.
                let newest = index.versions.entry(write.id().to_owned()).or_default();
                if version < *newest {
                    continue;
                }
                let document = match write {
                    BulkOperation::Index(document) => document,
                    BulkOperation::Delete(id) => {
                        *newest = version;
                        index.documents.remove(id);
                        continue;
                    }
                };
                if let Some(status) = judge.as_ref().and_then(|judge| judge(number, document)) {
                    let reason = ": as the test wants it".to_owned();
                    rejected.push(Rejected {
                        position,
                        status,
                        reason,
                    });
                } else if !loses.contains(&document.id) {
                    *newest = version;
                    let source = String::from_utf8_lossy(&document.source).into_owned();
                    index.documents.insert(document.id.clone(), source);
                }
            }
            Ok(rejected)
        })
        .await
    }

    async fn condition(
        &self,
        name: &PhysicalName,
        _context: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        Ok(self.shards(name))
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.call("refresh", context, |state| {
            let index = state.index(name)?;
            index.visible = index.documents.clone();
            Ok(())
        })
        .await
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.call("note_built", context, |state| {
            let mark = state.index(name)?.mark.as_mut();
            mark.ok_or_else(|| not_found(name))?.built = Some(built.clone());
            Ok(())
        })
        .await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        self.call("switch", context, |state| state.switch(switches))
            .await
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        // An indexer looks for the documents that embed an object, or say in their facts that they depend on it.
        let text = String::from_utf8_lossy(&search.to_bytes()).into_owned();
        let after = search.search_after.as_ref().map(|after| match &after[0] {
            Some(Value::Text(id)) => id.clone(),
            other => panic!("an id is a text: {other:?}"),
        });
        self.call("search", context, |state| {
            let found = state.index(index.name)?.visible.iter();
            let found = found.filter(|(id, source)| {
                let is_after = after.as_ref().is_none_or(|after| *id > after);
                let names = source.match_indices("\"id\":\"").skip(1);
                let names = names.filter_map(|(at, _)| source[at + 6..].split('"').nth(0));
                let facts = source.match_indices("\"@");
                let facts = facts.filter_map(|(at, _)| source[at + 1..].split('"').nth(0));
                let mut all = names.chain(facts);
                is_after && all.any(|name| text.contains(&format!("\"{name}\"")))
            });
            let hit = |(id, source): (&String, &String)| Hit {
                id: id.clone(),
                score: None,
                sort: vec![Some(Value::from(id.as_str()))],
                source: source.clone().into(),
            };
            let size = usize::try_from(search.size).expect("a size");
            Ok(Answer {
                hits: found.take(size).map(hit).collect(),
                ..Answer::default()
            })
        })
        .await
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        let count = |state: &mut State| Ok(state.index(name)?.visible.len() as u64);
        self.call("count", context, count).await
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        let is_there = self.shards(name) == IndexCondition::Available;
        self.call("ids", context, |state| {
            if !is_there {
                return Err(EngineError::Unavailable(error("all shards failed")));
            }
            let ids = state.index(name)?.visible.keys();
            let ids = ids.filter(|id| after.is_none_or(|after| id.as_str() > after));
            Ok(ids.take(size).cloned().collect())
        })
        .await
    }
}
