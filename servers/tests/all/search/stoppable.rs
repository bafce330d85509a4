//! An engine that a test can stop, and let go on.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::CallContext;
use search_index::dsl::Search;
use search_index::engine::{
    Answer, Binding, Built, BulkOperation, DataPosition, Engine, EngineError, EngineHealth,
    EngineInfo, IndexCondition, IndexState, PhysicalName, Rejected, SearchEngine, Switch,
};
use search_index::mapping::Owner;

/// An engine in front of another one.
pub(super) struct Stoppable {
    engine: Engine,
    is_stopped: AtomicBool,
    hides_info: AtomicBool,
    holds_bulks: AtomicBool,
    holds_counts: AtomicBool,
    health: Mutex<Health>,
    /// How many health checks were held.
    held: AtomicUsize,
    /// How many documents are still refused, and which.
    refuses: Mutex<(usize, Box<Refuses>)>,
    refused: AtomicUsize,
    /// How many indexes are still lost, each when it is first written to.
    loses: AtomicUsize,
    lost: Mutex<HashSet<String>>,
    /// How many moves of aliases still fail.
    failing_switches: AtomicUsize,
}

/// What becomes of a health check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// The engine answers it.
    Answered,
    /// The engine fails.
    Failed,
    /// The engine never answers.
    Silent,
    /// The engine answers once it is told something else.
    Held,
}

/// Refuses a document of a bulk, by its position and source.
type Refuses = dyn Fn(usize, &[u8]) -> Option<Rejected> + Send;

impl Stoppable {
    pub(super) fn new(engine: Engine) -> Arc<Stoppable> {
        Arc::new(Stoppable {
            engine,
            is_stopped: AtomicBool::new(false),
            hides_info: AtomicBool::new(false),
            holds_bulks: AtomicBool::new(false),
            holds_counts: AtomicBool::new(false),
            health: Mutex::new(Health::Answered),
            held: AtomicUsize::new(0),
            refuses: Mutex::new((0, Box::new(|_, _| None))),
            refused: AtomicUsize::new(0),
            loses: AtomicUsize::new(0),
            lost: Mutex::default(),
            failing_switches: AtomicUsize::new(0),
        })
    }

    /// Cannot be reached from now on, or can again.
    pub(super) fn stop(&self, stops: bool) {
        self.is_stopped.store(stops, Ordering::SeqCst);
    }

    /// Does not say what it is from now on, or does again.
    pub(super) fn stop_info(&self, stops: bool) {
        self.hides_info.store(stops, Ordering::SeqCst);
    }

    /// Takes no documents from now on, or does again.
    pub(super) fn hold_bulks(&self, holds: bool) {
        self.holds_bulks.store(holds, Ordering::SeqCst);
    }

    /// Counts nothing from now on, and does not say so, or counts again.
    pub(super) fn hold_counts(&self, holds: bool) {
        self.holds_counts.store(holds, Ordering::SeqCst);
    }

