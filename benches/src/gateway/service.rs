//! The four subgraphs behind HTTP, in one process, and what they were asked.
//!
//! | request | answer |
//! |---|---|
//! | `POST /accounts`, `/inventory`, `/products`, `/reviews` | that of the subgraph |
//! | `GET /counts` | [`Counts`] since the start or the last reset |
//! | `DELETE /counts` | begins to count anew |
//! | `PUT /delay` with a number of milliseconds | what each answer of a subgraph waits for from now on |

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::data::{Data, DataSet};
use super::objects::Part;
use super::subgraph::Subgraph;
use crate::measure::cpu_time;

/// What the subgraphs were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Of each subgraph.
    pub subgraphs: BTreeMap<String, Asked>,
    /// Length of the longest chain of requests each of which came after the answer to the one before. Where each
    /// answer is delayed and one operation is under way, these are the waves that depend on each other.
    pub waves: u64,
    /// CPU time of the process, in microseconds.
    pub cpu: u64,
}

/// What one subgraph was asked, or all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Requests.
    pub requests: u64,
    /// Representations in them.
    pub representations: u64,
    /// Bytes of their bodies.
    pub bytes_in: u64,
    /// Bytes of the bodies of the answers.
    pub bytes_out: u64,
}

impl Counts {
    /// Returns what all subgraphs were asked.
    #[must_use]
    pub fn total(&self) -> Asked {
        self.subgraphs
            .values()
            .fold(Asked::default(), |sum, it| Asked {
                requests: sum.requests + it.requests,
                representations: sum.representations + it.representations,
                bytes_in: sum.bytes_in + it.bytes_in,
                bytes_out: sum.bytes_out + it.bytes_out,
            })
    }
}

/// The subgraphs.
pub struct Subgraphs {
    all: Vec<Subgraph>,
    delay: AtomicU64,
    counting: Mutex<Counting>,
}

#[derive(Default)]
struct Counting {
    counts: Counts,
    /// The longest chain that has been answered.
    answered: u64,
    /// CPU time when it began.
    cpu: Duration,
    /// How often counting began anew.
    resets: u64,
}

impl Subgraphs {
    /// Creates the subgraphs; each answer waits for `delay`.
    #[must_use]
    pub fn new(set: DataSet, delay: Duration) -> Self {
        let data = Data::new(set);
        let all = Part::ALL.map(|part| Subgraph::new(part, &data));
        let delay = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        Subgraphs {
            all: all.into(),
            delay: AtomicU64::new(delay),
            counting: Mutex::default(),
        }
    }

    /// Listens on a port of this machine, 0 for any, and serves on the runtime at hand.
    ///
    /// # Errors
    /// When nothing can listen there.
    pub async fn serve(self, port: u16) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let subgraphs = Arc::new(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Without it an answer may wait for the acknowledgement of the one before.
                let _ = stream.set_nodelay(true);
                let subgraphs = Arc::clone(&subgraphs);
                let service = service_fn(move |request| {
                    let subgraphs = Arc::clone(&subgraphs);
                    async move { subgraphs.handle(request).await }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Ok(address)
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn handle(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = parts.uri.path();
        Ok(match (&parts.method, path) {
            (&Method::GET, "/counts") => json(&self.counts()),
            (&Method::DELETE, "/counts") => {
                let mut counting = self.counting();
                *counting = Counting {
                    cpu: cpu_time(),
                    resets: counting.resets + 1,
                    ..Counting::default()
                };
                status(StatusCode::NO_CONTENT)
            }
            (&Method::PUT, "/delay") => {
                let text = std::str::from_utf8(&body).ok();
                match text.and_then(|text| text.trim().parse().ok()) {
                    Some(delay) => {
                        self.delay.store(delay, Ordering::Relaxed);
                        status(StatusCode::NO_CONTENT)
                    }
                    None => status(StatusCode::BAD_REQUEST),
                }
            }
            (&Method::POST, path) => {
                let mut all = self.all.iter();
                match all.find(|it| path.strip_prefix('/') == Some(it.part().name())) {
                    Some(subgraph) => self.ask(subgraph, &body).await,
                    None => status(StatusCode::NOT_FOUND),
                }
            }
            _ => status(StatusCode::NOT_FOUND),
        })
    }

    async fn ask(&self, subgraph: &Subgraph, body: &[u8]) -> Response<Full<Bytes>> {
        let (depth, resets) = {
            let counting = self.counting();
            (counting.answered + 1, counting.resets)
        };
        let answer = subgraph.answer(body);
        let delay = self.delay.load(Ordering::Relaxed);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        let mut counting = self.counting();
        // What came before the counts were reset is not counted after.
        if counting.resets == resets {
            counting.answered = counting.answered.max(depth);
            counting.counts.waves = counting.answered;
            let name = subgraph.part().name().to_owned();
            let asked = counting.counts.subgraphs.entry(name).or_default();
            asked.requests += 1;
            asked.representations += answer.representations as u64;
            asked.bytes_in += body.len() as u64;
            asked.bytes_out += answer.body.len() as u64;
        }
        drop(counting);
        of_json(answer.body)
    }

    fn counts(&self) -> Counts {
        let counting = self.counting();
        let cpu = cpu_time().saturating_sub(counting.cpu);
        Counts {
            cpu: u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX),
            ..counting.counts.clone()
        }
    }
}

fn json(value: &impl Serialize) -> Response<Full<Bytes>> {
    of_json(serde_json::to_vec(value).expect("counts are JSON"))
}

fn of_json(body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}
