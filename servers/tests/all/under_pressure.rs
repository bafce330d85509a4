//! A service whose log cannot be written, or whose data take long to load.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::net::TcpListener;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{PATIENCE, Running};

const SCHEMA: &str = "demo/star-wars/schema.yaml";

/// Free ports for the services beside it, and a timeout for the end that no test waits for.
const SETTINGS: &str = "--set search.port=0 --set gateway.port=0 --set http.shutdownTimeout=600000";

/// A service of a process of its own; killed when this is dropped.
struct Process {
    running: Running,
    base: String,
}

impl Process {
    /// Starts a command that takes the arguments of `soml serve`, on a free port.
    fn start(command: &mut Command) -> Process {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let child = command
            .env("PORT", port.to_string())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .spawn()
            .unwrap();
        let base = format!("http://127.0.0.1:{port}");
        let running = child.into();
        Process { running, base }
    }

    /// Starts `soml serve` with `arguments`, which hold no spaces, and with `streams` as a shell
    /// redirects them.
    fn serve(arguments: &str, streams: &str) -> Command {
        let soml = env!("CARGO_BIN_EXE_soml");
        let mut command = Command::new("sh");
        let script = format!("exec {soml} serve --port $PORT {SETTINGS} {arguments} {streams}");
        command.args(["-c", &script]).stdout(Stdio::null());
        command
    }

    fn get(&self, path: &str) -> Option<Answer> {
        self.send("GET", path, "")
    }

    fn query(&self) -> Option<Answer> {
        self.send(
            "POST",
            "/graphql",
            r#"{"query": "{ planet(limit: 1) { id } }"}"#,
        )
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("content-type", "application/json")
            .body(body.to_owned())
            .unwrap();
        let mut response = agent.run(request).ok()?;
        let retry_after = response.headers().get("retry-after").cloned();
        Some(Answer {
            status: response.status().as_u16(),
            retry_after: retry_after.map(|value| value.to_str().unwrap().to_owned()),
            body: response.body_mut().read_to_string().unwrap(),
        })
    }

