//! A service that answers beside what else a command does, until it is ended.

use std::net::{IpAddr, SocketAddr};

use service_runtime::{Serve, Server};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A service that answers.
pub(super) struct RunningService {
    pub(super) address: SocketAddr,
    /// Dropped to end the service.
    end: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl RunningService {
    /// Has a service that listens answer from now on.
    pub(super) fn begin<H: Serve>(server: Server<H>) -> Self {
        let address = server.address();
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async {
            // Without a sender there is nothing to wait for either.
            let _ = ended.await;
        }));
        RunningService {
            address,
            end: Some(end),
            task,
        }
    }

    /// Begins to end the service, and waits for nothing.
    pub(super) fn stop(&mut self) {
        self.end = None;
    }

    /// Ends the service; `name` is for the log.
    pub(super) async fn end(mut self, name: &str) {
        self.stop();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "{name} ended unexpectedly");
        }
    }
}

/// Returns the address of the service as a client on this machine writes it.
pub(super) fn base(address: SocketAddr) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    format!("http://{host}:{}", address.port())
}
