//! A server that answers as an OpenSearch cluster of one node does, as far as the service asks for the health of its
//! indexes, with what a test says is there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Map, Value, json};

/// A cluster on a port of its own, which goes on until the process ends.
pub(super) struct FakeCluster {
    pub(super) address: String,
    state: Arc<Mutex<State>>,
}

/// What is there.
#[derive(Default)]
pub(super) struct State {
    pub(super) indexes: Vec<FakeIndex>,
    pub(super) manner: Manner,
    /// Requests of the health of the cluster.
    pub(super) health_requests: Vec<String>,
}

/// An index.
#[derive(Clone)]
pub(super) struct FakeIndex {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) mark: Value,
    pub(super) status: &'static str,
    pub(super) documents: u64,
}

/// How the cluster answers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Manner {
    #[default]
    Right,
    /// It takes requests and says nothing.
    Silent,
    /// Something else answers at the address.
    NotFound,
}

impl FakeCluster {
    pub(super) fn start() -> FakeCluster {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                thread::spawn(move || {
                    // The client may have gone.
                    let _ = stream.and_then(|stream| answer(stream, &state));
                });
            }
        });
        FakeCluster { address, state }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    pub(super) fn health_requests(&self) -> Vec<String> {
        self.state.lock().unwrap().health_requests.clone()
    }
}

/// Answers one request.
fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let path = path_of(&stream)?;
    let manner = state.lock().unwrap().manner;
    match manner {
        // It ends with the connection.
        Manner::Silent => stream.read_to_end(&mut Vec::new()).map(drop),
        Manner::NotFound => say(&mut stream, 404, &json!("nobody is here")),
        Manner::Right => {
            let (status, body) = state.lock().unwrap().answer(&path);
            say(&mut stream, status, &body)
        }
    }
}

impl State {
    fn answer(&mut self, path: &str) -> (u16, Value) {
        let path = path.split('?').next().unwrap();
        if path == "/" {
            return (
                200,
                json!({"version": {"number": "3.7.0", "distribution": "opensearch"}}),
            );
        }
        if path == "/_nodes/plugins" {
            return (
                200,
                json!({"nodes": {"n": {"modules": [{"name": "analysis-common"}]}}}),
            );
        }
        if path.starts_with("/_cluster/health") {
            self.health_requests.push(path.to_owned());
            return (200, self.health());
        }
        if let Some(name) = path.strip_suffix("/_count") {
            let mut indexes = self.indexes.iter();
            return match indexes.find(|index| name[1..] == index.name) {
                Some(index) => (
                    200,
                    json!({"count": index.documents, "_shards": {"total": 1, "successful": 1, "failed": 0}}),
                ),
                None => (
                    404,
                    json!({"error": {"type": "index_not_found_exception", "reason": "none"}}),
                ),
            };
        }
        let described = self.indexes.iter().map(|index| {
            let aliases = index.aliases.iter().map(|alias| (alias.clone(), json!({})));
            let aliases: Map<String, Value> = aliases.collect();
            let described = json!({"aliases": aliases, "mappings": {"_meta": index.mark}});
            (index.name.clone(), described)
        });
        (200, Value::Object(described.collect()))
    }

    fn health(&self) -> Value {
        let indexes = self.indexes.iter().map(|index| {
            let health = json!({
                "status": index.status,
                "initializing_shards": 0,
                "unassigned_shards": u32::from(index.status != "green"),
            });
            (index.name.clone(), health)
        });
        let indexes: Map<String, Value> = indexes.collect();
        json!({"status": "red", "number_of_nodes": 1, "number_of_data_nodes": 1, "indices": indexes})
    }
}

/// Reads a request, and returns its path.
fn path_of(stream: &TcpStream) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    Ok(path.replace("%2A", "*"))
}

fn say(stream: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
