//! `soml serve` as a process: object services, and all services at once.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::processes::{PATIENCE, Running, agent, base};

/// A running `soml serve`, which ends when this is dropped.
pub(crate) struct Soml {
    pub(crate) said: Vec<String>,
    _running: Running,
}

impl Soml {
    /// Starts the demo, and waits until it says a line that begins with `last`.
    pub(crate) fn demo(arguments: &[&str], variables: &[(&str, &str)], last: &str) -> Soml {
        let demo = ["--demo", "star-wars"];
        let arguments: Vec<_> = demo.iter().chain(arguments).copied().collect();
        Soml::start(&arguments, variables, last)
    }

    /// Starts the object service of an example in the documentation, as a subgraph.
    pub(crate) fn example(name: &str, properties: &[&str]) -> Soml {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples");
        let schema = format!("{folder}/{name}.yaml");
        let data = format!("{folder}/{name}.ttl");
        let federation = "graphql.federation.enabled=true";
        let mut arguments = vec!["--schema", &schema, "--data", &data, "--set", federation];
        for property in properties {
            arguments.extend(["--set", property]);
        }
        Soml::start(&arguments, &[], "Writing:")
    }

    /// Starts services, and waits until they say a line that begins with `last`.
    pub(crate) fn start(arguments: &[&str], variables: &[(&str, &str)], last: &str) -> Soml {
        Soml::start_at(0, arguments, variables, last)
    }

    /// Starts services with the object service on a port.
    pub(crate) fn start_at(
        port: u16,
        arguments: &[&str],
        variables: &[(&str, &str)],
        last: &str,
    ) -> Soml {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(["serve", "--port", &port.to_string()]);
        command.args(arguments);
        command.envs(variables.iter().copied());
        Soml::of(command, last)
    }

    /// Starts services by a line of a shell.
    pub(crate) fn of_shell(line: &str, last: &str) -> Soml {
        let mut command = Command::new("bash");
        command.args(["-c", line]);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        Soml::of(command, last)
    }

    fn of(mut command: Command, last: &str) -> Soml {
        let running = Running::start(command.stderr(Stdio::null()));
        let said = running.said_until(last);
        Soml {
            said,
            _running: running,
        }
    }

    /// Returns the address of a service by the word before it.
    pub(crate) fn base(&self, word: &str) -> &str {
        base(&self.said, word)
    }

    /// Returns the GraphQL endpoint of the object service.
    pub(crate) fn endpoint(&self) -> String {
        format!("{}/graphql", self.base("GraphQL:"))
    }
}

/// Sends an operation; returns the status and the answer.
pub(crate) fn post(base: &str, query: &str, token: Option<&str>) -> (u16, Value) {
    send(base, "/graphql", token, &json!({ "query": query }))
}

/// Sends JSON; returns the status and the answer.
pub(crate) fn send(base: &str, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
    let request = agent().post(format!("{base}{path}"));
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    let mut answer = request
        .content_type("application/json")
        .send(body.to_string())
        .unwrap();
    let status = answer.status().as_u16();
    let text = answer.body_mut().read_to_string().unwrap();
    (status, serde_json::from_str(&text).unwrap_or_default())
}

/// Logs in at a provider; returns a token.
pub(crate) fn log_in(base: &str, user: &str, password: &str) -> String {
    let body = json!({ "loginId": user, "password": password });
    let (status, answer) = send(base, "/api/login", None, &body);
    assert_eq!(status, 200, "{answer}");
    answer["token"].as_str().unwrap().to_owned()
}

pub(crate) fn get(base: &str, path: &str) -> Value {
    let mut answer = agent().get(format!("{base}{path}")).call().unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
}

/// Waits until all indexes of a search service are there.
pub(crate) fn wait_until_indexed(search: &str) {
    let begun = Instant::now();
    loop {
        let info = get(search, "/soml/info");
        match info["state"].as_str() {
            Some("READY") => return,
            Some("BUILDING") if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => panic!("{info:#}"),
        }
    }
}
