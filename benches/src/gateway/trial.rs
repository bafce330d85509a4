//! Gateways in turns over the same subgraphs, so that what else the machine does falls on all of them alike.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use super::QUERY;
use super::contestant::Running;
use super::load::{Loaded, Operation, load};
use super::service::{Asked, Counts};
use crate::http::{Connection, HttpError};
use crate::measure::{Samples, cpu_time};

/// Delay of each answer while waves are counted, in milliseconds.
const DELAY: u64 = 10;
/// Operations of which the time with the delay is the median.
const DELAYED: usize = 21;

/// Settings of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Where the subgraphs listen.
    pub subgraphs: SocketAddr,
    /// Numbers of connections.
    pub connections: Vec<usize>,
    /// Turns of each gateway with each number of connections.
    pub rounds: usize,
    /// Time of a turn.
    pub time: Duration,
    /// Time before all turns for which each gateway is kept busy.
    pub warm_up: Duration,
    /// What each answer of a subgraph waits for under load, in milliseconds.
    pub delay: u64,
}

/// A trial that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// HTTP failed.
    #[error("{0}: failed over HTTP")]
    Http(String, #[source] HttpError),
    /// The answer has errors.
    #[error("{0}: the answer is {1}")]
    Answer(String, String),
    /// The answer is another one than that of the first gateway.
    #[error("{0}: the answer is not that of {1}")]
    Differs(String, String),
    /// The subgraphs answer something else.
    #[error("the subgraphs do not answer as they should")]
    Subgraphs,
}

/// What a gateway does for one operation, alone.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct One {
    /// Bytes of the answer.
    pub answer: usize,
    /// What each subgraph was asked, and the waves.
    pub counts: Counts,
    /// Median of its time where each answer of a subgraph waits for 10 milliseconds, in microseconds.
    pub delayed: f64,
}

/// A turn of a gateway: times are in microseconds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Number of connections.
    pub connections: usize,
    /// Requests that got the expected answer.
    pub answered: usize,
    /// Requests that did not.
    pub failed: usize,
    /// Answers in a second.
    pub per_second: f64,
    /// Half of the answers took at most this.
    pub median: f64,
    /// 99 of 100 answers took at most this.
    pub p99: f64,
    /// CPU time of the gateway per request.
    pub gateway_cpu: f64,
    /// Part of its core that the gateway used.
    pub busy: f64,
    /// CPU time of the subgraphs per request.
    pub subgraph_cpu: f64,
    /// CPU time of the clients per request.
    pub client_cpu: f64,
    /// Requests to subgraphs per request.
    pub subgraph_requests: f64,
    /// Most resident memory of the gateway that was seen in the turn, in bytes.
    pub resident: u64,
}

/// What was measured of a gateway.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// What it is called.
    pub name: String,
    /// One operation alone.
    pub one: One,
    /// Resident memory before the first request, in bytes.
    pub idle: u64,
    /// Most resident memory since its start, in bytes.
    pub peak: u64,
    /// Its turns.
    pub turns: Vec<Turn>,
}

/// A gateway, what it answers, and what was measured of it.
struct Side<'g> {
    gateway: &'g Running,
    operation: Operation,
    measured: Measured,
}

impl Trial {
    /// Measures gateways. The first one is what the answers of the others are compared with.
    ///
    /// # Errors
    /// When a gateway does not answer, or otherwise than the first one.
    pub async fn run(
        &self,
        gateways: &[Running],
        mut note: impl FnMut(String),
    ) -> Result<Vec<Measured>, TrialError> {
        let mut sides: Vec<Side<'_>> = Vec::new();
        for gateway in gateways {
            note(format!("{}: warms up", gateway.name));
            let side = self.side(gateway).await?;
            let operation = sides.first().map(|first| &first.operation);
            if operation.is_some_and(|first| first.answer != side.operation.answer) {
                let first = &gateways[0].name;
                return Err(TrialError::Differs(gateway.name.clone(), first.clone()));
            }
            sides.push(side);
        }
        self.delay(self.delay).await?;
        for round in 1..=self.rounds {
            for connections in &self.connections {
                for side in &mut sides {
                    let turn = self.turn(side, *connections).await?;
                    note(format!(
                        "{round}/{} {} {connections}: {:.0} µs, {:.0} a second",
                        self.rounds, side.gateway.name, turn.gateway_cpu, turn.per_second
                    ));
                    side.measured.turns.push(turn);
                }
            }
        }
        let sides = sides.into_iter().map(|mut side| {
            side.measured.peak = side.gateway.process().memory().peak;
            side.measured
        });
        Ok(sides.collect())
    }

