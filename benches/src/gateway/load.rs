//! Connections that keep one gateway busy, and look at each answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::http::{Connection, HttpError};
use crate::measure::Samples;

/// An operation and what it has to be answered.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Body of the request.
    pub body: Bytes,
    /// The answer, byte by byte as this gateway gave it first.
    pub bytes: Bytes,
    /// The answer.
    pub answer: Arc<Value>,
}

impl Operation {
    /// Returns whether an answer is the expected one. Its bytes may be others if it is not.
    #[must_use]
    pub fn is_answered_by(&self, body: &Bytes) -> bool {
        *body == self.bytes
            || serde_json::from_slice::<Value>(body).is_ok_and(|answer| answer == *self.answer)
    }
}

/// What came of keeping a gateway busy.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Times of requests with the expected answer.
    pub samples: Samples,
    /// Requests that got something else, or nothing.
    pub failed: usize,
    /// From the first request to the last answer.
    pub elapsed: Duration,
}

/// Keeps connections busy for a while. Requests that are under way at the end are answered.
///
/// # Errors
/// When the gateway cannot be connected to.
pub async fn load(
    address: SocketAddr,
    connections: usize,
    time: Duration,
    operation: &Operation,
) -> Result<Loaded, HttpError> {
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(Connection::open(address).await?);
    }
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for connection in opened {
        clients.spawn(client(connection, address, begun + time, operation.clone()));
    }
    let mut loaded = Loaded::default();
    while let Some(done) = clients.join_next().await {
        let (samples, failed) = done.expect("a client does not panic")?;
        loaded.samples.merge(samples);
        loaded.failed += failed;
    }
    loaded.elapsed = begun.elapsed();
    Ok(loaded)
}

async fn client(
    mut connection: Connection,
    address: SocketAddr,
    end: Instant,
    operation: Operation,
) -> Result<(Samples, usize), HttpError> {
    let (mut samples, mut failed) = (Samples::default(), 0);
    while Instant::now() < end {
        let sent = Instant::now();
        match connection.send(operation.body.clone()).await {
            Ok(body) => {
                // Looking at the answer is not part of the time.
                let took = sent.elapsed();
                if operation.is_answered_by(&body) {
                    samples.add(took)
                } else {
                    failed += 1
                }
            }
            Err(HttpError::Status(_)) => failed += 1,
            Err(_) => {
                failed += 1;
                connection = Connection::open(address).await?;
            }
        }
    }
    Ok((samples, failed))
}
