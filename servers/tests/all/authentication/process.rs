//! A service as a process of its own, with its log.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;

use crate::processes::{self, PATIENCE, Running};

/// A running `soml serve` over the demo.
pub(crate) struct Process {
    running: Running,
    log: Receiver<Vec<u8>>,
    address: String,
    /// What it said on standard output.
    pub(crate) said: String,
}

/// The parts of an answer that the tests look at.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Process {
    /// Starts the demo with these properties.
    pub(crate) fn start(properties: &[(&str, &str)]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(["serve", "--demo", "star-wars", "--port", "0"]);
        for (name, value) in properties {
            command.arg("--set").arg(format!("{name}={value}"));
        }
        let mut running = Running::start(command.stderr(Stdio::piped()));
        let log = processes::all(running.child.stderr.take().unwrap());
        let said: Vec<String> = (0..3).map(|_| running.line().unwrap()).collect();
        let url = said[0].trim_start_matches("GraphQL:  http://");
        Process {
            running,
            log,
            address: url.split('/').next().unwrap().to_owned(),
            said: said.join("\n"),
        }
    }

    /// Sends a GraphQL request with these headers, and reads the answer to its end.
    pub(crate) fn query(&self, target: &str, headers: &[u8]) -> Reply {
        self.send(("GET", target), headers, b"")
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) fn send(&self, line: (&str, &str), headers: &[u8], body: &[u8]) -> Reply {
        send(&self.address, line, headers, body)
    }

    /// Stops the process and returns its log.
    pub(crate) fn log(mut self) -> String {
        self.running.stop();
        let log = self.log.recv_timeout(PATIENCE).unwrap();
        String::from_utf8_lossy(&log).into_owned()
    }
}

/// Sends a request to an address, with these lines of headers, and reads the answer to its end.
pub(crate) fn send(
    address: &str,
    (method, target): (&str, &str),
    headers: &[u8],
    body: &[u8],
) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n").into_bytes();
    request.extend_from_slice(headers);
    if !body.is_empty() {
        request.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    request.extend_from_slice(b"Connection: close\r\n\r\n");
    request.extend_from_slice(body);
    // What refuses the request early may close the connection before it is all sent.
    let _ = stream.write_all(&request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text
        .split(' ')
        .nth(1)
        .unwrap_or_else(|| panic!("no answer: {text}"));
    Reply {
        status: status.parse().unwrap(),
        text,
    }
}
