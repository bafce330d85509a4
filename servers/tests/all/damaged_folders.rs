//! Data folders that have lost files, belong to somebody else, cannot be written to or have no room: nothing is
//! lost, and what is wrong is said by name.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command_line::{code, err, out, soml};
use crate::data_folder::{BOOKS, Folder, answer, files, stop};
use crate::gateway::soml::{Soml, get, post};
use crate::processes::agent;

/// A folder with data and a schema that was bound.
fn served() -> Folder {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    stop(folder.serve(&["--data", &books]));
    folder
}

/// All files below a folder with their content, without the lock.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files(folder).into_iter();
    let files = files.filter(|file| !file.ends_with("lock"));
    let mut read: Vec<_> = files
        .map(|file| {
            let content = fs::read(&file).unwrap();
            (file, content)
        })
        .collect();
    read.sort();
    read
}

/// The only image of a folder.
fn image(folder: &Path) -> PathBuf {
    let images = files(folder).into_iter();
    let mut images = images.filter(|file| file.extension().is_some_and(|name| name == "image"));
    images.next().unwrap()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn a_folder_with_an_image_and_without_its_log_is_refused_by_all_commands_and_left_as_it_is() {
    let folder = served();
    let (data, books) = (folder.text("data"), folder.text("books.ttl"));
    let image = image(&folder.path("data"));
    fs::rename(folder.path("data/changes.redb"), folder.path("log")).unwrap();
    let kept = contents(&folder.path("data"));
    let place = format!("store.dataDir={data}");
    let commands: [&[&str]; 7] = [
        &["serve", "--port", "0", "--data-dir", &data],
        &[
            "serve",
            "--port",
            "0",
            "--data-dir",
            &data,
            "--data",
            &books,
        ],
        &["load", &books, "--data-dir", &data],
        &["backup", &folder.text("backup"), "--data-dir", &data],
        &["restore", &data, "--data-dir", &folder.text("other")],
        &["query", "--set", &place, "{ book { title } }"],
        &["infer", "--set", &place],
    ];
    for command in commands {
        let refused = soml(command);
        let said = err(&refused);
        assert_eq!(code(&refused), Some(3), "{command:?}: {said}");
        for wanted in [
            "error[DATA_DAMAGED]",
            name(&image),
            "changes.redb",
            "backup",
        ] {
            assert!(said.contains(wanted), "{command:?}: {said}");
        }
        assert_eq!(contents(&folder.path("data")), kept, "{command:?}");
    }
    let refused = soml(&["restore", &folder.text("none"), "--data-dir", &data]);
    assert_eq!(code(&refused), Some(3));
    assert_eq!(contents(&folder.path("data")), kept);
    fs::rename(folder.path("log"), folder.path("data/changes.redb")).unwrap();
    let service = folder.serve(&[]);
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
}

#[test]
fn a_log_without_the_image_that_it_names_is_refused_by_name() {
    let folder = served();
    let image = image(&folder.path("data"));
    fs::remove_file(&image).unwrap();
    let kept = contents(&folder.path("data")).len();
    let said = folder.refused("DATA_DAMAGED");
    assert!(
        said.contains(name(&image)) && said.contains("backup"),
        "{said}"
    );
    assert_eq!(contents(&folder.path("data")).len(), kept);
}

#[test]
fn a_folder_in_use_whose_lock_is_removed_is_refused_to_all_others() {
    let folder = served();
    let service = folder.serve(&[]);
    let (data, books) = (folder.text("data"), folder.text("books.ttl"));
    let place = format!("store.dataDir={data}");
    let commands: [&[&str]; 5] = [
        &["serve", "--port", "0", "--data-dir", &data],
        &["load", &books, "--data-dir", &data],
        &["backup", &folder.text("backup"), "--data-dir", &data],
        &["restore", &data, "--data-dir", &folder.text("other")],
        &["query", "--set", &place, "{ book { title } }"],
    ];
    for command in commands {
        fs::remove_file(folder.path("data/lock")).unwrap();
        let refused = soml(command);
        let said = err(&refused);
        assert_eq!(code(&refused), Some(3), "{command:?}: {said}");
        assert!(said.contains("error[DATA_IN_USE]"), "{command:?}: {said}");
    }
    assert!(!folder.path("other").exists() && !folder.path("backup").exists());
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
}

#[test]
fn a_missing_document_of_the_bound_schema_is_named_at_the_start_and_by_health() {
    let folder = served();
    let document = folder.path("data/schemas/documents/inferred.yaml");
    let service = folder.serve(&[]);
    let health = || get(service.base("GraphQL:"), "/__health?cache=false");
    assert_eq!(check(&health(), "1300")["status"], "OK");
    let text = fs::read(&document).unwrap();
    fs::remove_file(&document).unwrap();
    let found = health();
    let schema = check(&found, "1300");
    assert_eq!(schema["status"], "WARNING", "{schema}");
    assert!(
        schema["message"]
            .as_str()
            .unwrap()
            .contains("documents/inferred.yaml"),
        "{schema}"
    );
    stop(service);
    let said = folder.refused("DATA_DAMAGED");
    assert!(
        said.contains("inferred.yaml") && said.contains("--schema"),
        "{said}"
    );
    fs::write(&document, text).unwrap();
    let bound = folder.path("data/schemas/bound.yaml");
    fs::write(&bound, "# soml-store 1 ").unwrap();
    let said = folder.refused("DATA_DAMAGED");
    assert!(said.contains("bound.yaml"), "{said}");
    // One that is missing binds nothing, and nothing else takes its place.
    fs::remove_file(&bound).unwrap();
    let service = folder.serve_without_schema(&[]);
    let base = service.base("GraphQL:");
    assert_eq!(post(base, "{ book { title } }", None).0, 503);
    let bound = agent()
        .put(format!("{base}/soml/inferred/objects"))
        .send_empty();
    assert!(bound.unwrap().status().is_success());
    stop(service);
    let service = folder.serve(&[]);
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
}

/// Returns one check of a health record.
fn check(record: &Value, id: &str) -> Value {
    let mut checks = record["healthChecks"].as_array().unwrap().iter();
    checks.find(|check| check["id"] == id).unwrap().clone()
}

#[test]
fn what_killed_backups_have_left_goes_at_the_start() {
    let folder = served();
    for left in [
        "backups/monday.unfinished",
        "backups/monday.unfinished.unfinished",
    ] {
        fs::create_dir_all(folder.path(left)).unwrap();
        fs::write(folder.path(left).join("data-1.image.partial"), "half").unwrap();
    }
    fs::create_dir_all(folder.path("backups/of-somebody")).unwrap();
    let place = format!("store.backupDir={}", folder.text("backups"));
    let service = folder.serve(&["--set", &place]);
    let left: Vec<_> = fs::read_dir(folder.path("backups")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let made = soml(&["backup", "monday", "--url", service.base("GraphQL:")]);
    assert_eq!(code(&made), Some(0), "{}", err(&made));
    for target in ["data.unfinished", "copy.unfinished"] {
        let refused = soml(&[
            "restore",
            &folder.text("backups/monday"),
            "--data-dir",
            &folder.text(target),
        ]);
        assert!(
            err(&refused).contains("error[DATA_NAME]"),
            "{}",
            err(&refused)
        );
    }
}

#[cfg(unix)]
#[test]
fn data_schemas_and_backups_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let check = |folder: &Path| {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
        for file in files(folder) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            let parent = file.parent().unwrap();
            assert_eq!(mode(parent), 0o700, "{}", parent.display());
        }
    };
    let folder = served();
    let data = folder.path("data");
    check(&data);
    let copied = soml(&[
        "backup",
        &folder.text("backup"),
        "--data-dir",
        &folder.text("data"),
    ]);
    assert_eq!(code(&copied), Some(0), "{}", err(&copied));
    check(&folder.path("backup"));
    // As an older version has made them.
    for file in files(&data).iter().chain(&files(&folder.path("backup"))) {
        fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
    }
    for place in ["", "schemas", "schemas/documents"] {
        fs::set_permissions(data.join(place), PermissionsExt::from_mode(0o755)).unwrap();
    }
    stop(folder.serve(&[]));
    check(&data);
    let restored = soml(&[
        "restore",
        &folder.text("backup"),
        "--data-dir",
        &folder.text("new"),
    ]);
    assert_eq!(code(&restored), Some(0), "{}", err(&restored));
    check(&folder.path("new"));
    // What somebody else has there is none of our business.
    fs::write(data.join("notes.txt"), "").unwrap();
    for path in [data.clone(), data.join("notes.txt")] {
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    stop(folder.serve(&[]));
    assert_eq!((mode(&data), mode(&data.join("notes.txt"))), (0o755, 0o755));
    assert_eq!(mode(&data.join("changes.redb")), 0o600);
}

/// A folder on a disk that is mounted read-only, as far as a test may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_on_read_only_media_is_queried_and_backed_up() {
    let folder = served();
    let (data, mounted) = (folder.text("data"), folder.text("mounted"));
    fs::create_dir(&mounted).unwrap();
    let mount = format!("mount --bind -o ro {data} {mounted}");
    let tried = std::process::Command::new("unshare")
        .args(["-rm", "sh", "-c", &mount])
        .output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        eprintln!(
            "skipped: no folder can be mounted here; the tests of `graph-store` hold it without"
        );
        return;
    }
    let run = |command: &str| {
        let soml = env!("CARGO_BIN_EXE_soml");
        let line = format!("{mount} && exec {soml} {command}");
        let mut process = std::process::Command::new("unshare");
        process.args(["-rm", "sh", "-c", &line]);
        crate::processes::output(&mut process, b"")
    };
    let before = contents(&folder.path("data"));
    let queried = run(&format!(
        "query --set store.dataDir={mounted} '{{ book {{ title }} }}'"
    ));
    assert!(out(&queried).contains("One"), "{}", err(&queried));
    let copied = run(&format!(
        "backup {} --data-dir {mounted}",
        folder.text("copy")
    ));
    assert_eq!(code(&copied), Some(0), "{}", err(&copied));
    let books = folder.text("books.ttl");
    let refused = run(&format!("load {books} --data-dir {mounted}"));
    assert_eq!(code(&refused), Some(3), "{}", err(&refused));
    assert!(
        err(&refused).contains("error[DATA_READ_ONLY]"),
        "{}",
        err(&refused)
    );

    let soml = env!("CARGO_BIN_EXE_soml");
    let line = format!(
        "exec unshare -rm sh -c '{mount} && exec {soml} serve --port 0 --data-dir {mounted}'"
    );
    let service = Soml::of_shell(&line, "Writing:");
    let refused = "Writing:  refused, since ";
    assert!(
        service.said.iter().any(|said| said.starts_with(refused)),
        "{:#?}",
        service.said
    );
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
    let base = service.base("GraphQL:");
    let delete =
        "mutation { delete_Book(where: {ID: [\"http://e/1\"]}) { affected_count { count } } }";
    let (_, mutation) = post(base, delete, None);
    assert_eq!(
        mutation["errors"][0]["extensions"]["code"], "STORE_READ_ONLY",
        "{mutation}"
    );
    stop(service);
    assert_eq!(contents(&folder.path("data")), before);
}

