//! A store that notes each request that names what its caller may not read.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection, Window};
use graph_store::{
    CallContext, GraphStore, LocalStore, StoreError, StoreFeatures, StoreInfo, Windowed,
};

/// What may not be asked for, and what was.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) denied: BTreeSet<String>,
    pub(crate) violations: Vec<String>,
    pub(crate) calls: usize,
}

/// A store around another one.
pub(crate) struct Recorder {
    pub(crate) inner: Arc<dyn GraphStore>,
    pub(crate) record: Arc<Mutex<Record>>,
}

impl Recorder {
    /// Looks for the IRIs of properties anywhere in a request, at whatever depth.
    fn note(&self, call: &str, asked: &dyn Debug) {
        let mut record = self.record.lock().expect("no test panics here");
        record.calls += 1;
        if record.denied.is_empty() {
            return;
        }
        let text = format!("{asked:?}");
        let named = |iri: &&String| text.contains(&format!("{iri:?}"));
        let named: Vec<String> = record.denied.iter().filter(named).cloned().collect();
        for iri in named {
            let violation = format!("{call} names <{iri}>: {text}");
            record.violations.push(violation);
        }
    }

    fn note_hydration(&self, request: &HydrationRequest<'_>) {
        // The nodes are what was found, and may well be called as some property is.
        self.note("hydrate", &(request.slots, request.dataset));
    }
}

#[async_trait]
impl GraphStore for Recorder {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.note("select", selection);
        self.inner.select(selection, context).await
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        self.note("count", selection);
        self.inner.count(selection, context).await
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        self.note("select_window", &(selection, window));
        self.inner.select_window(selection, window, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.note_hydration(request);
        self.inner.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.inner.probe(context).await
    }

    fn features(&self) -> StoreFeatures {
        self.inner.features()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        self.inner.local().map(|_| self as &dyn LocalStore)
    }
}

impl Recorder {
    fn inner_local(&self) -> &dyn LocalStore {
        self.inner.local().expect("`local` has found it")
    }
}

impl LocalStore for Recorder {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        self.note_hydration(request);
        self.inner_local().hydrate_now(request, context)
    }

    fn short_work(&self) -> Option<u64> {
        self.inner_local().short_work()
    }
}
