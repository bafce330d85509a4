//! What a line of the log costs: servers in processes of their own that differ in nothing but their log take turns.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use clap::ValueEnum;

use crate::drive::{DriveError, keep_busy};
use crate::http::{self, HttpError};
use crate::process::Process;

/// Head of the table whose lines are [`Row`]s.
pub const HEAD: &str = "\
| log | requests/s | to that without | CPU, µs a request | more than without |
|---|---:|---:|---:|---:|";

/// The log of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// Only warnings, so that requests are not logged.
    Off,
    /// A line for each request, which the system drops (`/dev/null`).
    Null,
    /// A line for each request, to a file.
    File,
    /// A line for each request, to a pipe that is read.
    Pipe,
}

impl Log {
    /// Returns the value of `logging.level`.
    #[must_use]
    pub fn level(self) -> &'static str {
        match self {
            Log::Off => "warn",
            Log::Null | Log::File | Log::Pipe => "info",
        }
    }
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogLineError {
    /// A server does not start.
    #[error("failed to start a server")]
    Start(#[from] io::Error),
    /// A server does not say where it listens.
    #[error("the server has no address")]
    Address(#[from] HttpError),
    /// A server does not answer.
    #[error("failed to measure")]
    Drive(#[from] DriveError),
}

/// A server in a process of its own, which ends when this is dropped.
pub struct Served {
    log: Log,
    child: Child,
    address: SocketAddr,
    row: Row,
}

/// What all turns of a server come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    requests: usize,
    time: Duration,
    cpu: Duration,
}

impl Served {
    /// Runs a command that serves until its input ends, and writes `http://HOST:PORT` when it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(mut command: Command, log: Log) -> Result<Self, LogLineError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match log {
            Log::Off | Log::Null => command.stderr(Stdio::null()),
            Log::File => command.stderr(unnamed_file()?),
            Log::Pipe => command.stderr(Stdio::piped()),
        };
        let mut child = command.spawn()?;
        if let Some(mut lines) = child.stderr.take() {
            thread::spawn(move || io::copy(&mut lines, &mut io::sink()));
        }
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        Ok(Served {
            log,
            child,
            address: http::address(line.trim())?,
            row: Row::default(),
        })
    }

    /// Keeps connections busy for some time, and adds what that costs.
    ///
    /// # Errors
    /// When the server fails to answer.
    pub async fn turn(
        &mut self,
        bodies: &[Bytes],
        connections: usize,
        time: Duration,
    ) -> Result<(), LogLineError> {
        let process = Process(self.child.id());
        let before = process.cpu_time();
        let (samples, took) = keep_busy(self.address, bodies, connections, time).await?;
        self.row.requests += samples.summary().count;
        self.row.time += took;
        self.row.cpu += process.cpu_time().saturating_sub(before);
        Ok(())
    }

    /// Forgets the turns so far, which were for warming up.
    pub fn forget(&mut self) {
        self.row = Row::default();
    }

    /// Returns a line of the table, compared with a server that does not log requests.
    #[must_use]
    pub fn compared(&self, without: &Served) -> String {
        let (row, without) = (self.row, without.row);
        format!(
            "| {} | {:.0} | {:.2} | {:.1} | {:.1} |",
            self.log,
            row.per_second(),
            row.per_second() / without.per_second(),
            row.cpu(),
            row.cpu() - without.cpu(),
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Row {
    fn per_second(self) -> f64 {
        self.requests as f64 / self.time.as_secs_f64()
    }

    /// Returns microseconds of CPU time a request.
    fn cpu(self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.requests.max(1) as f64
    }
}

impl Display for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Log::Off => "without (`warn`)",
            Log::Null => "`/dev/null`",
            Log::File => "file",
            Log::Pipe => "pipe",
        })
    }
}

/// Returns a file that is gone when nobody has it open.
fn unnamed_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("log_line-{}.log", std::process::id()));
    let file = File::create_new(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Logs a request as the service does, with the same fields.
pub fn log_request(request_id: &str) {
    let user = tracing::field::Empty;
    let trace_id = None::<&str>;
    let span = tracing::info_span!("request", request_id, trace_id, user);
    let (method, path, status, ms, bytes) = ("POST", "/graphql", 200_u16, 0_u64, 1_234_usize);
    let outcome = Some("Data");
    span.in_scope(|| {
        tracing::info!(%method, path, status, ms, bytes, ?outcome, "answered");
    });
}
