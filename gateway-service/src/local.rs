//! Services of this process as subgraphs: they are called without a socket.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::Service;
use service_runtime::{HealthRecord, Host};
use tokio::sync::watch;

/// A service of this process that is a subgraph.
#[async_trait]
pub trait LocalSubgraph: Send + Sync + 'static {
    /// Returns what answers requests as a subgraph, while there is a schema to answer by.
    async fn service(&self) -> Option<Arc<dyn Service>>;

    /// Returns its health record.
    async fn health(&self, cached: bool) -> HealthRecord;

    /// Returns why requests cannot be answered now.
    async fn obstacle(&self) -> Option<String>;

    /// Returns what changes whenever its schema may have, if it says so.
    fn schema_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }
}

/// A whole service of this process.
pub(crate) struct Hosted<H>(pub(crate) Arc<H>);

#[async_trait]
impl<H: Host> LocalSubgraph for Hosted<H> {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        self.0.subgraph().await
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        self.0.health(cached).await
    }

    async fn obstacle(&self) -> Option<String> {
        let (_, message) = self.0.obstacle().await?;
        Some(message)
    }

    fn schema_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.state().schema_changes())
    }
}
