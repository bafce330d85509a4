//! `soml search` over a running service.

use std::net::TcpListener;
use std::process::{Command, Output};

use super::{World, planets};
use crate::processes::output;
use crate::service::Service;

fn search(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.arg("search").args(arguments);
    command
        .env_remove("SOML_TOKEN")
        .env_remove("SOML_TOKEN_FILE");
    output(&mut command, b"")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_running_service_is_asked_for_a_text() {
    let sky = World::embedded().serve();
    let base = sky.service.base.as_str();
    let found = search(&["plamet 7", "--size", "1", "--url", base]);
    let (out, err) = (text(&found.stdout), text(&found.stderr));
    assert_eq!(found.status.code(), Some(0), "{err}");
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0] == "20 found" && lines.len() == 2, "{out}");
    assert!(lines[1].ends_with("http://e/p7  Planet 7"), "{out}");
}

#[test]
fn a_service_whose_hits_are_references_shows_their_ids() {
    let world = World::embedded();
    let mut parts = world.parts(planets(3));
    parts.options.federation = true;
    let soml = world.soml("title: {}, label: {range: langString}");
    let (service, _app) = Service::search(parts, Some(&soml));
    let found = search(&["planet 2", "--url", &service.base]);
    let out = text(&found.stdout);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let first = out.lines().nth(1).unwrap();
    assert!(first.ends_with("http://e/p2  "), "{out}");
}

#[test]
fn a_service_without_searches_and_flags_about_data_are_refused() {
    let objects = Service::demo();
    let refused = search(&["x", "--url", &objects.base]);
    assert_eq!(refused.status.code(), Some(3));
    let said = text(&refused.stderr);
    assert!(said.contains("has no searches"), "{said}");
    let both = search(&["x", "--url", "http://localhost:1", "--demo", "star-wars"]);
    assert_eq!(both.status.code(), Some(64), "{}", text(&both.stderr));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let away = search(&["x", "--url", &format!("http://{}", nobody.unwrap())]);
    assert_eq!(away.status.code(), Some(3), "{}", text(&away.stderr));
}
