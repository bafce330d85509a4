//! A store over an image.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;

use super::Image;
use super::source::Reader;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::pattern::Walker;
use crate::query::{Dataset, Hydrated, HydrationRequest, Objects, Selection, Window};
use crate::store::{GraphStore, LocalStore, StoreInfo, Windowed};

/// A store that reads an [`Image`]; it cannot be written to.
///
/// Calls do their work on the calling thread. Another image can take the place of the one that is read; a
/// call reads the one that it began with.
#[derive(Debug)]
pub struct ImageStore {
    image: RwLock<Arc<Image>>,
}

impl ImageStore {
    /// Creates a store over an image.
    #[must_use]
    pub fn new(image: impl Into<Arc<Image>>) -> Self {
        ImageStore {
            image: RwLock::new(image.into()),
        }
    }

    /// Returns the image that is read now.
    #[must_use]
    pub fn image(&self) -> Arc<Image> {
        let image = self.image.read();
        Arc::clone(&image.unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts an image in place of the one that is read, and returns that one.
    pub fn replace(&self, image: impl Into<Arc<Image>>) -> Arc<Image> {
        let mut current = self.image.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut current, image.into())
    }
}

impl ImageStore {
    /// Returns the image that the calls of a request read.
    fn snapshot(&self, context: &CallContext) -> Arc<Image> {
        context.snapshot(self, || self.image())
    }
}

fn walker<'a>(
    image: &'a Arc<Image>,
    dataset: &Dataset,
    context: &'a CallContext,
) -> Walker<'a, Reader<'a>> {
    Walker::new(Reader::new(image), dataset, context)
}

#[async_trait]
impl GraphStore for ImageStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        walker(&self.snapshot(context), &selection.dataset, context).select(selection)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let image = self.snapshot(context);
        let walker = walker(&image, &selection.dataset, context);
        walker.select_window(selection, window)
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        walker(&self.snapshot(context), request.dataset, context).hydrate(request)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        context.check()?;
        Ok(StoreInfo {
            provider: "image".to_owned(),
            statements: Some(self.image().quads()),
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl LocalStore for ImageStore {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(walker(&self.snapshot(context), request.dataset, context).hydrate(request))
    }

    fn is_metered(&self) -> bool {
        true
    }
}
