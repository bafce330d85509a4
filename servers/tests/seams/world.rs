//! An object service, a search service and a gateway with security on, each a process, with a proxy in front of
//! whatever another one calls.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::answers::Said;
use crate::processes::{PATIENCE, Running, agent, output};
use crate::proxy::Proxy;
use crate::repository::{MEMORY, repository};
use crate::rows::{Row, Service};

const SCHEMA: &str = include_str!("data/museum.yaml");
const DATA: &str = include_str!("data/museum.ttl");
const USERS: &str = include_str!("data/users.yaml");

/// What tokens of all roles are signed with.
const SECRET: &str = "nobody outside of these tests knows it";
/// The application of the development provider.
const APPLICATION: &str = "8a1f6c2e-5b0d-4e37-9c64-d7f03b52a918";
/// A role that may do everything, by the configuration.
const SUPER: &str = "Super";

/// Callers by their role: one reads everything, one some of it, one nothing, and one has a role that the
/// schema does not declare.
pub(crate) const ROLES: [&str; 4] = ["All", "Some", "None", "Stranger"];

/// Where data and indexes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackEnds {
    Embedded,
    /// RDF4J and OpenSearch.
    Servers,
}

/// One of the three processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Objects,
    Search,
    Gateway,
}

struct Process {
    /// Questions are asked at the same time; nobody else needs it meanwhile.
    running: Mutex<Running>,
    base: String,
}

/// All services, which end when this is dropped.
pub(crate) struct World {
    back_ends: BackEnds,
    files: TempDir,
    /// What the names of searched objects end with.
    suffix: String,
    /// In front of the services, for the gateway.
    pub(crate) objects: Proxy,
    pub(crate) search: Proxy,
    /// In front of the servers.
    pub(crate) store: Proxy,
    pub(crate) engine: Proxy,
    processes: [Option<Process>; 3],
    tokens: Vec<(&'static str, String)>,
}

impl World {
    pub(crate) fn start(back_ends: BackEnds) -> World {
        static WORLDS: AtomicU32 = AtomicU32::new(0);
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let world = World {
            back_ends,
            files: TempDir::new().unwrap(),
            suffix: format!("x{}x{number}", std::process::id()),
            objects: Proxy::start(),
            search: Proxy::start(),
            store: Proxy::start(),
            engine: Proxy::start(),
            processes: [None, None, None],
            tokens: ROLES.into_iter().chain([SUPER]).map(token).collect(),
        };
        world.with_files().with_servers().with_processes()
    }

    fn with_files(self) -> World {
        let named = self.named(SCHEMA);
        for (name, text) in [
            ("museum.yaml", &*named),
            ("museum.ttl", DATA),
            ("users.yaml", USERS),
        ] {
            fs::write(self.file(name), text).unwrap();
        }
        self
    }

    fn with_servers(self) -> World {
        if self.back_ends == BackEnds::Servers {
            let server = server("RDF4J_URL");
            let address = format!("{server}/repositories/{}", self.suffix);
            let made = ureq::put(&address).content_type("text/turtle");
            made.send(repository(&self.suffix, MEMORY)).unwrap();
            let loaded = ureq::put(format!("{address}/statements")).content_type("text/turtle");
            loaded.send(DATA).unwrap();
            self.store.lead_to(&server);
            self.engine.lead_to(&self::server("OPENSEARCH_URL"));
        }
        self
    }

    fn with_processes(mut self) -> World {
        for program in [Program::Objects, Program::Search, Program::Gateway] {
            self.start_program(program);
        }
        self.wait_until_indexed();
        self
    }

    fn file(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    /// Gives searched objects the names that no other world has on a shared engine.
    fn named(&self, text: &str) -> String {
        let end = &self.suffix;
        text.replace("ainting", &format!("ainting{end}"))
            .replace("rtist", &format!("rtist{end}"))
            .replace(&format!("type: m:Painting{end}"), "type: m:Painting")
            .replace(&format!("type: m:Artist{end}"), "type: m:Artist")
    }

    /// Ends a process and starts it again as it was started.
    pub(crate) fn restart(&mut self, program: Program) {
        let mut process = self.processes[program as usize].take().unwrap();
        process.running.get_mut().unwrap().stop();
        self.start_program(program);
        self.wait_until_indexed();
    }

    fn start_program(&mut self, program: Program) {
        let command = match program {
            Program::Objects => self.objects_command(),
            Program::Search => self.search_command(),
            Program::Gateway => self.gateway_command(),
        };
        let process = self.run(program, command);
        match program {
            Program::Objects => self.objects.lead_to(&process.base),
            Program::Search => self.search.lead_to(&process.base),
            Program::Gateway => {}
        }
        self.processes[program as usize] = Some(process);
    }

    fn objects_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_object-service"));
        self.data(&mut command);
        set(&mut command, "graphql.federation.enabled", "true");
        set(
            &mut command,
            "security.provisioning.file",
            &self.file("users.yaml"),
        );
        set(&mut command, "security.provider.keyFile", &self.file("key"));
        if self.back_ends == BackEnds::Embedded {
            command.args(["--data-dir", &self.file("data")]);
        }
        command
    }

