//! Stores whose calls are counted, fail, wait, or are preceded by what somebody else does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use schema_registry::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationRecord, SchemaEntry,
    SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
};

use super::World;

/// Something that is done at a moment.
pub(super) type Act = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Nothing.
    None,
    /// The process ends after the call, before it knows the outcome.
    DiesAfter,
    /// The call fails.
    Fails,
    /// The call is made, and its answer is lost.
    Lost,
    /// This call and all others fail.
    AlwaysFails,
    /// No call is allowed.
    AlwaysDenied,
    /// The schema `a` of the origin cannot be read.
    DamagedDocument,
}

/// The calls of a process, of both stores together.
pub(super) struct Calls {
    count: AtomicUsize,
    at: usize,
    event: Event,
    is_dead: AtomicBool,
    /// Done before the call of that number.
    before: Mutex<Option<Act>>,
    /// Done after each change.
    after: Act,
}

impl Calls {
    pub(super) fn new(at: usize, event: Event, before: Option<Act>, after: Act) -> Arc<Self> {
        Arc::new(Calls {
            count: AtomicUsize::new(0),
            at,
            event,
            is_dead: AtomicBool::new(false),
            before: Mutex::new(before),
            after,
        })
    }

    /// Returns whether the call was reached.
    pub(super) fn was_reached(&self) -> bool {
        self.count.load(Ordering::Relaxed) > self.at
    }

    /// Returns how many calls were made.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    async fn read<T>(
        &self,
        call: impl Future<Output = Result<T, SchemaStoreError>> + Send,
    ) -> Result<T, SchemaStoreError> {
        self.make(call, false).await
    }

    async fn change<T>(
        &self,
        call: impl Future<Output = Result<T, SchemaStoreError>> + Send,
    ) -> Result<T, SchemaStoreError> {
        self.make(call, true).await
    }

    async fn make<T>(
        &self,
        call: impl Future<Output = Result<T, SchemaStoreError>> + Send,
        is_change: bool,
    ) -> Result<T, SchemaStoreError> {
        let is_it = self.count.fetch_add(1, Ordering::Relaxed) == self.at;
        let event = if is_it { self.event } else { Event::None };
        if event == Event::DiesAfter {
            self.is_dead.store(true, Ordering::Relaxed);
        } else if self.is_dead.load(Ordering::Relaxed) {
            return Err(SchemaStoreError::Unavailable("it is dead".into()));
        }
        match self.event {
            Event::AlwaysDenied => return Err(SchemaStoreError::AccessDenied("it says no".into())),
            Event::AlwaysFails => return Err(SchemaStoreError::Failed("it fails".into())),
            _ => {}
        }
        if event == Event::Fails {
            return Err(SchemaStoreError::Unavailable("it does not answer".into()));
        }
        let act = if is_it {
            self.before.lock().unwrap().take()
        } else {
            None
        };
        if let Some(act) = act {
            act().await;
        }
        let result = call.await;
        if is_change {
            (self.after)().await;
        }
        match event {
            Event::DiesAfter | Event::Lost => {
                Err(SchemaStoreError::OutcomeUnknown("it is lost".into()))
            }
            _ => result,
        }
    }
}

/// A store as a process sees it.
struct Watched {
    store: Arc<dyn SchemaStore>,
    calls: Arc<Calls>,
    is_origin: bool,
}

/// Returns both stores as a process with these calls sees them.
pub(super) fn watched(world: &World, calls: &Arc<Calls>) -> [Arc<dyn SchemaStore>; 2] {
    let stores = [(&world.origin, true), (&world.destination, false)];
    stores.map(|(store, is_origin)| -> Arc<dyn SchemaStore> {
        Arc::new(Watched {
            store: Arc::clone(store),
            calls: Arc::clone(calls),
            is_origin,
        })
    })
}

#[async_trait]
impl SchemaStore for Watched {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        self.calls.read(self.store.list()).await
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        if self.is_origin && id == "a" && self.calls.event == Event::DamagedDocument {
            return Err(SchemaStoreError::Failed("it is damaged".into()));
        }
        self.calls.read(self.store.get(id)).await
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        self.calls.change(self.store.create(id, text)).await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let replaced = self.store.replace(id, text, expected);
        self.calls.change(replaced).await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.calls.change(self.store.remove(id, expected)).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.calls.read(self.store.rights()).await
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.calls
            .change(self.store.set_rights(text, expected))
            .await
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        self.calls.read(self.store.binding(service)).await
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        self.calls.change(self.store.set_binding(service, id)).await
    }

    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        self.calls.read(self.store.binding_state(service)).await
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    async fn lease(&self, name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        self.calls.read(self.store.lease(name)).await
    }

    async fn swap_lease(
        &self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        let swapped = self.store.swap_lease(name, expected, lease);
        self.calls.change(swapped).await
    }

    fn application(&self) -> &str {
        self.store.application()
    }

    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        self.calls.read(self.store.bindings()).await
    }

    async fn swap_binding(
        &self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let swapped = self.store.swap_binding(expected, next);
        self.calls.change(swapped).await
    }

    async fn remove_rights(&self, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.calls.change(self.store.remove_rights(expected)).await
    }

    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        self.calls.read(self.store.migration()).await
    }

    async fn swap_migration(
        &self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        let swapped = self.store.swap_migration(expected, next);
        self.calls.change(swapped).await
    }

    async fn clear(&self, record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        self.calls.change(self.store.clear(record)).await
    }

    async fn missing(&self) -> Result<Vec<String>, SchemaStoreError> {
        self.calls.read(self.store.missing()).await
    }
}
