//! Listing all quads of an image with its changes.

use async_trait::async_trait;
use call_context::CallContext;

use super::ImageStore;
use crate::error::StoreError;
use crate::store::export::{ExportStore, QuadSink, pass};

#[async_trait(?Send)]
impl ExportStore for ImageStore {
    /// Change records are in the log, not among the quads.
    async fn export(
        &self,
        sink: &mut dyn QuadSink,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let data = self.read_by(context);
        pass(data.iter().map(Ok), sink, context).await
    }
}