    fn search_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_search-service"));
        self.data(&mut command);
        // Instances of one name share their indexes, and worlds do not.
        set(
            &mut command,
            "application.name",
            &format!("search-{}", self.suffix),
        );
        set(&mut command, "graphdql.federation.enabled", "true");
        let keys = format!("{}/.well-known/jwks.json", self.objects.base());
        set(&mut command, "security.jwks.url", &keys);
        set(
            &mut command,
            "search.storage.location",
            &self.file("indexes"),
        );
        set(&mut command, "task.default.retry.delay", "100");
        set(&mut command, "task.default.retry.maxRetries", "1000000");
        if self.back_ends == BackEnds::Servers {
            set(&mut command, "indexer.host", &self.engine.base());
            set(&mut command, "indexer.indexingEnabled", "true");
        }
        command
    }

    /// Adds where the data are, and who may read them.
    fn data(&self, command: &mut Command) {
        command.args(["--schema", &self.file("museum.yaml")]);
        command.env("SECURITY_SECRET", SECRET);
        set(command, "security.superRoles", SUPER);
        set(command, "health.cacheTime", "0");
        set(command, "logging.level", "info,graphql_http=warn");
        set(command, "graphql.requestTimeout", "10000");
        match self.back_ends {
            BackEnds::Embedded => drop(command.args(["--data", &self.file("museum.ttl")])),
            BackEnds::Servers => {
                let path = server("RDF4J_URL");
                let path = path.splitn(4, '/').nth(3).unwrap();
                set(
                    command,
                    "sparql.endpoint.address",
                    &format!("{}/{path}", self.store.base()),
                );
                set(command, "sparql.endpoint.repository", &self.suffix);
                set(command, "sparql.endpoint.type", "rdf4j");
                set(command, "sparql.endpoint.socketTimeout", "5000");
                set(command, "sparql.endpoint.retryInterval", "10");
            }
        }
    }

