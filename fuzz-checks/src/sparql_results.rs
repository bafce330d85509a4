//! Results of SPARQL servers: any bytes are refused, or they are rows of the variables that were
//! asked for, and how they are cut into pieces makes no difference.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use graph_store::CallContext;
use graph_store::query::Dataset;
use graph_store::remote::http::{
    ConnectionOptions, HttpEndpoint, ResultFormat, ServerKind, ServerType,
};
use graph_store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use spargebra::{Query, SparqlParser};
use tokio::runtime::{Builder, Runtime};

/// Bytes of a result that are read, few enough to be exceeded.
const MAX_RESULT_BYTES: u64 = 16 << 10;

/// Reads the input as what a server answers.
///
/// The first byte chooses the form of the result and the size of the pieces in which it arrives.
pub fn run(input: &[u8]) {
    static CLIENT: LazyLock<Mutex<Client>> = LazyLock::new(|| Mutex::new(Client::new()));
    let Some((choice, body)) = input.split_first() else {
        return;
    };
    // A failed run has told what is wrong already.
    let client = CLIENT
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_json = choice % 2 == 0;
    let piece = 1 + usize::from(choice / 2);
    let whole = client.read(is_json, body, None);
    if body.len() as u64 > MAX_RESULT_BYTES {
        assert_eq!(whole, None, "more than is allowed");
        return;
    }
    let pieces = client.read(is_json, body, Some(piece));
    assert_eq!(whole, pieces, "pieces of {piece} bytes");
    if let Some(rows) = whole {
        assert_eq!(rows.width, 2);
        assert_eq!(rows.terms.len() % rows.width, 0);
    }
}

/// A client, with the server that it asks.
struct Client {
    runtime: Runtime,
    json: HttpEndpoint,
    tsv: HttpEndpoint,
    query: Query,
    answer: Arc<Mutex<Answer>>,
}

/// What the server says next.
#[derive(Clone, Default)]
struct Answer {
    media_type: &'static str,
    body: Vec<u8>,
    /// Size of the pieces in which the body is sent; in one with its length when there is none.
    piece: Option<usize>,
}

impl Client {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the socket is bound");
        let answer = Arc::new(Mutex::new(Answer::default()));
        let next = Arc::clone(&answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let next = Arc::clone(&next);
                // A client that goes away ends its own connection only.
                std::thread::spawn(move || serve(&stream, &next));
            }
        });
        let endpoint = |result_format| {
            HttpEndpoint::new(ConnectionOptions {
                addresses: format!("http://{address}/sparql")
                    .parse()
                    .expect("an address"),
                server: ServerType::Known(ServerKind::Sparql11),
                max_retries: 0,
                retry_interval: Duration::ZERO,
                socket_timeout: Duration::from_secs(20),
                max_result_bytes: MAX_RESULT_BYTES,
                result_format,
                ..ConnectionOptions::default()
            })
            .expect("the options agree")
        };
        let query = SparqlParser::new().parse_query("SELECT ?a ?b WHERE { ?a ?p ?b }");
        Client {
            runtime: Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime"),
            json: endpoint(ResultFormat::Json),
            tsv: endpoint(ResultFormat::Tsv),
            query: query.expect("a query"),
            answer,
        }
    }

    /// Returns the rows that are read; `None` when the answer is refused.
    fn read(&self, is_json: bool, body: &[u8], piece: Option<usize>) -> Option<Rows> {
        let (endpoint, media_type) = if is_json {
            (&self.json, "application/sparql-results+json")
        } else {
            (&self.tsv, "text/tab-separated-values")
        };
        *self.answer.lock().expect("the server does not panic") = Answer {
            media_type,
            body: body.to_vec(),
            piece,
        };
        let context = CallContext::new();
        let query = EndpointQuery {
            query: &self.query,
            text: &self.query.to_string(),
            dataset: &Dataset::default(),
        };
        match self.runtime.block_on(endpoint.select(query, &context)) {
            Ok(rows) => Some(rows),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, next: &Mutex<Answer>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink())?;
        let answer = next.lock().map(|answer| answer.clone()).unwrap_or_default();
        let mut message =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {}\r\n", answer.media_type).into_bytes();
        match answer.piece {
            None => {
                let length = answer.body.len();
                message.extend(format!("content-length: {length}\r\n\r\n").into_bytes());
                message.extend(&answer.body);
            }
            Some(piece) => {
                message.extend(b"transfer-encoding: chunked\r\n\r\n");
                for chunk in answer.body.chunks(piece) {
                    message.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                    message.extend(chunk);
                    message.extend(b"\r\n");
                }
                message.extend(b"0\r\n\r\n");
            }
        }
        (&*stream).write_all(&message)?;
    }
}
