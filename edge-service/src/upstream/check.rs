//! Checks of servers, which go on beside requests.

use std::sync::Arc;
use std::time::Duration;

use outbound::{Body, causes};
use reqwest::header::ACCEPT;
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;
use service_runtime::{HealthRecord, Status};
use tokio::net::TcpStream;

use super::server::UpstreamServer;

/// Pause after a check that was not answered.
const SOON: Duration = Duration::from_secs(1);

/// Maximum size of a health record, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// What a check of a server has found.
#[derive(Clone, Debug)]
pub(crate) enum Checked {
    /// It has answered with a health record.
    Record(Box<HealthRecord>),
    /// It has answered, and has no record.
    Answered(Status, String),
    /// It has not answered, and why.
    Unanswered(&'static str),
}

/// Checks servers.
#[derive(Clone)]
pub(crate) struct Checker {
    pub(crate) client: Client,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

impl Checker {
    /// Checks a server again and again.
    pub(crate) async fn watch(&self, route: &str, server: &UpstreamServer) {
        loop {
            let checked = self.check(route, server).await;
            let pause = if matches!(*checked, Checked::Unanswered(_)) {
                SOON.min(self.interval)
            } else {
                self.interval
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Checks a server, and leaves it out or takes it back.
    pub(crate) async fn check(&self, route: &str, server: &UpstreamServer) -> Arc<Checked> {
        let looked = tokio::time::timeout(self.timeout, self.look(server)).await;
        let checked = looked.unwrap_or(Checked::Unanswered("it does not answer in time"));
        let label = &*server.label;
        if let Checked::Unanswered(why) = &checked {
            if server.missed_check() {
                tracing::warn!(route, server = label, why, "a server is skipped");
            }
        } else if server.answered_check() {
            tracing::info!(route, server = label, "a server responds again");
        }
        let checked = Arc::new(checked);
        server.checked.store(Some(Arc::clone(&checked)));
        checked
    }

    async fn look(&self, server: &UpstreamServer) -> Checked {
        match &server.health {
            Some(address) => self.ask(address, server).await,
            None => connect(&server.base).await,
        }
    }

    async fn ask(&self, address: &Url, server: &UpstreamServer) -> Checked {
        let request = self.client.get(address.clone());
        let response = match request.header(ACCEPT, "application/json").send().await {
            Ok(response) => response,
            Err(error) => {
                let is_connect = error.is_connect();
                let (server, cause) = (&*server.label, causes(error));
                tracing::debug!(server, cause, "a check was not answered");
                return Checked::Unanswered(if is_connect {
                    "it cannot be connected to"
                } else {
                    "it closed the connection early"
                });
            }
        };
        let status = response.status();
        let body = Body::of(response).limited(MAX_BYTES).all().await;
        let value = body
            .ok()
            .and_then(|body| serde_json::from_slice::<Value>(&body).ok());
        let record = value
            .as_ref()
            .and_then(|value| HealthRecord::of_json(value, &link));
        match record {
            Some(record) if status.is_success() || status == StatusCode::SERVICE_UNAVAILABLE => {
                Checked::Record(Box::new(record))
            }
            _ if status.is_success() => Checked::Answered(Status::Ok, "it responds".to_owned()),
            _ if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                Checked::Answered(Status::Ok, "it responds and requires a token".to_owned())
            }
            _ => Checked::Answered(Status::Error, format!("its health check answered {status}")),
        }
    }
}

/// Takes links that lead to a page of the service or elsewhere.
fn link(link: &str) -> Option<String> {
    let mut starts = ["/", "http://", "https://"].into_iter();
    starts
        .any(|start| link.starts_with(start))
        .then(|| link.to_owned())
}

async fn connect(base: &Url) -> Checked {
    let host = base
        .host_str()
        .unwrap_or_default()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let port = base.port_or_known_default().unwrap_or_default();
    match TcpStream::connect((host, port)).await {
        Ok(_) => Checked::Answered(Status::Ok, "it can be connected to".to_owned()),
        Err(_) => Checked::Unanswered("it cannot be connected to"),
    }
}