    fn gateway_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_federation-gateway"));
        for (number, name, proxy) in [(0, "objects", &self.objects), (1, "search", &self.search)] {
            let (base, variable) = (proxy.base(), format!("GRAPHQL_SERVICE_{number}"));
            command.env(&variable, format!("{base}/graphql"));
            command.env(format!("{variable}_NAME"), name);
            command.env(format!("{variable}_GTG"), format!("{base}/__gtg"));
            command.env(format!("{variable}_HEALTH"), format!("{base}/__health"));
        }
        let variables = [
            ("SECURITY_ENABLED", "true"),
            ("IDP_APPLICATION_ID", APPLICATION),
            ("IDP_PROTOCOL", "http"),
            ("IDP_HOST", "127.0.0.1"),
            ("IDP_PORT", &self.objects.port().to_string()),
            ("IDP_USERNAME", "gateway"),
            ("IDP_PASSWORD", "opening hours"),
            ("SERVICE_DWELL", "100"),
        ];
        command.envs(variables);
        set(&mut command, "health.cacheTime", "0");
        set(&mut command, "logging.level", "info,graphql_http=warn");
        // Over servers, a service says itself that its store is away, a while after its `socketTimeout`.
        let idle = match self.back_ends {
            BackEnds::Embedded => "5000",
            BackEnds::Servers => "15000",
        };
        set(&mut command, "gateway.subgraph.idleTimeout", idle);
        command
    }

    /// Starts a program, and waits until it answers.
    fn run(&self, program: Program, mut command: Command) -> Process {
        let (word, last) = match program {
            Program::Objects => ("GraphQL:", "GraphQL:"),
            Program::Search => ("Search:", "Search:"),
            Program::Gateway => ("Gateway:", "Composed:"),
        };
        let log = Path::new(&self.file("")).join(format!("{program:?}.log"));
        let errors = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let running = Running::start(command.args(["--port", "0"]).stderr(errors));
        let mut base = String::new();
        loop {
            let Some(line) = running.line() else {
                panic!("{program:?} has ended: {}", self.log());
            };
            if line.starts_with(word) {
                let url = line.split_whitespace().nth(1).unwrap();
                url.trim_end_matches("/graphql").clone_into(&mut base);
            }
            if line.starts_with(last) {
                let running = Mutex::new(running);
                return Process { running, base };
            }
        }
    }

    /// Returns what all processes have logged.
    pub(crate) fn log(&self) -> String {
        let log = |program: &str| fs::read_to_string(self.file(program)).unwrap_or_default();
        ["Objects.log", "Search.log", "Gateway.log"]
            .map(log)
            .join("\n")
    }

    /// Returns the address of a process itself.
    fn base(&self, program: Program) -> &str {
        &self.processes[program as usize].as_ref().unwrap().base
    }

    fn token(&self, role: &str) -> &str {
        let token = self.tokens.iter().find(|(of, _)| *of == role);
        &token.unwrap().1
    }

    /// Asks the service that has a capability.
    pub(crate) fn ask(&self, row: &Row, role: &str) -> Said {
        let program = match row.service {
            Service::Objects => Program::Objects,
            Service::Search => Program::Search,
        };
        self.post(program, row, role)
    }

    /// Asks through the gateway.
    pub(crate) fn ask_gateway(&self, row: &Row, role: &str) -> Said {
        self.post(Program::Gateway, row, role)
    }

    fn post(&self, program: Program, row: &Row, role: &str) -> Said {
        let body = json!({ "query": self.named(row.query) }).to_string();
        let request = agent().post(format!("{}/graphql", self.base(program)));
        let request = request.header("authorization", format!("Bearer {}", self.token(role)));
        let request = request.header("accept", "application/json");
        let mut answer = request.content_type("application/json").send(body).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let text = text.replace(&self.suffix, "");
        let answer = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        Said::of(&answer)
    }

    fn get(&self, program: Program, path: &str) -> (u16, Value) {
        let request = agent().get(format!("{}{path}", self.base(program)));
        let request = request.header("authorization", format!("Bearer {}", self.token(SUPER)));
        let mut answer = request.call().unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let text = serde_json::from_str(&text).unwrap_or_default();
        (answer.status().as_u16(), text)
    }

    /// Waits until all indexes are there.
    fn wait_until_indexed(&self) {
        if self.processes[Program::Search as usize].is_some() {
            self.eventually("all indexes are there", || {
                self.get(Program::Search, "/soml/info").1["state"] == "READY"
            });
        }
    }

    /// Returns the status of each check of a health record, by its id; those of subgraphs follow theirs.
    pub(crate) fn health(&self, program: Program) -> Vec<(String, String)> {
        let (_, record) = self.get(program, "/__health");
        let mut checks = Vec::new();
        collect(&record, &mut checks);
        checks
    }

    /// Returns whether a program says that it is good to go.
    pub(crate) fn is_good_to_go(&self, program: Program) -> bool {
        self.get(program, "/__gtg").0 == 200
    }

    /// Waits until something is so.
    pub(crate) fn eventually(&self, what: &str, condition: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !condition() {
            assert!(Instant::now() < until, "{what}: gave up\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.processes = [None, None, None];
        if self.back_ends == BackEnds::Servers {
            // What is left is in nobody's way.
            let base = server("OPENSEARCH_URL");
            for name in ["painting", "artist"] {
                let pattern = format!("svc-{name}{}-*", self.suffix);
                let names = ureq::get(format!("{base}/_cat/indices/{pattern}?h=index")).call();
                let names = names.and_then(|mut names| names.body_mut().read_to_string());
                for name in names.unwrap_or_default().lines() {
                    let _ = ureq::delete(format!("{base}/{}", name.trim())).call();
                }
            }
        }
    }
}

fn collect(record: &Value, checks: &mut Vec<(String, String)>) {
    let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
    checks.push((text("id"), text("status")));
    for check in record["healthChecks"].as_array().into_iter().flatten() {
        collect(check, checks);
    }
}

fn set(command: &mut Command, property: &str, value: &str) {
    command.arg("--set").arg(format!("{property}={value}"));
}

/// Returns the address of a server that is named by a variable.
fn server(variable: &str) -> String {
    let address = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names a server"));
    address.trim_end_matches('/').to_owned()
}

fn token(role: &'static str) -> (&'static str, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command
        .args(["token", "--role", role])
        .env("SECURITY_SECRET", SECRET);
    let output = output(&mut command, b"");
    assert!(output.status.success());
    let token = String::from_utf8(output.stdout).unwrap();
    (role, token.trim().to_owned())
}
