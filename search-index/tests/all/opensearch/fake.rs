//! A small HTTP server that says what a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use search_index::opensearch::{OpenSearch, OpenSearchOptions};

/// A server on a port of its own, which goes on until the process ends.
pub(super) struct Fake {
    pub(super) address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

/// What a server says to the request of a number, from 0.
pub(super) type Script = dyn Fn(usize, &str, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

impl Fake {
    pub(super) fn start(
        script: impl Fn(usize, &str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (script, seen): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                thread::spawn(move || {
                    let mut stream = stream.expect("a connection");
                    let request = read(&stream).expect("a request");
                    let number = {
                        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    // The client may have gone.
                    let _ = script(number, &request, &mut stream);
                });
            }
        });
        Fake { address, requests }
    }

    /// Answers each request with the next of some statuses and bodies, and from then on with the last.
    pub(super) fn saying(answers: &[(u16, &str)]) -> Fake {
        let answers: Vec<_> = answers.iter().map(|(s, b)| (*s, b.to_string())).collect();
        Fake::start(move |number, _, stream| {
            let (status, body) = &answers[number.min(answers.len() - 1)];
            say(stream, *status, body)
        })
    }

    /// Returns the beginnings of all requests without queries.
    pub(super) fn paths(&self) -> Vec<String> {
        let path = |line: String| match line.split_once('?') {
            Some((path, _)) => path.to_owned(),
            None => line,
        };
        self.requests().into_iter().map(path).collect()
    }

    /// Returns the beginnings of all requests: method and path.
    pub(super) fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |request: &String| {
            let line = request.lines().next().unwrap_or_default();
            line.trim_end_matches(" HTTP/1.1").to_owned()
        };
        requests.iter().map(line).collect()
    }

    /// Returns options that name the server, and wait little.
    pub(super) fn options(&self) -> OpenSearchOptions {
        options(&self.address)
    }

    pub(super) fn engine(&self) -> OpenSearch {
        OpenSearch::new(self.options()).expect("an engine")
    }
}

pub(super) fn options(addresses: &str) -> OpenSearchOptions {
    let mut options = OpenSearchOptions::new(addresses.parse().expect("addresses"), "test");
    options.retry_interval = std::time::Duration::from_millis(5);
    options
}

/// Writes a whole answer.
pub(super) fn say(stream: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    say_with(stream, status, "", body)
}

/// Writes a whole answer with further headers, a line each.
pub(super) fn say_with(
    stream: &mut TcpStream,
    status: u16,
    headers: &str,
    body: &str,
) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

/// Reads the head of a request and its body.
fn read(stream: &TcpStream) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            break;
        }
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap_or_default();
        }
        let is_last = line == "\r\n";
        request.push_str(&line);
        if is_last {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.push_str(&String::from_utf8_lossy(&body));
    Ok(request)
}
