//! Clients that do harm, each kind in its own way, again and again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{connect, send};
use crate::http::HttpError;

/// A way to do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Harm {
    /// Asks for a response of many megabytes and reads nothing of it.
    Stalls,
    /// Asks for such a response, compressed, and reads it.
    Compresses,
    /// Sends a body but for its last byte.
    Unfinished,
    /// Sends as many values of variables as fit.
    Values,
    /// Sends a document with as many fields as fit, different each time.
    Fields,
    /// Asks for the schema in a new way each time.
    Introspects,
    /// Has large schemas checked.
    Schemas,
    /// Sends what is no request.
    Garbage,
}

impl Harm {
    /// All ways.
    pub const ALL: [Harm; 8] = [
        Harm::Stalls,
        Harm::Compresses,
        Harm::Unfinished,
        Harm::Values,
        Harm::Fields,
        Harm::Introspects,
        Harm::Schemas,
        Harm::Garbage,
    ];
}

/// How often each status came; 0 stands for connections that broke.
pub(super) type Statuses = BTreeMap<(Harm, u16), usize>;

/// Clients that do harm for a while.
#[derive(Clone, Debug)]
pub struct Bad {
    /// Where the service listens.
    pub address: SocketAddr,
    /// Number of clients of each kind.
    pub clients: Vec<(Harm, usize)>,
    /// The text of a large SOML document.
    pub schema: Bytes,
}

/// Runs bad clients; returns what they were answered.
pub async fn bad_clients(bad: Bad, time: Duration) -> Statuses {
    let end = Instant::now() + time;
    let statuses = Arc::new(Mutex::new(Statuses::new()));
    let mut clients = JoinSet::new();
    for &(harm, count) in &bad.clients {
        for client in 0..count {
            let (statuses, bad) = (Arc::clone(&statuses), bad.clone());
            clients.spawn(async move {
                let mut turn = client;
                while Instant::now() < end {
                    let status = once(&bad, harm, turn, end).await.unwrap_or(0);
                    turn += count;
                    count_status(&statuses, (harm, status));
                    if status != 200 {
                        // Whoever is refused comes back at once, but not in a loop that only connects.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                }
            });
        }
    }
    while clients.join_next().await.is_some() {}
    let statuses = statuses.lock().unwrap_or_else(PoisonError::into_inner);
    statuses.clone()
}

fn count_status(statuses: &Mutex<Statuses>, status: (Harm, u16)) {
    let mut statuses = statuses.lock().unwrap_or_else(PoisonError::into_inner);
    *statuses.entry(status).or_default() += 1;
}

/// A query with a response of many megabytes; another text for each turn.
fn large(turn: usize) -> Bytes {
    let people = "{ id emailAddress memberOf { id name } takeCourses { id name } }";
    let query = format!("query Q{turn} {{ a: undergraduateStudent {people} }}");
    json!({ "query": query }).to_string().into()
}

async fn once(bad: &Bad, harm: Harm, turn: usize, end: Instant) -> Result<u16, HttpError> {
    let body = match harm {
        Harm::Stalls => return raw(bad.address, &large(turn), 0, end).await,
        Harm::Unfinished => {
            let body = format!("{{\"query\": \"{}\"}}", " ".repeat(900_000));
            return raw(bad.address, body.as_bytes(), 1, end).await;
        }
        Harm::Garbage => {
            let garbage = [
                b"\0\xff{".as_slice(),
                b"{\"query\": 1}",
                b"[[[[",
                b"{\"query\": \"{\"}",
            ];
            Bytes::from_static(garbage[turn % garbage.len()])
        }
        Harm::Schemas => return check_schema(bad).await,
        Harm::Compresses => large(turn),
        Harm::Values => {
            let ids = vec!["http://x/"; 60_000];
            let query = "query($ids: [ID!]) { professor(ID: $ids) { id } }";
            json!({ "query": query, "variables": { "ids": ids } })
                .to_string()
                .into()
        }
        Harm::Fields => {
            let fields: String = (0..950).map(|n| format!("f{turn}_{n}: name ")).collect();
            json!({ "query": format!("{{ university {{ {fields} }} }}") })
                .to_string()
                .into()
        }
        Harm::Introspects => {
            let types = "types { name fields { name args { name type { name } } type { name } } }";
            json!({ "query": format!("{{ s{turn}: __schema {{ {types} }} }}") })
                .to_string()
                .into()
        }
    };
    let mut connection = connect(bad.address).await?;
    let (status, _) = send(&mut connection, bad.address, body, "gzip").await?;
    Ok(status.as_u16())
}

/// Sends a request by hand, `missing` bytes too few, and waits without reading.
async fn raw(
    address: SocketAddr,
    body: &[u8],
    missing: usize,
    end: Instant,
) -> Result<u16, HttpError> {
    let mut stream = TcpStream::connect(address)
        .await
        .map_err(HttpError::Connect)?;
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let sent = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body[..body.len() - missing]).await
    };
    if sent.await.is_ok() {
        let patience = Duration::from_secs(40).min(end.saturating_duration_since(Instant::now()));
        tokio::time::sleep(patience).await;
    }
    Ok(0)
}

async fn check_schema(bad: &Bad) -> Result<u16, HttpError> {
    let mut connection = connect(bad.address).await?;
    let request = Request::post("/soml/validate")
        .header(HOST, bad.address.to_string())
        .header(CONTENT_TYPE, "text/yaml")
        .body(Full::new(bad.schema.clone()))?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    let status = response.status();
    response.into_body().collect().await?;
    Ok(status.as_u16())
}
