//! Another program that answers templates, asked in turns with the other ways.
//!
//! It gets an N-Triples file as its last argument, says one line of JSON when it is ready, then answers
//! one line of JSON with one line.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::workload::{Instance, Template};

/// A program that runs beside.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts `command`, words separated by blanks, over the data in a file, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be started, or says nothing.
    pub fn start(command: &str, data: &Path) -> io::Result<Self> {
        let mut words = command.split_whitespace();
        let program = words
            .next()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an empty command"))?;
        let mut child = Command::new(program)
            .args(words)
            .arg(data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().expect("the input is piped");
        let answers = BufReader::new(child.stdout.take().expect("the output is piped"));
        let mut peer = Peer {
            child,
            requests,
            answers,
        };
        peer.line()?;
        Ok(peer)
    }

    /// Asks for an instance; tells whether the program can answer its template at all.
    ///
    /// # Errors
    /// When it fails to answer.
    pub fn ask(&mut self, template: &Template, instance: &Instance) -> io::Result<bool> {
        let request = json!({
            "template": template.name,
            "root": instance.root.as_ref().map(|root| root.as_str()),
            "variables": instance.variables,
        });
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let answer = self.line()?;
        if let Some(error) = answer.get("error") {
            return Err(io::Error::other(format!("the peer failed: {error}")));
        }
        Ok(answer.get("unsupported").is_none())
    }

    fn line(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the peer has ended",
            ));
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
