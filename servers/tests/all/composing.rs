//! `soml compose --watch` as a process: subgraphs change while it runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{fs, thread};

use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::processes::{PATIENCE, Running};

const PLANETS: &str =
    "type Query { planets: [Planet] }\ntype Planet @key(fields: \"id\") { id: ID! }\n";
const MOONS: &str = "type Planet @key(fields: \"id\") { id: ID! moons: [String] }\n";
/// It does not compose with the planets.
const BROKEN: &str = "type Planet @key(fields: \"name\") { id: ID! moons: [String] }\n";

/// A watching process, and what it prints on standard error.
struct Watch {
    running: Running,
    lines: Receiver<String>,
    folder: TempDir,
}

impl Watch {
    /// Watches the file `planets.graphql` and another subgraph.
    fn start(moons: &str, arguments: &[&str]) -> Watch {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("planets.graphql"), PLANETS).unwrap();
        fs::write(folder.path().join("moons.graphql"), MOONS).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_soml"))
            .args(["compose", "--watch", "-o", "supergraph.graphql"])
            .args(["--subgraph", "planets=planets.graphql", "--subgraph", moons])
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let printed = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in printed.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Watch {
            running: child.into(),
            lines,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces the schema of the moons at once, so that no part of it is ever read.
    fn replace_moons(&self, text: &str) {
        let whole = self.path("new.graphql");
        fs::write(&whole, text).unwrap();
        fs::rename(whole, self.path("moons.graphql")).unwrap();
    }

    fn supergraph(&self) -> String {
        fs::read_to_string(self.path("supergraph.graphql")).unwrap()
    }

    /// Returns what is printed up to a line.
    fn until(&self, last: &str) -> String {
        let (begin, mut text) = (Instant::now(), String::new());
        while let Ok(line) = self
            .lines
            .recv_timeout(PATIENCE.saturating_sub(begin.elapsed()))
        {
            text.push_str(&format!("{line}\n"));
            if line == last {
                return text;
            }
        }
        panic!("`{last}` is not printed:\n{text}");
    }

    /// Interrupts the process, which has to end well.
    fn stop(mut self) {
        self.running.signal("-INT");
        assert!(self.running.wait().success());
        let left = fs::read_dir(self.folder.path()).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(left.into_iter().all(|name| name.ends_with(".graphql")));
    }
}

const WRITTEN: &str = "supergraph.graphql: written";
const UNCHANGED: &str = "supergraph.graphql: unchanged";

#[test]
fn a_supergraph_follows_its_files_and_stays_when_they_are_broken() {
    let watch = Watch::start("moons=moons.graphql", &[]);
    watch.until(WRITTEN);
    let first = watch.supergraph();
    assert!(first.contains("moons: [String]"), "{first}");

    watch.replace_moons(&MOONS.replace("moons:", "satellites:"));
    watch.until(WRITTEN);
    let second = watch.supergraph();
    assert!(second.contains("satellites: [String]"), "{second}");

    watch.replace_moons(BROKEN);
    let errors = watch.until(UNCHANGED);
    assert!(errors.contains("error[KEY_INVALID_FIELDS]: "), "{errors}");
    assert!(errors.contains("--> moons.graphql:1:13"), "{errors}");
    assert_eq!(watch.supergraph(), second);

    // A file that is not there for a while, as when an editor replaces it.
    fs::remove_file(watch.path("moons.graphql")).unwrap();
    let missing = watch.until(UNCHANGED);
    assert!(
        missing.contains("error: failed to read moons.graphql"),
        "{missing}"
    );
    assert_eq!(watch.supergraph(), second);

    watch.replace_moons(MOONS);
    watch.until(WRITTEN);
    assert_eq!(watch.supergraph(), first);
    watch.stop();
}

/// Answers every request with one schema, until that is `None`.
fn endpoint(sdl: Arc<Mutex<Option<String>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sdl = sdl.lock().unwrap().clone();
            answer(stream, sdl.as_deref());
        }
    });
    address
}

fn answer(mut stream: TcpStream, sdl: Option<&str>) {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    // The request is small, and its body ends with a brace.
    while !request.ends_with(b"}") {
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => request.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
    let body = match sdl {
        Some(sdl) => serde_json::json!({"data": {"_service": {"sdl": sdl}}}),
        None => serde_json::json!({"errors": [{"message": "no schema now"}]}),
    }
    .to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    // A watch that ends closes its connections.
    let _ = write!(
        stream,
        "{head}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
}

#[test]
fn a_supergraph_follows_an_endpoint() {
    let sdl = Arc::new(Mutex::new(Some(MOONS.to_owned())));
    let address = endpoint(Arc::clone(&sdl));
    let moons = format!("moons=http://{address}/graphql");
    let watch = Watch::start(&moons, &["--interval", "1"]);
    watch.until(WRITTEN);
    let first = watch.supergraph();
    assert!(
        first.contains(&format!("url: \"http://{address}/graphql\"")),
        "{first}"
    );

    *sdl.lock().unwrap() = Some(MOONS.replace("moons:", "satellites:"));
    watch.until(WRITTEN);
    let second = watch.supergraph();
    assert!(second.contains("satellites: [String]"), "{second}");

    *sdl.lock().unwrap() = None;
    let errors = watch.until(UNCHANGED);
    assert!(errors.contains("no schema now"), "{errors}");
    assert_eq!(watch.supergraph(), second);

    *sdl.lock().unwrap() = Some(MOONS.to_owned());
    watch.until(WRITTEN);
    assert_eq!(watch.supergraph(), first);
    watch.stop();
}

#[test]
fn watching_needs_a_file_to_write_and_a_pause() {
    let subgraph = ["compose", "--watch", "--subgraph", "a=a.graphql"];
    let nowhere = soml(&subgraph);
    assert_eq!(code(&nowhere), Some(64), "{}", err(&nowhere));
    let restless = soml(&[&subgraph[..], &["-o", "b.graphql", "--interval", "0"]].concat());
    assert_eq!(code(&restless), Some(64), "{}", err(&restless));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_supergraph_stays_a_link_and_what_is_no_file_is_written_to() {
    let folder = TempDir::new().unwrap();
    let (file, link) = (
        folder.path().join("file.graphql"),
        folder.path().join("link.graphql"),
    );
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let compose = |output: &Path| {
        let planets = "planets=../docs/examples/planets.graphql";
        let output = soml(&[
            "compose",
            "--subgraph",
            planets,
            "-o",
            output.to_str().unwrap(),
        ]);
        assert_eq!(code(&output), Some(0), "{}", err(&output));
        output
    };
    compose(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("PLANETS @join__graph"), "{written}");
    let piped = compose(Path::new("/dev/stdout"));
    assert_eq!(crate::command_line::out(&piped), written);
}
