//! `--data-dir`: what a restart serves, what is refused, backups and restores.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};
use crate::gateway::soml::{Soml, get, log_in, post};
use crate::processes::agent;

pub(crate) const DATA: &str = "demo/star-wars/data.ttl";
pub(crate) const SCHEMA: &str = "demo/star-wars/schema.yaml";
pub(crate) const BOOKS: &str =
    "<http://e/1> a <http://e/Book> ; <http://e/title> 'One' ; <http://e/pages> 012 .";

/// A folder for a test, with the data folder `data` in it.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.text(name)
    }

    /// Starts a service over the folder `data`.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Soml {
        let data = self.text("data");
        let mut all = vec!["--data-dir", &data];
        all.extend(arguments);
        Soml::start(&all, &[], "Writing:")
    }

    /// Starts a service over the folder `data` that has no schema to serve.
    pub(crate) fn serve_without_schema(&self, arguments: &[&str]) -> Soml {
        let data = self.text("data");
        let mut all = vec!["--data-dir", &data];
        all.extend(arguments);
        Soml::start(&all, &[], "Security:")
    }

    /// Makes sure that a service does not start over the folder `data`; returns what it says.
    pub(crate) fn refused(&self, wanted: &str) -> String {
        let output = soml(&["serve", "--port", "0", "--data-dir", &self.text("data")]);
        let said = err(&output);
        assert_eq!(code(&output), Some(3), "{said}");
        assert!(said.contains(&format!("error[{wanted}]")), "{said}");
        said
    }

    pub(crate) fn load(&self, file: &str) -> Output {
        soml(&["load", file, "--data-dir", &self.text("data")])
    }
}

pub(crate) fn answer(service: &Soml, query: &str) -> Value {
    let (status, answer) = post(service.base("GraphQL:"), query, None);
    assert_eq!((status, &answer["errors"]), (200, &Value::Null), "{answer}");
    answer["data"].clone()
}

pub(crate) fn put(base: &str, path: &str, text: &str) -> u16 {
    let sent = agent().put(format!("{base}{path}"));
    let sent = sent.content_type("application/x-yaml").send(text);
    sent.unwrap().status().as_u16()
}

pub(crate) fn stop(service: Soml) {
    drop(service);
}

const PLANET: &str = "mutation { create_Planet(objects: [{id: \"https://swapi.co/resource/planet/new\", \
                      rdfs_label: \"New\"}]) { affected_count { count } } }";

#[test]
fn a_restart_serves_what_was_served() {
    let folder = Folder::new();
    let first = folder.serve(&["--schema", SCHEMA, "--data", DATA]);
    let place = folder.text("data");
    let line = format!("Writing:  kept in {place}, synced before each answer");
    assert!(first.said.contains(&line), "{:#?}", first.said);
    answer(&first, PLANET);
    let query = "{ planet(orderBy: {name: ASC}) { id name rdfs_label } }";
    let before = answer(&first, query);
    assert!(before.to_string().contains("planet/new"), "{before}");
    let records = get(first.base("GraphQL:"), "/changes");
    stop(first);

    let second = folder.serve(&[]);
    assert_eq!(answer(&second, query), before);
    assert_eq!(get(second.base("GraphQL:"), "/changes"), records);
    // The data are there, and what is named is not loaded.
    stop(second);
    let other = folder.file("other.ttl", BOOKS);
    let third = folder.serve(&["--data", &other]);
    assert_eq!(answer(&third, query), before);
}

