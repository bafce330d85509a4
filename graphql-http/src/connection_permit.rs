//! Connections that are counted.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// A connection that is counted, among the extensions of its requests. Whoever takes the connection over keeps this
/// as long as it is open.
#[derive(Clone, Debug)]
pub struct ConnectionPermit(#[expect(dead_code, reason = "it is held")] Arc<OwnedSemaphorePermit>);

impl ConnectionPermit {
    /// Counts a connection by its permit.
    #[must_use]
    pub fn new(permit: OwnedSemaphorePermit) -> Self {
        ConnectionPermit(Arc::new(permit))
    }
}
