//! An engine that a test can stop, and let go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::CallContext;
use search_index::document::Document;
use search_index::dsl::Search;
use search_index::engine::{
    Answer, Binding, Engine, EngineError, EngineHealth, EngineInfo, IndexState, PhysicalName,
    Rejected, SearchEngine, Switch,
};
use search_index::mapping::Owner;

/// An engine in front of another one.
pub(super) struct Stoppable {
    engine: Engine,
    is_stopped: AtomicBool,
    holds_bulks: AtomicBool,
}

impl Stoppable {
    pub(super) fn new(engine: Engine) -> Arc<Stoppable> {
        Arc::new(Stoppable {
            engine,
            is_stopped: AtomicBool::new(false),
            holds_bulks: AtomicBool::new(false),
        })
    }

    /// Cannot be reached from now on, or can again.
    pub(super) fn stop(&self, stops: bool) {
        self.is_stopped.store(stops, Ordering::SeqCst);
    }

    /// Takes no documents from now on, or does again.
    pub(super) fn hold_bulks(&self, holds: bool) {
        self.holds_bulks.store(holds, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), EngineError> {
        match self.is_stopped.load(Ordering::SeqCst) {
            true => Err(EngineError::Unavailable("stopped by a test".into())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl SearchEngine for Stoppable {
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        self.check()?;
        self.engine.info(context).await
    }

    async fn health(&self, context: &CallContext) -> Result<EngineHealth, EngineError> {
        self.check()?;
        self.engine.health(context).await
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        self.check()?;
        self.engine.indexes(context).await
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
        documents: &[Document],
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        while self.holds_bulks.load(Ordering::SeqCst) {
            context.check()?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.check()?;
        self.engine.bulk(index, documents, context).await
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.check()?;
        self.engine.refresh(name, context).await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        self.check()?;
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
