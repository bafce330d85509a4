//! `soml serve --store-path`.

use crate::command_line::{code, err, soml};

#[cfg(not(feature = "rocksdb"))]
#[test]
fn a_program_without_stores_on_disk_says_so() {
    let output = soml(&["serve", "--store-path", "data"]);
    assert_eq!(code(&output), Some(64));
    assert!(
        err(&output).contains("--features rocksdb"),
        "{}",
        err(&output)
    );
}

#[cfg(feature = "rocksdb")]
#[test]
fn data_are_loaded_once_and_kept() {
    use std::process::Command;

    use crate::processes::{PATIENCE, Running};

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store");
    let start = |data: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args([
            "serve",
            "--port",
            "0",
            "--schema",
            "demo/star-wars/schema.yaml",
        ]);
        command.arg("--store-path").arg(&path).args(data);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let service = Running::start(&mut command);
        let line = service.line().unwrap();
        let address = line.trim_start_matches("GraphQL:").trim().to_owned();
        let body = serde_json::json!({"query": "{ planet { id name } }"});
        let answer = ureq::post(&address)
            .config()
            .timeout_global(Some(PATIENCE))
            .build()
            .header("Content-Type", "application/json")
            .send(body.to_string());
        let answer = answer.unwrap().body_mut().read_to_string().unwrap();
        let other = soml(&[
            "serve",
            "--port",
            "0",
            "--store-path",
            path.to_str().unwrap(),
        ]);
        assert_eq!(code(&other), Some(3), "one at a time: {}", err(&other));
        answer
    };
    let first = start(&["--data", "demo/star-wars/data.ttl"]);
    assert!(first.contains("Tatooine"), "{first}");
    assert!(!first.contains("errors"), "{first}");
    assert_eq!(start(&[]), first);
    assert_eq!(start(&["--data", "demo/star-wars/data.ttl"]), first);
}
