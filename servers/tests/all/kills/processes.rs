//! The processes that are killed: `soml serve`, and an RDF4J server of its own.

use std::fs::{self, File};
use std::iter;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::processes::Running;
use crate::repository::repository;

/// The schema that is served.
const SCHEMA: &str = "
id: /soml/kills
specialPrefixes: {base_iri: 'http://kills/', vocab_iri: 'http://kills/v/', vocab_prefix: v}
objects:
  Part: {props: {batch: {}, number: {range: int}, stamp: {range: int}}}
";

/// Time for a process to come up.
const START: Duration = Duration::from_secs(90);

/// Makes an empty repository over a kind of store.
pub(super) fn create_repository(server: &str, name: &str, sail: &str) {
    let created = ureq::put(format!("{server}/repositories/{name}"))
        .content_type("text/turtle")
        .send(repository(name, sail));
    created.expect("a repository is made");
}

/// Removes what a repository holds; removing the repository itself may hang the server.
pub(super) fn empty_repository(server: &str, name: &str) {
    let emptied = ureq::put(format!("{server}/repositories/{name}/statements"))
        .content_type("application/n-quads")
        .send("");
    emptied.expect("a repository is emptied");
}

/// A running `soml serve` over a repository or a folder.
pub(super) struct Service {
    running: Running,
    /// Its address.
    pub(super) base: String,
    _files: TempDir,
}

impl Service {
    pub(super) fn start(server: &str, repository: &str, timeout: Duration) -> Self {
        Service::with(&[
            format!("sparql.endpoint.address={server}"),
            format!("sparql.endpoint.repository={repository}"),
            format!("graphql.requestTimeout={}", timeout.as_millis()),
        ])
    }

    /// Starts it over the folder `data` inside of a folder; backups go to `backups` beside it.
    pub(super) fn over_folder(folder: &Path) -> Self {
        Service::with(&[
            format!("store.dataDir={}", folder.join("data").display()),
            format!("store.backupDir={}", folder.join("backups").display()),
        ])
    }

    fn with(properties: &[String]) -> Self {
        let files = TempDir::new().unwrap();
        let (schema, log) = (files.path().join("schema.yaml"), files.path().join("log"));
        fs::write(&schema, SCHEMA).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command
            .args(["serve", "--port", "0", "--schema"])
            .arg(&schema);
        for property in properties {
            command.args(["--set", property]);
        }
        command.stdin(Stdio::null());
        let running = Running::start(command.stderr(File::create(&log).unwrap()));
        let said = iter::from_fn(|| running.line()).find_map(|line| {
            let address = line.strip_prefix("GraphQL:")?.trim();
            Some(address.trim_end_matches("/graphql").to_owned())
        });
        let base = said.unwrap_or_else(|| panic!("{}", fs::read_to_string(&log).unwrap()));
        Service {
            running,
            base,
            _files: files,
        }
    }

    /// Kills the process, which cannot do anything about it.
    pub(super) fn kill(&mut self) {
        self.running.child.kill().unwrap();
        self.running.child.wait().unwrap();
    }
}

/// An RDF4J server of this test alone.
pub(crate) struct Rdf4j {
    child: Child,
    port: u16,
    /// Its address.
    pub(crate) base: String,
    files: TempDir,
}

impl Rdf4j {
    pub(crate) fn start() -> Self {
        let files = TempDir::new().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let server = Rdf4j {
            child: run(port, files.path()),
            port,
            base: format!("http://127.0.0.1:{port}/rdf4j-server"),
            files,
        };
        server.wait();
        server
    }

    /// Kills the process, which cannot do anything about it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts the process again over what it has left.
    pub(crate) fn restart(&mut self) {
        self.child = run(self.port, self.files.path());
        self.wait();
    }

    /// Waits until it answers.
    fn wait(&self) {
        let until = Instant::now() + START;
        while ureq::get(format!("{}/protocol", self.base)).call().is_err() {
            let log = || fs::read_to_string(self.files.path().join("log")).unwrap_or_default();
            assert!(
                Instant::now() < until,
                "the server did not come up: {}",
                log()
            );
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Rdf4j {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs an RDF4J server with its files in a folder.
fn run(port: u16, folder: &Path) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/servers.sh");
    let mut command = Command::new("bash");
    command
        .arg(script)
        .args(["command", "rdf4j", &port.to_string()]);
    let output = command
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the script knows no command");
    let words = String::from_utf8(output.stdout).unwrap();
    let mut words = words.lines();
    let mut log = File::options();
    let log = log
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .unwrap();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap()
}
