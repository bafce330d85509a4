//! A store as a transaction sees it.

use async_trait::async_trait;
use call_context::CallContext;

use super::overlay::Overlay;
use super::pending::Pending;
use super::source::QuadSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed};

/// The data of a store at one moment, which requests read through a source of their own.
pub(crate) trait Data: Send + Sync + 'static {
    /// What a request reads.
    type Source<'d>: QuadSource;

    /// Returns the source of a request to a dataset.
    fn source(&self, dataset: &Dataset) -> Self::Source<'_>;
}

/// The data of a store with a change that is not committed.
pub(crate) struct View<D> {
    pub(crate) data: D,
    pub(crate) pending: Pending,
    pub(crate) provider: &'static str,
}

impl<D: Data> View<D> {
    /// Returns data without a change yet.
    pub(crate) fn new(data: D, provider: &'static str) -> Self {
        View {
            data,
            pending: Pending::default(),
            provider,
        }
    }

    fn source(&self, dataset: &Dataset) -> Overlay<'_, D::Source<'_>> {
        Overlay::new(self.data.source(dataset), &self.pending)
    }

    pub(crate) fn walker<'a>(
        &'a self,
        dataset: &Dataset,
        context: &'a CallContext,
    ) -> Walker<'a, Overlay<'a, D::Source<'a>>> {
        Walker::new(self.source(dataset), dataset, context)
    }
}

#[async_trait]
impl<D: Data> GraphStore for View<D> {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.walker(&selection.dataset, context).select(selection)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let walker = self.walker(&selection.dataset, context);
        walker.select_window(selection, window)
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.walker(request.dataset, context).hydrate(request)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        context.check()?;
        let source = self.source(&Dataset::default());
        let mut quads = source.quads(Default::default(), None);
        let first = quads.next().transpose()?;
        Ok(StoreInfo {
            provider: self.provider.to_owned(),
            statements: first.is_none().then_some(0),
            ..StoreInfo::default()
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl<D: Data> LocalStore for View<D> {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(self.walker(request.dataset, context).hydrate(request))
    }

    fn short_work(&self) -> Option<u64> {
        Some(1_024)
    }
}
