//! Services of this process as subgraphs: they are called without a socket.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::Service;

use crate::app::App;
use crate::health;
use crate::health_record::HealthRecord;
use crate::search::{self, SearchApp};

/// A service of this process that is a subgraph.
#[async_trait]
pub trait LocalSubgraph: Send + Sync + 'static {
    /// Returns what answers requests as a subgraph, while there is a schema to answer by.
    async fn service(&self) -> Option<Arc<dyn Service>>;

    /// Returns its health record.
    async fn health(&self, cached: bool) -> HealthRecord;

    /// Returns why requests cannot be answered now.
    async fn obstacle(&self) -> Option<String>;
}

#[async_trait]
impl LocalSubgraph for App {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        let bound = self.bound();
        bound.map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health::health(self, cached).await
    }

    async fn obstacle(&self) -> Option<String> {
        if self.bound().is_none() {
            return Some("no schema is bound".to_owned());
        }
        health::obstacle(health::health(self, true).await)
    }
}

#[async_trait]
impl LocalSubgraph for SearchApp {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        let subgraph = self.subgraph().await?;
        Some(subgraph)
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        search::health(self, cached).await.record
    }

    async fn obstacle(&self) -> Option<String> {
        if self.bound().is_none() {
            return Some("no schema is bound to the search service".to_owned());
        }
        let found = search::health(self, true).await;
        (!found.engine_answers).then(|| "the search engine does not answer".to_owned())
    }
}
