//! Good and bad clients of one running service: what the good ones notice, and what the process holds.

mod bad;
mod mixed;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

pub use bad::{Bad, Harm, bad_clients};
pub use mixed::{Mixed, NoticedBoth};

use crate::generator::Config;
use crate::http::HttpError;
use crate::measure::{Samples, Summary};
use crate::workload::{Template, instances};

/// Requests that are sent again and again, in turns.
#[derive(Clone, Debug)]
pub struct Good {
    /// Where the service listens.
    pub address: SocketAddr,
    /// Number of connections.
    pub connections: usize,
    /// Bodies of the requests.
    pub bodies: Vec<Bytes>,
}

/// What good clients have noticed.
#[derive(Clone, Copy, Debug)]
pub struct Noticed {
    /// Times of requests that were answered with 200.
    pub times: Summary,
    /// Requests a second.
    pub throughput: f64,
    /// Requests that were answered with another status.
    pub refused: usize,
}

impl Good {
    /// Returns clients that send instances of a template.
    #[must_use]
    pub fn of_template(
        address: SocketAddr,
        template: &Template,
        config: Config,
        connections: usize,
    ) -> Self {
        let bodies = instances(template, config, 20);
        let bodies = bodies
            .iter()
            .map(|one| one.body(template).to_string().into());
        Good {
            address,
            connections,
            bodies: bodies.collect(),
        }
    }

    /// Keeps all connections busy for a while.
    ///
    /// # Errors
    /// When the service does not answer at all.
    pub async fn run(self, time: Duration) -> Result<Noticed, HttpError> {
        let (started, end) = (Instant::now(), Instant::now() + time);
        let mut clients = JoinSet::new();
        for client in 0..self.connections {
            clients.spawn(one(self.clone(), client, end));
        }
        let (mut samples, mut refused) = (Samples::default(), 0);
        while let Some(done) = clients.join_next().await {
            let (times, other) = done.expect("a client does not panic")?;
            samples.merge(times);
            refused += other;
        }
        let times = samples.summary();
        Ok(Noticed {
            times,
            throughput: times.count as f64 / started.elapsed().as_secs_f64(),
            refused,
        })
    }
}

async fn one(good: Good, client: usize, end: Instant) -> Result<(Samples, usize), HttpError> {
    let mut connection = connect(good.address).await?;
    let (mut samples, mut refused) = (Samples::default(), 0);
    let mut next = client;
    while Instant::now() < end {
        let body = good.bodies[next % good.bodies.len()].clone();
        next += 1;
        let started = Instant::now();
        let (status, _) = send(&mut connection, good.address, body, "identity").await?;
        match status {
            StatusCode::OK => samples.add(started.elapsed()),
            _ => refused += 1,
        }
    }
    Ok((samples, refused))
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, HttpError> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(HttpError::Connect)?;
    stream.set_nodelay(true).map_err(HttpError::Connect)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends a GraphQL request; returns the status and the body of the response.
async fn send(
    sender: &mut SendRequest<Full<Bytes>>,
    address: SocketAddr,
    body: Bytes,
    encoding: &'static str,
) -> Result<(StatusCode, Bytes), HttpError> {
    let request = Request::post("/graphql")
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT_ENCODING, encoding)
        .body(Full::new(body))?;
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, body))
}