#[test]
fn files_are_loaded_all_or_none_into_a_folder_that_nobody_uses() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    let more = folder.file("more.nt", "<http://e/2> <http://e/title> \"Two\" .\n");
    let cut_off = folder.file("cut-off.nt", "<http://e/3> <http://e/title> \"Thr");
    let failed = soml(&["load", &books, &cut_off, "--data-dir", &folder.text("data")]);
    assert_eq!(code(&failed), Some(1), "{}", err(&failed));
    assert!(!folder.path("data").exists(), "nothing is left");

    let loaded = folder.load(&books);
    assert_eq!(code(&loaded), Some(0), "{}", err(&loaded));
    assert!(
        out(&loaded).starts_with("loaded 3 triples from 1 file in "),
        "{}",
        out(&loaded)
    );
    let failed = soml(&["load", &more, &cut_off, "--data-dir", &folder.text("data")]);
    assert_eq!(code(&failed), Some(1));
    let loaded = soml(&["load", &more, &books, "--data-dir", &folder.text("data")]);
    assert!(
        out(&loaded).contains("loaded 4 triples from 2 files in "),
        "{}",
        out(&loaded)
    );
    assert!(out(&loaded).contains("1 new"), "{}", out(&loaded));

    let service = folder.serve(&["--infer-schema"]);
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
    for arguments in [
        vec!["load", &more, "--data-dir"],
        vec!["serve", "--port", "0", "--data-dir"],
        vec!["backup", "copy", "--data-dir"],
    ] {
        let place = folder.text("data");
        let refused = soml(&[arguments, vec![&place]].concat());
        assert_eq!(code(&refused), Some(3), "{}", err(&refused));
        assert!(
            err(&refused).contains("error[DATA_IN_USE]"),
            "{}",
            err(&refused)
        );
    }
}

#[test]
fn commands_read_a_folder() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    let place = format!("store.dataDir={}", folder.text("data"));
    let missing = soml(&["infer", "--set", &place]);
    assert_eq!(code(&missing), Some(3));
    assert!(
        err(&missing).contains("error[DATA_MISSING]"),
        "{}",
        err(&missing)
    );
    assert_eq!(code(&folder.load(&books)), Some(0));
    let inferred = soml(&["infer", "--set", &place]);
    assert_eq!(code(&inferred), Some(0), "{}", err(&inferred));
    assert!(out(&inferred).contains("Book"), "{}", out(&inferred));
    let queried = soml(&["query", "--set", &place, "{ book { pages } }"]);
    assert!(
        out(&queried).contains("12"),
        "{} {}",
        out(&queried),
        err(&queried)
    );
    let both = soml(&[
        "query",
        "--set",
        &place,
        "--data",
        &books,
        "{ book { pages } }",
    ]);
    assert_eq!(code(&both), Some(64));
    assert!(
        err(&both).contains("use only one of them"),
        "{}",
        err(&both)
    );
}

#[test]
fn a_backup_is_restored_with_data_and_schemas() {
    let folder = Folder::new();
    stop(folder.serve(&["--schema", SCHEMA, "--data", DATA]));
    let (data, backup, target) = (
        folder.text("data"),
        folder.text("backup"),
        folder.text("new"),
    );
    let made = soml(&["backup", &backup, "--data-dir", &data]);
    assert_eq!(code(&made), Some(0), "{}", err(&made));
    let again = soml(&["backup", &backup, "--data-dir", &data]);
    assert!(
        err(&again).contains("error[DATA_PRESENT]"),
        "{}",
        err(&again)
    );
    let over = soml(&["restore", &backup, "--data-dir", &data]);
    assert!(err(&over).contains("error[DATA_PRESENT]"), "{}", err(&over));
    let none = soml(&["restore", &folder.text("none"), "--data-dir", &target]);
    assert!(err(&none).contains("error[DATA_MISSING]"), "{}", err(&none));
    fs::create_dir(&target).unwrap();
    let restored = soml(&["restore", &backup, "--data-dir", &target]);
    assert_eq!(code(&restored), Some(0), "{}", err(&restored));
    let service = Soml::start(&["--data-dir", &target], &[], "Writing:");
    let films = answer(
        &service,
        "{ planet(where: {name: {EQ: \"Tatooine\"}}) { name } }",
    );
    assert_eq!(films["planet"][0]["name"], "Tatooine");
}

