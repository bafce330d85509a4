//! `soml dump` as a command: where it reads and writes, and how it ends.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

use oxigraph::store::Store;
use oxrdfio::RdfFormat;
use tempfile::TempDir;

use super::{canonical, parsed, unpacked};
use crate::command_line::{code, err, out, soml};
use crate::gateway::soml::{Soml, post};
use crate::sparql_server::SparqlServer;

const DATA: &str = "
@prefix e: <http://e/> .
e:1 a e:Book ; e:title 'One'@en, 'Eins'@de ; e:pages 012 ; e:by [ e:name 'Nobody' ] .
e:2 a e:Book ; e:title '''Two
lines''' .
e:g { e:1 e:title 'One'@en ; e:seen true . _:x e:in e:g }
";

struct Folder(TempDir);

impl Folder {
    /// Makes a folder with the file of the data, and the data folder `data`.
    fn new() -> Self {
        let folder = Folder(TempDir::new().unwrap());
        fs::write(folder.path("books.trig"), DATA).unwrap();
        let loaded = folder.soml(&["load", "@books.trig", "--data-dir", "@data"]);
        assert_eq!(code(&loaded), Some(0), "{}", err(&loaded));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a command; a name with `@` before it is that of a file in the folder.
    fn soml(&self, arguments: &[&str]) -> Output {
        let named = |argument: &&str| match argument.strip_prefix('@') {
            Some(name) => self.path(name).display().to_string(),
            None => (*argument).to_owned(),
        };
        let arguments: Vec<String> = arguments.iter().map(named).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        soml(&arguments)
    }

    /// Runs a command that must succeed.
    fn done(&self, arguments: &[&str]) -> Output {
        let output = self.soml(arguments);
        assert_eq!(code(&output), Some(0), "{arguments:?}: {}", err(&output));
        output
    }

    /// Runs a command that must fail with a code, and leave no file `new…`; returns what it says.
    fn fails(&self, wanted: i32, arguments: &[&str]) -> String {
        let output = self.soml(arguments);
        let said = err(&output);
        assert_eq!(code(&output), Some(wanted), "{arguments:?}: {said}");
        assert_eq!(self.left(), [""; 0], "{arguments:?}");
        said
    }

    /// Returns the names of files that begin with `new`.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("new")).collect()
    }

    /// Returns the quads of a file, in canonical form.
    fn quads(&self, name: &str) -> Vec<String> {
        let format = if name.contains(".trig") {
            RdfFormat::TriG
        } else {
            RdfFormat::NQuads
        };
        canonical(parsed(&unpacked(&self.path(name)), format))
    }
}

#[test]
fn a_folder_is_dumped_and_loaded_as_the_same_data() {
    let folder = Folder::new();
    let expected = folder.quads("books.trig");
    assert_eq!(expected.len(), 11);
    for (number, name) in ["a.nq", "a.trig", "a.nq.gz", "a.trig.gz"]
        .into_iter()
        .enumerate()
    {
        let (file, again) = (format!("@{name}"), format!("@again-{number}"));
        let dumped = folder.done(&["dump", "--data-dir", "@data", "--output", &file]);
        let place = folder.path(name);
        assert_eq!(
            out(&dumped),
            format!("wrote 11 quads to {}\n", place.display())
        );
        assert_eq!(folder.quads(name), expected, "{name}");
        folder.done(&["load", "--strict", &file, "--data-dir", &again]);
        folder.done(&["dump", "--data-dir", &again, "-o", "@again.nq", "--force"]);
        assert_eq!(folder.quads("again.nq"), expected, "{name}");
    }
    // Lexical forms are those of the data, and not those of their values.
    assert!(
        fs::read_to_string(folder.path("a.nq"))
            .unwrap()
            .contains("\"012\"")
    );
}

