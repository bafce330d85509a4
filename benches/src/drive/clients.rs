//! Clients that send one request after the other, each on a connection of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::DriveError;
use crate::http::{Connection, HttpError};
use crate::measure::{Samples, cpu_time};

/// How an answer of the service begins that holds errors.
const ERRORS: &[u8] = b"{\"errors\":";

/// Keeps `connections` busy for some time; returns their samples, and how long it took until the last
/// answer was there.
pub(crate) async fn keep_busy(
    address: SocketAddr,
    bodies: &Arc<[Bytes]>,
    connections: usize,
    time: Duration,
) -> Result<(Samples, Duration), DriveError> {
    let before = cpu_time();
    let start = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|first| tokio::spawn(closed_loop(address, Arc::clone(bodies), first, time)))
        .collect();
    let mut samples = Samples::default();
    for task in tasks {
        samples.merge(task.await??);
    }
    samples.add_cpu(cpu_time().saturating_sub(before));
    Ok((samples, start.elapsed()))
}

/// Sends one request after the other.
async fn closed_loop(
    address: SocketAddr,
    bodies: Arc<[Bytes]>,
    first: usize,
    time: Duration,
) -> Result<Samples, HttpError> {
    let mut connection = Connection::open(address).await?;
    let mut samples = Samples::default();
    let start = Instant::now();
    for body in bodies.iter().cycle().skip(first) {
        if start.elapsed() >= time {
            break;
        }
        let sent = Instant::now();
        let answer = connection.send(body.clone()).await?;
        samples.add(sent.elapsed());
        if answer.starts_with(ERRORS) {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            return Err(HttpError::Errors(answer));
        }
    }
    Ok(samples)
}
