//! The embedded store as a transaction sees it.

use async_trait::async_trait;

use super::source::Embedded;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::pattern::{Overlay, Pending, QuadSource, Walker};
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed};

/// The quads of a store with a change that is not committed.
pub(super) struct View {
    pub(super) source: Embedded,
    pub(super) pending: Pending,
    pub(super) provider: &'static str,
}

impl View {
    pub(super) fn walker<'a>(
        &'a self,
        dataset: &Dataset,
        context: &'a CallContext,
    ) -> Walker<'a, Overlay<'a, Embedded>> {
        let source = self.source.clone().of(dataset);
        Walker::new(Overlay::new(source, &self.pending), dataset, context)
    }
}

#[async_trait]
impl GraphStore for View {
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
        let source = Overlay::new(self.source.clone(), &self.pending);
        let mut quads = source.quads(Default::default(), None);
        let first = quads.next().transpose()?;
        Ok(StoreInfo {
            provider: self.provider.to_owned(),
            statements: first.is_none().then_some(0),
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl LocalStore for View {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(self.walker(request.dataset, context).hydrate(request))
    }

    fn is_metered(&self) -> bool {
        true
    }
}
