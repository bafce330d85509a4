//! The deployment of `docs/api-gateway.md`, by the words of the page: three processes over RDF4J and OpenSearch, behind HAProxy.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harness::path;
use crate::processes::{PATIENCE, Running, agent, output};

const HEADING: &str = "## Three services behind HAProxy, over RDF4J and OpenSearch";

/// The programs that the page starts, and the ports that it has for them.
const PROGRAMS: [(&str, &str); 4] = [
    ("object-service", "9995"),
    ("search-service", "9980"),
    ("federation-gateway", "9000"),
    ("haproxy", "8080"),
];

/// The code of the page, in order: language and text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let (_, section) = text.split_once(HEADING).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("\n```").skip(1).step_by(2);
    let blocks = blocks.map(|block| block.split_once('\n').unwrap());
    blocks
        .map(|(language, text)| (language.to_owned(), text.to_owned()))
        .collect()
}

/// The page with servers, ports and names of this test.
fn page() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/api-gateway.md");
    let mut text = fs::read_to_string(file).unwrap();
    for (variable, address) in [
        ("RDF4J_URL", "http://localhost:8180/rdf4j-server"),
        ("OPENSEARCH_URL", "http://localhost:9200"),
    ] {
        let server =
            std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names a server"));
        assert!(text.contains(address), "{address}");
        text = text.replace(address, server.trim_end_matches('/'));
    }
    // Held until all of them are known, so that they differ.
    let listeners = PROGRAMS.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    for ((_, port), listener) in PROGRAMS.iter().zip(&listeners) {
        let free = listener.local_addr().unwrap().port();
        for before in ["localhost:", "--port ", "PORT="] {
            text = text.replace(&format!("{before}{port}"), &format!("{before}{free}"));
        }
    }
    text = text
        .replace("localhost:", "127.0.0.1:")
        .replace("HOST=localhost", "HOST=127.0.0.1");
    let number = std::process::id();
    text.replace("ighthouse", &format!("ighthouse{number}"))
}

/// A shell in the folder of the deployment, and what runs there.
struct Shell {
    folder: TempDir,
    /// What has been exported and defined up to now.
    preamble: String,
    running: Vec<Running>,
}

impl Shell {
    fn new() -> Shell {
        let folder = TempDir::new().unwrap();
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        std::os::unix::fs::symlink(docs, folder.path().join("docs")).unwrap();
        Shell {
            folder,
            preamble: "set -eu\ntouch variables; . ./variables\n".to_owned(),
            running: Vec::new(),
        }
    }

    fn command(&self, script: &str) -> Command {
        let programs = std::path::Path::new(env!("CARGO_BIN_EXE_soml"))
            .parent()
            .unwrap();
        let path = format!("{}:{}", programs.display(), path());
        let mut command = Command::new("bash");
        command.args(["-c", &format!("{}{script}", self.preamble)]);
        command.current_dir(self.folder.path()).env("PATH", path);
        command
    }

    /// Runs a block; returns what it prints.
    fn run(&mut self, block: &str) -> String {
        // Later blocks have its variables; nobody logs in twice.
        let script =
            format!("{block}\n{{ declare -p admin anna || true; }} > variables 2> /dev/null");
        let output = output(&mut self.command(&script), b"");
        let (said, error) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{block}\n{error}");
        if block.starts_with("token() {") {
            let end = block.find("\n}\n").unwrap() + 3;
            self.preamble.push_str(&block[..end]);
        }
        for line in block.lines().filter(|line| line.starts_with("export ")) {
            self.preamble.push_str(line);
            self.preamble.push('\n');
        }
        String::from_utf8(said.clone()).unwrap()
    }