/// A small disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn health_says_that_there_is_no_room_for_as_long_as_there_is_none() {
    let folder = served();
    let disk = folder.text("disk");
    fs::create_dir(&disk).unwrap();
    let mount = format!("mount -t tmpfs -o size=12m tmpfs {disk}");
    let tried = std::process::Command::new("unshare")
        .args(["-rm", "sh", "-c", &mount])
        .output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        eprintln!(
            "skipped: no disk can be mounted here; the tests of `graph-store` hold it without"
        );
        return;
    }
    let soml = env!("CARGO_BIN_EXE_soml");
    let (data, flag) = (folder.text("data"), folder.text("fill"));
    // Who fills the disk must be where it is mounted: it waits for a file that says so.
    let filler = format!(
        "(while :; do if [ -e {flag} ]; then [ -e {disk}/ballast ] || dd if=/dev/zero of={disk}/ballast bs=64k; \
         else rm -f {disk}/ballast; fi; sleep 0.05; done) >/dev/null 2>&1 &"
    );
    let line = format!(
        "exec unshare -rmpf --kill-child sh -c '{mount} && cp -r {data} {disk}/data && {{ {filler} }} && \
         exec {soml} serve --port 0 --data-dir {disk}/data'"
    );
    let service = Soml::of_shell(&line, "Writing:");
    let base = service.base("GraphQL:");
    let comes_to = |status: &str| {
        let begun = std::time::Instant::now();
        loop {
            let record = get(base, "/__health?cache=false");
            let mutation = check(&record, "1500");
            if mutation["status"] == status {
                return mutation["message"].as_str().unwrap().to_owned();
            }
            assert!(begun.elapsed() < crate::processes::PATIENCE, "{mutation}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    comes_to("OK");
    fs::write(&flag, "").unwrap();
    let message = comes_to("ERROR");
    assert!(message.contains("STORE_FULL"), "{message}");
    fs::remove_file(&flag).unwrap();
    comes_to("OK");
}