#[test]
fn a_running_service_makes_backups_for_those_who_may_manage_everything() {
    let folder = Folder::new();
    let (data, backups) = (folder.text("data"), folder.text("backups"));
    let place = format!("store.backupDir={backups}");
    let service = folder.serve(&["--schema", SCHEMA, "--data", DATA, "--set", &place]);
    let base = service.base("GraphQL:").to_owned();
    answer(&service, PLANET);
    let made = soml(&["backup", "one", "--url", &base]);
    assert_eq!(code(&made), Some(0), "{}", err(&made));
    let again = soml(&["backup", "one", "--url", &base]);
    assert!(err(&again).contains("BACKUP_EXISTS"), "{}", err(&again));
    for name in ["../two", "a/b", ".."] {
        let refused = soml(&["backup", name, "--url", &base]);
        assert_eq!(code(&refused), Some(3), "{}", err(&refused));
    }
    assert!(!folder.path("two").exists());
    stop(service);
    let backup = folder.path("backups").join("one");
    let target = folder.text("new");
    let restored = soml(&["restore", backup.to_str().unwrap(), "--data-dir", &target]);
    assert_eq!(code(&restored), Some(0), "{}", err(&restored));
    let service = Soml::start(&["--data-dir", &target], &[], "Writing:");
    let new = answer(
        &service,
        "{ planet(ID: \"https://swapi.co/resource/planet/new\") { rdfs_label } }",
    );
    assert_eq!(new["planet"][0]["rdfs_label"], "New");
    stop(service);

    // Without a folder for them there are none.
    let service = Soml::start(&["--data-dir", &data], &[], "Writing:");
    let refused = soml(&["backup", "one", "--url", service.base("GraphQL:")]);
    assert!(
        err(&refused).contains("BACKUPS_NOT_CONFIGURED"),
        "{}",
        err(&refused)
    );
}

#[test]
fn who_may_not_manage_everything_makes_no_backup() {
    let folder = Folder::new();
    let data = folder.text("data");
    let place = format!("store.backupDir={}", folder.text("backups"));
    let arguments = [
        "--demo",
        "star-wars",
        "--roles",
        "--data-dir",
        &data,
        "--set",
        &place,
    ];
    let service = Soml::start(&arguments, &[], "Log in");
    let base = service.base("GraphQL:");
    let put = |role: Option<&str>| {
        let token = role.map(|role| {
            let mut lines = service.said.iter();
            let line = lines.find(|line| line.contains(&format!("({role}")));
            let mut words = line.unwrap().split_whitespace();
            log_in(base, words.next().unwrap(), words.next().unwrap())
        });
        let request = agent().put(format!("{base}/backups/one"));
        let request = match token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        request.send_empty().unwrap().status().as_u16()
    };
    assert_eq!(put(None), 401);
    assert_eq!(put(Some("Editor")), 403);
    assert!(!folder.path("backups").exists());
    assert_eq!(put(Some("Admin")), 201);
    assert!(folder.path("backups/one/schemas").exists());
}

#[test]
fn a_damaged_file_is_refused_by_name() {
    let folder = Folder::new();
    stop(folder.serve(&["--schema", SCHEMA, "--data", DATA]));
    let files = files(&folder.path("data"));
    // What is damaged in a log may be a page that holds nothing; its own tests say which is refused.
    let checked = |file: &&PathBuf| {
        let name = file.extension().and_then(|extension| extension.to_str());
        matches!(name, Some("image" | "yaml"))
    };
    let mut refused = 0;
    for file in files.iter().filter(checked) {
        let whole = fs::read(file).unwrap();
        let mut torn = whole.clone();
        let middle = torn.len() / 2;
        torn[middle] ^= 0x10;
        fs::write(file, &torn).unwrap();
        let said = folder.refused("DATA_DAMAGED");
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(said.contains(name), "{name}: {said}");
        fs::write(file, &whole).unwrap();
        refused += 1;
    }
    assert_eq!(
        refused, 3,
        "the image, the schema and its binding: {files:?}"
    );
    fs::write(folder.path("data/changes.redb"), "").unwrap();
    assert!(folder.refused("DATA_DAMAGED").contains("changes.redb"));
}

