//! A store over a pattern source.

use async_trait::async_trait;
use call_context::CallContext;

use super::decoded::Plain;
use super::source::PatternSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed};

/// A store over anything that finds quads by a pattern.
///
/// Selections, windows and values are found by index scans over the quads of the [`PatternSource`],
/// as in the embedded store. Calls do their work on the calling thread.
#[derive(Clone, Debug)]
pub struct PatternStore<S> {
    source: S,
}

impl<S: PatternSource> PatternStore<S> {
    /// Creates a store over a source.
    #[must_use]
    pub fn new(source: S) -> Self {
        PatternStore { source }
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    fn walker<'a>(
        &'a self,
        dataset: &Dataset,
        context: &'a CallContext,
    ) -> Walker<'a, Plain<'a, S>> {
        Walker::new(Plain(&self.source), dataset, context)
    }
}

#[async_trait]
impl<S: PatternSource> GraphStore for PatternStore<S> {
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

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        let mut quads = self.source.quads_for_pattern(None, None, None, None);
        let is_empty = quads.next().transpose()?.is_none();
        Ok(StoreInfo {
            provider: "pattern-source".to_owned(),
            statements: is_empty.then_some(0),
            ..StoreInfo::default()
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl<S: PatternSource> LocalStore for PatternStore<S> {
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
