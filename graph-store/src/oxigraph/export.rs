//! Listing all quads of Oxigraph.

use async_trait::async_trait;
use call_context::CallContext;

use super::OxigraphStore;
use super::source::failed;
use crate::error::StoreError;
use crate::pattern::{DecodedQuads, Pattern};
use crate::store::export::{ExportStore, QuadSink, pass};

#[async_trait(?Send)]
impl ExportStore for OxigraphStore {
    /// Numbers, dates and times come as Oxigraph keeps them: by value.
    async fn export(
        &self,
        sink: &mut dyn QuadSink,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let quads = self.shared.source().quads(Pattern::default(), None);
        pass(quads.map(|quad| quad.map_err(failed)), sink, context).await
    }
}
