//! An engine and a store of schemas that a test can hold up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use graph_store::CallContext;
use schema_registry::{
    Binding, BindingState, Expected, InMemorySchemaStore, LeaseRecord, SchemaEntry, SchemaStore,
    SchemaStoreError, ServiceKind, StoredSchema,
};
use search_index::dsl::Search;
use search_index::engine::{
    Answer, Binding as IndexBinding, Built, BulkOperation, DataPosition, Engine, EngineError,
    EngineHealth, EngineInfo, IndexCondition, IndexState, PhysicalName, Rejected, SearchEngine,
    Switch,
};
use search_index::mapping::Owner;
use tokio::sync::watch;

/// What is held up on its way to an engine, as in a process that is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Nothing,
    Bulks,
    Switches,
    /// Bulks are not held, and fail.
    FailedBulks,
}

/// An engine, as one instance reaches it.
pub(crate) struct Gate {
    engine: Engine,
    hold: watch::Sender<Hold>,
    held: watch::Sender<usize>,
    created: AtomicUsize,
    /// What became of the last thing that was held.
    late: watch::Sender<Option<Result<(), String>>>,
}

impl Gate {
    pub(crate) fn new(engine: &Engine) -> Arc<Gate> {
        Arc::new(Gate {
            engine: Arc::clone(engine),
            hold: watch::Sender::new(Hold::Nothing),
            held: watch::Sender::new(0),
            created: AtomicUsize::new(0),
            late: watch::Sender::new(None),
        })
    }

    pub(crate) fn hold(&self, hold: Hold) {
        self.hold.send_replace(hold);
    }

    /// Waits until something is held.
    pub(crate) async fn holds(&self) {
        let mut held = self.held.subscribe();
        held.wait_for(|held| *held > 0).await.unwrap();
    }

    /// Returns how many indexes were created.
    pub(crate) fn created(&self) -> usize {
        self.created.load(Ordering::SeqCst)
    }

    /// Waits for what became of something that was held, once it goes on.
    pub(crate) async fn late(&self) -> Result<(), String> {
        let mut late = self.late.subscribe();
        let late = late.wait_for(Option::is_some).await.unwrap();
        late.clone().unwrap()
    }

    /// Holds something up, whatever its context says; returns whether it was.
    async fn pass(&self, what: Hold) -> bool {
        let mut hold = self.hold.subscribe();
        if *hold.borrow_and_update() != what {
            return false;
        }
        self.held.send_modify(|held| *held += 1);
        hold.wait_for(|hold| *hold != what).await.unwrap();
        true
    }

    fn note<T>(&self, result: &Result<T, EngineError>) {
        let result = result.as_ref().map(drop).map_err(ToString::to_string);
        self.late.send_replace(Some(result));
    }
}

#[async_trait]
impl SearchEngine for Gate {
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        self.engine.info(context).await
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        self.engine.health(of, context).await
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        self.engine.indexes(context).await
    }

    async fn condition(
        &self,
        name: &PhysicalName,
        context: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        self.engine.condition(name, context).await
    }

    async fn create(
        &self,
        index: IndexBinding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.created.fetch_add(1, Ordering::SeqCst);
        self.engine.create(index, owner, context).await
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.engine.delete(name, context).await
    }

    async fn bulk(
        &self,
        index: IndexBinding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        if *self.hold.borrow() == Hold::FailedBulks {
            return Err(EngineError::Failed("as a test says".into()));
        }
        if !self.pass(Hold::Bulks).await {
            return self.engine.bulk(index, writes, version, context).await;
        }
        let late = CallContext::new();
        let result = self.engine.bulk(index, writes, version, &late).await;
        self.note(&result);
        result
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.engine.refresh(name, context).await
    }

    async fn advance(
        &self,
        name: &PhysicalName,
        to: &DataPosition,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.engine.advance(name, to, context).await
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.engine.note_built(name, built, context).await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        if !self.pass(Hold::Switches).await {
            return self.engine.switch(switches, context).await;
        }
        let result = self.engine.switch(switches, &CallContext::new()).await;
        self.note(&result);
        result
    }

    async fn search(
        &self,
        index: IndexBinding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        self.engine.search(index, search, context).await
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        self.engine.count(name, context).await
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        self.engine.ids(name, after, size, context).await
    }
}

/// How a store of schemas behaves towards one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Right,
    Away,
    Denied,
    Silent,
}

/// A shared store of schemas, as one instance reaches it.
pub(crate) struct Schemas {
    store: Arc<InMemorySchemaStore>,
    manner: watch::Sender<Manner>,
}

impl Schemas {
    pub(crate) fn new(store: &Arc<InMemorySchemaStore>, manner: Manner) -> Arc<Schemas> {
        Arc::new(Schemas {
            store: Arc::clone(store),
            manner: watch::Sender::new(manner),
        })
    }

    pub(crate) fn set(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    async fn reached(&self) -> Result<&InMemorySchemaStore, SchemaStoreError> {
        let manner = *self.manner.borrow();
        match manner {
            Manner::Right => Ok(&self.store),
            Manner::Away => Err(SchemaStoreError::Unavailable("at http://10.0.0.1".into())),
            Manner::Denied => Err(SchemaStoreError::AccessDenied("at http://10.0.0.1".into())),
            Manner::Silent => std::future::pending().await,
        }
    }
}

#[async_trait]
impl SchemaStore for Schemas {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        self.reached().await?.list().await
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.reached().await?.get(id).await
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        self.reached().await?.create(id, text).await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.reached().await?.replace(id, text, expected).await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.reached().await?.remove(id, expected).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.reached().await?.rights().await
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.reached().await?.set_rights(text, expected).await
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        self.reached().await?.binding(service).await
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        self.reached().await?.set_binding(service, id).await
    }

    async fn unbind(&self, service: ServiceKind, id: &str) -> Result<bool, SchemaStoreError> {
        self.reached().await?.unbind(service, id).await
    }

    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        self.reached().await?.binding_state(service).await
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn lease(&self, name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        self.reached().await?.lease(name).await
    }

    async fn swap_lease(
        &self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        self.reached()
            .await?
            .swap_lease(name, expected, lease)
            .await
    }

    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        self.reached().await?.probe().await
    }
}
