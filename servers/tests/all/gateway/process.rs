//! `federation-gateway` as a process of its own, with its log.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::processes::PATIENCE;

/// A running gateway, which ends when this is dropped.
pub(crate) struct Gateway {
    child: Child,
    /// What it has logged.
    log: Arc<Mutex<String>>,
    /// Reads its log, to the end.
    reading: Option<JoinHandle<()>>,
    lines: Mutex<Receiver<String>>,
    /// What it has said on standard output.
    pub(crate) said: Vec<String>,
    pub(crate) base: String,
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn code(&self) -> Value {
        self.json()["errors"][0]["extensions"]["code"].clone()
    }
}

impl Gateway {
    /// Starts a gateway with these variables, and waits until it listens.
    pub(crate) fn start(variables: &[(&str, &str)]) -> Gateway {
        Gateway::start_with(variables, &[])
    }

    pub(crate) fn start_with(variables: &[(&str, &str)], arguments: &[&str]) -> Gateway {
        let mut command = Command::new(env!("CARGO_BIN_EXE_federation-gateway"));
        command.args(["--port", "0"]).args(arguments);
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::<Mutex<String>>::default();
        let logged = Arc::clone(&log);
        let reading = std::thread::spawn(move || {
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).unwrap() > 0 {
                logged
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        let mut gateway = Gateway {
            child,
            log,
            reading: Some(reading),
            lines: Mutex::new(lines),
            said: Vec::new(),
            base: String::new(),
        };
        if let Some(line) = gateway.line("Gateway:") {
            let url = line.split_whitespace().nth(1).unwrap();
            gateway.base = url.trim_end_matches("/graphql").to_owned();
        }
        gateway
    }

    /// Starts a gateway over subgraphs, and waits until it has composed them.
    pub(crate) fn over(subgraphs: &[&str], variables: &[(&str, &str)]) -> Gateway {
        let numbered: Vec<_> = subgraphs
            .iter()
            .enumerate()
            .map(|(at, url)| (format!("GRAPHQL_SERVICE_{at}"), *url))
            .collect();
        let named = numbered.iter().map(|(name, url)| (name.as_str(), *url));
        let all: Vec<_> = named.chain(variables.iter().copied()).collect();
        let mut gateway = Gateway::start(&all);
        gateway.composed();
        gateway
    }

    /// Waits until it says that the subgraphs are composed.
    pub(crate) fn composed(&mut self) {
        if self.line("Composed:").is_none() {
            let log = self.end().1;
            panic!("it is not composed: {:#?}\n{log}", self.said);
        }
    }

    /// Waits for a line that begins with a word; `None` if it ends before.
    fn line(&mut self, word: &str) -> Option<String> {
        let begun = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let next = self.lines.lock().unwrap().recv_timeout(left);
            match next {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.starts_with(word) {
                        return Some(line);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("it does not say {word}: {:?}", self.said),
            }
        }
    }

    /// Sends a request.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .accept("")
            .user_agent("")
            .build()
            .into();
        let mut response = agent.run(request.body(body.to_owned()).unwrap()).unwrap();
        Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    /// Sends an operation with further headers.
    pub(crate) fn post(&self, query: &str, headers: &[(&str, &str)]) -> Reply {
        let json = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
        ];
        let headers: Vec<_> = json.iter().chain(headers).copied().collect();
        let body = json!({ "query": query }).to_string();
        self.send("POST", "/graphql", &headers, &body)
    }

    /// Returns the answer to an operation.
    pub(crate) fn query(&self, query: &str) -> Value {
        let reply = self.post(query, &[]);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }

    /// Waits until something holds.
    pub(crate) fn wait(&self, what: &str, holds: impl Fn(&Gateway) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns what it has logged up to now.
    fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until it has logged a text so many times.
    pub(crate) fn wait_for_log(&self, text: &str, times: usize) {
        self.wait(text, |gateway| gateway.log().matches(text).count() >= times);
    }

    /// Waits until it ends by itself, or ends it; returns its exit code and its log.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => self.child.kill().unwrap(),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        self.reading.take().unwrap().join().unwrap();
        (status.code(), self.log())
    }

    /// Asks it to end; returns its exit code and its log.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let stopped = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(stopped.success());
        self.end()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It has ended where the log was asked for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
