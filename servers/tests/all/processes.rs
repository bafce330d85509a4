//! Processes that tests start: nobody waits for one without a bound, and each ends with its test.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time of whatever a process does. It guards against hanging only.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something is so.
pub(crate) fn eventually(condition: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "gave up waiting");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns a client that takes every status for an answer.
pub(crate) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(PATIENCE));
    config.build().into()
}

/// Returns the address of a service by the word before it, from the lines that its program has said.
pub(crate) fn base<'s>(said: &'s [String], word: &str) -> &'s str {
    let line = said.iter().find(|line| line.starts_with(word));
    let line = line.unwrap_or_else(|| panic!("{said:#?}"));
    let url = line.split_whitespace().nth(1).unwrap();
    url.trim_end_matches("/graphql")
}

/// A running process, which is killed when this is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Option<Receiver<String>>,
}

impl Running {
    /// Starts a command whose standard output is read line by line.
    pub(crate) fn start(command: &mut Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        // It goes on reading until the end, so that the process can go on writing.
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Running {
            child,
            lines: Some(lines),
        }
    }

    /// Waits for the next line; `None` when there are no more.
    pub(crate) fn line(&self) -> Option<String> {
        match self.lines.as_ref()?.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the process says nothing more"),
        }
    }

    /// Waits for a line that begins with `last`; returns all lines up to it.
    pub(crate) fn said_until(&self, last: &str) -> Vec<String> {
        let mut said = Vec::new();
        while let Some(line) = self.line() {
            let is_last = line.starts_with(last);
            said.push(line);
            if is_last {
                return said;
            }
        }
        panic!("it has ended: {said:#?}");
    }

    /// Asks the process to end, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process has ended.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the process does not end");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl From<Child> for Running {
    fn from(child: Child) -> Self {
        Running { child, lines: None }
    }
}

/// Runs a command to its end with `input` on standard input.
pub(crate) fn output(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::from(command.spawn().unwrap());
    let stdout = all(running.child.stdout.take().unwrap());
    let stderr = all(running.child.stderr.take().unwrap());
    let (mut stdin, input) = (running.child.stdin.take().unwrap(), input.to_vec());
    // A command that does not read it has its reason.
    thread::spawn(move || stdin.write_all(&input));
    let bytes = |output: Receiver<Vec<u8>>| output.recv_timeout(PATIENCE).expect("an end");
    let (stdout, stderr) = (bytes(stdout), bytes(stderr));
    Output {
        status: running.wait(),
        stdout,
        stderr,
    }
}

/// Reads something to its end, in a thread of its own.
pub(crate) fn all(mut output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, bytes) = mpsc::channel();
    thread::spawn(move || {
        let mut read = Vec::new();
        output.read_to_end(&mut read).unwrap();
        let _ = sender.send(read);
    });
    bytes
}