    /// Gets the answer of a gateway, warms it up, and looks at one operation.
    async fn side<'g>(&self, gateway: &'g Running) -> Result<Side<'g>, TrialError> {
        let failed = |error| TrialError::Http(gateway.name.clone(), error);
        let idle = gateway.process().memory().resident;
        let body = Bytes::from(json!({ "query": QUERY }).to_string());
        let bytes = ask(gateway.address, &body).await.map_err(failed)?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if !answer["data"].is_object() || answer.get("errors").is_some() {
            let text = String::from_utf8_lossy(&bytes).chars().take(500).collect();
            return Err(TrialError::Answer(gateway.name.clone(), text));
        }
        let operation = Operation {
            body,
            bytes,
            answer: Arc::new(answer),
        };
        load(gateway.address, 8, self.warm_up, &operation)
            .await
            .map_err(failed)?;
        let one = self.one(gateway, &operation).await?;
        let measured = Measured {
            name: gateway.name.clone(),
            one,
            idle,
            peak: 0,
            turns: Vec::new(),
        };
        Ok(Side {
            gateway,
            operation,
            measured,
        })
    }

    /// Looks at one operation, then at its time, while answers of subgraphs are delayed.
    async fn one(&self, gateway: &Running, operation: &Operation) -> Result<One, TrialError> {
        let failed = |error| TrialError::Http(gateway.name.clone(), error);
        self.delay(DELAY).await?;
        self.reset().await?;
        let bytes = ask(gateway.address, &operation.body).await;
        let bytes = bytes.map_err(failed)?;
        let counts = self.counts().await?;
        let mut samples = Samples::default();
        for _ in 0..DELAYED {
            let sent = Instant::now();
            ask(gateway.address, &operation.body)
                .await
                .map_err(failed)?;
            samples.add(sent.elapsed());
        }
        self.delay(0).await?;
        Ok(One {
            answer: bytes.len(),
            counts,
            delayed: samples.summary().median,
        })
    }

    async fn turn(&self, side: &Side<'_>, connections: usize) -> Result<Turn, TrialError> {
        let process = side.gateway.process();
        self.reset().await?;
        let watch = process.watch();
        let (gateway, client) = (process.cpu_time(), cpu_time());
        let address = side.gateway.address;
        let loaded = load(address, connections, self.time, &side.operation).await;
        let gateway = process.cpu_time().saturating_sub(gateway);
        let client = cpu_time().saturating_sub(client);
        let seen = watch.end().await;
        let counts = self.counts().await?;
        let loaded = loaded.map_err(|e| TrialError::Http(side.gateway.name.clone(), e))?;
        let used = Used {
            gateway,
            client,
            asked: counts.total(),
            subgraphs: Duration::from_micros(counts.cpu),
            resident: seen.resident,
        };
        Ok(used.turn(connections, &loaded))
    }

    async fn delay(&self, milliseconds: u64) -> Result<(), TrialError> {
        let body = milliseconds.to_string();
        self.tell(Method::PUT, "/delay", body).await.map(drop)
    }

    async fn reset(&self) -> Result<(), TrialError> {
        let body = String::new();
        self.tell(Method::DELETE, "/counts", body).await.map(drop)
    }

    async fn counts(&self) -> Result<Counts, TrialError> {
        let body = self.tell(Method::GET, "/counts", String::new()).await?;
        serde_json::from_slice(&body).map_err(|_| TrialError::Subgraphs)
    }

    async fn tell(&self, method: Method, path: &str, body: String) -> Result<Bytes, TrialError> {
        let failed = |error| TrialError::Http("the subgraphs".to_owned(), error);
        let mut connection = Connection::open(self.subgraphs).await.map_err(failed)?;
        let answer = connection.exchange(method, path, body.into()).await;
        match answer.map_err(failed)? {
            (StatusCode::OK | StatusCode::NO_CONTENT, body) => Ok(body),
            _ => Err(TrialError::Subgraphs),
        }
    }
}

/// What a turn used.
struct Used {
    gateway: Duration,
    client: Duration,
    subgraphs: Duration,
    asked: Asked,
    resident: u64,
}

impl Used {
    fn turn(&self, connections: usize, loaded: &Loaded) -> Turn {
        let summary = loaded.samples.summary();
        let requests = (summary.count + loaded.failed).max(1) as f64;
        let each = |time: Duration| time.as_secs_f64() * 1e6 / requests;
        let elapsed = loaded.elapsed.as_secs_f64();
        Turn {
            connections,
            answered: summary.count,
            failed: loaded.failed,
            per_second: summary.count as f64 / elapsed,
            median: summary.median,
            p99: summary.p99,
            gateway_cpu: each(self.gateway),
            busy: self.gateway.as_secs_f64() / elapsed,
            subgraph_cpu: each(self.subgraphs),
            client_cpu: each(self.client),
            subgraph_requests: self.asked.requests as f64 / requests,
            resident: self.resident,
        }
    }
}

async fn ask(gateway: SocketAddr, body: &Bytes) -> Result<Bytes, HttpError> {
    let mut connection = Connection::open(gateway).await?;
    connection.send(body.clone()).await
}