#[test]
fn a_folder_of_another_version_is_refused() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    assert_eq!(code(&folder.load(&books)), Some(0));
    let image = folder.path("data/data-1.image");
    let mut bytes = fs::read(&image).unwrap();
    // The last 40 bytes are the footer: order, version, …, checksum of the 28 bytes so far, tail.
    let footer = bytes.len() - 40;
    bytes[footer + 4..footer + 8].copy_from_slice(&99_u32.to_ne_bytes());
    let checksum = crc32fast::hash(&bytes[footer..footer + 28]);
    bytes[footer + 28..footer + 32].copy_from_slice(&checksum.to_ne_bytes());
    fs::write(&image, bytes).unwrap();
    let said = folder.refused("DATA_VERSION");
    assert!(
        said.contains("data-1.image") && said.contains("version 99") && said.contains("soml dump"),
        "{said}"
    );
}

/// A file may grow to 300 KB, which stands for a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_what_does_not_fit_and_the_rest_goes_on() {
    let folder = Folder::new();
    let data = folder.text("data");
    let command = format!(
        "trap '' XFSZ; ulimit -f 300; exec {} serve --port 0 --demo star-wars --set search.enabled=false --data-dir {data}",
        env!("CARGO_BIN_EXE_soml")
    );
    let loaded = folder.load(DATA);
    assert_eq!(code(&loaded), Some(0), "{}", err(&loaded));
    let planet = |id: &str, count: usize| {
        let object = |number| {
            format!(
                "{{id: \"http://e/{id}/{number}\", rdfs_label: \"A label of some length {number}\"}}"
            )
        };
        let objects: Vec<_> = (0..count).map(object).collect();
        format!(
            "mutation {{ create_Planet(objects: [{}]) {{ affected_count {{ count }} }} }}",
            objects.join(" ")
        )
    };
    let there = |base: &str, id: &str| {
        let query = format!("{{ planet(ID: \"http://e/{id}/0\") {{ rdfs_label }} }}");
        let (status, answer) = post(base, &query, None);
        assert_eq!(status, 200, "{answer}");
        answer["data"]["planet"].as_array().map_or(0, Vec::len)
    };
    let service = Soml::of_shell(&command, "Writing:");
    let base = service.base("GraphQL:");
    assert_eq!(
        post(base, &planet("small", 1), None).1["errors"],
        Value::Null
    );
    let (_, refused) = post(base, &planet("large", 2_000), None);
    assert_eq!(
        refused["errors"][0]["extensions"]["code"], "STORE_FULL",
        "{refused}"
    );
    let schema = format!(
        "id: /soml/large\nobjects: {{A: {{descr: \"{}\"}}}}\n",
        "x".repeat(500_000)
    );
    assert_eq!(put_new(base, &schema), (507, "DISK_FULL".to_owned()));
    assert_eq!(
        post(base, &planet("again", 1), None).1["errors"],
        Value::Null
    );
    for (id, count) in [("small", 1), ("large", 0), ("again", 1)] {
        assert_eq!(there(base, id), count, "{id}");
    }
    stop(service);
    let service = folder.serve(&[]);
    let base = service.base("GraphQL:");
    for (id, count) in [("small", 1), ("large", 0), ("again", 1)] {
        assert_eq!(there(base, id), count, "{id}");
    }
}

/// Sends a new schema; returns the status and the code.
fn put_new(base: &str, schema: &str) -> (u16, String) {
    let sent = agent().post(format!("{base}/soml"));
    let mut answer = sent
        .content_type("application/x-yaml")
        .send(schema)
        .unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let code = body["errors"][0]["extensions"]["code"].as_str();
    (answer.status().as_u16(), code.unwrap_or(&text).to_owned())
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found
}

#[test]
fn syncing_from_time_to_time_is_said() {
    let folder = Folder::new();
    let service = folder.serve(&[
        "--data",
        DATA,
        "--set",
        "store.sync=interval",
        "--set",
        "store.syncInterval=250",
    ]);
    let line = format!(
        "Writing:  kept in {}, synced every 250 ms",
        folder.text("data")
    );
    assert!(service.said.contains(&line), "{:#?}", service.said);
}