#[test]
fn standard_output_takes_the_dump_and_nothing_else() {
    let folder = Folder::new();
    let expected = folder.quads("books.trig");
    let lines = folder.done(&["dump", "--data-dir", "@data"]);
    assert_eq!(
        canonical(parsed(&lines.stdout, RdfFormat::NQuads)),
        expected
    );
    assert_eq!(err(&lines), "");
    let place = format!("store.dataDir={}", folder.path("data").display());
    let trig = folder.done(&["dump", "--format", "trig", "--set", &place]);
    assert_eq!(canonical(parsed(&trig.stdout, RdfFormat::TriG)), expected);
    let packed = folder.done(&["dump", "--data-dir", "@data", "--gzip"]);
    fs::write(folder.path("a.nq.gz"), packed.stdout).unwrap();
    assert_eq!(folder.quads("a.nq.gz"), expected);
}

#[test]
fn files_and_servers_are_dumped_too() {
    let folder = Folder::new();
    let expected = folder.quads("books.trig");
    folder.done(&["dump", "--data", "@books.trig", "--output", "@a.nq"]);
    assert_eq!(folder.quads("a.nq"), expected);

    let store = Store::new().unwrap();
    let lines = fs::read(folder.path("a.nq")).unwrap();
    store.load_from_slice(RdfFormat::NQuads, &lines).unwrap();
    let expected = canonical(store.iter().map(Result::unwrap));
    let server = SparqlServer::of_store(store);
    let kind = "sparql.endpoint.type=sparql11";
    let address = server.address.clone();
    let of = |file| ["dump", "-o", file, "--set", kind, "--store", &address];
    folder.done(&of("@b.trig.gz"));
    assert_eq!(folder.quads("b.trig.gz"), expected);
    drop(server);
    let said = folder.fails(3, &of("@new.nq"));
    assert!(said.contains("failed to read the data"), "{said}");
}