    /// Returns how many health checks were held.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    fn said_of_health(&self) -> Health {
        *self.health.lock().unwrap()
    }

    /// Decides what becomes of health checks from now on.
    pub(super) fn set_health(&self, health: Health) {
        *self.health.lock().unwrap() = health;
    }

    /// Does not take some documents from now on, until it has refused a number of them.
    pub(super) fn refuse(
        &self,
        number: usize,
        refuses: impl Fn(usize, &[u8]) -> Option<Rejected> + Send + 'static,
    ) {
        *self.refuses.lock().unwrap() = (number, Box::new(refuses));
    }

    /// Refuses the document of one planet so many times.
    pub(super) fn refuse_planet(&self, number: usize, name: &'static str, status: u16) {
        self.refuse(number, move |position, source| {
            let source: serde_json::Value = serde_json::from_slice(source).unwrap();
            (source["id"] == format!("http://e/{name}")).then(|| Rejected {
                position,
                status,
                reason: "as a test says".to_owned(),
            })
        });
    }

    /// Returns how many documents it has refused.
    pub(super) fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Loses the next indexes that are written to, as a cluster does whose node goes away, and has all others.
    pub(super) fn lose_indexes(&self, number: usize) {
        self.lost.lock().unwrap().clear();
        self.loses.store(number, Ordering::SeqCst);
    }

    /// Does not move aliases the next times that it is to.
    pub(super) fn fail_switches(&self, number: usize) {
        self.failing_switches.store(number, Ordering::SeqCst);
    }

    /// Returns how many moves of aliases still fail.
    pub(super) fn failing_switches(&self) -> usize {
        self.failing_switches.load(Ordering::SeqCst)
    }

    fn is_lost(&self, name: &PhysicalName) -> bool {
        let mut lost = self.lost.lock().unwrap();
        let left = self.loses.load(Ordering::SeqCst);
        if left > 0 && lost.insert(name.to_string()) {
            self.loses.store(left - 1, Ordering::SeqCst);
        }
        lost.contains(name.as_str())
    }

    /// Returns what is refused of some documents, in ascending order of their positions.
    fn refused_of(&self, writes: &[BulkOperation]) -> Vec<Rejected> {
        let mut refuses = self.refuses.lock().unwrap();
        let mut refused = Vec::new();
        for (position, write) in writes.iter().enumerate() {
            if refuses.0 > 0
                && let BulkOperation::Index(document) = write
                && let Some(one) = (refuses.1)(position, &document.source)
            {
                refuses.0 -= 1;
                refused.push(one);
            }
        }
        self.refused.fetch_add(refused.len(), Ordering::SeqCst);
        refused
    }

    fn check(&self) -> Result<(), EngineError> {
        if self.is_stopped.load(Ordering::SeqCst) {
            Err(EngineError::Unavailable("stopped by a test".into()))
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl SearchEngine for Stoppable {
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        self.check()?;
        if self.hides_info.load(Ordering::SeqCst) {
            Err(EngineError::Unavailable("hidden by a test".into()))
        } else {
            self.engine.info(context).await
        }
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        self.check()?;
        if self.said_of_health() == Health::Held {
            self.held.fetch_add(1, Ordering::SeqCst);
        }
        while self.said_of_health() == Health::Held {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        match self.said_of_health() {
            Health::Answered | Health::Held => self.engine.health(of, context).await,
            Health::Failed => Err(EngineError::Failed("as a test says".into())),
            Health::Silent => std::future::pending().await,
        }
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        self.check()?;
        self.engine.indexes(context).await
    }

    async fn condition(
        &self,
        name: &PhysicalName,
        _: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        self.check()?;
        if self.lost.lock().unwrap().contains(name.as_str()) {
            Ok(IndexCondition::Lost("its node is gone".to_owned()))
        } else {
            Ok(IndexCondition::Available)
        }
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.check()?;
        self.engine.create(index, owner, context).await
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.check()?;
        self.engine.delete(name, context).await
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        while self.holds_bulks.load(Ordering::SeqCst) {
            context.check()?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.check()?;
        if self.is_lost(index.name) {
            return Err(EngineError::Unavailable("its node is gone".into()));
        }
        let refused = self.refused_of(writes);
        let is_refused = |at: &usize| refused.iter().any(|one| one.position == *at);
        let taken: Vec<usize> = (0..writes.len()).filter(|at| !is_refused(at)).collect();
        let writes: Vec<_> = taken.iter().map(|at| writes[*at].clone()).collect();
        let mut rejected = self.engine.bulk(index, &writes, version, context).await?;
        for one in &mut rejected {
            one.position = taken[one.position];
        }
        rejected.extend(refused);
        Ok(rejected)
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.check()?;
        self.engine.refresh(name, context).await
    }

    async fn advance(
        &self,
        name: &PhysicalName,
        to: &DataPosition,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.check()?;
        self.engine.advance(name, to, context).await
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.check()?;
        self.engine.note_built(name, built, context).await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        self.check()?;
        let left = self.failing_switches();
        if left > 0 {
            self.fail_switches(left - 1);
            return Err(EngineError::Unavailable("as a test says".into()));
        }
        self.engine.switch(switches, context).await
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        self.check()?;
        self.engine.search(index, search, context).await
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        while self.holds_counts.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.check()?;
        self.engine.count(name, context).await
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        self.check()?;
        self.engine.ids(name, after, size, context).await
    }
}
