//! A proxy as a process, and the services behind it.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;
use test_support::sockets::{Behaviour, Server, answer};

use crate::authentication::keys::Signer;
use crate::authentication::process::{Reply, send};
use crate::bad_tokens::Accepted;
use crate::processes::{PATIENCE, Running};

pub(super) const ISSUER: &str = "https://idp.example";
pub(super) const AUDIENCE: &str = "api";

/// What the proxy of these tests accepts.
pub(super) fn accepted(signer: &Signer) -> Accepted<'_> {
    Accepted {
        signer,
        issuer: ISSUER,
        audience: AUDIENCE,
    }
}

/// Returns the line of a header with a token.
pub(super) fn bearer(token: &str) -> Vec<u8> {
    format!("Authorization: Bearer {token}\r\n").into_bytes()
}

/// Servers that record what comes to them, in the places of the services.
pub(super) struct Services {
    pub(super) objects: Server,
    pub(super) searches: Server,
    pub(super) gateway: Server,
    pub(super) extension: Server,
}

impl Services {
    pub(super) fn start() -> Services {
        let server = |name: &str| {
            let body = format!("{{\"service\":\"{name}\"}}");
            Server::start(Behaviour::Answers(answer(
                "200 OK",
                "application/json",
                body,
            )))
        };
        Services {
            objects: server("objects"),
            searches: server("searches"),
            gateway: server("gateway"),
            extension: server("extension"),
        }
    }

    fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("OBJECT_SERVICE", self.objects.address.to_string()),
            ("SEARCH_SERVICE", self.searches.address.to_string()),
            ("FEDERATION_GATEWAY", self.gateway.address.to_string()),
            ("EXTENSION_SERVICE", self.extension.address.to_string()),
        ]
    }

    fn all(&self) -> [(&'static str, &Server); 4] {
        [
            ("objects", &self.objects),
            ("searches", &self.searches),
            ("gateway", &self.gateway),
            ("extension", &self.extension),
        ]
    }

    /// Returns the services with the heads of the requests that have come through the proxy, and forgets them. Those of
    /// health checks have no identifier.
    pub(super) fn take(&self) -> Vec<(&'static str, String)> {
        let taken = self.all().into_iter().flat_map(|(name, server)| {
            let mut requests = server.seen.requests.lock().unwrap();
            let heads = requests.drain(..).map(|request| request.head);
            let heads = heads.filter(|head| head.contains("\nx-request-id: "));
            heads.map(|head| (name, head)).collect::<Vec<_>>()
        });
        taken.collect()
    }
}

/// A running proxy, which ends when this is dropped.
pub(super) struct Proxy {
    pub(super) address: String,
    _running: Running,
    folder: TempDir,
}