    /// Starts a program, and waits until its address answers.
    fn start(&mut self, name: &str, block: &str, address: &str) {
        let log = self.folder.path().join(format!("{name}.log"));
        let mut command = self.command(&format!("exec env {block}"));
        command.stderr(Stdio::from(fs::File::create(&log).unwrap()));
        let mut running = Running::start(&mut command);
        let begun = Instant::now();
        while agent().get(address).call().is_err() {
            let has_ended = running.child.try_wait().unwrap().is_some();
            let said = || fs::read_to_string(&log).unwrap();
            assert!(
                !has_ended && begun.elapsed() < PATIENCE,
                "{name}: {}",
                said()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        self.running.push(running);
    }

    /// Repeats a request until its answer is the one of the page.
    fn until(&mut self, block: &str, wanted: &Value) {
        let begun = Instant::now();
        loop {
            let said = self.run(block);
            let answer: Value = serde_json::from_str(&said).unwrap_or(Value::Null);
            if answer == *wanted {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{block}\n{said}\nand not {wanted}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Returns the program that a block starts, and its port there.
fn started(block: &str, page: &str) -> Option<(&'static str, String)> {
    let words: Vec<&str> = block.split_whitespace().collect();
    let (name, _) = PROGRAMS
        .into_iter()
        .find(|(name, _)| words.contains(name))?;
    // The page says where HAProxy listens by a variable.
    let port = match name {
        "haproxy" => page.split("LISTEN=127.0.0.1:").nth(1)?,
        name => page.split(&format!("{name} --port ")).nth(1)?,
    };
    Some((name, port.split_whitespace().next()?.to_owned()))
}

#[test]
#[ignore = "needs HAProxy, an RDF4J Server named by RDF4J_URL and an OpenSearch server named by OPENSEARCH_URL"]
fn the_secured_deployment_of_the_page_works_by_its_words() {
    let page = page();
    let mut shell = Shell::new();
    let blocks = blocks(&page);
    let mut base = String::new();
    let mut at = 0;
    while at < blocks.len() {
        let (language, block) = &blocks[at];
        at += 1;
        match language.as_str() {
            "yaml" => {
                let name = block.lines().next().unwrap().trim_start_matches("# ");
                fs::write(shell.folder.path().join(name), block).unwrap();
            }
            "sh" => match started(block, &page) {
                Some((name, port)) => {
                    let address = format!("http://127.0.0.1:{port}");
                    shell.start(name, block, &format!("{address}/__live"));
                    if name == "haproxy" {
                        base = address;
                    }
                }
                None => match blocks.get(at) {
                    Some((language, answer)) if language == "json" => {
                        at += 1;
                        shell.until(block, &serde_json::from_str(answer).unwrap());
                    }
                    _ => drop(shell.run(block)),
                },
            },
            other => panic!("{other}"),
        }
    }
    assert_eq!(shell.running.len(), PROGRAMS.len());
    a_killed_service_leaves_the_others(&mut shell, &base);
}

/// The search service dies: the object service and the gateway go on, health says so, and nobody gets by without a token.
fn a_killed_service_leaves_the_others(shell: &mut Shell, base: &str) {
    let token = format!("Bearer {}", shell.run("echo $anna").trim());
    let ask = |path: &str, query: &str, token: &str| {
        let request = agent().post(format!("{base}{path}"));
        let request = request.header("authorization", token);
        let mut response = request
            .content_type("application/json")
            .send(json!({ "query": query }).to_string())
            .unwrap();
        let status = response.status().as_u16();
        let body = response.body_mut().read_to_string().unwrap();
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let get = |path: &str| agent().get(format!("{base}{path}")).call().unwrap();
    let bad = format!("{token}x");
    for path in ["/graphql", "/objects/graphql", "/searches/graphql"] {
        assert_eq!(ask(path, "{ __typename }", &token).0, 200, "{path}");
        let (status, body) = ask(path, "{ __typename }", &bad);
        assert_eq!(
            (status, &body["errors"][0]["extensions"]["code"]),
            (401, &json!("TOKEN_INVALID"))
        );
    }
    // In the order of the page: objects, searches, HAProxy, the gateway.
    drop(shell.running.remove(1));
    crate::processes::eventually(|| {
        let (status, body) = ask("/searches/graphql", "{ __typename }", &token);
        status == 503 && body["errors"][0]["extensions"]["code"] == "UPSTREAM_UNAVAILABLE"
    });
    assert_eq!(get("/searches/__health").status(), 503);
    assert_eq!(get("/objects/__gtg").status(), 200);
    let name = format!("lighthouse{}", std::process::id());
    let query = format!("{{ {name} {{ title }} }}");
    for path in ["/graphql", "/objects/graphql"] {
        let (status, body) = ask(path, &query, &token);
        assert_eq!(
            (status, &body["data"][&name][0]["title"]),
            (200, &json!("Pharos")),
            "{body}"
        );
    }
    crate::processes::eventually(|| {
        let record = get("/__health").body_mut().read_to_string().unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        record["status"] == "ERROR" && get("/__gtg").status() == 503
    });
}
