//! The object service and the search service of this process as subgraphs of its gateway.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::Service;

use crate::gateway::LocalSubgraph;
use crate::host::HealthRecord;
use crate::object::{App, health};
use crate::search::{self, SearchApp};

/// The object service.
pub(super) struct Objects(pub(super) Arc<App>);

/// The search service.
pub(super) struct Searches(pub(super) Arc<SearchApp>);

#[async_trait]
impl LocalSubgraph for Objects {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        let bound = self.0.bound();
        bound.map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health::health(&self.0, cached).await
    }

    async fn obstacle(&self) -> Option<String> {
        if self.0.bound().is_none() {
            return Some("no schema is bound".to_owned());
        }
        health::obstacle(health::health(&self.0, true).await)
    }
}

#[async_trait]
impl LocalSubgraph for Searches {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        let subgraph = self.0.subgraph().await?;
        Some(subgraph)
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        search::health(&self.0, cached).await.record
    }

    async fn obstacle(&self) -> Option<String> {
        if self.0.bound().is_none() {
            return Some("no schema is bound to the search service".to_owned());
        }
        let found = search::health(&self.0, true).await;
        (!found.engine_answers).then(|| "the search engine does not answer".to_owned())
    }
}