impl Proxy {
    /// Starts HAProxy for tokens of a signer.
    pub(super) fn haproxy(
        signer: &Signer,
        services: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> Proxy {
        let folder = TempDir::new().unwrap();
        let key = folder.path().join("key.pem");
        fs::write(&key, &signer.pem).unwrap();
        let algorithm = format!("{:?}", signer.algorithm);
        let own = [
            ("TOKEN_KEY", key.to_str().unwrap()),
            ("TOKEN_ISSUER", ISSUER),
            ("TOKEN_AUDIENCE", AUDIENCE),
            ("TOKEN_ALGORITHM", &algorithm),
            // As many as a test likes, unless it is about that.
            ("LIMIT_ADDRESS", "1000000"),
            ("LIMIT_SUBJECT", "1000000"),
        ];
        let variables = [&own[..], services, variables].concat();
        Proxy::start("haproxy", folder, &variables)
    }

    /// Starts HAProxy in front of servers that record.
    pub(super) fn recording(
        signer: &Signer,
        services: &Services,
        variables: &[(&str, &str)],
    ) -> Proxy {
        let addresses = services.variables();
        let addresses: Vec<_> = addresses.iter().map(|(n, a)| (*n, a.as_str())).collect();
        Proxy::haproxy(signer, &addresses, variables)
    }

    /// Starts nginx.
    pub(super) fn nginx(services: &[(&str, &str)], variables: &[(&str, &str)]) -> Proxy {
        let own = [("LIMIT_RATE", "1000r/s"), ("LIMIT_BURST", "100000")];
        let variables = [&own[..], services, variables].concat();
        Proxy::start("nginx", TempDir::new().unwrap(), &variables)
    }

    /// Starts nginx in front of servers that record.
    pub(super) fn nginx_recording(services: &Services, variables: &[(&str, &str)]) -> Proxy {
        let addresses = services.variables();
        let addresses: Vec<_> = addresses.iter().map(|(n, a)| (*n, a.as_str())).collect();
        Proxy::nginx(&addresses, variables)
    }

    fn start(name: &str, folder: TempDir, variables: &[(&str, &str)]) -> Proxy {
        // Somebody else may take the port in between.
        for _ in 0..5 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            let mut command = command(name, &address.port().to_string(), &folder, variables);
            let log = File::create(folder.path().join("log")).unwrap();
            command.stderr(Stdio::from(log));
            let mut running = Running::start(&mut command);
            let begun = Instant::now();
            while running.child.try_wait().unwrap().is_none() {
                if TcpStream::connect(address).is_ok() {
                    return Proxy {
                        address: address.to_string(),
                        _running: running,
                        folder,
                    };
                }
                assert!(begun.elapsed() < PATIENCE, "{name} does not listen");
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        let log = fs::read_to_string(folder.path().join("log"));
        panic!("{name} does not start: {}", log.unwrap());
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what it has said of its own state.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Sends a request with these lines of headers.
    pub(super) fn send(&self, method: &str, target: &str, headers: &[u8]) -> Reply {
        send(&self.address, (method, target), headers, b"")
    }

    pub(super) fn get(&self, target: &str, headers: &[u8]) -> Reply {
        self.send("GET", target, headers)
    }

    /// Posts an operation.
    pub(super) fn post(&self, target: &str, query: &str, headers: &[u8]) -> Reply {
        let body = serde_json::json!({ "query": query }).to_string();
        let headers = [b"Content-Type: application/json\r\n", headers].concat();
        send(&self.address, ("POST", target), &headers, body.as_bytes())
    }
}

/// Returns the search path with the folder of servers, which that of a user may lack.
pub(super) fn path() -> String {
    format!("{}:/usr/sbin", std::env::var("PATH").unwrap())
}

/// Returns the command of the project's script.
fn command(name: &str, port: &str, folder: &TempDir, variables: &[(&str, &str)]) -> Command {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/proxies.sh");
    let mut asked = Command::new(script);
    asked.args(["command", name, port]).arg(folder.path());
    asked.envs(variables.iter().copied());
    let output = asked.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let words = String::from_utf8(output.stdout).unwrap();
    let mut words = words.lines();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).envs(variables.iter().copied());
    command.env("PATH", path());
    command
}

/// What tests look at in an answer.
impl Reply {
    pub(super) fn head(&self) -> String {
        let head = self.text.split("\r\n\r\n").next().unwrap();
        head.to_ascii_lowercase()
    }

    pub(super) fn body(&self) -> &str {
        self.text
            .split_once("\r\n\r\n")
            .map_or("", |(_, body)| body)
    }

    /// Returns the value of a header; empty where there is none.
    pub(super) fn header(&self, name: &str) -> String {
        let head = self.head();
        let start = format!("{name}: ");
        let line = head.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_default().to_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(self.body()).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }

    /// Returns the code of the first error.
    pub(super) fn code(&self) -> String {
        let json = self.json();
        let code = json["errors"][0]["extensions"]["code"].as_str();
        assert!(json["errors"][0]["message"].is_string(), "{json}");
        code.unwrap_or_else(|| panic!("{json}")).to_owned()
    }
}