    /// Asks again and again until the answer is as wanted.
    fn until(&self, path: &str, is_wanted: impl Fn(&Answer) -> bool) -> Answer {
        let from = Instant::now();
        loop {
            match self.get(path) {
                Some(answer) if is_wanted(&answer) => return answer,
                answer => assert!(
                    from.elapsed() < PATIENCE,
                    "{path} of {}: {:?}",
                    self.base,
                    answer.map(|answer| answer.body)
                ),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn until_ready(&self) {
        self.until("/__ready", |answer| answer.status == 200);
    }

    /// Asks the process to stop, and waits for it.
    fn stop(&mut self) -> ExitStatus {
        self.running.stop()
    }
}

struct Answer {
    status: u16,
    retry_after: Option<String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A pipe that takes no more bytes.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    // What a pipe holds unless it is told otherwise.
    writer.write_all(&vec![b'.'; 64 << 10]).unwrap();
    (reader, writer)
}

fn answers_and_stops(mut process: Process) {
    process.until_ready();
    for _ in 0..20 {
        let answer = process.query().expect("every request is answered");
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    assert_eq!(process.stop().code(), Some(0));
}

#[test]
fn a_log_on_a_full_disk_harms_nothing() {
    if File::options().write(true).open("/dev/full").is_err() {
        return;
    }
    for streams in ["2>/dev/full", ">/dev/full 2>/dev/full"] {
        let mut command = Process::serve("--demo star-wars", streams);
        answers_and_stops(Process::start(&mut command));
    }
}

#[test]
fn a_log_that_is_closed_harms_nothing() {
    for streams in ["2>&-", ">&- 2>&-"] {
        let mut command = Process::serve("--demo star-wars", streams);
        answers_and_stops(Process::start(&mut command));
    }
    // A reader that has gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Process::serve("--demo star-wars", "");
    command.stderr(writer.try_clone().unwrap()).stdout(writer);
    answers_and_stops(Process::start(&mut command));
}

#[test]
fn a_log_that_nobody_reads_harms_nothing_from_the_first_line_on() {
    let (_reader, writer) = full_pipe();
    let mut command = Process::serve("--demo star-wars", "");
    command.stderr(writer.try_clone().unwrap()).stdout(writer);
    answers_and_stops(Process::start(&mut command));
}

#[test]
fn lost_lines_are_counted_and_said_when_the_log_is_read_again() {
    let (mut reader, writer) = full_pipe();
    let mut command = Process::serve("--demo star-wars --set logging.format=json", "");
    let mut process = Process::start(command.stderr(writer));
    drop(command);
    process.until_ready();
    // More than the queue holds.
    let path = format!("/{}", "x".repeat(4_000));
    for _ in 0..400 {
        assert_eq!(process.get(&path).unwrap().status, 404);
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let read = Arc::clone(&log);
    std::thread::spawn(move || {
        let mut bytes = [0; 4 << 10];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            read.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
    });
    // Requests go on while the log is written, and it goes on after them.
    let from = Instant::now();
    while !is_complete(&log.lock().unwrap(), 400) {
        assert_eq!(process.query().unwrap().status, 200);
        assert!(from.elapsed() < PATIENCE, "lines are missing");
    }
    assert_eq!(process.get("/the-last").unwrap().status, 404);
    let is_read = |log: &[u8]| String::from_utf8_lossy(log).contains("/the-last");
    while !is_read(&log.lock().unwrap()) {
        std::thread::sleep(Duration::from_millis(20));
        assert!(from.elapsed() < PATIENCE, "the last line is missing");
    }
    assert_eq!(process.stop().code(), Some(0));
}

/// Returns whether a log says of so many requests that they were answered or that their lines were lost, and
/// of some the latter.
fn is_complete(log: &[u8], requests: u64) -> bool {
    let log = String::from_utf8_lossy(log);
    // The last line may not be whole yet.
    let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.trim_start_matches('.').lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lost: u64 = lines.iter().filter_map(|line| line["lost"].as_u64()).sum();
    let kept = lines
        .iter()
        .filter(|line| line["path"].as_str().is_some_and(|p| p.starts_with("/xx")));
    lost > 0 && kept.count() as u64 + lost >= requests
}

#[test]
fn a_start_that_fails_ends_although_nobody_reads_why() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("a.jsonld");
    fs::write(&data, "{").unwrap();
    for (arguments, code) in [
        (format!("--data {}", data.display()), 1),
        ("--demo star-wars --set nonsense=1".to_owned(), 64),
    ] {
        let (_reader, writer) = full_pipe();
        let mut command = Process::serve(&arguments, "");
        let mut process = Process::start(command.stderr(writer));
        assert_eq!(process.running.wait().code(), Some(code), "{arguments}");
    }
}

/// A service that waits for the rest of its data on standard input.
fn loading(dir: &TempDir) -> (Process, ChildStdin) {
    let first = dir.path().join("first.ttl");
    fs::write(&first, "<http://e/a> <http://e/p> \"1\" .\n").unwrap();
    let arguments = format!(
        "--schema {SCHEMA} --data {} - --data-format turtle",
        first.display()
    );
    let mut command = Process::serve(&arguments, "");
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut process = Process::start(&mut command);
    let mut input = process.running.child.stdin.take().unwrap();
    let mut text = String::new();
    for n in 0..10_000 {
        text.push_str(&format!("<http://e/{n}> <http://e/p> \"{n}\" .\n"));
    }
    input.write_all(text.as_bytes()).unwrap();
    (process, input)
}

#[test]
fn the_port_answers_while_data_are_loaded() {
    let dir = TempDir::new().unwrap();
    let (mut process, mut input) = loading(&dir);
    let ready = process.until("/__ready", |answer| {
        answer.json()["progress"]["statements"].as_u64() > Some(1)
    });
    assert_eq!(ready.status, 503);
    let progress = &ready.json()["progress"];
    assert_eq!(
        (&progress["files"], &progress["filesRead"]),
        (&2.into(), &1.into())
    );
    assert_eq!(process.get("/__live").unwrap().status, 200);
    let gtg = process.get("/__gtg").unwrap();
    assert_eq!((gtg.status, &gtg.json()["gtg"]), (503, &"ERROR".into()));
    assert!(
        gtg.json()["message"]
            .as_str()
            .unwrap()
            .contains("1 of 2 files"),
        "{}",
        gtg.body
    );
    let health = process.get("/__health").unwrap();
    assert_eq!(health.json()["status"], "ERROR", "{}", health.body);
    let refused = process.query().unwrap();
    assert_eq!(refused.status, 503);
    assert_eq!(
        refused.json()["errors"][0]["extensions"]["code"],
        "DATA_LOADING"
    );
    assert!(refused.retry_after.unwrap().parse::<u64>().is_ok());
    for path in ["/soml", "/soml/", "//soml", "/graphql/", "//graphql"] {
        let change = process.send("POST", path, "id: /soml/x").unwrap();
        assert_eq!(
            change.json()["errors"][0]["extensions"]["code"],
            "DATA_LOADING",
            "{path}"
        );
    }

    input
        .write_all(b"<http://e/x> <http://e/p> \"last\" .\n")
        .unwrap();
    drop(input);
    process.until_ready();
    assert_eq!(process.query().unwrap().status, 200);
    assert_eq!(process.get("/__gtg").unwrap().status, 200);
    assert_eq!(process.get("/__health").unwrap().json()["status"], "OK");
    assert_eq!(process.stop().code(), Some(0));
}

#[test]
fn a_service_that_loads_stops_when_it_is_asked_to() {
    let dir = TempDir::new().unwrap();
    let (mut process, input) = loading(&dir);
    process.until("/__live", |answer| answer.status == 200);
    assert_eq!(process.stop().code(), Some(0));
    drop(input);
}

#[test]
fn a_load_that_fails_ends_the_service_with_its_error() {
    let dir = TempDir::new().unwrap();
    let (mut process, mut input) = loading(&dir);
    process.until("/__live", |answer| answer.status == 200);
    input
        .write_all(b"<http://e/x> <http://e/p> \"\"\"cut off")
        .unwrap();
    drop(input);
    assert_eq!(process.running.wait().code(), Some(1));
}
