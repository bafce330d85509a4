//! Services of this process.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use service_runtime::{HealthRecord, Serve};
use tokio::sync::Semaphore;
use tower_service::Service;

/// A service of this process, which requests reach without a connection.
#[async_trait]
pub trait Hosted: Send + Sync + 'static {
    /// Returns its routes, with everything that is around them.
    fn router(&self) -> Router;

    /// Returns its health record, from its cache where that is allowed.
    async fn health(&self, cached: bool) -> HealthRecord;

    /// Returns why it cannot answer requests now.
    async fn obstacle(&self) -> Option<String>;
}

/// Every service can be hosted.
#[async_trait]
impl<H: Serve> Hosted for Arc<H> {
    fn router(&self) -> Router {
        self.routes().into()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        self.as_ref().health(cached).await
    }

    async fn obstacle(&self) -> Option<String> {
        self.as_ref().obstacle().await.map(|(_, message)| message)
    }
}

/// A service of this process, and how many requests wait for it.
pub(crate) struct HostedService {
    pub(crate) service: Arc<dyn Hosted>,
    router: Router,
    pub(crate) waiting: Semaphore,
}

impl HostedService {
    pub(crate) fn new(service: Arc<dyn Hosted>, max_waiting: usize) -> Self {
        HostedService {
            router: service.router(),
            service,
            waiting: Semaphore::new(max_waiting.min(Semaphore::MAX_PERMITS)),
        }
    }

    pub(crate) async fn call(&self, request: Request) -> Response {
        let answered: Result<Response, Infallible> = self.router.clone().call(request).await;
        answered.unwrap_or_else(|never| match never {})
    }
}
