//! Clients that send one request after the other, each on a connection of its own.
//!
//! They share the cores of what they measure, so that whatever they do is taken from it: messages are put together before
//! the clock runs, and of an answer only its status and its length are read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use httparse::{EMPTY_HEADER, Status};
use hyper::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::DriveError;
use crate::http::{HttpError, connect};
use crate::measure::{Samples, cpu_time};

/// How an answer of the service begins that holds errors.
const ERRORS: &[u8] = b"{\"errors\":";

/// Header fields that an answer may have.
const FIELDS: usize = 32;

/// Keeps `connections` busy for some time; returns their samples, and how long it took until the last
/// answer was there.
pub(crate) async fn keep_busy(
    address: SocketAddr,
    bodies: &[Bytes],
    connections: usize,
    time: Duration,
) -> Result<(Samples, Duration), DriveError> {
    let messages: Arc<[Bytes]> = bodies.iter().map(|body| message(address, body)).collect();
    let before = cpu_time();
    let start = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|first| tokio::spawn(closed_loop(address, Arc::clone(&messages), first, time)))
        .collect();
    let mut samples = Samples::default();
    for task in tasks {
        samples.merge(task.await??);
    }
    samples.add_cpu(cpu_time().saturating_sub(before));
    Ok((samples, start.elapsed()))
}

/// Puts a GraphQL request together.
fn message(address: SocketAddr, body: &Bytes) -> Bytes {
    let mut message = format!(
        "POST /graphql HTTP/1.1\r\n\
         host: {address}\r\n\
         content-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    message.extend_from_slice(body);
    message.into()
}

/// Sends one request after the other.
async fn closed_loop(
    address: SocketAddr,
    messages: Arc<[Bytes]>,
    first: usize,
    time: Duration,
) -> Result<Samples, HttpError> {
    let mut client = Client::connect(address).await?;
    let mut samples = Samples::default();
    let start = Instant::now();
    for message in messages.iter().cycle().skip(first) {
        let sent = Instant::now();
        if sent.duration_since(start) >= time {
            break;
        }
        let answer = client.ask(message).await?;
        samples.add(sent.elapsed());
        if answer.starts_with(ERRORS) {
            let answer = String::from_utf8_lossy(answer).into_owned();
            return Err(HttpError::Errors(answer));
        }
    }
    Ok(samples)
}

/// A connection to a server that tells the length of each answer.
struct Client {
    stream: TcpStream,
    /// What was received of the answer at hand; its room is used again.
    received: BytesMut,
}

/// What the head of an answer says.
struct Head {
    status: StatusCode,
    /// Where the body begins.
    length: usize,
    /// Length of the body.
    body: usize,
}

impl Client {
    async fn connect(address: SocketAddr) -> Result<Self, HttpError> {
        Ok(Client {
            stream: connect(address).await?,
            received: BytesMut::new(),
        })
    }

    /// Sends a message and returns the body of the whole answer.
    async fn ask(&mut self, message: &[u8]) -> Result<&[u8], HttpError> {
        let sent = self.stream.write_all(message).await;
        sent.map_err(HttpError::Connection)?;
        self.received.clear();
        let head = loop {
            self.receive().await?;
            if let Some(head) = Head::read(&self.received)? {
                break head;
            }
        };
        if !head.status.is_success() {
            return Err(HttpError::Status(head.status));
        }
        while self.received.len() < head.length + head.body {
            self.receive().await?;
        }
        Ok(&self.received[head.length..])
    }

    async fn receive(&mut self) -> Result<(), HttpError> {
        self.received.reserve(1 << 14);
        let received = self.stream.read_buf(&mut self.received).await;
        match received.map_err(HttpError::Connection)? {
            0 => Err(HttpError::Closed),
            _ => Ok(()),
        }
    }
}

impl Head {
    /// Reads the head of an answer; `None` while it is not whole.
    fn read(received: &[u8]) -> Result<Option<Self>, HttpError> {
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let Status::Complete(length) = response.parse(received)? else {
            return Ok(None);
        };
        let status = response
            .code
            .and_then(|code| StatusCode::from_u16(code).ok());
        let body = response
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case("content-length"))
            .and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok());
        Ok(Some(Head {
            status: status.ok_or(httparse::Error::Status)?,
            length,
            body: body.ok_or(HttpError::Length)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Asks a server that sends the pieces of an answer one after the other, and closes the connection.
    async fn answer(pieces: &'static [&'static str]) -> Result<Vec<u8>, HttpError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            let request = message(address, &Bytes::from_static(b"{}"));
            let mut received = vec![0; request.len()];
            stream.read_exact(&mut received).unwrap();
            assert_eq!(received, request);
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut client = Client::connect(address).await.unwrap();
        let request = message(address, &Bytes::from_static(b"{}"));
        let answer = client.ask(&request).await.map(<[u8]>::to_vec);
        serving.join().unwrap();
        answer
    }

    #[tokio::test]
    async fn an_answer_in_pieces_is_read_whole() {
        let pieces = &["HTTP/1.1 200 OK\r\nContent-Le", "ngth: 4\r\n\r\na", "bcd"];
        assert_eq!(answer(pieces).await.unwrap(), b"abcd");
    }

    #[tokio::test]
    async fn what_is_no_whole_answer_is_an_error() {
        let cut = answer(&["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab"]).await;
        assert!(matches!(cut, Err(HttpError::Closed)), "{cut:?}");
        let endless = answer(&["HTTP/1.1 200 OK\r\n\r\nab"]).await;
        assert!(matches!(endless, Err(HttpError::Length)), "{endless:?}");
        let refused = answer(&["HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"]).await;
        assert!(matches!(refused, Err(HttpError::Status(_))), "{refused:?}");
        let other = answer(&["220 ready\r\n\r\n"]).await;
        assert!(matches!(other, Err(HttpError::Head(_))), "{other:?}");
    }
}
