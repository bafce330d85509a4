//! A service at work: what it does beside its requests, and the server that answers them.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::JoinSet;

use super::listener::{Listener, ServeError};
use super::middleware::ServiceRouter;
use super::service::Host;

/// A service that can be served: on a listener of its own, or by a program that mounts it.
#[async_trait]
pub trait Serve: Host {
    /// Returns its routes, with everything around them.
    fn routes(self: &Arc<Self>) -> ServiceRouter;

    /// Begins what it does beside its requests, which ends where the tasks are aborted.
    fn begin(self: &Arc<Self>, _tasks: &mut JoinSet<()>) {}

    /// Begins to end: new requests are not welcome, and what goes on without one is cancelled.
    fn drain(&self) {
        self.state().drain();
    }

    /// Waits until what [`Serve::drain`] has cancelled is at its end.
    async fn ended(&self) {}
}

/// What a service does beside its requests, such as following what it depends on. It stops when this is dropped.
///
/// A program that mounts the routes of a service keeps this as long as they are served, and ends it last.
pub struct Running<H: Serve> {
    app: Arc<H>,
    tasks: JoinSet<()>,
}

impl<H: Serve> Running<H> {
    /// Begins.
    ///
    /// # Panics
    /// Panics outside of a Tokio runtime.
    #[must_use]
    pub fn begin(app: Arc<H>) -> Self {
        if let Some(verifier) = &app.state().verifier {
            verifier.prepare();
        }
        let mut tasks = JoinSet::new();
        app.begin(&mut tasks);
        Running { app, tasks }
    }

    /// Begins to end: the readiness probe fails from now on, and nothing goes on that no request waits for.
    pub fn drain(&mut self) {
        self.tasks.abort_all();
        self.app.drain();
    }

    /// Ends what is left, once requests have been answered.
    pub async fn end(mut self) {
        if !self.app.state().is_draining() {
            self.drain();
        }
        self.app.ended().await;
    }
}

/// A service that listens but does not answer yet.
pub struct Server<H> {
    app: Arc<H>,
    listener: Listener,
}

impl<H: Serve> Server<H> {
    /// Listens on the configured address.
    ///
    /// # Errors
    ///
    /// Fails when the address cannot be listened on.
    pub async fn listen(app: Arc<H>) -> Result<Self, ServeError> {
        let listener = Listener::bind(&app.state().options).await?;
        Ok(Server { app, listener })
    }

    /// Returns the address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves requests until `stop` completes, then gives open ones the time for a shutdown to complete.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { app, listener } = self;
        let mut running = Running::begin(Arc::clone(&app));
        listener.serve(app.routes(), stop, || running.drain()).await;
        running.end().await;
    }
}
