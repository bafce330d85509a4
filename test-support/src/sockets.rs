//! Servers for tests of HTTP that say what they are told to, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for what must happen, on a busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a server does with a request.
#[derive(Clone)]
pub enum Behaviour {
    /// Answers, and waits for the next request.
    Answers(Vec<u8>),
    /// Sends this and closes the connection.
    Closes(Vec<u8>),
    /// Sends this, then a piece again and again until the client goes away.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends this, then a byte at a time.
    Drips(Vec<u8>, Duration),
    /// Never says a word.
    Silent,
}

/// A request that has arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Its first line and its headers, in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

#[derive(Default)]
pub struct Seen {
    pub requests: Mutex<Vec<Arrived>>,
    pub connections: AtomicUsize,
    /// Bytes that were sent.
    pub sent: AtomicUsize,
    /// Connections that the client has closed while it was owed an answer.
    pub abandoned: AtomicUsize,
}

/// A server on a port of its own; it ends with the process.
pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    behaviour: Arc<Mutex<Behaviour>>,
}

/// Most bytes that an endless answer has, so that a client that reads on is found out.
const ENDLESS: usize = 256 << 20;

impl Server {
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let behaviour = Arc::new(Mutex::new(behaviour));
        let (shared, current) = (Arc::clone(&seen), Arc::clone(&behaviour));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, current) = (Arc::clone(&shared), Arc::clone(&current));
                // A client that goes away ends its own connection only.
                std::thread::spawn(move || serve(stream, &shared, &current));
            }
        });
        Server {
            address,
            seen,
            behaviour,
        }
    }

    /// Does this with all later requests, also on connections that are open, and forgets what was counted.
    pub fn change(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
        self.seen.requests.lock().unwrap().clear();
        for count in [&self.seen.sent, &self.seen.abandoned] {
            count.store(0, Ordering::SeqCst);
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/graphql", self.address)
    }

    /// Waits until a request has arrived.
    pub fn is_asked(&self) -> bool {
        self.seen
            .comes_to(|seen| !seen.requests.lock().unwrap().is_empty())
    }

    /// Waits until the client has closed a connection that owed it an answer.
    pub fn is_abandoned(&self) -> bool {
        self.seen
            .comes_to(|seen| seen.abandoned.load(Ordering::SeqCst) > 0)
    }
}

impl Seen {
    /// Waits until something is so; returns whether it is.
    fn comes_to(&self, is_so: impl Fn(&Seen) -> bool) -> bool {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }
}

/// Returns a port where no one listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/graphql", listener.local_addr().unwrap())
}

/// Returns an answer with its length.
pub fn answer(status: &str, media_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    with_headers(status, &format!("content-type: {media_type}\r\n"), body)
}

/// Returns an answer with its length and some headers, each with its end of line.
pub fn with_headers(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn serve(mut stream: TcpStream, seen: &Seen, current: &Mutex<Behaviour>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    seen.connections.fetch_add(1, Ordering::SeqCst);
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((head, body)) = request(&mut reader)? {
        seen.requests.lock().unwrap().push(Arrived { head, body });
        let behaviour = current.lock().unwrap().clone();
        match behaviour {
            Behaviour::Answers(text) => send(&mut stream, seen, &text)?,
            Behaviour::Closes(text) => return send(&mut stream, seen, &text),
            Behaviour::Endless(head, piece) => {
                let mut done = send(&mut stream, seen, &head);
                while done.is_ok() && seen.sent.load(Ordering::SeqCst) < ENDLESS {
                    done = send(&mut stream, seen, &piece);
                }
                seen.abandoned
                    .fetch_add(usize::from(done.is_err()), Ordering::SeqCst);
                return done;
            }
            Behaviour::Drips(head, pause) => {
                send(&mut stream, seen, &head)?;
                while send(&mut stream, seen, b" ").is_ok() {
                    std::thread::sleep(pause);
                }
                seen.abandoned.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            Behaviour::Silent => {
                // Nothing more comes but the end, or an error.
                let _ = reader.read(&mut [0]);
                seen.abandoned.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
        }
    }
    Ok(())
}

fn send(stream: &mut TcpStream, seen: &Seen, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes)?;
    seen.sent.fetch_add(bytes.len(), Ordering::SeqCst);
    Ok(())
}

/// Reads a request; `None` where the client has gone.
fn request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((head, body)))
}
