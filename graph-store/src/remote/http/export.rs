//! Listing all quads of a server.

use async_trait::async_trait;
use call_context::CallContext;

use super::endpoint::within;
use super::error::HttpError;
use super::exchange::Query;
use super::results::{RowReader, projection};
use super::store::{HttpStore, options_of};
use super::values::ResultFormat;
use crate::error::StoreError;
use crate::query::Dataset;
use crate::remote::write::{Graphs, every_quad, malformed, quad};
use crate::store::export::{Batch, ExportStore, QuadSink};
use crate::write::change_graph;

#[async_trait(?Send)]
impl ExportStore for HttpStore {
    /// One query lists all quads, since labels of blank nodes mean something within one result only. Its result is
    /// read as it arrives, so its size is not bounded. Inferred statements are not listed where the server can
    /// leave them out.
    ///
    /// A server of unknown kind is taken to keep its default graph apart. Where that is the union of all graphs,
    /// each triple is listed in the default graph too.
    async fn export(
        &self,
        sink: &mut dyn QuadSink,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let kind = self.endpoint.server_kind(context).await?;
        let query = every_quad(Graphs::new(&options_of(&self.endpoint, kind)));
        let wanted = projection(&query)?;
        let dataset = Dataset {
            include_inferred: false,
            expand_same_as: false,
            ..Dataset::default()
        };
        let sent = Query {
            text: &query.to_string(),
            dataset: &dataset,
            format: ResultFormat::Json,
        };
        context.count_call();
        let opened = self.endpoint.rows(sent, &wanted, context);
        let mut rows = within(context, opened).await?;
        loop {
            let batch = within(context, batch(&mut rows)).await??;
            if batch.quads.is_empty() || sink.take(batch.quads).await.is_break() {
                return Ok(());
            }
        }
    }
}

/// Reads the next rows as quads, without those that stores of this crate have written for themselves.
async fn batch(rows: &mut RowReader<'_>) -> Result<Result<Batch, StoreError>, HttpError> {
    let mut batch = Batch::default();
    while !batch.is_full() {
        let Some(mut row) = rows.next().await? else {
            break;
        };
        let mut term = || row.next().flatten();
        match quad(term(), term(), term(), term()) {
            Some(quad) if change_graph::is_own(&quad) => {}
            Some(quad) => batch.push(quad),
            None => return Ok(Err(malformed("a result has a row that is not a quad"))),
        }
    }
    Ok(Ok(batch))
}