#[test]
fn a_running_service_is_dumped_with_what_was_written() {
    let folder = Folder::new();
    let data = folder.path("data").display().to_string();
    let service = Soml::start(&["--data-dir", &data, "--infer-schema"], &[], "Writing:");
    let base = service.base("GraphQL:").to_owned();
    let create = "mutation { create_Book(objects: [{id: \"http://e/new\", title: [{value: \"New\"}]}]) { affected_count { count } } }";
    let (_, answer) = post(&base, create, None);
    assert_eq!(answer["errors"], serde_json::Value::Null, "{answer}");
    for name in ["a.nq", "a.trig", "a.nq.gz", "a.trig.gz"] {
        let dumped = folder.done(&["dump", "--url", &base, "-o", &format!("@{name}")]);
        assert!(
            out(&dumped).contains("of the data of the service"),
            "{}",
            out(&dumped)
        );
    }
    let quads = folder.quads("a.nq");
    assert!(
        quads.iter().any(|quad| quad.contains("<http://e/new>")),
        "{quads:#?}"
    );
    assert!(quads.len() > 11);
    for name in ["a.trig", "a.nq.gz", "a.trig.gz"] {
        assert_eq!(folder.quads(name), quads, "{name}");
    }
    let lines = folder.done(&["dump", "--url", &base]);
    assert_eq!(canonical(parsed(&lines.stdout, RdfFormat::NQuads)), quads);
    // The folder is in use, and the service does not keep anybody from asking it.
    let said = folder.fails(3, &["dump", "--data-dir", "@data", "-o", "@new.nq"]);
    assert!(said.contains("error[DATA_IN_USE]"), "{said}");
    drop(service);
    folder.done(&["dump", "--data-dir", "@data", "-o", "@b.nq"]);
    assert_eq!(folder.quads("b.nq"), quads);
    let said = folder.fails(3, &["dump", "--url", &base, "-o", "@new.nq"]);
    assert!(said.contains("failed to ask the service"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let folder = Folder::new();
    fs::write(folder.path("old.nq"), "old").unwrap();
    let dump = |rest: &[&str]| folder.fails(64, &[&["dump"], rest].concat());
    for (rest, wanted) in [
        (&[][..], "what to dump is not named"),
        (
            &["--data-dir", "@data", "-o", "@old.nq"],
            "exists; --force overwrites it",
        ),
        (&["--data-dir", "@data", "-o", "@new.ttl"], "named graphs"),
        (&["--data-dir", "@data", "-o", "@new"], "named graphs"),
        (
            &["--data-dir", "@data", "-o", "@new.nq", "--format", "trig"],
            "means N-Quads",
        ),
        (
            &["--data-dir", "@data", "--format", "turtle"],
            "`nquads` or `trig`",
        ),
        (
            &["--data-dir", "@data", "--store", "http://localhost:1"],
            "cannot be used with",
        ),
        (&["--data-dir", "@data", "--strict"], "--data"),
        (
            &["--data", "@books.trig", "--set", "store.dataDir=x"],
            "use only one of them",
        ),
        (&["--url", "nowhere"], "is not an address"),
        (&["--force", "--data-dir", "@data"], "--output"),
    ] {
        let said = dump(rest);
        assert!(said.contains(wanted), "{rest:?}: {said}");
    }
    let said = folder.fails(3, &["dump", "--data-dir", "@none", "-o", "@new.nq"]);
    assert!(said.contains("error[DATA_MISSING]"), "{said}");
    assert_eq!(fs::read(folder.path("old.nq")).unwrap(), b"old");
    let said = folder.fails(3, &["dump", "--data-dir", "@data", "-o", "@none/a.nq"]);
    assert!(said.contains("failed to write"), "{said}");
    folder.done(&["dump", "--data-dir", "@data", "-o", "@old.nq", "--force"]);
    assert_eq!(folder.quads("old.nq").len(), 11);
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = Folder::new();
    let mut many = String::new();
    for number in 0..20_000 {
        many.push_str(&format!(
            "<http://e/{number}> <http://e/p> \"{number}\" .\n"
        ));
    }
    fs::write(folder.path("many.nt"), many).unwrap();
    folder.done(&["load", "@many.nt", "--data-dir", "@data"]);
    let line = format!(
        "{} dump --data-dir {} | head -n 1; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_soml"),
        folder.path("data").display()
    );
    let ended = Command::new("bash").args(["-c", &line]).output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(said.ends_with(" .\n0\n"), "{said}");
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

/// Answers one request with some bytes, and closes the connection.
fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).unwrap();
        let _ = stream.write_all(bytes);
        let _ = TcpStream::shutdown(&stream, std::net::Shutdown::Write);
        // Until the client has read it.
        let _ = stream.read(&mut request);
    });
    address
}

#[test]
fn an_answer_that_is_not_whole_leaves_no_file() {
    let folder = Folder::new();
    for (answer, wanted) in [
        (
            &b"HTTP/1.1 200 OK\r\ncontent-type: application/n-quads\r\ntransfer-encoding: chunked\r\n\r\n\
               1d\r\n<http://e/1> <http://e/p> 'x' .\r\n"[..],
            "broke off",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/n-quads\r\ncontent-length: 100\r\n\r\n<http://e/1>",
            "broke off",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/n-quads\r\n\r\n<http://e/1> <http://e/p> 'x' .\n",
            "no marked end",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi",
            "not a dump",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: application/n-quads\r\ncontent-encoding: br\r\ncontent-length: 2\r\n\r\nhi",
            "encoding",
        ),
    ] {
        let address = answering(answer);
        let said = folder.fails(3, &["dump", "--url", &address, "-o", "@new.nq"]);
        assert!(said.contains(wanted), "{said}");
    }
    // A proxy may have unpacked what was asked for packed.
    let plain =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/n-quads\r\ncontent-length: 40\r\n\r\n\
                  <http://e/1> <http://e/p> <http://e/2> .";
    let address = answering(plain);
    folder.done(&["dump", "--url", &address, "-o", "@a.nq.gz"]);
    assert_eq!(
        folder.quads("a.nq.gz"),
        ["<http://e/1> <http://e/p> <http://e/2>"]
    );
}
