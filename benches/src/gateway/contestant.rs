//! Gateways that are compared: each a process of its own, on a core of its own.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::Value;

use super::objects::Part;
use super::supergraph;
use crate::http::Connection;
use crate::process::Process;

/// How long a gateway may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway by its name and its command.
///
/// In the command, `{port}` stands for the port on which it has to serve `/graphql`, and `{supergraph}` for a file
/// with the composite schema. The variables `GRAPHQL_SERVICE_N` and `GRAPHQL_SERVICE_N_NAME` have the addresses and
/// names of the subgraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// What it is called in reports.
    pub name: String,
    /// Words separated by blanks.
    pub command: String,
}

impl FromStr for Contestant {
    type Err = String;

    /// Reads `NAME=COMMAND`.
    fn from_str(text: &str) -> Result<Self, String> {
        let named = text.split_once('=');
        let named = named.filter(|(name, command)| !name.is_empty() && !command.trim().is_empty());
        let (name, command) = named.ok_or("a gateway is given as NAME=COMMAND")?;
        let [name, command] = [name, command].map(str::to_owned);
        Ok(Contestant { name, command })
    }
}

/// Where gateways run.
#[derive(Clone, Debug)]
pub struct Place {
    /// The core.
    pub core: usize,
    /// Address of the subgraphs.
    pub subgraphs: SocketAddr,
    /// Folder for the composite schema and the logs.
    pub folder: PathBuf,
}

/// A gateway cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The command cannot be run.
    #[error("{0}: the command cannot be run")]
    Command(String, #[source] io::Error),
    /// It ended, or does not answer.
    #[error("{0}: it {1}; its log is {2}")]
    NotReady(String, &'static str, PathBuf),
}

/// A gateway that runs, and ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    /// What it is called.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    log: PathBuf,
}

impl Contestant {
    /// Starts the gateway, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not answer in a minute.
    pub async fn start(&self, place: &Place) -> Result<Running, StartError> {
        let failed = |error| StartError::Command(self.name.clone(), error);
        let port = free_port().map_err(failed)?;
        let file = place.folder.join("supergraph.graphql");
        let base = format!("http://{}", place.subgraphs);
        std::fs::write(&file, supergraph(&base)).map_err(failed)?;
        let log = place.folder.join(format!("{}.log", self.name));
        let mut command = Command::new("taskset");
        command.args(["-c", &place.core.to_string()]);
        command.args(words(&self.command, &file, port));
        for (number, part) in Part::ALL.iter().enumerate() {
            let name = format!("GRAPHQL_SERVICE_{number}");
            command.env(format!("{name}_NAME"), part.name());
            command.env(name, format!("{base}/{}", part.name()));
        }
        let out = File::create(&log).map_err(failed)?;
        command.stderr(out.try_clone().map_err(failed)?).stdout(out);
        let child = command.stdin(Stdio::null()).spawn().map_err(failed)?;
        let mut running = Running {
            name: self.name.clone(),
            address: (Ipv4Addr::LOCALHOST, port).into(),
            child,
            log,
        };
        running.wait().await?;
        Ok(running)
    }
}

impl Running {
    /// Returns its process.
    #[must_use]
    pub fn process(&self) -> Process {
        Process(self.child.id())
    }

    async fn wait(&mut self) -> Result<(), StartError> {
        let begun = Instant::now();
        let fail =
            |it: &Self, what| Err(StartError::NotReady(it.name.clone(), what, it.log.clone()));
        while !is_ready(self.address).await {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return fail(self, "ended");
            }
            if begun.elapsed() > PATIENCE {
                return fail(self, "does not answer");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the words of a command, with what its placeholders stand for.
fn words(command: &str, supergraph: &Path, port: u16) -> Vec<String> {
    let words = command.split_whitespace().map(|word| {
        let word = word.replace("{supergraph}", &supergraph.to_string_lossy());
        word.replace("{port}", &port.to_string())
    });
    words.collect()
}

fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Asks for something that every gateway answers by itself once it has a schema.
async fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address).await else {
        return false;
    };
    let body = Bytes::from_static(br#"{"query":"{ __typename }"}"#);
    let asked = connection.exchange(hyper::Method::POST, "/graphql", body);
    let Ok((StatusCode::OK, body)) = asked.await else {
        return false;
    };
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    answer["data"]["__typename"] == "Query"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_a_name_and_a_command_with_placeholders() {
        let contestant: Contestant = "other=run --schema={supergraph} -p {port}".parse().unwrap();
        assert_eq!(contestant.name, "other");
        let words = words(&contestant.command, Path::new("/a b/s.graphql"), 81);
        assert_eq!(words, ["run", "--schema=/a b/s.graphql", "-p", "81"]);
        for text in ["run", "=run", "other= "] {
            assert!(text.parse::<Contestant>().is_err(), "{text}");
        }
    }
}
